"""Intervals: against scipy, in their limits, and in their coverage; of one, of the strongest of several, of ratios."""

import math
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, norm, sem, t

from core.auditing.policy import estimate_text
from core.auditing.policy.limits import value_text
from core.base.errors import InputError
from core.stats.estimates import (
    accuracy,
    balanced_accuracy,
    balanced_gain,
    difference,
    equal_mean,
    holm,
    independence_p_value,
    mean,
    mean_over_repeats,
    mean_rate,
    min_estimate,
    paired_gain,
    proportion,
    rate_over_repeats,
    strongest,
    summarize_seeds,
    tolerance_text,
)
from core.stats.fairness import distance_from_all, largest_difference
from core.studies.fairness.study import rate_ratio
from tests.samples_report import estimate


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_proportion_is_the_wilson_interval(case):
    successes, n = case
    ours = proportion(successes, n)
    theirs = binomtest(successes, n).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= ours.low <= ours.value <= ours.high <= 1


@given(
    st.integers(2, 5).flatmap(
        lambda k: st.lists(st.lists(st.integers(1, 500), min_size=k, max_size=k), min_size=2, max_size=4)
    )
)
def test_independence_p_value_is_scipys(counts):
    assert independence_p_value(counts) == pytest.approx(chi2_contingency(counts, correction=False).pvalue, abs=1e-12)
    assert independence_p_value([[0] * len(counts[0]), *counts]) == 1.0


def test_accuracies_by_hand_and_of_nobody():
    truth, guess = np.array([1, 1, 1, 1, 0, 0]), np.array([1, 1, 1, 0, 0, 1])
    assert accuracy(truth, guess).value == pytest.approx(4 / 6)
    assert balanced_accuracy(truth, guess).value == pytest.approx((3 / 4 + 1 / 2) / 2)
    nobody = (proportion(0, 0), balanced_accuracy([], []), paired_gain(0, 0, 0), mean([]), mean_over_repeats([]))
    assert all(math.isnan(estimate.value) for estimate in nobody)
    assert paired_gain(1, 0, 1).value == 1


def test_mean_rate_takes_what_lies_outside_for_the_nearest_rate():
    assert [mean_rate([far, 0.5]).value for far in (-0.5, 1.5)] == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize(
    ("estimator", "arguments", "message"),
    [
        (proportion, (3, 2), "got"),
        (proportion, (-1, 2), "got"),
        (paired_gain, (2, 2, 3), "got"),
        (partial(proportion, level=1), (1, 2), r"level must be in \(0, 1\), got 1"),
        (partial(mean_over_repeats, resolution=-0.1), ([0.1, 0.2],), "resolution must be at least 0"),
        (partial(mean_over_repeats, resolution=math.nan), ([0.1, 0.2],), "resolution must be at least 0"),
    ],
)
def test_impossible_counts_are_refused(estimator, arguments, message):
    with pytest.raises(InputError, match=message):
        estimator(*arguments)


def test_intervals_cover_about_as_often_as_they_say():
    rng, hits, runs = np.random.default_rng(5), np.zeros(2), 1500
    truth = np.r_[np.ones(60), np.zeros(240)]
    for _ in range(runs):
        won, lost, _ = rng.multinomial(400, [0.08, 0.04, 0.88])
        right = np.r_[rng.random(60) < 0.7, rng.random(240) < 0.9]
        gain, balanced = paired_gain(won, lost, 400), balanced_accuracy(truth, np.where(right, truth, 1 - truth))
        hits += [gain.low <= 0.04 <= gain.high, balanced.low <= 0.8 <= balanced.high]
    assert (hits / runs >= 0.93).all() and (hits / runs <= 0.975).all()


@pytest.mark.parametrize("rate, n", [(1.0, 1), (0.0, 1), (0.3, 1), (1.0, 50), (0.0, 50), (0.25, 50)])
def test_mean_rate_of_one_or_of_alike_has_wilsons_width(rate, n):
    pooled, z = mean_rate([rate] * n), norm.ppf(0.975)
    assert pooled.value == pytest.approx(rate) and pooled.low < pooled.high and pooled.n == n
    # the limits solve (rate − x)² = z² x (1 − x) / n
    for limit in (pooled.low, pooled.high):
        assert (rate - limit) ** 2 == pytest.approx(z * z * limit * (1 - limit) / n, abs=1e-12)


def test_over_repeats_is_students_interval():
    values = [0.1, 0.3, 0.2, 0.5]
    interval = mean_over_repeats(values)
    assert (interval.low, interval.high) == pytest.approx(t.interval(0.95, 3, np.mean(values), sem(values)))
    assert interval.n == 4 and mean_over_repeats(values, resolution=0.01) == interval
    alone = mean_over_repeats([0.1])
    assert alone.value == 0.1 and math.isnan(alone.low) and math.isnan(alone.high)


@pytest.mark.parametrize("noise", [0.0, 1e-17])
def test_repeats_that_agree_keep_the_width_of_their_resolution(noise):
    interval = mean_over_repeats([0.25 + noise * i for i in range(6)], resolution=0.0625)
    half = 0.0625 * binomtest(0, 6).proportion_ci(method="exact").high
    assert (interval.value, interval.low, interval.high) == pytest.approx((0.25, 0.25 - half, 0.25 + half))


