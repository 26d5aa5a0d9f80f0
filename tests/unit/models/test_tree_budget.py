"""What a tree spends, slot by slot, against a table worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import InputError
from core.models import BudgetLedger, DPID3Classifier
from core.models.tree_budget import noisy_counts


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


@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.0, 3.0])
def test_noise_is_the_discrete_laplace_distribution(epsilon: float):
    n, decay = 200_000, math.exp(-epsilon)
    noise = noisy_counts(np.full(n, 7), epsilon, np.random.default_rng(1)) - 7
    assert noise.dtype == np.int64
    most = math.ceil(math.log(n / 50) / epsilon)
    values = np.arange(-most, most + 1)
    expected = n * (1 - decay) / (1 + decay) * decay ** np.abs(values)  # P(x) = (1 - a) / (1 + a) a^|x|
    seen = np.array([np.count_nonzero(noise == value) for value in values])
    squares = ((seen - expected)[expected >= 5] ** 2 / expected[expected >= 5]).sum()
    kept = int((expected >= 5).sum())
    assert squares < kept + 4 * math.sqrt(2 * kept)
    ratios = expected[1:] / expected[:-1]
    assert np.abs(np.log(ratios)).max() == pytest.approx(epsilon)  # one record more moves the law by e^ε, exactly


@pytest.mark.parametrize("epsilon", [5e-324, 1e-20, 9e-15, 0.0, math.nan])
def test_a_budget_whose_noise_would_cancel_is_refused(epsilon: float):
    with pytest.raises(InputError, match="The epsilon of one count must be at least 1e-14, got "):
        noisy_counts(np.zeros(3, dtype=np.int64), epsilon, np.random.default_rng(0))
