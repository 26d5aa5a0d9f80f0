"""The ledger's three tables in SQLite or PostgreSQL: its key and end, its accounts, its entries.

Entries are the truth; accounts hold the sum of their charges once more, with a CHECK by which the database itself
refuses to overspend. Ledgers of earlier editions have a fourth table, of questions, which is left as it is.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import sqlalchemy as sa

import core
from core import database
from core.chain import Damaged, linked, now
from core.desk.books import FORMAT, Books, follow

_tables = sa.MetaData()
_ledger = sa.Table(
    "fairleak_ledger",
    _tables,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
_accounts = sa.Table(
    "fairleak_accounts",
    _tables,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("budget", sa.BigInteger, nullable=False),
    sa.Column("spent", sa.BigInteger, nullable=False),
    sa.CheckConstraint("spent >= 0 AND spent <= budget", name="fairleak_never_overspent"),
)
_entries = sa.Table(
    "fairleak_entries",
    _tables,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("account", sa.ForeignKey("fairleak_accounts.name")),
)


def hash_of_key(key: str) -> str:
    """Return what the first entry says of the key, which is 64 hex digits."""
    return hashlib.sha256(key.encode()).hexdigest()


class Transaction(database.Transaction):
    """One look at the ledger, or one change of it."""

    noun, made_by = "ledger", "registering a test set makes one"
    application, format = 0x464C4B4C, FORMAT  # "FLKL"
    tables, head, links = _tables, _ledger, _entries

    def check(self) -> None:
        """Raise `Damaged` if entries and tables do not agree."""
        self.books()

    def books(self) -> Books:
        """Return what the entries say, checked against the other tables; raise `Damaged` if they do not agree."""
        books = follow(self.entries())
        key = self.connection.execute(sa.select(_ledger.c.key)).scalar()
        if hash_of_key(str(key or "")) != books.key_hash:
            raise Damaged("its key is not the one it was opened with")
        self.check_end(books.number, books.hash)
        kept = {name: (budget, spent) for name, budget, spent in self.connection.execute(sa.select(_accounts))}
        if kept != {name: (account.budget, account.spent) for name, account in books.accounts.items()}:
            raise Damaged("what its budgets say is not what its entries add up to")
        return books

    def key(self) -> bytes:
        """Return the key of the seals."""
        return bytes.fromhex(self.connection.execute(sa.select(_ledger.c.key)).scalar_one())

    def charge(self, name: str, budget: int, charged: int) -> None:
        """Charge a budget, which is opened if it is not there; the database refuses to overspend it."""
        where = _accounts.c.name == name
        change = sa.update(_accounts).where(where).values(spent=_accounts.c.spent + charged)
        if not self.connection.execute(change).rowcount:
            self.connection.execute(sa.insert(_accounts).values(name=name, budget=budget, spent=charged))
        self.on_step("charged")

    def add(self, books: Books, body: dict[str, Any]) -> None:
        """Write the next entry; `books` follow it, which checks its arithmetic once more."""
        number, last = books.number, books.hash
        books.add(linked(number + 1, last, body))
        self.append(number, last, body, account=body.get("name"))

    def begin(self) -> None:
        """Write the key and the first entry, unless they are there."""
        if self.end() is None:
            key, books = secrets.token_hex(32), Books()
            self.connection.execute(sa.insert(_ledger).values(id=1, key=key, number=books.number, hash=books.hash))
            body = {"kind": "opened", "format": FORMAT, "time": now()}
            self.add(books, body | {"key": hash_of_key(key), "fairleak": core.__version__})
