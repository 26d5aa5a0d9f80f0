"""Curves, areas, rates and advantages: brute force over thresholds, pairs and orders of ties; intervals that hold."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.estimates import proportion
from core.studies.membership import roc
from core.studies.membership.roc import advantage, area, members_above, tpr_estimate


@st.composite
def judgements(draw):
    """Draw scores with many ties, and who is a member."""
    inside, outside = draw(st.integers(10, 25)), draw(st.integers(10, 25))
    levels = draw(st.integers(1, 8))
    scores = draw(st.lists(st.integers(0, levels), min_size=inside + outside, max_size=inside + outside))
    order = draw(st.permutations(range(inside + outside)))
    member = np.repeat([1, 0], [inside, outside])[list(order)]
    return np.array(scores) / 7.0, member


@given(judgements())
def test_a_point_for_each_threshold(people):
    score, member = people
    curve = roc(score, member)
    thresholds = [math.inf, *sorted(set(score.tolist()), reverse=True)]
    assert curve.fpr.tolist() == [np.mean(score[member == 0] >= t) for t in thresholds]
    assert curve.tpr.tolist() == [np.mean(score[member == 1] >= t) for t in thresholds]


@given(judgements())
def test_the_area_counts_pairs(people):
    score, member = people
    inside, outside = score[member == 1][:, None], score[member == 0][None]
    pairs = (inside > outside).mean() + 0.5 * (inside == outside).mean()
    curve = roc(score, member)
    assert curve.auc.value == pytest.approx(pairs, abs=1e-12)
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(pairs, abs=1e-12)
    assert 0.0 <= curve.auc.low <= curve.auc.value <= curve.auc.high <= 1.0


@given(judgements())
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
    interval = area(inside, outside)
    half = 1.959963984540054 * error / (value * (1 - value))
    logit = math.log(value / (1 - value))
    low, high = (1 / (1 + math.exp(end - logit)) for end in (half, -half))
    if any(side.size - np.unique(side, return_counts=True)[1].max() < 10 for side in (wins.mean(1), wins.mean(0))):
        assert interval.low < low + 1e-9 and interval.high > high - 1e-9  # wider where few are placed unlike the rest
    else:
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("members", "outsiders", "inside", "outside"),
    [(2000, 30, 0.99, 0.97), (10, 1000, 0.1, 0.1), (100, 100, 0.02, 0.0)],
)
def test_the_interval_of_the_area_covers_where_nearly_all_scores_tie(members, outsiders, inside, outside):
    rng, tables = np.random.default_rng(6), 300
    truth, drawn = 0.5 + 0.5 * (inside - outside), []
    for _ in range(tables):
        hits = [rng.random(n) < share for n, share in ((members, inside), (outsiders, outside))]
        drawn.append(area(*(side.astype(float) for side in hits)))
    assert np.mean([estimate.low <= truth <= estimate.high for estimate in drawn]) >= 0.95
    none = area(np.ones(members), np.ones(outsiders))
    assert none.low < 0.5 == none.value < none.high


def test_a_perfect_score_is_not_certain():
    member = np.repeat([1, 0], [12, 15])
    perfect, worst = roc(member, member).auc, roc(1 - member, member).auc
    assert perfect.value == perfect.high == 1.0 and 0.7 < perfect.low < 0.95
    assert worst.value == worst.low == 0.0 and worst.high == pytest.approx(1 - perfect.low)
    bigger = np.repeat([1, 0], [120, 150])
    assert perfect.low < roc(bigger, bigger).auc.low < 1.0


def test_rates_are_read_within_ties_as_if_these_were_in_random_order():
    member = np.repeat([1, 0], [100, 1000])
    score = np.concatenate([np.repeat([3, 2, 1], [20, 30, 50]), np.repeat([3, 2, 1], [5, 45, 950])])
    curve = roc(score, member)
    assert curve.tpr_at(0.01).value == pytest.approx(0.2 + 0.3 * 5.01 / 46)  # five above the tie, 5.01 into it
    assert curve.reached([0.01, 1.0]) == pytest.approx([curve.tpr_at(0.01).value, 1.0])
    low = curve.tpr_at(0.01)
    assert low.low < 0.2 < low.high and low.n == 100


# ------------------------------------------------------------------------------------------------------- TPR at an FPR


def counts(score: np.ndarray, member: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return non-members and members at or above each distinct score, falling, after a 0 each."""
    levels = np.unique(score)[::-1]
    false, true = ([0, *(int(((score >= t) & (member == kind)).sum()) for t in levels)] for kind in (0, 1))
    return np.array(false), np.array(true)


@pytest.mark.parametrize("scores", [(0,) * 7, (3, 2, 2, 2, 1, 0, 0), (6, 5, 4, 3, 2, 1, 0), (1, 1, 1, 1, 1, 0, 0)])
@pytest.mark.parametrize("fpr", [0.1, 0.25, 0.6, 1.0])
def test_without_a_leak_the_rate_is_exactly_the_fpr_on_average(scores: tuple[int, ...], fpr: float):
    """Over all ways to call three of seven people members, whatever the ties."""
    score, rates = np.array(scores), []
    for chosen in combinations(range(7), 3):
        member = np.zeros(7, dtype=int)
        member[list(chosen)] = 1
        rates.append(float(members_above(fpr * 5, *counts(score, member))) / 3)
    assert np.mean(rates) == pytest.approx(fpr, abs=1e-12)


