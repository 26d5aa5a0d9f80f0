"""Where a ledger lives: four tables in SQLite or PostgreSQL, written in transactions that exclude each other.

Entries are the truth; accounts hold the sum of their charges once more, with a CHECK by which the database itself
refuses to overspend. A transaction reads everything after it has taken the ledger's lock, so what it decides is still
true when it commits. SQLite: BEGIN IMMEDIATE, WAL, flushed at each commit. PostgreSQL: SELECT ... FOR UPDATE.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from core.errors import FairLeakError, InputError
from core.queries.ledger.accounts import Books, follow
from core.queries.ledger.chain import Damaged, Entry, canonical, chained

BUSY_SECONDS = 60
_LOCK_OF_CREATION = 0x464C4B4C

tables = sa.MetaData()
_ledger = sa.Table(
    "fairleak_ledger",
    tables,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
_accounts = sa.Table(
    "fairleak_accounts",
    tables,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("budget", sa.BigInteger, nullable=False),
    sa.Column("spent", sa.BigInteger, nullable=False),
    sa.CheckConstraint("spent >= 0 AND spent <= budget", name="fairleak_never_overspent"),
)
_questions = sa.Table(
    "fairleak_questions",
    tables,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
_entries = sa.Table(
    "fairleak_entries",
    tables,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("account", sa.ForeignKey("fairleak_accounts.name")),
    sa.Column("question", sa.ForeignKey("fairleak_questions.digest")),
)

Step = Callable[[str], None]


def hash_of_key(key: str) -> str:
    """Return what the first entry says of the key, which is 64 hex digits."""
    return hashlib.sha256(key.encode()).hexdigest()


class Transaction:
    """One look at the ledger, or one change of it."""

    def __init__(self, connection: sa.Connection, on_step: Step) -> None:
        self._connection, self._on_step = connection, on_step

    def books(self) -> Books:
        """Return what the entries say, checked against the other tables.

        Raises
        ------
        Damaged
            If they do not hold together.
        """
        books = follow(self.entries())
        head = self._connection.execute(sa.select(_ledger.c.key, _ledger.c.number, _ledger.c.hash)).first()
        key, number, last = head or ("", 0, "")
        if hash_of_key(str(key)) != books.key_hash:
            raise Damaged("its key is not the one it was opened with")
        if (number, last) != (books.number, books.hash):
            raise Damaged(f"it ends with entry {books.number} and should end with entry {number}")
        kept = {name: (budget, spent) for name, budget, spent in self._connection.execute(sa.select(_accounts))}
        if kept != {name: (account.budget, account.spent) for name, account in books.accounts.items()}:
            raise Damaged("what its budgets say is not what its entries add up to")
        return books

    def key(self) -> bytes:
        """Return the key of the seals."""
        return bytes.fromhex(self._connection.execute(sa.select(_ledger.c.key)).scalar_one())

    def questions(self, digests: Collection[str]) -> dict[str, bytes]:
        """Return the questions with these digests."""
        rows = self._connection.execute(sa.select(_questions).where(_questions.c.digest.in_(list(digests))))
        found = {digest: bytes(content) for digest, content in rows}
        missing = set(digests) - set(found)
        if missing:
            raise Damaged(f"the question {min(missing)[:12]} is missing")
        return found

    def entries(self) -> list[Entry]:
        """Return all entries."""
        columns = (_entries.c.number, _entries.c.text, _entries.c.hash)
        return [Entry(*row) for row in self._connection.execute(sa.select(*columns).order_by(_entries.c.number))]

    def keep_question(self, digest: str, content: bytes) -> None:
        """Store a question unless it is there."""
        if not self._connection.execute(sa.select(_questions.c.digest).where(_questions.c.digest == digest)).first():
            self._connection.execute(sa.insert(_questions).values(digest=digest, content=content))
        self._on_step("question kept")

    def charge(self, name: str, budget: int, charged: int) -> None:
        """Charge a budget, which is opened if it is not there; the database refuses to overspend it."""
        where = _accounts.c.name == name
        change = sa.update(_accounts).where(where).values(spent=_accounts.c.spent + charged)
        if not self._connection.execute(change).rowcount:
            self._connection.execute(sa.insert(_accounts).values(name=name, budget=budget, spent=charged))
        self._on_step("charged")

    def append(self, books: Books, body: dict[str, Any], *, question: str | None) -> None:
        """Write the next entry; `books` follow it, which checks its arithmetic once more."""
        text, before = canonical(body), books.number
        entry = Entry(before + 1, text, chained(books.hash, text))
        books.add(entry)
        values = {"number": entry.number, "hash": entry.hash, "text": text}
        self._connection.execute(sa.insert(_entries).values(**values, account=body.get("name"), question=question))
        self._on_step("entry written")
        head = sa.update(_ledger).where(_ledger.c.number == before).values(number=entry.number, hash=entry.hash)
        if self._connection.execute(head).rowcount != 1:
            raise Damaged("its last entry changed although it was locked")
        self._on_step("head moved")

    def open(self, key: str, body: dict[str, Any]) -> None:
        """Write the first entry, unless it is there."""
        if self._connection.execute(sa.select(_ledger.c.id)).first() is None:
            self._connection.execute(sa.insert(_ledger).values(id=1, key=key, number=0, hash=Books().hash))
            self.append(Books(), body, question=None)


class Store:
    """A database with a ledger in it.

    Parameters
    ----------
    place : str
        What to call the ledger in a sentence, without any password.
    on_step : callable
        Told the name of each step of a change as it is done.
    """

    def __init__(self, engine: sa.Engine, place: str, on_step: Step) -> None:
        self.engine, self.place, self._on_step = engine, place, on_step

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Look at one moment of the ledger."""
        with self._sentences(), self.engine.connect() as connection:
            if self.engine.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield Transaction(connection, self._on_step)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Change the ledger; what is done inside is committed whole at the end, or not at all."""
        with self._sentences(), self.engine.connect() as connection:
            connection = connection.execution_options(fairleak_writes=True)
            with connection.begin():
                if self.engine.dialect.name == "postgresql":
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'")
                    connection.execute(sa.select(_ledger.c.id).with_for_update())
                self._on_step("locked")
                yield Transaction(connection, self._on_step)
                self._on_step("committing")
        self._on_step("committed")

    @contextmanager
    def making_tables(self) -> Iterator[Transaction]:
        """Make the tables that are not there, whole or not at all, and let the first entry be written."""
        with self._sentences(), self.engine.connect() as connection:
            connection = connection.execution_options(fairleak_writes=True)
            with connection.begin():
                if self.engine.dialect.name == "postgresql":  # one after the other
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK_OF_CREATION)))
                tables.create_all(connection)
                yield Transaction(connection, self._on_step)

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn what a database says into one sentence."""
        try:
            yield
        except Damaged as error:
            raise InputError(f"The ledger {self.place} is damaged and was left as it is: {error}.") from None
        except sa.exc.DBAPIError as error:
            raise FairLeakError(f"The ledger {self.place} {_said(error)}.") from None


def disk_said(error: BaseException | None) -> str | None:
    """Return what a database's error says of its disk, and what to do; None if it is about something else."""
    name, state = getattr(error, "sqlite_errorname", ""), getattr(error, "sqlstate", "")
    if name == "SQLITE_FULL" or state == "53100":
        return "the disk is full; nothing was changed, make room and try again"
    if name.startswith("SQLITE_IOERR"):  # also where there is no room for SQLite's files beside the ledger
        return f"the disk is full or fails ({error}); make room and try again"
    return None


def _said(error: sa.exc.DBAPIError) -> str:
    if (disk := disk_said(error.orig)) is not None:
        return f"cannot be used: {disk}"
    told = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    told = re.sub(r"\[Errno -?\d+\] ", "", told)
    if "locked" in told or "lock timeout" in told:
        return f"was busy for {BUSY_SECONDS} seconds; ask again"
    if any(words in told for words in ("malformed", "not a database", "decode to UTF-8")):
        return f"is damaged and was left as it is: {told}"
    if "does not exist" in told or "no such table" in told:
        return f"is not there, or is not a ledger: {told}"
    return f"cannot be used: {told}"
