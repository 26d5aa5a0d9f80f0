"""Ledgers in a file, and in a fresh database on the PostgreSQL that the environment names."""

import pytest

from core.desk import open_ledger
from tests import ledger_work
from tests.workers import database as database
from tests.workers import location as location


@pytest.fixture(autouse=True)
def repeatable(monkeypatch):
    """Ledgers opened without a source of noise draw the same noise in every run."""
    ledger_work.repeatable(monkeypatch)


@pytest.fixture
def ledger(location):
    """A ledger with the test set registered, and noise that is the same in every run."""
    new_ledger = open_ledger(location, create=True, randbelow=ledger_work.seeded(1))
    ledger_work.register(new_ledger)
    return new_ledger
