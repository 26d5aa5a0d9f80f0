"""Gaps where there is nothing to find, and where there is: 200 audits each, with a cheap attack.

The attack is a threshold on the loss, chosen on people it knows, as the loss attack's is. Everything else is the code
that audits. With 200 runs, 5 % and two standard errors are 16 of them.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from core.membership import disparities, lira_gaps
from core.membership.disparity import GAPS
from core.membership.resampling import gap_p_value, permuted
from tests.unit.membership.judged_people import sampled_tally

RUNS = 200
MOST = math.floor(RUNS * (0.05 + 2 * math.sqrt(0.05 * 0.95 / RUNS)))
FEW = {"bootstraps": 100, "permutations": 299}


def threshold(loss: np.ndarray, member: np.ndarray) -> float:
    """Return the loss below which known people are called members: best balanced accuracy."""
    order = np.argsort(loss)
    inside = np.cumsum(member[order]) / member.sum() - np.cumsum(1 - member[order]) / (1 - member).sum()
    return float(loss[order][np.argmax(inside)])


def verdicts(loss: np.ndarray, member: np.ndarray, known: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the attack's verdicts on, and the membership of, the people after the known ones."""
    return (loss[known:] <= threshold(loss[:known], member[:known])).astype(int), member[known:]


@pytest.mark.parametrize("shares", [(0.65, 0.35), (0.6, 0.25, 0.15)])
def test_where_nothing_depends_on_anything_no_gap_is_found_too_often(shares: tuple[float, ...]) -> None:
    found: Counter[str] = Counter()
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        groups, member = rng.choice(len(shares), 1200, p=shares), rng.integers(0, 2, 1200)
        told, inside = verdicts(rng.exponential(size=1200).round(1), member, 400)
        names = [f"group {code}" for code in range(len(shares))]
        result = disparities(told, groups[400:], inside, names=names, seed=run, **FEW)
        assert not result.not_measured
        for gap in GAPS:
            found[gap] += any(one.tests[gap].significant for one in result.results)  # family-wise
            for one in result.results:
                found[f"{gap} of {one.group}"] += one.tests[gap].p_value < 0.05
    assert max(found.values()) <= MOST, found
    assert sum(found.values()) > 0  # it can be called significant at all


def test_groups_flagged_unlike_by_a_blind_attack_have_no_advantage_gap() -> None:
    # what vd alone would call exposure: members and outsiders of one group are flagged alike, and more
    found, seen = Counter(), 0
    for run in range(RUNS):
        rng = np.random.default_rng(1000 + run)
        counts = sampled_tally([[0.2, 0.2], [0.6, 0.6]], [[300, 100], [60, 200]], rng)
        drawn = permuted(counts, 999, rng)
        found["advantage_gap"] += gap_p_value(GAPS["advantage_gap"], counts, drawn) < 0.05
        seen += gap_p_value(GAPS["vd"], counts, drawn) < 0.05
    assert found["advantage_gap"] <= MOST
    assert seen >= 0.95 * RUNS


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_scores_that_do_not_depend_on_membership_have_no_gap_at_low_false_alarms(apart: float) -> None:
    # with groups apart, one threshold for everybody would catch more of one group, in and out of the training data
    found = 0
    for run in range(RUNS):
        rng = np.random.default_rng(2000 + run)
        groups, member = rng.integers(0, 2, 4500), rng.integers(0, 2, 4500)
        score = (rng.normal(size=4500) + apart * groups).round(2)
        (gap,) = lira_gaps(score, groups, member, names="ab", seed=run, bootstraps=100, permutations=299)
        assert gap.test is not None
        found += gap.test.significant
    assert 0 < found <= MOST


@pytest.mark.parametrize("shares", [(0.65, 0.35), (0.6, 0.25, 0.15)])
def test_a_target_that_memorises_one_group_is_found(shares: tuple[float, ...]) -> None:
    found = 0
    for run in range(RUNS):
        rng = np.random.default_rng(3000 + run)
        groups, member = rng.choice(len(shares), 1500, p=shares), rng.integers(0, 2, 1500)
        loss = rng.exponential(size=1500)
        remembered = (groups == 1) & (member == 1) & (rng.random(1500) < 0.8)
        loss[remembered] = 0.0
        told, inside = verdicts(loss, member, 500)
        names = [f"group {code}" for code in range(len(shares))]
        results = disparities(told, groups[500:], inside, names=names, seed=run, **FEW).results
        (planted,) = [one for one in results if one.group == "group 1"]
        found += planted.tests["advantage_gap"].significant and planted.advantage_gap.low > 0
    assert found >= 0.95 * RUNS


def test_a_target_that_memorises_one_group_is_found_at_low_false_alarms() -> None:
    found = 0
    for run in range(RUNS):
        rng = np.random.default_rng(4000 + run)
        groups, member = rng.integers(0, 2, 5000), rng.integers(0, 2, 5000)
        score = rng.normal(size=5000)
        score[(groups == 1) & (member == 1) & (rng.random(5000) < 0.1)] += 4.0
        (gap,) = lira_gaps(score, groups, member, names="ab", seed=run, bootstraps=100, permutations=299)
        found += gap.test is not None and gap.test.significant and gap.estimate.low > 0
    assert found >= 0.95 * RUNS
