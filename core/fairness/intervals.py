"""Unfairness measured on a sample, as an estimate for the people the sample was drawn from."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate, proportion
from core.fairness.metrics import GroupRate, group_rates
from core.strongest import strongest

__all__ = ["unfairness_estimate"]


def unfairness_estimate(
    predictions: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    metric: str,
    labels: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Return the unfairness between groups with an interval.

    Parameters
    ----------
    predictions, sensitive, metric, labels
        As for `core.fairness.unfairness`; at least two groups in every row set.
    level : float in (0, 1)

    Notes
    -----
    A group's distance from the rate of its row set is w·|r₁ − r₀|, r₁ its own rate, r₀ that of everybody else and w
    their share. The interval of the difference is Newcombe's (1998, method 10) from the Wilson intervals of both,
    folded at 0 because of the absolute value. Of several such distances (over groups and row sets; the two of two
    groups are one) it is that of `core.strongest`, which also holds where a policy widens it.
    """
    parts: dict[str, list[GroupRate]] = defaultdict(list)
    for rate in group_rates(predictions, sensitive, metric=metric, labels=labels):
        parts[rate.part].append(rate)
    for part, rates in parts.items():
        if len(rates) < 2:
            raise InputError(f"An interval for the unfairness needs two groups in '{part}', got {len(rates)}.")
    compared = [(rate, rates) for rates in parts.values() for rate in _distinct(rates)]
    found = {str(place): _distance(rate, rates, level) for place, (rate, rates) in enumerate(compared)}
    _, largest = strongest(found, within=(0.0, 1.0))
    return replace(largest, n=sum(rate.count for rates in parts.values() for rate in rates))


def _distinct(rates: list[GroupRate]) -> list[GroupRate]:
    """Return the groups to compare with the others; of two, the smaller, which lies farther from their common rate."""
    return [min(rates, key=lambda rate: rate.count)] if len(rates) == 2 else rates


def _distance(rate: GroupRate, rates: list[GroupRate], level: float) -> Estimate:
    """Return the distance of one group's rate from the rate of its row set."""
    n = sum(r.count for r in rates)
    hits = sum(round(r.rate.value * r.count) for r in rates)
    own = round(rate.rate.value * rate.count)
    r1 = proportion(own, rate.count, level=level)
    r0 = proportion(hits - own, n - rate.count, level=level)
    weight = r0.n / n
    d = r1.value - r0.value
    low = d - math.hypot(r1.value - r1.low, r0.high - r0.value)
    high = d + math.hypot(r1.high - r1.value, r0.value - r0.low)
    folded_low = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return Estimate(
        value=weight * abs(d), low=weight * folded_low, high=weight * max(abs(low), abs(high)), n=n, level=level
    )
