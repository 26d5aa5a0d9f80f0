"""The history's three tables in SQLite or PostgreSQL: its end, its entries, and the documents that are kept."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

import core
from core import database
from core.chain import FIRST, now
from core.history.events import FORMAT, Events, follow

_tables = sa.MetaData()
_history = sa.Table(
    "fairleak_history",
    _tables,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
_entries = sa.Table(
    "fairleak_history_entries",
    _tables,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    sa.Column("text", sa.Text, nullable=False),
)
_documents = sa.Table(
    "fairleak_history_documents",
    _tables,
    sa.Column("entry", sa.ForeignKey("fairleak_history_entries.number"), primary_key=True, autoincrement=False),
    sa.Column("text", sa.Text, nullable=False),
)


class Transaction(database.Transaction):
    """One look at the history, or one change of it."""

    noun, made_by = "history", "keeping an audit makes one"
    application, format = 0x464C4B48, FORMAT  # "FLKH"
    tables, head, links = _tables, _history, _entries

    def check(self) -> None:
        """Raise `Damaged` if the entries do not hold together."""
        self.events()

    def events(self) -> Events:
        """Return what the entries say; raise `Damaged` if they do not hold together."""
        events = follow(self.entries())
        self.check_end(events.number, events.hash)
        return events

    def add(self, events: Events, body: dict[str, Any]) -> int:
        """Write the next entry and return its number; `events` follow it."""
        events.add(self.append(events.number, events.hash, body))
        return events.number

    def document(self, entry: int) -> str | None:
        """Return the text of an entry's document."""
        return self.connection.execute(sa.select(_documents.c.text).where(_documents.c.entry == entry)).scalar()

    def keep(self, entry: int, text: str) -> None:
        """Write an entry's document."""
        self.connection.execute(sa.insert(_documents).values(entry=entry, text=text))
        self.on_step("document written")

    def drop(self, entry: int) -> None:
        """Delete an entry's document."""
        self.connection.execute(sa.delete(_documents).where(_documents.c.entry == entry))

    def begin(self) -> None:
        """Write the first entry, unless it is there."""
        if self.end() is None:
            self.connection.execute(sa.insert(_history).values(id=1, number=0, hash=FIRST))
            self.add(Events(), {"kind": "opened", "format": FORMAT, "time": now(), "fairleak": core.__version__})