def drawn(members: np.ndarray, outsiders: np.ndarray, fpr: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of a bootstrap that draws the people themselves."""
    rates = []
    for _ in range(4000):
        again = np.sort(rng.choice(outsiders, outsiders.size))[::-1]
        threshold = again[round(fpr * (outsiders.size + 1)) - 1]
        rates.append(float((rng.choice(members, members.size) > threshold).mean()))
    low, high = np.quantile(rates, [0.025, 0.975])
    return float(low), float(high)


def test_the_interval_is_a_little_wider_than_that_of_a_bootstrap_over_people():
    rng = np.random.default_rng(3)
    members, outsiders = rng.normal(1.0, 1.0, 150), rng.normal(0.0, 1.0, 300)
    rate = roc(np.concatenate([members, outsiders]), np.repeat([1, 0], [150, 300])).tpr_at(0.1)
    low, high = drawn(members, outsiders, 0.1, rng)
    assert rate.low == pytest.approx(low, abs=0.02) and rate.high == pytest.approx(high, abs=0.02)
    assert rate.high - rate.low > high - low


LAWS = {
    "continuous": lambda rng, n: rng.standard_normal(n),
    "binary": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "two decimals": lambda rng, n: rng.random(n).round(2),
    "forest": lambda rng, n: np.minimum(rng.binomial(100, 0.9, n), 95) / 100,
}


@pytest.mark.parametrize("law", LAWS)
def test_nothing_leaks_and_hardly_any_interval_lies_above_the_rate(law: str):
    rng, member = np.random.default_rng(0), np.repeat([1, 0], 1000)
    estimates = [roc(LAWS[law](rng, 2000), member).tpr_at(0.01) for _ in range(100)]
    assert np.mean([estimate.value for estimate in estimates]) == pytest.approx(
        0.01, abs=0.0013
    )  # three standard errors
    assert sum(estimate.low > 0.01 for estimate in estimates) <= 5  # 2.5% of 100, and two standard errors


def test_few_caught_keep_wilsons_width_and_everything_allowed_catches_everybody():
    none = tpr_estimate(0.01, np.array([0, 1000, 1000]), np.array([0, 0, 200]))
    assert none.value == none.low == 0.0 and none.high >= proportion(0, 200).high
    everybody = roc(np.arange(100), np.repeat([1, 0], 50)).tpr_at(1.0)
    assert everybody == proportion(50, 50)


def shifted(rng: np.random.Generator, n: int) -> tuple[np.ndarray, float]:
    """Return scores of n members, all a little higher, of whom 5 % are above the top 1 % of standard normal ones."""
    return rng.standard_normal(n) + NormalDist().inv_cdf(0.99) - NormalDist().inv_cdf(0.95), 0.05


def spread(rng: np.random.Generator, n: int) -> tuple[np.ndarray, float]:
    """Return scores that spread more widely, 5 % of them above the top 1 %."""
    return rng.standard_normal(n) * NormalDist().inv_cdf(0.99) / NormalDist().inv_cdf(0.95), 0.05


def some(rng: np.random.Generator, n: int) -> tuple[np.ndarray, float]:
    """Return scores of members of whom some are far above everybody and the rest are like non-members."""
    caught_share = 0.04 / 0.99
    return rng.standard_normal(n) + 9.0 * (rng.random(n) < caught_share), caught_share + (1 - caught_share) * 0.01


@pytest.mark.long
@pytest.mark.parametrize("people", [1000, 3000])
@pytest.mark.parametrize("law", [shifted, spread, some])
def test_at_its_limit_of_five_percent_the_interval_covers_and_seldom_passes_or_fails(law, people: int):
    """Of 400 samples whose true rate is 5 % at least 93 % of the intervals hold it, and few lie on either side."""
    rng, member = np.random.default_rng(7), np.repeat([1, 0], people)
    held = below = above = 0
    for _ in range(400):
        members, truth = law(rng, people)
        rate = roc(np.concatenate([members, rng.standard_normal(people)]), member).tpr_at(0.01)
        held, below, above = (
            held + (rate.low <= truth <= rate.high),
            below + (rate.high < truth),
            above + (rate.low > truth),
        )
    assert held >= 0.93 * 400, held
    assert max(below, above) <= 16, (below, above)  # 2.5 % of 400, and two standard errors


# ------------------------------------------------------------------------------------------------------- advantage

MEMBER = np.repeat([1, 0], [300, 500])


def test_the_best_threshold_of_the_same_people_would_be_optimistic_and_this_is_not():
    rng, gains, best = np.random.default_rng(0), [], []
    for seed in range(200):
        score = rng.random(800)
        gains.append(advantage(score, MEMBER, seed=seed))
        cuts = np.sort(score)
        above = [1 - np.searchsorted(np.sort(score[kind == MEMBER]), cuts) / (kind == MEMBER).sum() for kind in (1, 0)]
        best.append(float((above[0] - above[1]).max()))
    assert np.mean([gain.value for gain in gains]) == pytest.approx(0.0, abs=0.007)  # three standard errors
    assert np.mean(best) > 0.04
    assert sum(gain.low > 0 for gain in gains) <= 10  # 2.5% of 200, and two standard errors


def test_a_perfect_score_has_all_and_a_constant_none():
    assert advantage(MEMBER, MEMBER, seed=0).value == 1.0
    none = advantage(np.ones(800), MEMBER, seed=0)
    assert none.value == 0.0 and none.low < 0.0 < none.high
