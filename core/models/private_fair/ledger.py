"""What a private and fair tree spends: part of the budget on the tree, the rest on one table of counts.

The counts are those of a tree that was itself made from the records, so the two parts add up (adaptive sequential
composition). One record is in one cell of the table, so its sensitivity is 1 for one record more or less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.models.dp_id3.ledger import BudgetLedger, LedgerEntry
from core.results import Result

if TYPE_CHECKING:
    import pandas


TREE_SHARE = 0.75
"""Share of the budget the tree gets. It asks many small counts, the other part a single table of large ones."""


def parts(epsilon: float, tree_share: float) -> tuple[float, float]:
    """Return what the tree and what the counts may spend; together epsilon, or both infinite."""
    if math.isinf(epsilon):
        return math.inf, math.inf
    tree = tree_share * epsilon
    return tree, epsilon - tree


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFairLedger(Result):
    """What was spent; it depends on the settings and the public domains only, never on the records.

    Attributes
    ----------
    asked : float
        Epsilon the model was trained with.
    tree : BudgetLedger
        Of the tree.
    counts : float
        Epsilon of the counts by group, the tree's decision and label; 0 where none were asked for.
    """

    asked: float
    tree: BudgetLedger
    counts: float

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """Return the slots of the tree's longest path, then the counts as a slot of the level after it."""
        if self.counts == 0:
            return self.tree.entries
        last = LedgerEntry(level=self.tree.depth + 1, slot="group counts", tables=1, each=self.counts)
        return (*self.tree.entries, last)

    @property
    def total(self) -> float:
        """Return what the whole model costs."""
        spent = [entry.epsilon for entry in self.entries]
        return math.inf if math.inf in spent else math.fsum(spent)

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a slot."""
        import pandas as pd

        return pd.DataFrame([{**entry.to_dict(), "epsilon": entry.epsilon} for entry in self.entries])
