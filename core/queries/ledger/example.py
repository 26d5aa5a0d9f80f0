"""A ledger in memory, for examples: it holds no lock against anybody and is gone with the process."""

from __future__ import annotations

import random

from core.queries.ledger.desk import Ledger


def example_ledger(seed: int) -> Ledger:
    """Return an empty ledger in memory whose noise follows from a seed, so never one for real people."""
    import sqlalchemy as sa

    from core.queries.ledger.places import fill
    from core.queries.ledger.store import Store

    engine = sa.create_engine(
        "sqlite+pysqlite://", poolclass=sa.pool.StaticPool, connect_args={"check_same_thread": False}
    )
    store = Store(engine, "in memory", lambda step: None)
    fill(store)
    return Ledger(store, random.Random(seed).randrange)
