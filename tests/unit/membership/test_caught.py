"""The interval of members caught at a rate of false alarms: over outsiders, and so over thresholds, and members."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from core.membership.caught import caught_estimate

from core.estimates import Estimate, proportion
from core.membership import roc


def drawn(members: np.ndarray, outsiders: np.ndarray, fpr: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of a bootstrap that draws the people themselves."""
    allowed, found = int(fpr * outsiders.size), []
    for _ in range(4000):
        threshold = np.sort(rng.choice(outsiders, outsiders.size))[::-1][allowed]
        found.append(float((rng.choice(members, members.size) > threshold).mean()))
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize("decimals", [None, 1])
def test_the_interval_is_that_of_a_bootstrap_over_people(decimals: int | None):
    rng = np.random.default_rng(3)
    members, outsiders = rng.normal(1.0, 1.0, 150), rng.normal(0.0, 1.0, 300)
    if decimals is not None:  # ties
        members, outsiders = members.round(decimals), outsiders.round(decimals)
    found = roc(np.concatenate([members, outsiders]), np.repeat([1, 0], [150, 300])).tpr_at(0.1)
    low, high = drawn(members, outsiders, 0.1, rng)
    assert found.low == pytest.approx(low, abs=0.015) and found.high == pytest.approx(high, abs=0.015)


def test_nothing_leaks_and_hardly_any_interval_lies_above_the_rate():
    rng, member = np.random.default_rng(0), np.repeat([1, 0], 1000)
    estimates = [roc(rng.standard_normal(2000), member).tpr_at(0.01) for _ in range(300)]
    assert sum(found.low > 0.01 for found in estimates) <= 12  # 2.5% of 300, and two standard errors
    fixed = [proportion(round(found.value * 1000), 1000) for found in estimates]
    assert sum(found.low > 0.01 for found in fixed) > 20  # a threshold taken as given would


def test_the_interval_holds_the_rate_among_all_such_people():
    rng, member = np.random.default_rng(1), np.repeat([1, 0], 1000)
    truth = 1.0 - NormalDist().cdf(NormalDist().inv_cdf(0.99) - 1.0)
    held = 0
    for _ in range(300):
        found = roc(rng.standard_normal(2000) + member, member).tpr_at(0.01)
        held += found.low <= truth <= found.high
    assert held >= 277  # 95% of 300, less two standard errors


def test_few_caught_keep_wilsons_width_and_everything_allowed_catches_everybody():
    none = caught_estimate(np.zeros(1000, dtype=np.int64), 10, 1000, 200, level=0.95)
    assert none == Estimate(value=0.0, low=0.0, high=proportion(0, 200).high, n=200)
    everybody = roc(np.arange(100), np.repeat([1, 0], 50)).tpr_at(1.0)
    assert everybody == proportion(50, 50)
