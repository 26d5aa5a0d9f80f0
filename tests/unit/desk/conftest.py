"""Places for ledgers: a file, and a fresh database on the PostgreSQL the environment names."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.desk import Ledger, open_ledger
from tests import ledger_work
from tests.databases import database as database


@pytest.fixture(autouse=True)
def repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers opened without a source of noise draw the same noise in every run."""
    ledger_work.repeatable(monkeypatch)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.sqlite")
    made: str = request.getfixturevalue("database")
    return made


@pytest.fixture
def ledger(place: str) -> Ledger:
    """A ledger with the test set registered, and noise that is the same in every run."""
    made = open_ledger(place, create=True, randbelow=ledger_work.seeded(1))
    ledger_work.register(made)
    return made
