"""Gaps in TPR at a low FPR: each group by itself, resampling beside plain loops, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from core.errors import InputError
from core.membership import GapResult, lira_gaps, low_fpr, roc

FEW = {"bootstraps": 200, "permutations": 200}


def lira_gap(score, group, member, *, names: tuple[str, str] = ("group", "others"), **settings) -> GapResult:
    """Return the gap between a group and the others."""
    (found,) = lira_gaps(score, group, member, names=names[::-1], **settings)
    return found


def scored(n: int, *, ties: bool, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, of which members of group 0 have higher ones, with groups and membership."""
    rng = np.random.default_rng(seed)
    group, member = (rng.random(n) < 0.45).astype(int), rng.integers(0, 2, n)
    score = rng.normal(size=n) + 1.5 * member * (1 - group)
    return np.round(score, 0 if ties else 9), group, member


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("fpr", [0.05, 0.1, 0.3])
def test_rates_are_those_of_each_group_by_itself(ties: bool, fpr: float) -> None:
    score, group, member = scored(1500, ties=ties)
    found = lira_gap(score, group, member, fpr=fpr, names=("women", "men"), **FEW)
    expected = [roc(score[group == g], member[group == g]).tpr_at(fpr).value for g in (1, 0)]
    assert [rate.value for rate in found.rates] == pytest.approx(expected)
    assert found.estimate.value == pytest.approx(expected[0] - expected[1])
    assert (found.group, found.others, found.fpr, found.reason) == ("women", "men", fpr, "")


