"""Gaps of small groups: a rare group that is wholly memorised never passes, one that is not never fails."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from core.auditing.policy import default_policy, judge, predictions_policy
from core.auditing.policy.verdict import Verdict
from core.studies.membership import MembershipSettings
from core.studies.membership.roc import counts_above
from core.studies.membership.study import STUDY
from core.studies.membership.tpr_gaps import net_gaps
from core.studies.study import Measurement, SyntheticRecords, subject_of
from core.studies.subject import Subject
from tests.unit.policy.test_files import comfortable

SIDE = 4_000
"""Members, and as many non-members."""

ATTACK_RECORDS = 1_200
"""Attack records."""


def rare_group(kind: str, share: float, *, seed: int, side: int = SIDE) -> Subject:
    """Return given scores of people of whom so many are of group 1; "none" remembers nobody, "all" each of them."""
    rng = np.random.default_rng(seed)
    n = 2 * side + ATTACK_RECORDS
    features = rng.normal(size=(n, 2))
    chance = 1 / (1 + np.exp(-1.5 * features[:, 0]))
    labels = (rng.random(n) < chance).astype(np.uint8)
    rare = rng.random(n) < share
    remembered = rare & (np.arange(n) < side)
    if kind == "all":
        chance = np.where(remembered, np.where(labels == 1, 0.99, 0.01), chance)
    scores = chance.round(4)
    people = SyntheticRecords(features=features, labels=labels, sensitive=rare.astype(np.uint8))
    return subject_of(people, (scores >= 0.5).astype(np.uint8), (side, ATTACK_RECORDS, side), seed=seed, scores=scores)


@cache
def measured(kind: str, share: float, seed: int, side: int = SIDE) -> dict[str, Measurement]:
    """Return the measurements of the study of membership."""
    settings = MembershipSettings(shadows=0)
    *_, result = STUDY.run(rare_group(kind, share, seed=seed, side=side), settings)
    return dict(STUDY.checks(result, settings))


def verdict_by(policy_of, measurements: dict[str, Measurement]) -> Verdict:
    """Return a policy's verdict where all other checks keep their limit."""
    rest = comfortable(policy_of(), without=tuple(measurements))
    return judge(policy_of(), [*measurements.values(), *rest], attribute="group")


def row_of(verdict: Verdict, check: str):
    (row,) = [row for row in verdict.rows if row.check == check]
    return row


POLICIES = pytest.mark.parametrize("policy_of", [predictions_policy, default_policy], ids=["predictions", "default"])


@POLICIES
@pytest.mark.parametrize(("seed", "side"), [(0, SIDE), (1, SIDE), (5, 700)])
def test_a_rare_group_that_is_wholly_memorised_fails_where_all_people_together_do_not(policy_of, seed: int, side: int):
    verdict = verdict_by(policy_of, measured("all", 0.029, seed, side))
    together = [row_of(verdict, f"membership_{check}").verdict for check in ("auc", "advantage", "caught")]
    assert "fail" not in together
    assert row_of(verdict, "membership_gap").verdict == "fail"
    assert verdict.overall == "fail"


@pytest.mark.long
@POLICIES
@pytest.mark.parametrize("share", [0.029, 0.2])
def test_one_of_whom_nobody_is_remembered_never_fails_and_passes_where_it_is_large_enough(policy_of, share: float):
    verdicts = [verdict_by(policy_of, measured("none", share, seed)) for seed in range(4)]
    gaps = [row_of(verdict, "membership_gap").verdict for verdict in verdicts]
    assert set(gaps) <= {"pass", "inconclusive"}
    assert share < 0.1 or gaps.count("pass") >= 3


def scored(size: int, seed: int, *, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return score, group and membership: group 1 has so many members, who score higher by a shift, and non-members."""
    member = np.repeat([0, 1, 0, 1], [2_000, 2_000, size, size]).astype(np.uint8)
    group = np.repeat([0, 1], [4_000, 2 * size]).astype(np.uint8)
    return np.random.default_rng(seed).normal(size=group.size) + shift * group * member, group, member


@pytest.mark.parametrize("decimals", [0, 9])
def test_the_rates_at_one_threshold_are_those_of_a_plain_loop(decimals: int):
    score, group, member = scored(150, 7, shift=2.0)
    score = score.round(decimals)
    (gap,) = net_gaps(score, group, member, names=("most", "rare"))
    rng, draws = np.random.default_rng(8), []
    alarms = counts_above(score, member)[0][-1]
    for _ in range(400):
        order = np.lexsort((rng.random(score.size), -score))
        rank = int(0.01 * (alarms + 1) + rng.random())
        cut = np.flatnonzero(np.cumsum(member[order] == 0) >= rank)[0]
        flagged = np.zeros(score.size, dtype=bool)
        flagged[order[:cut]] = True
        draws.append([flagged[(group == g) & (member == m)].mean() for m, g in ((1, 1), (1, 0), (0, 1), (0, 0))])
    plain = np.mean(draws, axis=0)
    rates = [rate.value for rate in (*gap.rates, *gap.false_positives)]
    assert rates == pytest.approx(plain, abs=0.004)
    assert gap.estimate.value == pytest.approx(rates[0] - rates[2] - rates[1] + rates[3])


@pytest.mark.parametrize("size", [1_000, 9])
def test_net_gaps_are_of_groups_of_10_to_some_hundred(size: int):
    score, group, member = scored(size, 3)
    assert net_gaps(score, group, member, names=("most", "rare")) == ()
