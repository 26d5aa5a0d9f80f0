"""Places for histories: a file, and a fresh database on the PostgreSQL the environment names."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.store.history import History
from tests.workers import database as database


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a history can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    address: str = request.getfixturevalue("database")
    return address


@pytest.fixture
def history(location: str) -> History:
    """An empty history."""
    return History.open(location)
