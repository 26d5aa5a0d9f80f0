"""Gaps between groups: values by hand, resampling beside plain loops over people, tests that keep their level."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2, ks_2samp

from core.stats.estimates import holm
from core.studies.membership import (
    disparities,
    recall_by_range,
    roc,
    vulnerability_disparity,
)
from core.studies.membership.disparity import (
    GAPS,
    gap_estimate,
    gap_p_value,
    permuted,
    smallest_detectable,
    variances,
)
from core.studies.membership.tpr_gaps import ComparedSide, _places, permuted_sides, tpr_gaps
from tests.unit.membership.samples import divisions, verdict_arrays

FEW = {"bootstraps": 200, "permutations": 200}
ALWAYS = np.ones(300, dtype=bool)


def test_vulnerability_disparity_by_hand():
    flagged, people = np.array([[2, 3], [6, 9]]), np.array([[20, 30], [12, 10]])
    disparity = vulnerability_disparity(*verdict_arrays(flagged, people))
    assert (disparity.vd.value, disparity.vd.n) == (pytest.approx(9 / 10 - 3 / 30), 40)
    assert (disparity.fpr_gap.value, disparity.fpr_gap.n) == (pytest.approx(6 / 12 - 2 / 20), 32)
    assert disparity.advantage_gap.value == pytest.approx(disparity.vd.value - disparity.fpr_gap.value)


@pytest.mark.long
@pytest.mark.parametrize("name", GAPS)
def test_p_values_are_those_of_all_divisions_of_few_people(name: str):
    flagged, people = np.array([[1, 1], [2, 4]]), np.array([[4, 5], [3, 4]])
    verdict, group, member = verdict_arrays(flagged, people)

    def statistic(sides: np.ndarray) -> float:
        gap, variance = 0.0, 0.0
        for side, kind in np.ndindex(2, 2):
            weight = GAPS[name][side][kind]
            called = verdict[(sides == side) & (member == kind)]
            p = (called.sum() + 1) / (called.size + 2)
            gap += weight * called.mean()
            variance += weight**2 * p * (1 - p) / (called.size + 2)
        return abs(gap) / math.sqrt(variance)

    extreme = []
    for outside, inside in itertools.product(divisions(7, 3), divisions(9, 4)):
        sides = np.empty(16, dtype=int)
        sides[member == 0], sides[member == 1] = outside, inside
        extreme.append(statistic(sides) >= statistic(group) - 1e-9)
    exact = np.mean(extreme)
    drawn = permuted(flagged, people, 40_000, np.random.default_rng(1))
    p_value = gap_p_value(GAPS[name], flagged, people, drawn)
    assert p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000))


@pytest.mark.parametrize("comparisons", [1, 5])
def test_the_smallest_detectable_gap_is_found_in_four_of_five_cases(comparisons: int):
    people, base, runs = np.full((2, 2), 250), 0.4, 400
    error = math.sqrt(float(variances(np.full(2, base * 250), np.full(2, 250)).sum()))
    gap = smallest_detectable(error, comparisons=comparisons)
    rng, detected = np.random.default_rng(4), 0
    for _ in range(runs):
        flagged = rng.binomial(people, [[base, base], [base, base + gap]])
        drawn = permuted(flagged, people, 999, rng)
        detected += gap_p_value(GAPS["vd"], flagged, people, drawn) < 0.05 / comparisons
    assert detected / runs == pytest.approx(0.8, abs=0.07)


def test_disparities_compare_each_group_with_the_rest():
    rng = np.random.default_rng(2)
    n = 900
    groups, member, verdict = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.integers(0, 2, n), rng.integers(0, 2, n)
    results, _ = disparities(verdict, groups, member, names=("a", "b", "c"), **FEW)
    for code, result in enumerate(results):
        alone = vulnerability_disparity(verdict, groups == code, member, names=("abc"[code], "all others"), **FEW)
        assert (result.group, result.reference, result.vd) == (alone.group, alone.reference, alone.vd)
        assert result.tests["vd"].smallest_detectable > alone.tests["vd"].smallest_detectable
    for name in GAPS:
        raw = [result.tests[name].p_value for result in results]
        assert tuple(result.tests[name].p_adjusted for result in results) == holm(raw)


@pytest.mark.parametrize(("p", "index"), [(0.0, 0), (0.1, 1), (1 - 0.8, 2), (0.3, 3), (0.7, 7), (0.9, 9), (1.0, 9)])
def test_recall_by_range_counts_a_border_above_it(p: float, index: int):
    by_range = recall_by_range([p, p, p], [1, 1, 0], [0, 1, 1], [1, 1, 1], names=("women", "men"))
    assert [row.group for row in by_range.rows] == [0.5 * (j == index) for j in range(10)]
    assert [row.reference for row in by_range.rows] == [float(j == index) for j in range(10)]


def scored(n: int, *, ties: bool, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, of which members of group 0 have higher ones, with groups and membership."""
    rng = np.random.default_rng(seed)
    group, member = (rng.random(n) < 0.45).astype(int), rng.integers(0, 2, n)
    score = rng.normal(size=n) + 1.5 * member * (1 - group)
    return np.round(score, 0 if ties else 9), group, member


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("fpr", [0.05, 0.3])
def test_tpr_gaps_are_between_the_rates_of_each_group_by_itself(ties: bool, fpr: float):
    score, group, member = scored(1500, ties=ties)
    (gap,) = tpr_gaps(score, group.astype(np.uint8), member, fpr=fpr, names=("men", "women"), **FEW)
    expected = [roc(score[group == g], member[group == g]).tpr_at(fpr).value for g in (1, 0)]
    assert [rate.value for rate in gap.rates] == pytest.approx(expected)
    assert gap.estimate.value == pytest.approx(expected[0] - expected[1])
    assert (gap.group, gap.reference) == ("women", "men")


