"""Rates and their intervals, and how they are written, are as they were: nobody, one person, all alike, exact ties."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest

from core.stats import estimates
from core.stats.estimates import Estimate, certain, not_measured
from tests.golden.numbers import NamedValues, compare_numbers, refused

GUESSES = ([0, 0, 1, 1, 2], [0, 1, 1, 1, 0], [0, 0, 1, 0, 2])
"""The truth about five people in three groups, a guess, and a later one."""


def interval_estimate(value: float, low: float, high: float, n: int = 7) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n)


def _rates() -> NamedValues:
    yield "quantile", [refused(estimates.normal_quantile, level) for level in (0.0, 0.5, 0.95, 0.99, 1.0, math.nan)]
    yield "student", [estimates.quantile(level, k) for level in (0.9, 0.95) for k in (None, 0, 1, 5)]
    for rows in ([], [0], [0, 4], [0, 1, 2], [0, 1, 2, 3, 4]):
        truth, was, now = ([values[row] for row in rows] for values in GUESSES)
        yield f"accuracy {rows}", estimates.accuracy(truth, now)
        yield f"balanced {rows}", estimates.balanced_accuracy(truth, now)
        yield f"gain {rows}", [estimates.accuracy_gain(truth, was, now), estimates.balanced_gain(truth, was, now)]
    for won, lost, n in ((0, 0, 1), (1, 0, 1), (0, 1, 1), (3, 1, 9), (0, 9, 9)):
        yield f"paired {won} {lost} {n}", estimates.paired_gain(won, lost, n)
    for values in ([0.3, 0.3 + 5e-10], [0.3, 0.3 + 2e-9], [0.2, 0.9, 1.0], [-0.1, 1.2, 0.5]):
        yield f"mean {values}", [estimates.mean(values), estimates.mean_rate(values)]


def _combined() -> NamedValues:
    some = [
        interval_estimate(0.5, 0.2, 0.9),
        interval_estimate(0.3, 0.25, 0.6, 5),
        interval_estimate(-0.4, -0.9, -0.1, 2),
        not_measured(),
        interval_estimate(0.0, -0.2, 0.1),
        certain(0.8, 3),
    ]
    for index, estimate in enumerate(some):
        yield (
            f"{index}",
            [
                estimate.within(0.0, 0.55),
                estimate.within(0.3, 0.3),
                estimate.folded(),
                estimates.min_estimate({"a": estimate}),
            ],
        )
        yield f"{index} columns", estimates.estimate_columns("x", estimate)
        yield f"{index} plain", [estimates.plain_number(estimate.value), estimates.plain_number(None)]
    yield "no columns", estimates.estimate_columns("x", None)
    for estimate, second in product(some[:3], repeat=2):
        yield "difference", estimates.difference(estimate, second)
        yield "sum", estimates.weighted_sum([(0.25, estimate), (-0.5, second), (0.0, estimate)])
    yield "mean of rates", [estimates.equal_mean(some[:k], least=-0.1) for k in (0, 1, 2, 3)]
    yield "level", estimates.strongest({"a": replace(some[0], level=0.9), "b": replace(some[1], level=0.9)})
    yield "stretch", [estimates._stretch(number, 0.95, k) for number in (1, 2, 80) for k in (None, 3)]


def _written() -> NamedValues:
    values = (math.nan, 0.0, -0.0, 0.5, 0.12345, -0.00004, 0.99949, 0.9995, 1.0, -3.14159, 1234.5678)
    for value in values:
        for half in (0.0, 0.0349, 0.035, math.nan):
            estimate = interval_estimate(value, value - half, value + half)
            yield (
                f"{value} {half}",
                [
                    estimates.percent(estimate),
                    estimates.interval(estimate),
                    estimates.points(estimate),
                    estimates.point_interval(estimate),
                    estimates.ratio(estimate),
                ],
            )
        texts = [
            estimates.percent(value),
            estimates.percent(value, decimals=0),
            estimates.gap(value),
            estimates.gap(value, decimals=1),
        ]
        yield f"{value}", [*texts, estimates.at_most(value, "how"), estimates.number_text(value, "+,.1f")]
    for value, limit in product((0.0, 0.00004, 0.00005, 0.00504, 0.0049999, 0.25, 0.005), (None, 0.005, 0.25)):
        yield f"tolerance {value} {limit}", estimates.tolerance_text(value, limit=limit)
    for beside in ([], [math.nan], [0.2], [0.205], [0.2004, 0.1], [0.2 + 1e-9], [0.2 + 1e-7, 0.3], [0.2 + 6e-9]):
        yield f"beside {beside}", [estimates.decimals_beside(beside, 0.2, least) for least in (1, 3)]
    yield "levels", [estimates.level_text(level) for level in (0.95, 0.991667, 0.9999, 0.99991)]
    yield "budgets", [estimates.epsilon_text(value) for value in (0.1, 10.0, math.inf)]


CASES = {"rates": _rates, "combined": _combined, "written": _written}


@pytest.mark.parametrize("part", CASES)
def test_numbers(part: str) -> None:
    compare_numbers(f"estimates-{part}", CASES[part]())
