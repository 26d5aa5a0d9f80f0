"""How values, intervals and limits are written."""

from __future__ import annotations

import math

import pytest

from core.estimates import Estimate, in_words
from core.policy import (
    NO_SOURCE,
    Limit,
    control_text,
    estimate_text,
    level_text,
    limit_text,
    range_text,
    source_text,
    value_text,
)
from tests.policy_samples import estimate


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        ("attribute_excess", 0.07, "+7.0 points"),
        ("attribute_excess", -0.004, "−0.4 points"),
        ("attribute_excess", -0.0001, "0.0 points"),
        ("membership_caught", 0.829, "82.9%"),
        ("unfairness", 0.1314, "0.131"),
        ("four_fifths", 0.7961, "0.796"),
        ("attriguard_cost", 2.9, "2.9 columns"),
        ("attriguard_cost", math.nan, "n/a"),
    ],
)
def test_values(check: str, value: float, expected: str) -> None:
    assert value_text(check, value) == expected


@pytest.mark.parametrize(
    ("check", "value", "low", "high", "expected"),
    [
        ("attribute_excess", 0.07, 0.065, 0.074, ("+7.0 points", "95%: 6.5 to 7.4")),
        ("attribute_excess", 0.0, -0.012, 0.012, ("0.0 points", "95%: −1.2 to 1.2")),
        ("membership_caught", 0.829, 0.824, 0.833, ("82.9%", "95%: 82.4 to 83.3%")),
        ("membership_caught", 0.51, 0.42, 0.61, ("51%", "95%: 42 to 61%")),
        ("unfairness", 0.031, 0.02, 0.0424, ("0.031", "95%: 0.020 to 0.042")),
        ("four_fifths", 0.79, 0.75, 0.83, ("0.790", "95%: 0.750 to 0.830")),
        ("attriguard_cost", 2.9, 2.8, 3.0, ("2.9 columns", "95%: 2.8 to 3.0")),
        ("targeted_leakage", 1.0, 1.0, 1.0, ("100.0%", "no interval")),
        ("answers_excess", 0.02, math.nan, math.nan, ("+2.0 points", "no interval")),
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
        ("attribute_excess", 0.07, "at most 7.0 points"),
        ("attribute_excess", 0.0, "at most 0.0 points"),
        ("attribute_excess", -0.01, "at most −1.0 points"),
        ("membership_caught", 0.05, "at most 5%"),
        ("membership_caught", 0.015, "at most 1.5%"),
        ("targeted_leakage", 1.0, "at most 100%"),
        ("unfairness", 0.05, "at most 0.05"),
        ("unfairness", 0.0004, "at most 0.0004"),
        ("unfairness", 1.0, "at most 1.00"),
        ("four_fifths", 0.8, "at least 0.8"),
        ("attriguard_cost", 3.0, "at most 3 columns"),
        ("attriguard_cost", 1.0, "at most 1 column"),
        ("attriguard_cost", 100.0, "at most 100 columns"),
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


def test_levels() -> None:
    assert [level_text(level) for level in (0.95, 0.975, 1 - 0.05 / 6, 0.9999, 0.999999)] == [
        "95%",
        "97.5%",
        "99.17%",
        "99.99%",
        "over 99.99%",
    ]


def test_a_limit_without_a_source_says_so() -> None:
    assert source_text(Limit(check="unfairness", value=0.1, source=" ")) == NO_SOURCE == "no source given"
    assert source_text(Limit(check="unfairness", value=0.1, source="A law")) == "A law"


def test_counts_in_words() -> None:
    assert [in_words(n) for n in (0, 1, 2, 12, 13, 1500)] == ["none", "one", "two", "twelve", "13", "1,500"]


def test_a_control_is_written_in_the_unit_it_has() -> None:
    half = Estimate(value=0.5, low=0.5, high=0.5, n=100)
    assert control_text("membership_auc", half) == "0.500" and control_text("attribute_bits", half) == "0.500"
    assert control_text("attribute_excess", half) == control_text("membership_caught", half) == "50.0%"
