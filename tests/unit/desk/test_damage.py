"""Damaged and foreign files: refused with one sentence, and not a byte of them changes."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.desk import open_ledger
from core.errors import FairLeakError, InputError
from tests.ledger_work import NAME, people, question, register


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger file with some answers in it, and nothing beside it."""
    path = tmp_path_factory.mktemp("sound") / "ledger"
    ledger = open_ledger(path, create=True)
    register(ledger)
    for k in range(3):
        ledger.ask(NAME, people(), question(k), epsilon=0.1, asker="x")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


def refused(path: Path, words: str) -> None:
    """Check that a file is refused, with and without leave to make one, and stays as it is."""
    before = {one: one.read_bytes() for one in path.parent.iterdir()}
    for create in (False, True):
        with pytest.raises(FairLeakError, match=words) as error:
            open_ledger(path, create=create)
        assert str(error.value).count("\n") == 0 and str(path) in str(error.value)
    assert {one: one.read_bytes() for one in path.parent.iterdir()} == before


def foreign() -> dict[str, Callable[[Path], object]]:
    def database(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE people (name)")
        connection.close()

    def journalled(path: Path) -> None:
        """Another program's database with a change it has yet to take back."""
        database(path)
        Path(f"{path}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504))

    return {
        "empty": lambda path: path.write_bytes(b""),
        "text": lambda path: path.write_text("id,score\n1,0.5\n", encoding="utf-8"),
        "short": lambda path: path.write_bytes(b"SQLite format 3\0"),
        "another program's database": database,
        "the same with a journal": journalled,
        "noise": lambda path: path.write_bytes(os.urandom(9000)),
    }


@pytest.mark.parametrize("kind", foreign())
def test_foreign_files_are_refused_unopened(kind: str, tmp_path: Path):
    path = tmp_path / "ledger"
    foreign()[kind](path)
    there = {one: one.read_bytes() for one in tmp_path.iterdir()}
    refused(path, "is not a FairLeak ledger and was left as it is")
    assert {one: one.read_bytes() for one in tmp_path.iterdir()} == there


def test_a_later_format_is_refused(sound: Path, tmp_path: Path):
    path = tmp_path / "ledger"
    content = bytearray(sound.read_bytes())
    content[63] = 2
    path.write_bytes(content)
    refused(path, "has format 2, this version knows format 1")


@pytest.mark.parametrize("share", [0.15, 0.5, 0.95])
def test_truncated_files_are_refused(share: float, sound: Path, tmp_path: Path):
    path = tmp_path / "ledger"
    content = sound.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    refused(path, "is damaged and was left as it is")


def altered(path: Path, statement: str) -> None:
    """Change a ledger as somebody with a SQLite shell could."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@pytest.mark.parametrize(
    "statement, words",
    [
        ("UPDATE fairleak_accounts SET spent = 0", "what its budgets say is not what its entries add up to"),
        ("UPDATE fairleak_accounts SET budget = 999000000", "what its budgets say is not"),
        ("DELETE FROM fairleak_entries WHERE number = 3", "entry 3 is missing"),
        ("DELETE FROM fairleak_entries WHERE number = 5", "it ends with entry 4 and should end with entry 5"),
        ('UPDATE fairleak_entries SET text = replace(text, \'"asker":"x"\', \'"asker":"y"\')', "the hash of entry 3"),
        ("UPDATE fairleak_entries SET hash = upper(hash) WHERE number = 4", "the hash of entry 4"),
        ("UPDATE fairleak_ledger SET key = replace(hex(zeroblob(32)), '00', 'ab')", "its key is not the one"),
        ("UPDATE fairleak_ledger SET hash = 'f'", "it ends with entry 5"),
        ("DELETE FROM fairleak_ledger", "its key is not the one"),
        ("DROP TABLE fairleak_entries", "is not there, or is not a ledger"),
    ],
)
def test_altered_ledgers_are_refused(statement: str, words: str, sound: Path, tmp_path: Path):
    path = tmp_path / "ledger"
    shutil.copy(sound, path)
    altered(path, statement)
    refused(path, words)


def test_a_damaged_ledger_with_a_log_beside_it_is_left_alone(sound: Path, tmp_path: Path):
    """The log of a process that was killed must not be worked into a file that is refused."""
    first, path = tmp_path / "first", tmp_path / "ledger"
    shutil.copy(sound, first)
    ledger, reader = open_ledger(first), sqlite3.connect(first)
    reader.execute("SELECT count(*) FROM fairleak_entries").fetchone()  # keeps the log from being worked in
    ledger.ask(NAME, people(), question(9), epsilon=0.1, asker="x")
    content = bytearray(first.read_bytes())
    log = Path(f"{first}-wal").read_bytes()
    reader.close()
    logged = {int.from_bytes(log[place : place + 4], "big") for place in range(32, len(log), 24 + 4096)}
    page = max(set(range(2, len(content) // 4096 + 1)) - logged)
    content[4096 * (page - 1) : 4096 * page] = bytes(4096)
    path.write_bytes(content)
    Path(f"{path}-wal").write_bytes(log)
    before = path.read_bytes()
    with pytest.raises(InputError, match="is damaged and was left as it is"):
        open_ledger(path)
    assert path.read_bytes() == before and Path(f"{path}-wal").read_bytes() == log


def test_every_byte_that_is_changed_is_noticed_or_means_nothing(sound: Path, tmp_path: Path):
    """A flipped bit either has the ledger refused or leaves everything it says as it was."""
    path, content = tmp_path / "ledger", sound.read_bytes()
    said, noticed = open_ledger(sound).status(NAME), 0
    places = range(101, len(content), 997)
    for place in places:
        wrong = bytearray(content)
        wrong[place] ^= 0x10
        path.write_bytes(wrong)
        try:
            assert open_ledger(path).status(NAME) == said
        except FairLeakError as error:
            noticed += 1
            assert path.read_bytes() == bytes(wrong), error
        for beside in tmp_path.glob("ledger-*"):
            beside.unlink()
    assert noticed > len(places) / 10


def test_a_ledger_that_becomes_damaged_while_open_answers_no_more(sound: Path, tmp_path: Path):
    path = tmp_path / "ledger"
    shutil.copy(sound, path)
    ledger = open_ledger(path)
    altered(path, "UPDATE fairleak_accounts SET spent = 0")
    before = path.read_bytes()
    with pytest.raises(InputError, match="is damaged and was left as it is"):
        ledger.ask(NAME, people(), question(9), epsilon=0.1, asker="x")
    assert path.read_bytes() == before


def test_a_busy_ledger_says_so(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "ledger"
    shutil.copy(sound, path)
    monkeypatch.setattr("core.desk.database.BUSY_SECONDS", 0.1)
    ledger, busy = open_ledger(path), sqlite3.connect(path, isolation_level=None)
    busy.execute("BEGIN IMMEDIATE")
    with pytest.raises(FairLeakError, match=r"was busy for [\d.]+ seconds; ask again"):
        ledger.ask(NAME, people(), question(9), epsilon=0.1, asker="x")
    assert len(ledger.status(NAME).answers) == 3  # looking is free
    busy.execute("ROLLBACK")
    busy.close()
    assert not ledger.ask(NAME, people(), question(9), epsilon=0.1, asker="x").refused


@pytest.mark.parametrize(
    "statement, words",
    [
        ("UPDATE fairleak_accounts SET spent = 0", "is damaged and was left as it is: what its budgets say"),
        ("DELETE FROM fairleak_entries WHERE number = 2", "is damaged and was left as it is: it ends with entry 1"),
        ("DROP TABLE fairleak_entries CASCADE", "is not there, or is not a ledger"),
    ],
)
def test_a_damaged_database_is_refused(statement: str, words: str, database: str):
    import psycopg

    register(open_ledger(database, create=True))
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(statement)
    with pytest.raises(FairLeakError, match=words):
        open_ledger(database)


def test_a_foreign_database_is_left_as_it_is(database: str):
    import psycopg

    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE fairleak_ledger (other integer)")
        with pytest.raises(FairLeakError, match="is not a ledger"):
            open_ledger(database, create=True)
        tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        assert connection.execute(tables).fetchall() == [("fairleak_ledger",)]


def test_a_database_refuses_to_overspend(database: str):
    import psycopg

    register(open_ledger(database, create=True))
    with psycopg.connect(database) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute("UPDATE fairleak_accounts SET spent = budget + 1")
