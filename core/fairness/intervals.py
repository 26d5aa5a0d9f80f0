"""Unfairness measured on a sample, as an estimate for the people the sample was drawn from."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate
from core.fairness.metrics import GroupRate, group_rates

__all__ = ["unfairness_estimate"]


def unfairness_estimate(
    predictions: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    metric: str,
    labels: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Return the unfairness between two groups with an interval.

    Parameters
    ----------
    predictions, sensitive, metric, labels
        As for `core.fairness.unfairness`; exactly two groups.
    level : float in (0, 1)

    Notes
    -----
    With two groups the unfairness of a row set is w·|r₁ − r₀|, w the share of the larger group. The interval of the
    difference is Newcombe's (1998, method 10) from the groups' Wilson intervals; folded at 0 because of the absolute
    value. Equalized odds takes the larger of two row sets, each at level 1 − (1 − level)/2.
    """
    parts: dict[str, list[GroupRate]] = defaultdict(list)
    for rate in group_rates(predictions, sensitive, metric=metric, labels=labels):
        parts[rate.part].append(rate)
    each = 1 - (1 - level) / len(parts)
    found = [_part(rates, each) for rates in parts.values()]
    return Estimate(
        value=max(f.value for f in found),
        low=max(f.low for f in found),
        high=max(f.high for f in found),
        n=sum(f.n for f in found),
        level=level,
    )


def _part(rates: list[GroupRate], level: float) -> Estimate:
    from core.estimates import proportion

    if len(rates) != 2:
        raise InputError(f"An interval for the unfairness needs two groups in '{rates[0].part}', got {len(rates)}.")
    r0, r1 = (proportion(round(r.rate.value * r.count), r.count, level=level) for r in rates)
    n = r0.n + r1.n
    weight = max(r0.n, r1.n) / n
    d = r1.value - r0.value
    low = d - math.hypot(r1.value - r1.low, r0.high - r0.value)
    high = d + math.hypot(r1.high - r1.value, r0.value - r0.low)
    folded_low = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return Estimate(
        value=weight * abs(d), low=weight * folded_low, high=weight * max(abs(low), abs(high)), n=n, level=level
    )
