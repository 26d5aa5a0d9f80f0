"""Rates, gaps and intervals of small, uneven populations are as they were; what cannot be compared is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.stats import fairness
from core.stats.estimates import Estimate, not_measured, proportion
from tests.golden.numbers import NamedValues, compare_numbers, refused

PEOPLE: dict[str, tuple[Any, Any, Any]] = {
    "two uneven groups": (
        [1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 1, 0, 1, 1] + [0] * 5,
    ),
    "names, one of a single person": ([1, 0, 0, 1, 0, 1, 1], list("bbbaaca"), [1, 1, 0, 0, 1, 1, 0]),
    "a group without a label 1": (
        [1, 0, 1, 1, 0, 0, 1, 0, 1],
        [0, 0, 0, 2, 2, 1, 1, 1, 1],
        [0, 1, 1, 0, 0, 1, 0, 1, 1],
    ),
    "five groups": ([1, 0] * 5 + [1] * 4, [4, 4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 1, 0], [0, 1, 1, 1, 0, 0, 1] * 2),
    "one group of numbers": ([1, 0, 0, 1, 1], [3, 3, 3, 3, 3], [1, 0, 1, 0, 0]),
    "nobody accepted": ([0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]),
    "accepted by group": ([1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1, 1]),
    "one label": ([1, 0, 1, 0, 1], [0, 0, 0, 1, 1], [1, 1, 1, 1, 1]),
}
"""Name -> (predictions, groups, labels)."""


def _estimate() -> NamedValues:
    for name, (predictions, groups, labels) in PEOPLE.items():
        for metric in fairness.METRICS:
            for code in (np.asarray, lambda values: np.asarray(values, dtype=np.uint8)):
                if code is np.asarray or np.asarray(groups).dtype.kind == "i":
                    estimate = refused(
                        fairness.unfairness_estimate, predictions, code(groups), metric=metric, labels=labels
                    )
                    yield f"{name}, {metric}", estimate


def _rates() -> NamedValues:
    for name, (predictions, groups, labels) in PEOPLE.items():
        for metric in ("statistical_parity", "equalized_odds"):
            rates = refused(fairness.group_rates, predictions, groups, metric=metric, labels=labels)
            if not isinstance(rates, str):
                yield f"{name}, {metric}: apart", fairness.difference_of_rates(rates)


def _edges() -> NamedValues:
    for achieved in (0.0, 0.02, 0.02 + 9e-13, 0.02 + 2e-12, 0.019, 0.019 + 1e-10, 0.0195, 0.021, 1.0):
        yield f"{achieved!r} of 0.02", [fairness.keeps(achieved, 0.02), fairness.is_smallest(0.02, achieved)]
    rates = [proportion(hits, n) for hits, n in ((2, 7), (3, 4), (0, 1), (1, 1), (5, 12))]
    nothing, unknown = not_measured(), Estimate(value=math.nan, low=math.nan, high=math.nan, n=4)
    for index, rate in enumerate(rates):
        yield f"from all {index}", fairness.distance_from_all(rate, rates[index - 1])
    parts = ([], [rates[:1]], [rates[:2]], [rates[:2], rates[2:]], [rates[3:], rates[:1]], [[rates[0], nothing]])
    for index, part in enumerate((*parts, [[rates[0], unknown, rates[1]]], [[nothing, rates[4], rates[3]], rates[:1]])):
        yield f"largest {index}", fairness.largest_difference(part)
    for metric in fairness.METRICS:
        yield metric, fairness.difference_title(metric)


CASES: dict[str, Callable[[], NamedValues]] = {
    "estimate": _estimate,
    "rates": _rates,
    "edges": _edges,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"fairness_{case}", CASES[case]())
