"""Places for histories: a file, and a fresh database on the PostgreSQL the environment names."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.store.history import History
from tests.databases import database as database


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a history can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    made: str = request.getfixturevalue("database")
    return made


@pytest.fixture
def history(place: str) -> History:
    """An empty history."""
    return History.open(place)
