"""The interval of an unfairness between groups."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.fairness import METRICS, unfairness, unfairness_estimate


@pytest.mark.parametrize("metric", METRICS)
def test_the_value_is_the_unfairness_and_lies_in_its_interval(metric: str) -> None:
    rng = np.random.default_rng(0)
    for groups in (2,) * 40 + (3, 5) * 20:
        s, y, p = (rng.integers(0, k, 120).astype(np.uint8) for k in (groups, 2, 2))
        found = unfairness_estimate(p, s, metric=metric, labels=y)
        assert found.value == pytest.approx(unfairness(p, s, metric=metric, labels=y))
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_equal_groups_have_an_interval_that_begins_at_zero() -> None:
    p, s = np.tile([0, 1], 100), np.repeat([0, 1], 100)
    found = unfairness_estimate(p, s, metric="statistical_parity")
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high > 0.05


def test_coverage_at_a_real_gap_and_at_none() -> None:
    rng = np.random.default_rng(1)
    s = np.repeat([0, 1], [600, 300])
    for gap in (0.0, 0.1):
        truth = gap * 600 / 900
        hits = 0
        for _ in range(600):
            p = (rng.random(900) < 0.3 + gap * s).astype(np.uint8)
            found = unfairness_estimate(p, s, metric="statistical_parity")
            hits += found.low <= truth <= found.high
        assert 0.92 <= hits / 600 <= 0.985


def test_coverage_with_four_groups() -> None:
    rng = np.random.default_rng(2)
    s = np.repeat([0, 1, 2, 3], [500, 300, 150, 50])
    rate = np.array([0.4, 0.4, 0.3, 0.6])
    overall = float(rate[s].mean())
    truth = float(np.abs(rate - overall).max())
    hits = sum(
        found.low <= truth <= found.high
        for p in (rng.random((400, 1000)) < rate[s])
        for found in [unfairness_estimate(p, s, metric="statistical_parity")]
    )
    assert hits / 400 >= 0.94


def test_it_needs_two_groups() -> None:
    with pytest.raises(InputError, match="needs two groups"):
        unfairness_estimate([0, 1, 1], [2, 2, 2], metric="statistical_parity")
