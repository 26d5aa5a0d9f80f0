"""Many audits at once: configurations, an engine, a store, and the tables over seeds.

A model is trained for each configuration, and the attacker knows its target tolerance. Results come one by one, in the
order in which they finish, and are kept at once, so that a sweep ended at any moment goes on later where it was.
"""

from .point import (
    PAPER_TOLERANCES,
    TOLERANCES,
    SweepPoint,
    SweepSettings,
    grid,
    measure,
)
from .summary import SweepRow, summarise, summary_frame, table_three

__all__ = [
    "PAPER_TOLERANCES",
    "TOLERANCES",
    "SweepPoint",
    "SweepRow",
    "SweepSettings",
    "grid",
    "measure",
    "summarise",
    "summary_frame",
    "table_three",
]