def test_several_seeds_have_the_interval_over_seeds_one_has_its_interval_and_a_fact_has_none():
    two, free = summarize_seeds([proportion(3, 40), None, 0.925]), mean_over_repeats([0.075, 0.925])
    assert (two.estimate, two.over, two.seeds) == (free, "seeds", 2)
    assert two.sd == pytest.approx(np.std([0, 0.85], ddof=1))
    cut = summarize_seeds([proportion(3, 40), 0.925], least=-1.0, most=1.0)
    assert (cut.value, cut.low, cut.high) == (free.value, -1.0, 1.0)
    single, fact, none = (summarize_seeds(values) for values in ([None, proportion(3, 40)], [0.5], [None]))
    assert (single.estimate, single.over, single.seeds) == (proportion(3, 40), "people", 1)
    assert (fact.value, fact.n, fact.over, fact.seeds) == (0.5, 1, "", 1) and math.isnan(fact.low + fact.high)
    assert math.isnan(none.value) and (none.n, none.over, none.seeds) == (0, "people", 0)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_rates_over_repeats_stay_rates(rates):
    free = mean_over_repeats(rates)
    assert rate_over_repeats(rates) == replace(free, low=max(0.0, free.low), high=min(1.0, free.high))


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=40))
def test_balanced_gain_is_the_difference_of_balanced_accuracies(people):
    truth, before, after = np.array(people).T
    forward, back = balanced_gain(truth, before, after), balanced_gain(truth, after, before)
    gain = balanced_accuracy(truth, after).value - balanced_accuracy(truth, before).value
    assert forward.value == pytest.approx(gain, abs=1e-12)
    assert (forward.low, forward.high) == pytest.approx((-back.high, -back.low))
    assert forward.low <= forward.value <= forward.high and forward.low < forward.high


def test_holm_rejects_as_it_is_told_step_by_step():
    assert holm([]) == () and holm([0.5, 0.6]) == (1.0, 1.0)
    for p in np.random.default_rng(3).random((200, 5)) ** 3:
        rejected, left = set(), sorted(range(5), key=lambda j: p[j])
        while left and p[left[0]] < 0.05 / len(left):
            rejected.add(left.pop(0))
        assert {j for j, adjusted in enumerate(holm(p.tolist())) if adjusted < 0.05} == rejected


def test_the_strongest_of_several_by_its_quantiles():
    only = estimate(0.2, 0.05)
    assert strongest({"a": only}) == ("a", only)
    name, chosen = strongest({"a": estimate(0.10, 0.02), "b": estimate(0.12, 0.05), "c": estimate(0.05, 0.20)})
    assert (name, chosen.value) == ("b", 0.12)
    widest = 3.4370 / 1.9599639845  # two-sided quantiles of 1 - 0.01/17 and 0.95
    assert chosen.high == pytest.approx(0.12 + 0.20 - 0.07 / widest, abs=1e-5)  # c's
    stretch = 2.3939797998 / 1.9599639845  # two-sided quantiles of 1 - 0.05/3 and 0.95
    assert chosen.low == pytest.approx(0.10 - 0.02 * stretch)  # a's, the surest to be above something
    _, chosen = strongest({"a": estimate(0.1, 0.02), "b": estimate(0.0, 0.5)}, freedom=4)
    assert chosen.low == pytest.approx(0.1 - 0.02 * 3.495405933 / 2.776445105)


def test_the_least_mirrors_the_strongest():
    name, least = min_estimate({"a": estimate(0.9, 0.02), "b": estimate(0.8, 0.05)})
    _, mirrored = strongest({"a": estimate(-0.9, 0.02), "b": estimate(-0.8, 0.05)})
    assert name == "b"
    assert (least.value, least.low, least.high) == pytest.approx((0.8, -mirrored.high, -mirrored.low))


def test_a_ratio_by_hand():
    lower, upper = proportion(30, 100), proportion(60, 100)
    ratio = rate_ratio(lower, upper)
    assert ratio.value == pytest.approx(0.5) and ratio.n == 200
    below = np.hypot(np.log(0.3 / lower.low), np.log(upper.high / 0.6))
    above = np.hypot(np.log(lower.high / 0.3), np.log(0.6 / upper.low))
    assert (ratio.low, ratio.high) == pytest.approx((0.5 * np.exp(-below), 0.5 * np.exp(above)))


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_what_is_made_of_intervals_has_their_level(level):
    rates = [proportion(hits, 50, level=level) for hits in (0, 20, 50)]
    pairs = list(combinations_with_replacement(rates, 2))
    intervals = [make(*pair) for pair in pairs for make in (difference, rate_ratio, distance_from_all)]
    intervals += [make(dict(zip("abc", rates, strict=True)))[1] for make in (strongest, min_estimate)]
    intervals += [equal_mean(rates), largest_difference([rates]), rates[1].folded()]
    assert {interval.level for interval in intervals} == {level}


@pytest.mark.parametrize("value", [0.0050004, 0.00500001, 0.0049996, 0.00504, 0.00497, 0.0051])
def test_a_number_beside_a_limit_is_never_written_like_the_limit(value):
    assert tolerance_text(value, limit=0.005) != tolerance_text(0.005) == "0.005"
    assert float(tolerance_text(value, limit=0.005)) == pytest.approx(value, rel=0.01)
    near = estimate(0.05 + (value - 0.005) * 10, 0.2)
    for check in ("unfairness", "membership_caught", "attribute_excess", "four_fifths"):
        texts = (estimate_text(check, near, limit=0.05)[0], value_text(check, near.value, limit=0.05))
        assert value_text(check, 0.05) not in texts
