"""Curves and areas against brute force over all thresholds and pairs; intervals against many samples without a link."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.membership import roc
from core.membership.roc import area, group_rocs


@st.composite
def judged(draw):
    """Draw scores with many ties, and who is a member."""
    inside, outside = draw(st.integers(10, 25)), draw(st.integers(10, 25))
    levels = draw(st.integers(1, 8))
    scores = draw(st.lists(st.integers(0, levels), min_size=inside + outside, max_size=inside + outside))
    order = draw(st.permutations(range(inside + outside)))
    member = np.repeat([1, 0], [inside, outside])[list(order)]
    return np.array(scores) / 7.0, member


@given(judged())
def test_a_point_for_each_threshold(people):
    score, member = people
    found = roc(score, member)
    thresholds = [math.inf, *sorted(set(score.tolist()), reverse=True)]
    assert found.fpr.tolist() == [np.mean(score[member == 0] >= t) for t in thresholds]
    assert found.tpr.tolist() == [np.mean(score[member == 1] >= t) for t in thresholds]


@given(judged())
def test_the_area_counts_pairs(people):
    score, member = people
    inside, outside = score[member == 1][:, None], score[member == 0][None]
    pairs = (inside > outside).mean() + 0.5 * (inside == outside).mean()
    found = roc(score, member)
    assert found.auc.value == pytest.approx(pairs, abs=1e-12)
    assert np.trapezoid(found.tpr, found.fpr) == pytest.approx(pairs, abs=1e-12)
    assert 0.0 <= found.auc.low <= found.auc.value <= found.auc.high <= 1.0


@given(judged())
def test_the_variance_is_that_of_the_placements(people):
    score, member = people
    inside, outside = score[member == 1], score[member == 0]
    wins = (inside[:, None] > outside) + 0.5 * (inside[:, None] == outside)
    value, error = (
        wins.mean(),
        math.sqrt(wins.mean(axis=1).var(ddof=1) / inside.size + wins.mean(axis=0).var(ddof=1) / outside.size),
    )
    if value in (0.0, 1.0):
        return
    found = area(inside, outside)
    half = 1.959963984540054 * error / (value * (1 - value))
    logit = math.log(value / (1 - value))
    assert found.low == pytest.approx(1 / (1 + math.exp(half - logit)), abs=1e-9)
    assert found.high == pytest.approx(1 / (1 + math.exp(-half - logit)), abs=1e-9)


@given(judged(), st.randoms(use_true_random=False))
def test_order_and_scale_do_not_matter(people, random):
    score, member = people
    order = list(range(score.size))
    random.shuffle(order)
    first, again = roc(score, member), roc(np.exp(score[order]) - 3, member[order])
    assert np.array_equal(first.fpr, again.fpr) and np.array_equal(first.tpr, again.tpr)
    assert first.auc.low == pytest.approx(again.auc.low, abs=1e-12)


@given(judged())
def test_turning_the_score_turns_the_area(people):
    score, member = people
    there, back = roc(score, member).auc, roc(-score, member).auc
    assert back.value == pytest.approx(1 - there.value, abs=1e-12)
    assert back.low == pytest.approx(1 - there.high, abs=1e-9)


@pytest.mark.parametrize("values", [2, 5, 1000])
def test_without_a_link_the_interval_holds_one_half(values):
    rng = np.random.default_rng(values)
    member = np.repeat([1, 0], [60, 90])
    held = [
        found.low <= 0.5 <= found.high for found in (roc(rng.integers(0, values, 150), member).auc for _ in range(1000))
    ]
    assert np.mean(held) == pytest.approx(0.95, abs=0.021)  # three standard errors


def test_the_interval_holds_the_true_area():
    rng = np.random.default_rng(1)
    truth = 0.5 + 0.5 * math.erf(0.7)  # of two normal scores 1.4 apart: P(N(1.4, 2) > 0)
    found = [area(rng.normal(1.4, 1, 80), rng.normal(0, 1, 50)) for _ in range(1000)]
    assert np.mean([one.low <= truth <= one.high for one in found]) == pytest.approx(0.95, abs=0.021)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_an_interval_says_its_level(level):
    inside, outside = np.array([3.0, 1.0, 2.0, 5.0]), np.array([0.0, 2.0, 1.5])
    found, usual = area(inside, outside, level=level), area(inside, outside)
    assert (found.level, usual.level) == (level, 0.95)
    assert (found.high - found.low < usual.high - usual.low) == (level < 0.95)


def test_a_perfect_score_is_not_certain():
    member = np.repeat([1, 0], [12, 15])
    perfect, worst = roc(member, member).auc, roc(1 - member, member).auc
    assert perfect.value == perfect.high == 1.0 and 0.7 < perfect.low < 0.95
    assert worst.value == worst.low == 0.0 and worst.high == pytest.approx(1 - perfect.low)
    bigger = np.repeat([1, 0], [120, 150])
    assert perfect.low < roc(bigger, bigger).auc.low < 1.0


def test_one_score_for_everybody_says_nothing():
    found = roc(np.ones(40), np.repeat([1, 0], 20))
    assert found.fpr.tolist() == found.tpr.tolist() == [0.0, 1.0]
    assert (found.auc.low, found.auc.value, found.auc.high) == (0.5, 0.5, 0.5)


def test_rates_are_read_within_ties_as_if_these_were_in_random_order():
    member = np.repeat([1, 0], [100, 1000])
    score = np.concatenate([np.repeat([3, 2, 1], [20, 30, 50]), np.repeat([3, 2, 1], [5, 45, 950])])
    found = roc(score, member)
    assert found.tpr_at(0.01).value == pytest.approx(0.2 + 0.3 * 5.01 / 46)  # five above the tie, 5.01 into it
    assert found.reached([0.01, 1.0]) == pytest.approx([found.tpr_at(0.01).value, 1.0])
    low = found.tpr_at(0.01)
    assert low.low < 0.2 < low.high and low.n == 100


def test_a_rate_too_low_for_the_sample_is_not_read():
    member = np.repeat([1, 0], [200, 137])
    found = roc(np.random.default_rng(0).random(337), member)
    told = found.resolution_reason(0.01)
    assert told == "n/a, needs at least 1,000 non-members, got 137"
    assert math.isnan(found.tpr_at(0.01).value) and found.tpr_at(0.01).n == 0
    assert not found.resolution_reason(0.1) and found.tpr_at(0.1).n == 200


def test_exactly_enough_people_are_enough():
    member = np.repeat([1, 0], [10, 1000])
    assert not roc(np.arange(1010), member).resolution_reason(0.01)
    assert roc(np.arange(1009), member[:-1]).resolution_reason(0.01)


def test_groups_have_curves_of_their_own():
    rng = np.random.default_rng(5)
    score, member, groups = rng.random(200), rng.integers(0, 2, 200), rng.integers(0, 3, 200)
    groups[np.flatnonzero((groups == 2) & (member == 1))[4:]] = 0
    curves = group_rocs(score, member, groups, 4)
    for code in (0, 1):
        alone = roc(score[groups == code], member[groups == code])
        assert curves[code].auc == alone.auc and np.array_equal(curves[code].tpr, alone.tpr)
    for code, count in ((2, 4), (3, 0)):
        assert not curves[code].fpr.size and math.isnan(curves[code].auc.value) and curves[code].n_members == count
    assert "n/a, needs at least" in curves[3].resolution_reason(0.5)


def test_a_curve_of_too_few_members_gives_no_rate():
    few = group_rocs(np.arange(1003), np.repeat([1, 0], [3, 1000]), np.zeros(1003), 1)[0]
    assert few.resolution_reason(0.01) == "n/a, needs at least 10 members, got 3"
    assert math.isnan(few.tpr_at(0.01).value)


def test_bad_input_is_refused():
    member = np.repeat([1, 0], 20)
    with pytest.raises(InputError, match="at least 10 members, got 0"):
        roc(np.ones(40), np.zeros(40))
    with pytest.raises(InputError, match="at least 10 non-members, got 9"):
        roc(np.ones(29), np.repeat([1, 0], [20, 9]))
    with pytest.raises(InputError, match="must be a finite number, got nan"):
        roc(np.full(40, np.nan), member)
    with pytest.raises(InputError, match="score has 3, member has 40"):
        roc(np.ones(3), member)
    with pytest.raises(InputError, match=r"must be in \(0, 1\], got 0"):
        roc(np.ones(40), member).tpr_at(0.0)
    with pytest.raises(InputError, match=r"level must be in \(0, 1\), got 1"):
        roc(np.arange(40), member, level=1.0)
