"""Places for ledgers: a file, and a fresh database on the PostgreSQL the environment names."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.desk import Ledger, open_ledger
from tests import ledger_work

WHY = "FAIRLEAK_POSTGRES names no PostgreSQL (.ci/postgresql starts one)"


@pytest.fixture(autouse=True)
def repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers opened without a source of noise draw the same noise in every run."""
    ledger_work.repeatable(monkeypatch)


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of an empty database, dropped afterwards."""
    server = os.environ.get("FAIRLEAK_POSTGRES")
    if not server:
        pytest.skip(WHY)
    import psycopg

    name = f"fairleak_test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield f"{server.rpartition('/')[0]}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


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
