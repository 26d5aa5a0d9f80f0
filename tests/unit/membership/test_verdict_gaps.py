"""Gaps of verdicts: values by hand, resampling beside plain loops over people, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from core.errors import InputError
from core.estimates import Estimate, holm
from core.membership import disparities, is_muted, vulnerability_disparity
from core.membership.disparity import GAPS
from core.membership.resampling import (
    Tally,
    gap_estimate,
    gap_p_value,
    permuted,
    resampled,
    smallest_detectable,
    tally,
    variances,
)
from tests.unit.membership.judged_people import divisions, judged, sampled_tally

SMALL = Tally(flagged=np.array([[2, 3], [6, 9]]), people=np.array([[20, 30], [12, 10]]))
FEW = {"bootstraps": 200, "permutations": 200}


def test_the_gaps_are_differences_of_rates() -> None:
    found = vulnerability_disparity(*judged(SMALL), names=("women", "men"))
    assert (found.group, found.others) == ("women", "men")
    assert found.vd.value == pytest.approx(9 / 10 - 3 / 30)
    assert found.fpr_gap.value == pytest.approx(6 / 12 - 2 / 20)
    assert found.advantage_gap.value == pytest.approx(found.vd.value - found.fpr_gap.value)
    assert [rate.value for rate in found.recall] == [0.9, 0.1]
    assert [rate.value for rate in found.false_alarms] == [0.5, 0.1]
    assert (found.vd.n, found.fpr_gap.n, found.advantage_gap.n) == (40, 32, 72)


def test_people_are_drawn_again_as_in_a_plain_loop() -> None:
    counts, rng = (
        Tally(flagged=np.array([[7, 30], [11, 4]]), people=np.array([[25, 40], [60, 13]])),
        np.random.default_rng(5),
    )
    verdict, group, member = judged(counts)
    plain = []
    for _ in range(3000):
        rates = np.empty((2, 2))
        for side in (0, 1):
            for kind in (0, 1):
                stratum = verdict[(group == side) & (member == kind)]
                rates[side, kind] = stratum[rng.integers(0, stratum.size, stratum.size)].mean()
        plain.append([float((rates * weights).sum()) for weights in GAPS.values()])
    drawn = resampled(counts, 3000, np.random.default_rng(6))
    for j, weights in enumerate(GAPS.values()):
        assert ks_2samp(np.array(plain)[:, j], (drawn * weights).sum(axis=(1, 2))).pvalue > 0.01


@pytest.mark.parametrize("name", GAPS)
def test_p_values_are_those_of_all_divisions_of_few_people(name: str) -> None:
    counts = Tally(flagged=np.array([[1, 1], [2, 4]]), people=np.array([[4, 5], [3, 4]]))
    verdict, group, member = judged(counts)

    def statistic(sides: np.ndarray) -> float:
        gap, variance = 0.0, 0.0
        for side in (0, 1):
            for kind in (0, 1):
                weight = GAPS[name][side][kind]
                told = verdict[(sides == side) & (member == kind)]
                p = (told.sum() + 1) / (told.size + 2)
                gap += weight * told.mean()
                variance += weight**2 * p * (1 - p) / (told.size + 2)
        return abs(gap) / math.sqrt(variance)

    extreme, every = 0, 0
    for outside in divisions(7, 3):
        for inside in divisions(9, 4):
            sides = np.empty(16, dtype=int)
            sides[member == 0], sides[member == 1] = outside, inside
            extreme += statistic(sides) >= statistic(group) - 1e-9
            every += 1
    exact = extreme / every
    drawn = permuted(counts, 40_000, np.random.default_rng(1))
    found = gap_p_value(GAPS[name], counts, drawn)
    assert 0.01 < exact < 0.99
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000))


def test_a_gap_without_variance_keeps_some_width() -> None:
    nobody = Tally(flagged=np.zeros((2, 2), dtype=int), people=np.full((2, 2), 40))
    found = vulnerability_disparity(*judged(nobody))
    for name, gap in (("vd", found.vd), ("fpr_gap", found.fpr_gap), ("advantage_gap", found.advantage_gap)):
        assert gap.value == 0 and gap.low < -0.05 and gap.high > 0.05
        assert found.tests[name].p_value == 1 and not found.tests[name].significant
    everybody = vulnerability_disparity(*judged(Tally(flagged=nobody.people, people=nobody.people)))
    assert everybody.vd.low < -0.05 and everybody.advantage_gap.high > 0.05


@pytest.mark.parametrize(
    "rates, people",
    [
        ([[0.5, 0.6], [0.3, 0.7]], [[200, 300], [80, 90]]),
        ([[0.2, 0.25], [0.1, 0.3]], [[400, 400], [30, 30]]),
        ([[0.02, 0.05], [0.9, 0.99]], [[60, 60], [20, 20]]),
        ([[0.5, 0.5], [0.5, 0.5]], [[15, 15], [10, 10]]),
    ],
)
def test_intervals_cover_the_gap(rates, people) -> None:
    rng, runs = np.random.default_rng(8), 500
    truth = {name: float((np.array(rates) * weights).sum()) for name, weights in GAPS.items()}
    covered = dict.fromkeys(GAPS, 0)
    for _ in range(runs):
        counts = sampled_tally(rates, people, rng)
        drawn = resampled(counts, 500, rng)
        for name, weights in GAPS.items():
            gaps = (drawn * weights).sum(axis=(1, 2))
            found = gap_estimate(weights, counts.flagged, counts.people, gaps, level=0.95)
            covered[name] += found.low <= truth[name] <= found.high
    for name, count in covered.items():
        assert count / runs >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / runs), name


@pytest.mark.parametrize("comparisons", [1, 5])
def test_the_smallest_detectable_gap_is_found_in_four_of_five_cases(comparisons: int) -> None:
    people, base, runs = np.full((2, 2), 250), 0.4, 400
    error = math.sqrt(float(variances(np.full(2, base * 250), np.full(2, 250)).sum()))
    gap = smallest_detectable(error, level=0.95, comparisons=comparisons)
    rng, found = np.random.default_rng(4), 0
    for _ in range(runs):
        counts = sampled_tally([[base, base], [base, base + gap]], people, rng)
        drawn = permuted(counts, 999, rng)
        found += gap_p_value(GAPS["vd"], counts, drawn) < 0.05 / comparisons
    assert found / runs == pytest.approx(0.8, abs=0.07)


def test_groups_are_compared_with_all_others() -> None:
    rng = np.random.default_rng(2)
    n = 900
    groups, member, verdict = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.integers(0, 2, n), rng.integers(0, 2, n)
    found = disparities(verdict, groups, member, names=("a", "b", "c"), **FEW)
    assert [result.group for result in found.results] == ["a", "b", "c"] and not found.not_measured
    for code, result in enumerate(found.results):
        alone = vulnerability_disparity(verdict, groups == code, member, names=(result.group, "all others"), **FEW)
        assert (result.others, result.vd, result.advantage_gap) == ("all others", alone.vd, alone.advantage_gap)
        assert result.tests["vd"].smallest_detectable > alone.tests["vd"].smallest_detectable
    for name in GAPS:
        raw = [result.tests[name].p_value for result in found.results]
        assert tuple(result.tests[name].p_adjusted for result in found.results) == holm(raw)


def test_two_groups_make_one_comparison() -> None:
    verdict, group, member = judged(SMALL)
    (found,) = disparities(verdict, group, member, names=("men", "women")).results
    assert found == vulnerability_disparity(verdict, group, member, names=("women", "men"))


def test_small_groups_are_named_and_the_others_measured() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2, 3], [100, 100, 15, 0])
    member, verdict = np.tile([0, 1], 108)[:215], rng.integers(0, 2, 215)
    found = disparities(verdict, groups, member, names=("a", "b", "c", "d"), **FEW)
    assert [result.group for result in found.results] == ["a", "b"]
    assert [name for name, _ in found.not_measured] == ["c", "d"]
    assert found.not_measured[0][1] == (
        "A gap needs at least 10 members and 10 outsiders of the training data among the judged people, "
        "got 7 and 8 of “c”."
    )


def test_a_seed_decides_the_draws_and_groups_have_their_own() -> None:
    case = judged(Tally(flagged=10 * SMALL.flagged, people=11 * SMALL.people))
    assert vulnerability_disparity(*case, seed=1) == vulnerability_disparity(*case, seed=1)
    assert vulnerability_disparity(*case, seed=1).vd != vulnerability_disparity(*case, seed=2).vd
    assert vulnerability_disparity(*case, names=("a", "b")).vd != vulnerability_disparity(*case, names=("c", "b")).vd


@pytest.mark.parametrize(
    "low, high, muted",
    [(0.49, 0.52, True), (0.5, 0.6, True), (0.51, 0.6, False), (0.3, 0.4, True), (math.nan, math.nan, True)],
)
def test_gaps_are_muted_unless_the_attack_beats_chance(low: float, high: float, muted: bool) -> None:
    assert is_muted(Estimate(value=(low + high) / 2, low=low, high=high, n=100)) is muted


VERDICT, GROUP, MEMBER = judged(SMALL)


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"verdict": VERDICT * math.nan}, "verdict must hold only 0 and 1, got nan."),
        (
            {"verdict": VERDICT[:-1]},
            "All arrays must have the same length: verdict has 71, group has 72, member has 72.",
        ),
        ({"group": GROUP + 1}, "group must hold only 0 and 1, got 2."),
        ({"member": [MEMBER]}, "member must be one-dimensional, got 2 dimensions."),
        (
            {"member": np.ones_like(MEMBER)},
            "A gap needs at least 10 members and 10 outsiders of the training data among the judged people, "
            "got 22 and 0 of “group”.",
        ),
        (
            {"group": np.arange(72) < 19},
            "A gap needs at least 10 members and 10 outsiders of the training data among the judged people, "
            "got 0 and 19 of “group”.",
        ),
        ({"level": 1.0}, "level must be in (0, 1), got 1.0."),
        ({"bootstraps": 3}, "bootstraps must be a whole number of at least 100, got 3."),
        ({"permutations": 1e3}, "permutations must be a whole number of at least 100, got 1000.0."),
    ],
)
def test_bad_input_is_told_in_one_sentence(changed: dict, told: str) -> None:
    given = {"verdict": VERDICT, "group": GROUP, "member": MEMBER} | changed
    with pytest.raises(InputError) as raised:
        vulnerability_disparity(**given)
    assert str(raised.value) == told


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"member": np.zeros(72)}, "member must hold both 0 and 1, got only 0."),
        ({"member": []}, "member must hold both 0 and 1, got nothing."),
        ({"groups": GROUP[1:]}, "All arrays must have the same length: groups has 71, member has 72."),
        ({"groups": GROUP * 7, "names": "abc"}, "groups must hold whole numbers from 0 to 2, got 7."),
        ({"names": ("a", "a")}, "names must be at least two different names of groups, got a, a."),
    ],
)
def test_bad_groups_are_told_in_one_sentence(changed: dict, told: str) -> None:
    given = {"verdict": VERDICT, "groups": GROUP, "member": MEMBER, "names": ("a", "b")} | changed
    with pytest.raises(InputError) as raised:
        disparities(**given)
    assert str(raised.value) == told


def test_counts_are_those_of_the_people() -> None:
    counts = tally(VERDICT, GROUP, MEMBER)
    assert (counts.flagged == SMALL.flagged).all() and (counts.people == SMALL.people).all()
