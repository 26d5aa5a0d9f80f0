"""What a differentially private ID3 tree spends, slot by slot, on the way from its root to a leaf.

A tree of depth D has D + 1 levels, and the budget B is split into 2(D + 1) slots of ε′ = B / (2(D + 1)) (Friedman and
Schuster 2010, algorithm 1): each level asks for the node's size, then either for the counts of all attributes still
open, which share a slot, or for the class counts of a leaf. Nodes of one level hold different records, so what they
spend does not add up (parallel composition): the tree costs what its costliest path costs. Neighbours are two tables
of which one has a record more; one record is in one cell of every count table, so a table's sensitivity is 1.

Three accountings:

savings
    Of an open attribute only the joint counts N_jc are released, at ε′ / |A|; the N_j are their sums. A leaf spends
    all that its path has left; at the last level, where nothing is to be decided, no size is asked.
literal
    N_j and N_jc are released separately, at ε′ / (2|A|) each, and every leaf spends ε′.
naive
    Every count gets ε, as if nothing added up, and the tree stops where the true counts are pure or empty. The first
    costs a multiple of ε, the second has no finite cost at all. It exists only to be shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.results import Result

if TYPE_CHECKING:
    import pandas


ACCOUNTINGS = ("savings", "literal", "naive")
"""Ways to split the budget; the last is not private."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry(Result):
    """One slot of one level of a path.

    Attributes
    ----------
    level : int
        0 is the root.
    slot : {"node size", "attributes", "leaf counts", "true counts"}
        What is asked; "true counts" are what the naive tree reads, without noise, in place of a node's size.
    tables : int
        Count tables released in the slot; a record is in one cell of each.
    each : float
        Epsilon of one table.
    """

    level: int
    slot: str
    tables: int
    each: float

    @property
    def epsilon(self) -> float:
        """Return what the slot spends."""
        return self.tables * self.each


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLedger(Result):
    """What a tree spends; it depends on the settings and the public domains only, never on the records.

    Attributes
    ----------
    accounting : str
        One of `ACCOUNTINGS`.
    asked : float
        Epsilon the tree was trained with.
    depth : int
        Levels below the root, at most.
    n_attributes : int
    """

    accounting: str
    asked: float
    depth: int
    n_attributes: int

    @property
    def slot(self) -> float:
        """Return ε′, the budget of one slot; of the naive tree the ε of one count."""
        return self.asked if self.accounting == "naive" else self.asked / (2 * (self.depth + 1))

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """Return the slots of a path of full length."""
        return self.path(self.depth)

    @property
    def total(self) -> float:
        """Return what the tree costs: the sum over a path of full length, infinite for the naive tree."""
        return _sum(self.entries)

    @property
    def counts_total(self) -> float:
        """Return what the noisy counts of a path of full length cost, leaving out what is read without noise."""
        return _sum(entry for entry in self.entries if entry.slot != "true counts")

    def path(self, level: int) -> tuple[LedgerEntry, ...]:
        """Return the slots of a path whose leaf is at this level, 0 to `depth`."""
        spent = [entry for above in range(level) for entry in (self.size(above), self.attributes(above))]
        if self.accounting != "savings" or level < self.depth:
            spent.append(self.size(level))
        return (*spent, LedgerEntry(level=level, slot="leaf counts", tables=1, each=self.leaf(level)))

    def size(self, level: int) -> LedgerEntry:
        """Return the entry of a node's size at this level; the naive tree reads the counts themselves."""
        if self.accounting == "naive":
            return LedgerEntry(level=level, slot="true counts", tables=1, each=math.inf)
        return LedgerEntry(level=level, slot="node size", tables=1, each=self.slot)

    def attributes(self, level: int) -> LedgerEntry:
        """Return the entry of the attributes still open at this level."""
        tables = self.n_attributes - level
        if self.accounting == "savings":
            return LedgerEntry(level=level, slot="attributes", tables=tables, each=self.slot / tables)
        each = self.slot if self.accounting == "naive" else self.slot / (2 * tables)
        return LedgerEntry(level=level, slot="attributes", tables=2 * tables, each=each)

    def leaf(self, level: int) -> float:
        """Return the epsilon of the class counts of a leaf at this level."""
        if self.accounting != "savings":
            return self.slot
        asked = 2 * level + (level < self.depth)  # slots of the path so far
        return (2 * (self.depth + 1) - asked) * self.slot

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a slot of a path of full length."""
        import pandas as pd

        return pd.DataFrame([{**entry.to_dict(), "epsilon": entry.epsilon} for entry in self.entries])


def _sum(entries: object) -> float:
    """Return the sum of what entries spend, infinity included."""
    values = [entry.epsilon for entry in entries]  # type: ignore[attr-defined]
    return math.inf if math.inf in values else math.fsum(values)
