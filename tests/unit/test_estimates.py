"""Intervals: against scipy, in their limits, and in their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from core.errors import InputError
from core.estimates import accuracy, balanced_accuracy, paired_gain, proportion


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_proportion_is_the_wilson_interval(case: tuple[int, int]) -> None:
    successes, n = case
    ours = proportion(successes, n)
    theirs = binomtest(successes, n).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= ours.low <= ours.value <= ours.high <= 1


def test_nothing_measured_is_not_a_number() -> None:
    assert math.isnan(proportion(0, 0).value)
    assert math.isnan(balanced_accuracy([], []).value)
    assert math.isnan(paired_gain(0, 0, 0).value)


def test_accuracy_and_balanced_accuracy() -> None:
    truth, guess = np.array([1, 1, 1, 1, 0, 0]), np.array([1, 1, 1, 0, 0, 1])
    assert accuracy(truth, guess).value == pytest.approx(4 / 6)
    assert balanced_accuracy(truth, guess).value == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert balanced_accuracy(truth, guess).n == 6


def test_balanced_accuracy_of_one_group_is_its_accuracy() -> None:
    truth, guess = np.ones(40), np.r_[np.ones(30), np.zeros(10)]
    one, other = balanced_accuracy(truth, guess), accuracy(truth, guess)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))))
def test_gain_changes_sign_with_the_order_of_the_guesses(case: tuple[int, int, int]) -> None:
    won, lost, n = case
    if won + lost > n:
        return
    there, back = paired_gain(won, lost, n), paired_gain(lost, won, n)
    assert there.value == pytest.approx(-back.value)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.low <= there.value <= there.high
    assert there.high > there.low


def test_intervals_cover_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    hits_gain = hits_balanced = 0
    runs = 1500
    for _ in range(runs):
        won, lost, _ = rng.multinomial(400, [0.08, 0.04, 0.88])
        gain = paired_gain(int(won), int(lost), 400)
        hits_gain += gain.low <= 0.04 <= gain.high
        truth = np.r_[np.ones(60), np.zeros(240)]
        right = np.r_[rng.random(60) < 0.7, rng.random(240) < 0.9]
        estimate = balanced_accuracy(truth, np.where(right, truth, 1 - truth))
        hits_balanced += estimate.low <= 0.8 <= estimate.high
    assert 0.93 <= hits_gain / runs <= 0.975
    assert 0.93 <= hits_balanced / runs <= 0.975


@pytest.mark.parametrize(
    "call", [lambda: proportion(3, 2), lambda: paired_gain(2, 2, 3), lambda: paired_gain(-1, 0, 3)]
)
def test_impossible_counts_are_named(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="got"):
        call()


def test_level_is_checked() -> None:
    with pytest.raises(InputError, match=r"level must be in \(0, 1\), got 1"):
        proportion(1, 2, level=1)
