"""What a tree spends, slot by slot, against a table worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.models import BudgetLedger, DPID3Classifier


def ledger(accounting: str) -> BudgetLedger:
    return BudgetLedger(accounting=accounting, asked=12.0, depth=2, n_attributes=4)  # a slot is 12 / (2 · 3) = 2


def rows(accounting: str, level: int) -> list[tuple[int, str, int, float]]:
    return [(e.level, e.slot, e.tables, e.each) for e in ledger(accounting).path(level)]


def test_savings():
    above = [(0, "node size", 1, 2.0), (0, "attributes", 4, 0.5), (1, "node size", 1, 2.0)]
    assert rows("savings", 0) == [(0, "node size", 1, 2.0), (0, "leaf counts", 1, 10.0)]
    assert rows("savings", 1) == [*above, (1, "leaf counts", 1, 6.0)]
    assert rows("savings", 2) == [*above, (1, "attributes", 3, 2 / 3), (2, "leaf counts", 1, 4.0)]


def test_literal():
    above = [(0, "node size", 1, 2.0), (0, "attributes", 8, 0.25), (1, "node size", 1, 2.0)]
    assert rows("literal", 0) == [(0, "node size", 1, 2.0), (0, "leaf counts", 1, 2.0)]
    assert rows("literal", 2) == [
        *above,
        (1, "attributes", 6, 1 / 3),
        (2, "node size", 1, 2.0),
        (2, "leaf counts", 1, 2.0),
    ]


def test_naive():
    told = ledger("naive")
    assert rows("naive", 1) == [
        (0, "true counts", 1, math.inf),
        (0, "attributes", 8, 12.0),
        (1, "true counts", 1, math.inf),
        (1, "leaf counts", 1, 12.0),
    ]
    assert told.counts_total == 12.0 * (8 + 6 + 1)
    assert math.isinf(told.total)


def test_a_trees_ledger_is_of_the_depth_it_may_reach_not_of_the_one_it_reached():
    x = np.zeros((5, 3), dtype=int)
    made = DPID3Classifier(1.0, 9, 0, domains=(2, 2, 2), classes=(0, 1)).fit(x, [0, 1, 0, 1, 0])
    assert made.depth_ == 0 and made.budget_ledger_.depth == 3
    assert made.budget_ledger_.total == pytest.approx(1.0, abs=1e-9)
