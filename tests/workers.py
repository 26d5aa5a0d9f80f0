"""Processes that use a database, started many at once and killed; and a fresh database on PostgreSQL."""

import multiprocessing
import os
import re
import secrets
import signal
import sys
from contextlib import ExitStack, contextmanager
from types import ModuleType
from unittest.mock import patch

import pytest
import sqlalchemy as sa

import core.store.database
from tests.patience import PATIENT

STATEMENTS = {
    "locked": "BEGIN IMMEDIATE|.* FOR UPDATE",
    "charged": "(UPDATE|INSERT INTO) fairleak_accounts ",
    "entry written": "INSERT INTO fairleak(_history)?_entries ",
    "head moved": "UPDATE fairleak_(ledger|history) ",
    "document written": "INSERT INTO fairleak_history_documents ",
}
"""Step of a change of a ledger or history -> the statement that does it."""


@contextmanager
def steps(heard):
    """Hear each step of every change as soon as it is done, by what the databases of this process are asked."""
    under_way = []

    def executed(connection, cursor, statement, *more):
        for step, pattern in STATEMENTS.items():
            if re.match(pattern, statement, re.DOTALL):
                under_way.append(step)
                heard(step)

    def ended(step):
        def tell(*_):
            if under_way and step:
                heard(step)
            if step != "committing":
                under_way.clear()

        return tell

    places = [(sa.Engine, "after_cursor_execute", executed), (sa.Engine, "commit", ended("committing"))]
    places += [(sa.Engine, "rollback", ended("")), (sa.pool.Pool, "checkin", ended("committed"))]
    with ExitStack() as stack:
        for listener in places:
            sa.event.listen(*listener)
            stack.callback(sa.event.remove, *listener)
        yield


class Killer:
    """Kills this process with SIGKILL at a step, once it is armed."""

    def __init__(self, step):
        self.step, self.armed = step, False

    def __call__(self, step):
        if self.armed and step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


def _hasty(work, *arguments):
    """Work where a database that is busy turns everybody away before a test has lost its patience."""
    core.store.database.BUSY_SECONDS = int(PATIENT) // 2
    work(*arguments)


class Worker:
    """A process that sends what it did; forked from one that has imported everything, so that many start at once."""

    _context = multiprocessing.get_context("forkserver")
    _context.set_forkserver_preload(["tests.ledger_work", "tests.history_work"])

    def __init__(self, work, *arguments):
        self.answers, sent = self._context.Pipe(duplex=False)
        self.process = self._context.Process(target=_hasty, args=(work, *arguments, sent))
        with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):  # which tests of pages leave as theirs
            self.process.start()
        sent.close()  # the worker's alone, so that its end is the end of the answers

    def collected_answers(self):
        """Wait for the process and return the answers it showed; one cut off by a kill was not shown.

        It may have been turned away because the others kept the database busy: SQLite serves nobody in turn.
        """
        received = []
        while (answer := self.next()) is not None:
            received.append(answer)
        self.process.join(PATIENT)
        return received

    def next(self):
        """Wait for the next answer; None if there is none any more."""
        assert self.answers.poll(PATIENT)
        try:
            answer = self.answers.recv()
        except (EOFError, OSError):
            return None
        if isinstance(answer, str):
            assert re.search(r"was busy for \d+ seconds; ask again", answer), answer
            return None
        return dict(answer)


@pytest.fixture
def database():
    """The URL of an empty database on the PostgreSQL that the environment names, dropped afterwards."""
    server = os.environ.get("FAIRLEAK_POSTGRES")
    if not server:
        pytest.skip("FAIRLEAK_POSTGRES names no PostgreSQL (.ci/postgresql starts one)")
    import psycopg

    name = f"fairleak_test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield f"{server.rpartition('/')[0]}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request, tmp_path):
    """Where a ledger or a history can be made: in a file, and in an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    return request.getfixturevalue("database")
