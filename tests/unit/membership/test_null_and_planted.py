"""Gaps where there is nothing to find, and where there is, in 200 draws each; 5 % and two standard errors are 16.

Gaps of verdicts are tried from end to end in `test_from_people_to_gaps`.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from core.membership import lira_gaps
from core.membership.disparity import GAPS
from core.membership.resampling import gap_p_value, permuted
from tests.unit.membership.judged_people import sampled_tally

RUNS = 200
MOST = math.floor(RUNS * (0.05 + 2 * math.sqrt(0.05 * 0.95 / RUNS)))


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
