"""Many audits at once: configurations, an engine that measures them anywhere, a store, and the tables over seeds.

Each configuration is trained anew and the attacker is told the very tolerance it was trained for. Results come one
by one, in the order in which they finish, and are kept at once, so that a sweep ended at any moment goes on later
where it was.
"""

from core.sweep.configurations import PAPER_TOLERANCES, TOLERANCES, grid, tolerance_configs
from core.sweep.engine import sweep
from core.sweep.identity import environment, point_key
from core.sweep.point import SweepPoint, measure
from core.sweep.store import FolderStore, MemoryStore
from core.sweep.summary import Spread, SweepRow, SweepSummary, summarise
from core.sweep.tables import table_three

__all__ = [
    "PAPER_TOLERANCES",
    "TOLERANCES",
    "FolderStore",
    "MemoryStore",
    "Spread",
    "SweepPoint",
    "SweepRow",
    "SweepSummary",
    "environment",
    "grid",
    "measure",
    "point_key",
    "summarise",
    "sweep",
    "table_three",
    "tolerance_configs",
]
