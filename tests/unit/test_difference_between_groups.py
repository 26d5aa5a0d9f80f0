"""The difference between groups is Fairlearn's, has an interval, and stands wherever the unfairness does."""

from __future__ import annotations

import numpy as np
import pytest
from fairlearn import metrics as fairlearn

from core.errors import InputError
from core.estimates import proportion
from core.fairness import (
    METRICS,
    difference_between_groups,
    difference_of_rates,
    difference_title,
    group_rates,
    largest_difference,
    unfairness,
)

THEIRS = {
    "statistical_parity": fairlearn.demographic_parity_difference,
    "predictive_equality": fairlearn.false_positive_rate_difference,
    "equal_opportunity": fairlearn.equal_opportunity_difference,
    "equalized_odds": fairlearn.equalized_odds_difference,
}


@pytest.mark.parametrize("metric", METRICS)
def test_it_is_fairlearns_and_never_below_the_unfairness(metric: str) -> None:
    rng = np.random.default_rng(0)
    for k in (2, 2, 2, 3, 5):
        s, y, p = (rng.integers(0, m, 150).astype(np.uint8) for m in (k, 2, 2))
        ours = difference_between_groups(p, s, metric=metric, labels=y)
        assert ours == pytest.approx(THEIRS[metric](y, p, sensitive_features=s), abs=1e-12)
        assert ours >= unfairness(p, s, metric=metric, labels=y)
        found = difference_of_rates(group_rates(p, s, metric=metric, labels=y))
        assert found.value == pytest.approx(ours) and 0 <= found.low <= ours <= found.high <= 1


def test_names_of_groups_and_bad_input() -> None:
    assert difference_between_groups([1, 1, 0, 0], ["a", "b", "b", "b"], metric="statistical_parity") == 1 - 1 / 3
    assert difference_between_groups([1, 0], [3, 3], metric="statistical_parity") == 0.0
    with pytest.raises(InputError, match="labels must be given"):
        difference_between_groups([1, 0], [0, 1], metric="equal_opportunity")
    assert "demographic parity difference" in difference_title("statistical_parity")


def test_rates_that_are_printed_give_the_same_number() -> None:
    rng = np.random.default_rng(2)
    s, p = rng.integers(0, 3, 400), rng.integers(0, 2, 400)
    rates = [proportion(int(p[s == g].sum()), int((s == g).sum())) for g in range(3)]
    assert largest_difference([rates]) == difference_of_rates(group_rates(p, s, metric="statistical_parity"))
    assert np.isnan(largest_difference([rates[:1]]).value)


@pytest.mark.parametrize("rates", [(0.3, 0.3), (0.3, 0.4), (0.2, 0.2, 0.35, 0.35)])
def test_the_interval_covers_the_truth(rates: tuple[float, ...]) -> None:
    rng = np.random.default_rng(3)
    s = np.repeat(np.arange(len(rates)), 300)
    truth = max(rates) - min(rates)
    hits = 0
    for p in (rng.random((300, s.size)) < np.asarray(rates)[s]).astype(np.uint8):
        found = difference_of_rates(group_rates(p, s, metric="statistical_parity"))
        hits += found.low <= truth <= found.high
    assert hits / 300 >= 0.92
