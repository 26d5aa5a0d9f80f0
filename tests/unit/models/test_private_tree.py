"""A black-box audit of private trees: grown thousands of times on two neighbouring tables, told apart by outcome.

Half the runs choose the set of outcomes that tells most, the other half test it. P(set | one) is bounded from below
and P(set | other) from above by Clopper and Pearson (1934), so ε is at least the logarithm of their ratio. Neighbours
differ by one record that the second table has more.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from core.models.id3 import grow
from core.models.tree_budget import BudgetLedger
from tests.oracles.exact_limits import exact_limits

EPSILON = 2.0
RUNS = 1600
LEVEL = 0.999  # six audits of kept promises: one is called broken in fewer than one of a hundred such files
SIZES = np.array([2, 2])
EVERYBODY = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])

Outcome = tuple[object, ...]


@dataclass(frozen=True)
class Pair:
    """A table and the record that its neighbour has more: codes of both columns, then the label."""

    table: tuple[tuple[int, int, int], ...]
    record: tuple[int, int, int]

    @property
    def both(self) -> tuple[np.ndarray, np.ndarray]:
        return tuple(np.array(rows, dtype=np.int64).reshape(-1, 3) for rows in (self.table, (*self.table, self.record)))  # type: ignore[return-value]


PAIRS = {
    "nobody": Pair((), (0, 1, 1)),
    "one label": Pair(((0, 0, 0),) * 6, (0, 0, 1)),
    "many": Pair(((0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1)) * 12, (1, 1, 0)),
}


def outcomes(rows: np.ndarray, ledger: BudgetLedger, rng: np.random.Generator) -> list[Outcome]:
    """Return what trees show: the attributes they ask, and the share of label 1 in each leaf, to one digit."""
    told = []
    for _ in range(RUNS):
        tree = grow(rows[:, :2].T, rows[:, 2], sizes=SIZES, n_classes=2, ledger=ledger, rng=rng)
        shares = tree.answer[tree.leaves(EVERYBODY), 1].round(1)
        told.append((*tree.attribute.tolist(), *shares.tolist()))
    return told


def certified(one: list[Outcome], other: list[Outcome]) -> float:
    """Return the privacy loss that outcomes certify at least, 0 if none."""
    half = len(one) // 2
    best = 0.0
    for likely, rare in ((one, other), (other, one)):
        a, b = Counter(likely[:half]), Counter(rare[:half])
        ordered = sorted(a, key=lambda outcome: (a[outcome] + 1) / (b[outcome] + 1), reverse=True)
        sets = [frozenset(ordered[: i + 1]) for i in range(len(ordered))]
        chosen = max(sets, key=lambda s: bound(sum(a[x] for x in s), sum(b[x] for x in s), half, 1 - 1e-5))
        hits = [sum(x in chosen for x in runs[half:]) for runs in (likely, rare)]
        best = max(best, bound(*hits, half, 1 - (1 - LEVEL) / 4))  # two directions, two limits each
    return best


def bound(hits: int, others: int, n: int, level: float) -> float:
    low, high = exact_limits(hits, n, level=level)[0], exact_limits(others, n, level=level)[1]
    return math.log(low / high) if low > 0 else 0.0


def audit(pair: Pair, accounting: str) -> float:
    ledger = BudgetLedger(accounting=accounting, asked=EPSILON, depth=1, n_attributes=2)
    rng = np.random.default_rng(5)
    one, other = (outcomes(rows, ledger, rng) for rows in pair.both)
    return certified(one, other)


@pytest.mark.parametrize("accounting", ["savings", "literal"])
def test_no_more_than_the_budget_is_certified(accounting: str):
    found = {name: audit(pair, accounting) for name, pair in PAIRS.items()}
    assert max(found.values()) <= EPSILON
    assert max(found.values()) > EPSILON / 10  # the audit is not blind


def test_the_naive_tree_is_caught():
    assert audit(PAIRS["one label"], "naive") > 2 * EPSILON


def test_an_audit_certifies_nothing_between_equal_tables():
    ledger = BudgetLedger(accounting="savings", asked=EPSILON, depth=1, n_attributes=2)
    rng, rows = np.random.default_rng(6), PAIRS["many"].both[0]
    assert certified(outcomes(rows, ledger, rng), outcomes(rows, ledger, rng)) == 0.0