def in_order(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the scores with ties broken at random, by less than there is between two."""
    return score + 1e-10 * rng.random(score.size)


@pytest.mark.parametrize("ties", [False, True])
def test_people_are_drawn_again_as_in_a_plain_loop(ties: bool) -> None:
    score, _, member = scored(300, ties=ties)
    outsiders, members = score[member == 0], score[member == 1]
    rng, plain = np.random.default_rng(1), []
    for _ in range(1500):
        again = [in_order(rng.choice(people, people.size), rng) for people in (outsiders, members)]
        place = 0.1 * (outsiders.size + 1)
        threshold = np.sort(again[0])[::-1][math.floor(place + rng.random()) - 1]
        plain.append((again[1] > threshold).mean())
    side = low_fpr._side(score, np.ones(300, dtype=bool), member == 1, 0.1)
    drawn = low_fpr._resampled(side, 1500, np.random.default_rng(2))
    assert ks_2samp(plain, drawn).pvalue > 0.01


@pytest.mark.parametrize("ties", [False, True])
def test_groups_are_permuted_as_in_a_plain_loop(ties: bool) -> None:
    score, group, member = scored(300, ties=ties)
    rng, plain = np.random.default_rng(1), []
    for _ in range(1500):
        again = group.copy()
        for kind in (0, 1):
            again[member == kind] = rng.permutation(group[member == kind])
        ordered = in_order(score, rng)
        sides = [low_fpr._side(ordered, again == code, member == 1, 0.1) for code in (1, 0)]
        rates = [float(s.above(math.floor(s.place + rng.random()))) / s.members for s in sides]
        plain.append(rates[0] - rates[1])
    sides = [low_fpr._side(score, group == code, member == 1, 0.1) for code in (1, 0)]
    everybody = low_fpr._side(score, np.ones(300, dtype=bool), member == 1, 0.1)
    drawn = low_fpr._permuted(sides, everybody, 1500, np.random.default_rng(2))
    assert ks_2samp(plain, drawn).pvalue > 0.01


def test_coarse_ties_in_unlike_groups_are_no_gap() -> None:
    """Scores lie elsewhere in one group and tell nobody apart."""
    rng, refused, told = np.random.default_rng(0), 0, 0
    for _ in range(30):
        group, member = np.repeat([0, 1], 3000), np.tile([0, 1], 3000)
        score = np.round(rng.normal(size=6000) + 0.8 * group, 0)
        found = lira_gap(score, group, member, **FEW)
        assert found.test is not None
        refused += found.test.p_value < 0.05
        told += found.test.significant
        holds = found.estimate.low <= 0 <= found.estimate.high
        assert found.test.significant == (found.test.p_value < 0.05 and not holds)
    assert max(refused, told) <= 4


def test_swapping_the_groups_turns_the_sign() -> None:
    score, group, member = scored(5000, ties=False)
    own, other = lira_gap(score, group, member, **FEW), lira_gap(score, 1 - group, member, **FEW)
    assert own.estimate.value == pytest.approx(-other.estimate.value)
    assert own.rates[0].value == other.rates[1].value


def test_everybody_alike_is_a_gap_of_zero_with_some_width() -> None:
    _, group, member = scored(5000, ties=False)
    found = lira_gap(np.zeros(5000), group, member, **FEW)
    assert found.estimate.value == pytest.approx(0, abs=1e-12) and found.rates[0].value == pytest.approx(0.01)
    assert found.estimate.low < 0 < found.estimate.high
    assert found.test is not None and found.test.p_value == 1 and found.test.smallest_detectable > 0


def test_too_few_outsiders_are_told_and_nothing_is_measured() -> None:
    score, group, member = scored(3000, ties=False)
    outside = int(((group == 1) & (member == 0)).sum())
    found = lira_gap(score, group, member, names=("women", "men"), **FEW)
    assert found.reason == f"n/a, needs at least 1,000 non-members, got {outside} of “women”"
    assert math.isnan(found.estimate.value) and math.isnan(found.rates[1].value) and found.test is None
    assert not lira_gap(score, group, member, fpr=0.02, **FEW).reason


def test_too_few_members_are_told() -> None:
    group, member = np.repeat([0, 1, 0, 1], [1200, 1200, 500, 9]), np.repeat([0, 1], [2400, 509])
    found = lira_gap(np.arange(2909.0), group, member, **FEW)
    assert found.reason == "n/a, needs at least 10 members, got 9 of “group”"


def test_several_groups_are_each_compared_with_all_others() -> None:
    rng = np.random.default_rng(0)
    groups, member = rng.choice(3, 9000, p=[0.45, 0.45, 0.1]), rng.integers(0, 2, 9000)
    score = rng.normal(size=9000) + member * (groups == 1)
    found = lira_gaps(score, groups, member, names=("a", "b", "c"), **FEW)
    assert [result.group for result in found] == ["a", "b", "c"]
    assert [bool(result.reason) for result in found] == [False, False, True]
    alone = lira_gap(score, groups == 1, member, names=("b", "all others"), **FEW)
    assert found[1].estimate == alone.estimate and found[1].rates == alone.rates
    raw = [result.test.p_value for result in found[:2] if result.test]
    adjusted = [result.test.p_adjusted for result in found[:2] if result.test]
    assert len(raw) == 2 and min(adjusted) == min(1.0, 2 * min(raw)) and max(adjusted) >= max(raw)


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"score": np.full(40, math.nan)}, "Every score must be a finite number, got nan."),
        ({"score": np.zeros(39)}, "All arrays must have the same length: score has 39, member has 40."),
        ({"member": np.ones(40)}, "member must hold both 0 and 1, got only 1."),
        ({"fpr": 0.0}, "fpr must be in (0, 1), got 0.0."),
        ({"fpr": math.nan}, "fpr must be in (0, 1), got nan."),
        ({"group": np.full(40, 2)}, "groups must hold only 0 and 1, got 2."),
        ({"bootstraps": 0}, "bootstraps must be a whole number of at least 100, got 0."),
    ],
)
def test_bad_input_is_told_in_one_sentence(changed: dict, told: str) -> None:
    given = {"score": np.arange(40.0), "group": np.tile([0, 1], 20), "member": np.repeat([0, 1], 20)} | changed
    with pytest.raises(InputError) as raised:
        lira_gap(**given)
    assert str(raised.value) == told
