"""How values, intervals and limits are written."""

from __future__ import annotations

import math

import pytest

from core.estimates import Estimate
from core.policy import (
    control_text,
    estimate_text,
    limit_text,
    range_text,
)
from tests.policy_samples import estimate


@pytest.mark.parametrize(
    ("check", "value", "low", "high", "expected"),
    [
        ("attribute_excess", 0.07, 0.065, 0.074, ("+7.0 points", "95%: 6.5 to 7.4")),
        ("membership_caught", 0.829, 0.824, 0.833, ("82.9%", "95%: 82.4 to 83.3%")),
        ("unfairness", 0.031, 0.02, 0.0424, ("0.031", "95%: 0.020 to 0.042")),
        ("attriguard_cost", 2.9, 2.8, 3.0, ("2.9 columns", "95%: 2.8 to 3.0")),
        ("targeted_leakage", 1.0, 1.0, 1.0, ("100.0%", "no interval")),
        ("answers_excess", math.nan, math.nan, math.nan, ("n/a", "")),
    ],
)
def test_estimates(check: str, value: float, low: float, high: float, expected: tuple[str, str]) -> None:
    assert estimate_text(check, estimate(value, low, high)) == expected


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        ("attribute_excess", 0.05, "at most 5.0 points"),
        ("attribute_excess", 0.0125, "at most 1.25 points"),
        ("attribute_excess", -0.01, "at most −1.0 points"),
        ("membership_caught", 0.015, "at most 1.5%"),
        ("unfairness", 0.0004, "at most 0.0004"),
        ("four_fifths", 0.8, "at least 0.8"),
        ("attriguard_cost", 1.0, "at most 1 column"),
    ],
)
def test_limits(check: str, value: float, expected: str) -> None:
    assert limit_text(check, value) == expected


def test_an_interval_is_written_so_that_it_can_be_told_from_the_limit() -> None:
    assert range_text("attribute_excess", estimate(0.06, 0.055, 0.07), 0.05) == "5.5 to 7.0 points"
    assert range_text("attribute_excess", estimate(0.06, 0.0503, 0.07), 0.05) == "5.03 to 7.00 points"
    assert range_text("attribute_excess", estimate(0.06, 0.05, 0.07), 0.05) == "5.0 to 7.0 points"
    assert range_text("membership_caught", estimate(0.02, 0.01, 0.04999), 0.05) == "1.000 to 4.999%"
    assert range_text("unfairness", estimate(0.02, 0.01, 0.05 - 1e-12), 0.05) == "0.010 to 0.050"  # as good as equal


def test_a_control_is_written_in_the_unit_it_has() -> None:
    half = Estimate(value=0.5, low=0.5, high=0.5, n=100)
    assert control_text("membership_auc", half) == "0.500" and control_text("attribute_bits", half) == "0.500"
    assert control_text("attribute_excess", half) == control_text("membership_caught", half) == "50.0%"
