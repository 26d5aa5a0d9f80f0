"""Four group fairness metrics over any number of groups.

Each metric looks at one or two row sets (all rows, the rows with label 0, the rows with label 1) and compares, on
each of them, every group's rate of positive predictions with the rate of the whole row set. The unfairness is the
largest absolute difference, so it does not depend on how groups are named or ordered. A group without a record in a
row set has no rate there and is left out of the comparison.

Intervals: unfairness and difference between groups of a sample, for the people it was drawn from.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.serialize import Result
from ..base.validation import Codes, Ints, Mask, binary_array, choice, one_length
from .estimates import Estimate, difference, not_measured, proportion, strongest, weighted_sum

METRIC_TITLES = {
    "statistical_parity": "Statistical parity",
    "predictive_equality": "Predictive equality",
    "equal_opportunity": "Equal opportunity",
    "equalized_odds": "Equalized odds",
}
"""What a page calls each metric."""

METRICS = tuple(METRIC_TITLES)
"""The metrics by name."""

_FAIRLEARN_NAMES = {
    "statistical_parity": "demographic parity difference",
    "predictive_equality": "false positive rate difference",
    "equal_opportunity": "equal opportunity difference",
    "equalized_odds": "equalized odds difference",
}

UNFAIRNESS_TITLE = "Unfairness (largest deviation of a group from the overall rate)"
"""What a page calls `unfairness` where it first names it."""

TOLERANCE_STEP = 0.001
"""Steps in which a tolerance is raised until it holds."""


def keeps(achieved: float, tolerance: float) -> bool:
    """Return whether an unfairness keeps to a tolerance; one that is equal but for rounding does."""
    return achieved <= tolerance + 1e-12


def is_smallest(tolerance: float, achieved: float) -> bool:
    """Return whether a tolerance is the smallest, in steps of `TOLERANCE_STEP`, that an unfairness keeps to."""
    return -1e-9 <= tolerance - achieved < TOLERANCE_STEP - 1e-9


def difference_title(metric: str) -> str:
    """Return what a page calls `difference_between_groups`, with Fairlearn's name for this metric."""
    return f"Difference between groups (Fairlearn's {_FAIRLEARN_NAMES[metric]})"


