"""The history's three tables in SQLite or PostgreSQL: its end, its entries, and the documents that are kept."""

from __future__ import annotations

import sqlalchemy as sa

from . import database
from .events import Events

_tables = sa.MetaData()
_history = database.head_table("fairleak_history", _tables)
_entries = database.links_table("fairleak_history_entries", _tables)
_documents = sa.Table(
    "fairleak_history_documents",
    _tables,
    sa.Column(
        "entry",
        sa.ForeignKey("fairleak_history_entries.number"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("text", sa.Text, nullable=False),
)


class HistoryTransaction(database.Transaction[Events]):
    """One look at the history, or one change of it."""

    noun = "history"
    made_by = "keeping an audit makes one"
    application = 0x464C4B48  # "FLKH"
    tables = _tables
    head = _history
    links = _entries
    says = Events

    def document(self, entry: int) -> str | None:
        """Return the text of an entry's document."""
        return self.connection.execute(
            sa.select(_documents.c.text).where(_documents.c.entry == entry)
        ).scalar()

    def keep(self, entry: int, text: str) -> None:
        """Write an entry's document."""
        self.connection.execute(sa.insert(_documents).values(entry=entry, text=text))

    def drop(self, entry: int) -> None:
        """Delete an entry's document."""
        self.connection.execute(sa.delete(_documents).where(_documents.c.entry == entry))
