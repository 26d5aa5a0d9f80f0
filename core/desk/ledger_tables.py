"""The ledger's three tables in SQLite or PostgreSQL: its key and end, its accounts, its entries.

Entries are the truth; accounts hold the sum of their charges once more, with a CHECK by which the database itself
refuses to overspend.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import sqlalchemy as sa

from ..store import database
from ..store.chain import Damaged
from .books import LedgerState

_tables = sa.MetaData()
_ledger = database.head_table(
    "fairleak_ledger", _tables, sa.Column("key", sa.String(64), nullable=False)
)
_accounts = sa.Table(
    "fairleak_accounts",
    _tables,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("budget", sa.BigInteger, nullable=False),
    sa.Column("spent", sa.BigInteger, nullable=False),
    sa.CheckConstraint("spent >= 0 AND spent <= budget", name="fairleak_never_overspent"),
)
_account: sa.Column[str] = sa.Column("account", sa.ForeignKey("fairleak_accounts.name"))
_entries = database.links_table("fairleak_entries", _tables, _account)


def hash_of_key(key: str) -> str:
    """Return what the first entry says of the key, which is 64 hex digits."""
    return hashlib.sha256(key.encode()).hexdigest()


class LedgerTransaction(database.Transaction[LedgerState]):
    """One look at the ledger, or one change of it."""

    noun = "ledger"
    made_by = "registering a test set makes one"
    application = 0x464C4B4C  # "FLKL"
    tables = _tables
    head = _ledger
    links = _entries
    says = LedgerState

    def record(self) -> LedgerState:
        """Return what the entries say, checked against the other tables; raise `Damaged` if they do not agree."""
        state = super().record()
        key = self.connection.execute(sa.select(_ledger.c.key)).scalar()
        if hash_of_key(str(key or "")) != state.key_hash:
            raise Damaged("its key is not the one it was opened with")
        budgets = {
            name: (budget, spent)
            for name, budget, spent in self.connection.execute(sa.select(_accounts))
        }
        if budgets != {
            name: (account.budget, account.spent) for name, account in state.accounts.items()
        }:
            raise Damaged("what its budgets say is not what its entries add up to")
        return state

    def key(self) -> bytes:
        """Return the key of the seals."""
        return bytes.fromhex(self.connection.execute(sa.select(_ledger.c.key)).scalar_one())

    def charge(self, name: str, budget: int, charged: int) -> None:
        """Charge a budget, which is opened if it is not there; the database refuses to overspend it."""
        where = _accounts.c.name == name
        change = sa.update(_accounts).where(where).values(spent=_accounts.c.spent + charged)
        if not self.connection.execute(change).rowcount:
            self.connection.execute(
                sa.insert(_accounts).values(name=name, budget=budget, spent=charged)
            )

    def beside(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the account an entry is about."""
        return {"account": body.get("name")}

    def opening(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a new key for the head, and its hash for the first entry."""
        key = secrets.token_hex(32)
        return {"key": key}, {"key": hash_of_key(key)}