LABELS_COMPARED = {
    "statistical_parity": (),
    "predictive_equality": (0,),
    "equal_opportunity": (1,),
    "equalized_odds": (0, 1),
}
"""Metric -> the labels whose people it compares group by group; without any, everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRate(Result):
    """One group's rate of positive predictions on one row set.

    The row set, `part`, is "all", "label 0" or "label 1"; `count` is the group's records in it, `overall` the rate of
    all.
    """

    part: str
    group: Any
    count: int
    rate: Estimate
    overall: Estimate


def row_sets(metric: str, labels: npt.ArrayLike | None, n: int) -> list[tuple[str, Mask | None]]:
    """Return the row sets a metric compares groups on.

    Each has a name and a mask, None for all rows; a mask may select no row. The metric is one of `METRICS`; labels, 0
    or 1, of shape (n,), are needed by all but statistical parity, which ignores them. Raises `InputError` if the metric
    is unknown, or its labels are missing or have another length.
    """
    compared = LABELS_COMPARED[choice(metric, METRICS, name="metric")]
    if not compared:
        return [("all", None)]
    if labels is None:
        raise InputError(
            f"labels must be given for {metric}, which compares groups within a label."
        )
    label_codes = binary_array(labels, name="labels")
    if label_codes.size != n:
        raise InputError(f"labels must have one value a record ({n}), got {label_codes.size}.")
    return [(f"label {value}", label_codes == value) for value in compared]


def unfairness(
    predictions: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    metric: str,
    labels: npt.ArrayLike | None = None,
) -> float:
    """Return the largest distance between a group's rate of positive predictions and the overall rate.

    It lies in [0, 1). Predictions, 0 or 1, groups, numbers or names and any number of them, and true labels, 0 or 1,
    have shape (n,); all metrics but statistical parity need the labels. Of `METRICS`, equalized odds is the larger of
    predictive equality and equal opportunity.

    Raises `InputError` if an argument breaks its rule, labels are missing, or a row set is empty.
    """
    worst = 0.0
    for _, _, size, positive in _tallies(predictions, sensitive, metric, labels):
        worst = max(worst, float(np.abs(positive / size - positive.sum() / size.sum()).max()))
    return worst


def difference_between_groups(
    predictions: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    metric: str,
    labels: npt.ArrayLike | None = None,
) -> float:
    """Return the largest difference between two groups' rates of positive predictions.

    It is what `fairlearn.metrics` calls demographic parity difference, false positive rate difference, equal
    opportunity difference and equalized odds difference, and at least as large as `unfairness`, whose parameters and
    errors it has. It lies in [0, 1], and is 0 where a row set has one group only.
    """
    return max(
        float(np.ptp(positive / size))
        for _, _, size, positive in _tallies(predictions, sensitive, metric, labels)
    )


def group_rates(
    predictions: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    metric: str,
    labels: npt.ArrayLike | None = None,
) -> tuple[GroupRate, ...]:
    """Return every group's rate on every row set of the metric, with intervals.

    The arguments and errors are those of `unfairness`; groups come in sorted order within each row set.
    """
    rates = []
    for part, groups, size, positive in _tallies(predictions, sensitive, metric, labels):
        overall = proportion(int(positive.sum()), int(size.sum()))
        for group, count, hits in zip(groups, size.tolist(), positive.tolist(), strict=True):
            rates.append(
                GroupRate(
                    part=part,
                    group=group,
                    count=count,
                    rate=proportion(hits, count),
                    overall=overall,
                )
            )
    return tuple(rates)


_Tally = tuple[str, list[Any], Ints, Ints]


def _tallies(
    predictions: npt.ArrayLike, sensitive: npt.ArrayLike, metric: str, labels: npt.ArrayLike | None
) -> list[_Tally]:
    """Return (part, groups, records of each group, positive predictions of each group) for each row set."""
    predicted = binary_array(predictions, name="predictions")
    (names, codes) = group_codes(sensitive)
    parts = row_sets(metric, labels, one_length(predictions=predicted, sensitive=codes))
    tallies = []
    for part, rows in parts:
        size, positive = group_counts(predicted, codes, rows, len(names))
        present = size > 0
        if not present.any():
            raise InputError(
                f"The metric {metric} needs at least one record in each row set, got none in '{part}'."
            )
        present_names = [
            name for name, is_present in zip(names, present, strict=True) if is_present
        ]
        tallies.append((part, present_names, size[present], positive[present]))
    return tallies


def group_codes(sensitive: npt.ArrayLike) -> tuple[list[Any], npt.NDArray[Any]]:
    """Return the groups' names in sorted order and each record's index into them; arrays of 0 and 1 are not copied."""
    groups = np.asarray(sensitive)
    if groups.ndim != 1:
        raise InputError(f"sensitive must be one-dimensional, got {groups.ndim} dimensions.")
    if groups.dtype == np.bool_:
        return [False, True], groups.view(np.uint8)
    if groups.dtype == np.uint8 and groups.size and groups.max() <= 1:
        return [0, 1], groups
    try:
        names, codes = np.unique(groups, return_inverse=True)
    except TypeError:
        raise InputError(
            "sensitive must hold values of one kind, got a mix that cannot be ordered."
        ) from None
    return names.tolist(), codes


def group_counts(
    predicted: Codes, codes: npt.NDArray[Any], rows: Mask | None, k: int
) -> tuple[Ints, Ints]:
    """Return the size and the number of positive predictions of each of k groups within the rows (None for all)."""
    if k > 2 or codes.dtype != np.uint8:
        inside = slice(None) if rows is None else rows
        size = np.bincount(codes[inside], minlength=k)
        return size, np.bincount(codes[inside][predicted[inside] == 1], minlength=k)
    if rows is not None:
        predicted = predicted & rows
        codes = codes & rows
    n = predicted.size if rows is None else np.count_nonzero(rows)
    ones, positive, selected_ones = (
        np.count_nonzero(x) for x in (codes, predicted, predicted & codes)
    )
    return np.array([n - ones, ones]), np.array([positive - selected_ones, selected_ones])


def unfairness_estimate(
    predictions: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    metric: str,
    labels: npt.ArrayLike | None = None,
) -> Estimate:
    """Return the unfairness between groups with an interval; at least two groups are in every row set.

    A group's distance from the rate of its row set is w·|r₁ − r₀|, r₁ its own rate, r₀ that of everybody else and w
    their share. The interval of the difference is Newcombe's (1998, method 10) from the Wilson intervals of both,
    folded at 0 because of the absolute value. Of several such distances (over groups and row sets; the two of two
    groups are one) it is that of `core.stats.estimates`, which also holds where a policy widens it.
    """
    parts: dict[str, list[GroupRate]] = defaultdict(list)
    for rate in group_rates(predictions, sensitive, metric=metric, labels=labels):
        parts[rate.part].append(rate)
    distances: list[Estimate] = []
    for part, rates in parts.items():
        if len(rates) < 2:
            raise InputError(
                f"An interval for the unfairness needs two groups in '{part}', got {len(rates)}."
            )
        # of two groups the smaller, which lies farther from their common rate
        if len(rates) == 2:
            compared = [min(rates, key=lambda rate: rate.count)]
        else:
            compared = rates
        distances += [_distance(rate, rates) for rate in compared]
    _, largest = strongest(
        {str(index): distance for index, distance in enumerate(distances)}, within=(0.0, 1.0)
    )
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
    measured_parts = [
        [rate for rate in part if rate.n and not math.isnan(rate.value)] for part in parts
    ]
    pairs = [pair for part in measured_parts for pair in combinations(part, 2)]
    n = sum(rate.n for part in measured_parts for rate in part)
    if not pairs:
        return replace(not_measured(), n=n)
    differences = {str(index): difference(*pair).folded() for index, pair in enumerate(pairs)}
    return replace(strongest(differences, within=(0.0, 1.0))[1], n=n)


def distance_from_all(group_rate: Estimate, rest_rate: Estimate) -> Estimate:
    """Return how far a group's rate lies from everybody's, from its own rate and that of all others."""
    share = rest_rate.n / (group_rate.n + rest_rate.n)
    return weighted_sum([(share, group_rate), (-share, rest_rate)]).folded()


def _distance(rate: GroupRate, rates: list[GroupRate]) -> Estimate:
    """Return the distance of one group's rate from the rate of its row set."""
    n = sum(r.count for r in rates)
    hits = sum(map(_hits, rates))
    group_hits = _hits(rate)
    r1 = proportion(group_hits, rate.count)
    r0 = proportion(hits - group_hits, n - rate.count)
    return distance_from_all(r1, r0)


def _hits(rate: GroupRate) -> int:
    return round(rate.rate.value * rate.count)