def in_order(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the scores with ties broken at random, by less than there is between two."""
    return score + 1e-10 * rng.random(score.size)


@pytest.mark.parametrize("ties", [False, True])
def test_groups_are_permuted_as_in_a_plain_loop(ties: bool):
    score, group, member = scored(300, ties=ties)
    rng, plain = np.random.default_rng(1), []
    for _ in range(1500):
        again = group.copy()
        for kind in (0, 1):
            again[member == kind] = rng.permutation(group[member == kind])
        ordered = in_order(score, rng)
        sides = [ComparedSide.of(ordered, again == code, member, 0.1) for code in (1, 0)]
        rates = [float(s.above(math.floor(s.rank + rng.random()))) / s.members for s in sides]
        plain.append(rates[0] - rates[1])
    sides = [ComparedSide.of(score, group == code, member, 0.1) for code in (1, 0)]
    everybody = ComparedSide.of(score, ALWAYS, member, 0.1)
    drawn = permuted_sides(sides, everybody, 1500, np.random.default_rng(2))
    assert ks_2samp(plain, drawn).pvalue > 0.01


def test_gap_estimate_of_few_is_no_narrower_than_the_wilson_intervals():
    """Nobody of either side is flagged: no resample differs, and each rate alone may be as high as z² / (n + z²)."""
    gap = gap_estimate([-1, 1], [0, 0], [30, 40], np.zeros(200))
    z2 = chi2.isf(0.05, 1)
    assert gap.value == 0.0
    assert (gap.low, gap.high) == pytest.approx((-z2 / (30 + z2), z2 / (40 + z2)))


def test_permuted_places_are_those_of_different_people():
    """One non-member a side, each the highest of its side: one of them is first of both, and the other second."""
    side = ComparedSide.of(np.array([0.2, 0.9]), np.ones(2, dtype=bool), np.array([0, 1], dtype=np.uint8), 0.5)
    places = _places([side, side], 50, np.random.default_rng(3))
    assert np.sort(places, axis=0).tolist() == [[1] * 50, [2] * 50]
    assert set(places[0].tolist()) == {1, 2}
