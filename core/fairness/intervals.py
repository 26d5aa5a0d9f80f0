"""Unfairness and difference between groups on a sample, as estimates for the people the sample was drawn from."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate, proportion
from core.fairness.metrics import GroupRate, group_rates
from core.strongest import strongest


def unfairness_estimate(
    predictions: npt.ArrayLike, sensitive: npt.ArrayLike, *, metric: str, labels: npt.ArrayLike | None = None
) -> Estimate:
    """Return the unfairness between groups with an interval.

    The arguments are those of `core.fairness.unfairness`, with at least two groups in every row set.

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
    found: list[Estimate] = []
    for part, rates in parts.items():
        if len(rates) < 2:
            raise InputError(f"An interval for the unfairness needs two groups in '{part}', got {len(rates)}.")
        # of two groups the smaller, which lies farther from their common rate
        compared = [min(rates, key=lambda rate: rate.count)] if len(rates) == 2 else rates
        found += [_distance(rate, rates) for rate in compared]
    _, largest = strongest({str(place): one for place, one in enumerate(found)}, within=(0.0, 1.0))
    return replace(largest, n=sum(rate.count for rates in parts.values() for rate in rates))


def difference_of_rates(rates: Iterable[GroupRate]) -> Estimate:
    """Return the difference between groups (see `difference_between_groups`) from their rates, with an interval.

    nan where no row set has rates of two groups.
    """
    parts: dict[str, list[Estimate]] = defaultdict(list)
    for rate in rates:
        parts[rate.part].append(rate.rate)
    return largest_difference(parts.values())


def largest_difference(parts: Iterable[Sequence[Estimate]]) -> Estimate:
    """Return the largest difference between two groups' rates within a row set, with an interval."""
    known = [[rate for rate in part if rate.n and not math.isnan(rate.value)] for part in parts]
    pairs = [pair for part in known for pair in combinations(part, 2)]
    n = sum(rate.n for part in known for rate in part)
    if not pairs:
        return Estimate(value=math.nan, low=math.nan, high=math.nan, n=n)
    found = {str(place): folded_difference(*pair) for place, pair in enumerate(pairs)}
    return replace(strongest(found, within=(0.0, 1.0))[1], n=n)


def folded_difference(one: Estimate, other: Estimate, *, weight: float = 1.0) -> Estimate:
    """Return |one − other| times a weight; the distances to the rates' limits add as squares and are folded at 0."""
    d = one.value - other.value
    low = d - math.hypot(one.value - one.low, other.high - other.value)
    high = d + math.hypot(one.high - one.value, other.value - other.low)
    folded_low = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return Estimate(
        value=weight * abs(d),
        low=weight * folded_low,
        high=weight * max(abs(low), abs(high)),
        n=one.n + other.n,
        level=one.level,
    )


def _distance(rate: GroupRate, rates: list[GroupRate]) -> Estimate:
    """Return the distance of one group's rate from the rate of its row set."""
    n, hits, own = sum(r.count for r in rates), sum(map(_hits, rates)), _hits(rate)
    r1, r0 = proportion(own, rate.count), proportion(hits - own, n - rate.count)
    return folded_difference(r1, r0, weight=r0.n / n)


def _hits(rate: GroupRate) -> int:
    return round(rate.rate.value * rate.count)
