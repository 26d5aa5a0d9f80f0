"""The strongest of several attacks: by hand, and by drawing estimates around known values."""

from __future__ import annotations

import numpy as np
import pytest

from core.estimates import Estimate, least, proportion, strongest
from core.model_fairness import rate_ratio


def estimate(value: float, half: float, n: int = 100) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half, n=n)


def test_one_attack_keeps_its_interval():
    only = estimate(0.2, 0.05)
    assert strongest({"a": only}) == ("a", only)


def test_of_three_the_largest_with_a_wider_lower_end():
    found = {"a": estimate(0.10, 0.02), "b": estimate(0.12, 0.05), "c": estimate(0.05, 0.20)}
    name, told = strongest(found)
    assert name == "b" and told.value == 0.12
    widest = 2.9551682437 / 1.9599639845  # two-sided quantiles of 1 - 0.05/16 and 0.95
    assert told.high == pytest.approx(0.12 + 0.20 - 0.07 / widest)  # c's
    stretch = 2.3939797998 / 1.9599639845  # two-sided quantiles of 1 - 0.05/3 and 0.95
    assert told.low == pytest.approx(0.10 - 0.02 * stretch)  # a's, the surest to be above something


def test_a_wide_attack_below_a_narrow_one_stays_inside_however_far_the_interval_is_widened():
    found = {"narrow": estimate(0.045, 0.001), "wide": estimate(-0.05, 0.0985)}
    _, told = strongest(found)
    for wider in (1.0, 1.2, 1.43):  # Holm's correction over ten limits widens by 1.432
        reached = max(each.value + wider * (each.high - each.value) for each in found.values())
        assert told.value + wider * (told.high - told.value) >= reached


def test_students_intervals_are_stretched_by_students_quantiles():
    found = {"a": estimate(0.1, 0.02), "b": estimate(0.0, 0.5)}
    _, told = strongest(found, freedom=4)
    assert told.low == pytest.approx(0.1 - 0.02 * 3.495405933 / 2.776445105)


def test_nothing_falls_below_the_bottom():
    _, told = strongest({"a": estimate(0.01, 0.02), "b": estimate(0.0, 0.02)}, within=(0.0, 1.0))
    assert told.low == 0.0


def test_the_least_is_mirrored():
    found = {"a": estimate(0.9, 0.02), "b": estimate(0.8, 0.05)}
    name, told = least(found)
    mirrored = strongest({key: estimate(-one.value, one.high - one.value) for key, one in found.items()})[1]
    assert name == "b" and (told.value, told.low, told.high) == pytest.approx((0.8, -mirrored.high, -mirrored.low))


def test_a_limit_that_all_keep_is_hardly_ever_called_broken():
    """Five attacks at the limit: the lower end lies above it in at most 2.5% of the draws, uncorrected in 12%."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2000, 5))
    lows = [strongest({str(i): estimate(v, 1.959964) for i, v in enumerate(row)})[1].low for row in values]
    assert np.mean(np.array(lows) > 0) <= 0.032
    assert np.mean(values.max(axis=1) > 1.959964) > 0.1


def test_a_ratio_by_hand():
    lower, upper = proportion(30, 100), proportion(60, 100)
    found = rate_ratio(lower, upper)
    assert found.value == pytest.approx(0.5) and found.n == 200
    below = np.hypot(np.log(0.3 / lower.low), np.log(upper.high / 0.6))
    above = np.hypot(np.log(lower.high / 0.3), np.log(0.6 / upper.low))
    assert (found.low, found.high) == pytest.approx((0.5 * np.exp(-below), 0.5 * np.exp(above)))


@pytest.mark.parametrize(
    ("first", "second", "value"), [((0, 50), (20, 50), 0.0), ((50, 50), (50, 50), 1.0), ((0, 50), (0, 50), 1.0)]
)
def test_rates_of_none_and_of_all_leave_some_width(first: tuple[int, int], second: tuple[int, int], value: float):
    found = rate_ratio(proportion(*first), proportion(*second))
    assert found.value == value and 0 <= found.low <= value <= found.high <= 1 and found.high - found.low > 0.05


def test_the_interval_of_a_ratio_covers():
    """True ratio 0.8: the interval holds it about as often as it says."""
    rng = np.random.default_rng(5)
    lower, upper = rng.binomial(400, 0.4, 1000), rng.binomial(600, 0.5, 1000)
    held = 0
    for a, b in zip(lower, upper, strict=True):
        rates = sorted([proportion(int(a), 400), proportion(int(b), 600)], key=lambda rate: rate.value)
        found = rate_ratio(rates[0], rates[1])
        held += found.low <= 0.8 <= found.high
    assert 0.935 <= held / 1000 <= 0.975
