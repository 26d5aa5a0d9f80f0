"""Places for histories: a file, and a fresh database on the PostgreSQL the environment names."""

import pytest

from core.store.history import History
from tests.workers import database as database


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request, tmp_path):
    """Where a history can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    return request.getfixturevalue("database")


@pytest.fixture
def stored(location):
    """An empty history in a file, and in a database."""
    return History.open(location)


@pytest.fixture
def history(tmp_path):
    return History.open(tmp_path / "history.sqlite")
