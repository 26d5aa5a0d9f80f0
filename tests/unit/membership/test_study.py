"""The study attack by attack, its curves and tables: seeded, cancelled, resumed, never more than was asked for."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from core.auditing.policy import judge
from core.base.errors import Cancelled, InputError
from core.datasets import AuditDataset
from core.studies.membership import (
    MemberGuess,
    MembershipResult,
    MembershipSettings,
    roc,
    vulnerability_disparity,
)
from core.studies.membership.attacks import attacks_on
from core.studies.membership.curves import epsilon_curve
from core.studies.membership.findings import CurvePoint, gap_rows, range_rows
from core.studies.membership.study import STUDY, measured
from core.studies.study import SyntheticRecords, subject_of
from core.studies.subject import AuditConfig, Subject
from core.studies.subject import subject_of as trained
from tests import samples
from tests.policy_samples import policy

SETTINGS = MembershipSettings(shadows=4)
CONFIG = AuditConfig(method="unmitigated", depth=6, seed=3)


@cache
def dataset() -> AuditDataset:
    return samples.dataset(1500)


@cache
def subject() -> Subject:
    return trained(CONFIG, dataset())


@cache
def steps() -> tuple[MembershipResult, ...]:
    return tuple(STUDY.run(subject(), SETTINGS))


def test_attacks_come_in_order_and_nothing_before_is_lost():
    names = [attack.name for attack in attacks_on("scores", shadows=True)]
    assert [list(step.guesses) for step in steps()] == [names[: i + 1] for i in range(len(names))]
    for before, after in itertools.pairwise(steps()):
        for name, guess in before.guesses.items():
            assert after.guesses[name] is guess


def test_the_report_of_a_step_may_stop_it():
    def stop(done: int, total: int) -> None:
        assert total == STUDY.steps(subject(), SETTINGS) == 4
        if done == 3:  # within LiRA
            raise Cancelled("Stopped.")

    growing, seen = STUDY.run(subject(), SETTINGS, stop), []
    with pytest.raises(Cancelled):
        seen.extend(growing)
    assert list(steps()[2].guesses) == ["loss", "released", "quantile"]


def test_named_attacks_are_run_alone_and_say_the_same():
    *_, result = STUDY.run(subject(), MembershipSettings(shadows=0, attacks=("network", "loss")))
    assert list(result.guesses) == ["loss", "network"]
    assert result.curves["loss"].auc == steps()[0].curves["loss"].auc
    for names, sentence in ((("lira",), "at least 4 for the attack lira, got 0"), (("magic",), "attacks must")):
        with pytest.raises(InputError, match=sentence):
            MembershipSettings(shadows=0, attacks=names)
    with pytest.raises(InputError, match="one that can be run on this model's scores, got boundary"):
        answers = replace(subject(), trainable=False, dataset=replace(dataset(), sets=np.full(dataset().n, "train")))
        list(STUDY.run(answers, MembershipSettings(shadows=0, attacks=("boundary",))))


def test_the_gaps_are_those_of_the_verdicts():
    result = steps()[-1]
    guess, verdict = result.guesses[result.strongest], result.verdicts[result.strongest]
    member, group = result.inside(guess), dataset().sensitive[guess.rows]
    alone = vulnerability_disparity(verdict, group, member)
    (gaps,) = result.disparities.results
    for name in ("vd", "fpr_gap", "advantage_gap"):
        assert getattr(gaps, name).value == pytest.approx(getattr(alone, name).value, abs=1e-12)
    assert result.ranges[0].vd == pytest.approx(alone.vd.value, abs=1e-12)
    assert verdict[member == 1].mean() - verdict[member == 0].mean() == pytest.approx(
        result.advantages[result.strongest].value
    )
    rows = list(gap_rows(result))
    assert [row["gap"] for row in rows[:3]] == ["VD", "FPR gap", "Membership-advantage gap"]
    assert len(list(range_rows(result))) == 10 and len(STUDY.charts(result, SETTINGS)) == 2


def test_other_groups_change_nothing_but_the_gaps():
    result = steps()[-1]
    thirds = (np.arange(dataset().n) % 3).astype(np.uint8)
    regrouped = result.grouped(thirds, ("a", "b", "c"))
    assert regrouped.curves[result.strongest].auc == result.curves[result.strongest].auc
    assert {gaps.group for gaps in regrouped.disparities.results} == {"a", "b", "c"}
    assert dataset().group_names == result.subject.dataset.group_names and len(STUDY.charts(regrouped, SETTINGS)) == 2


def points(**more: Any) -> list[CurvePoint]:
    return list(epsilon_curve(CONFIG, dataset(), epsilons=(0.5, math.inf), repeats=3, **more))


@pytest.mark.parametrize("names", [("men", "women"), ("A", "B", "C")])
def test_the_table_of_an_audit_has_a_row_a_group_and_no_others_that_differ_by_group(names: tuple[str, ...]):
    side, rng = 1000 * len(names), np.random.default_rng(2)
    drawn = SyntheticRecords(
        features=np.zeros((2 * side + 200, 1)),
        labels=np.arange(2 * side + 200, dtype=np.uint8) % 2,
        sensitive=(np.arange(2 * side + 200) % len(names)).astype(np.uint8),
    )
    subject = subject_of(drawn, drawn.labels, (side, 200, side), seed=0)
    subject.dataset = replace(subject.dataset, group_names=names)
    rows = np.concatenate([subject.splits.train, subject.splits.test])
    guess = MemberGuess(name="loss", rows=rows, score=rng.random(2 * side), verdict=None)
    result = MembershipResult(subject=subject, shadows=0, guesses={"loss": guess})
    table = STUDY.tables(result, MembershipSettings(shadows=0))["Membership attacks"]
    rates = {row["people"]: row["TPR at 1% FPR"] for row in table}
    assert sorted(rates) == sorted((*names, "everybody"))
    for code, name in enumerate(names):
        in_group = drawn.sensitive[rows] == code
        rate = roc(guess.score[in_group], result.inside(guess)[in_group]).tpr_at(0.01).value
        assert rates[name] == pytest.approx(rate)


def test_a_small_group_takes_the_gap_of_no_other_and_can_break_a_limit_but_not_keep_it():
    side, rng = 2200, np.random.default_rng(2)
    n = 2 * side + 200
    sensitive = (np.arange(n) % 2).astype(np.uint8)
    sensitive[:20] = sensitive[-20:] = 2
    drawn = SyntheticRecords(features=np.zeros((n, 1)), labels=np.arange(n, dtype=np.uint8) % 2, sensitive=sensitive)
    subject = subject_of(drawn, drawn.labels, (side, 200, side), seed=0, scores=rng.random(n))
    subject.dataset = replace(subject.dataset, group_names=("men", "women", "rather not say"))
    rows = np.concatenate([subject.splits.train, subject.splits.test])
    for remembered, verdict in ((4.0, "fail"), (0.0, "inconclusive")):
        score = rng.standard_normal(rows.size) + remembered * ((rows < side) & (sensitive[rows] == 1))
        guess = MemberGuess(name="loss", rows=rows, score=score, verdict=None)
        measurement = measured(MembershipResult(subject=subject, shadows=0, guesses={"loss": guess}))["membership_gap"]
        assert measurement.estimate is not None and measurement.estimate.high == 1.0
        assert (measurement.estimate.low > 0.4) == (verdict == "fail")
        assert measurement.reason.startswith("TPR at 1% FPR needs at least 100 non-members, got 20 of “rather not say”")
        assert measurement.assumptions[-1].startswith(
            "The interval ends at 100 points, because differences are unknown: “rather not say”."
        )
        row = judge(policy(membership_gap=0.3), [measurement], attribute="sex").rows[0]
        assert row.verdict == verdict and row.blocks
        assert verdict == "fail" or row.settling.startswith("Not everybody could be measured: TPR at 1% FPR needs")


@pytest.mark.long
def test_a_curve_goes_through_all_budgets_of_a_repeat_first_and_a_resumed_one_is_the_same():
    curve = points()
    assert curve[:4] + points(finished=curve[:4]) == curve and points(finished=curve) == []
    assert [(point.repeat, point.at) for point in curve] == [(r, e) for r in range(3) for e in (0.5, math.inf)]
    assert all(point.advantage_gap == pytest.approx(point.vd - point.fpr_gap) for point in curve)
    assert len({point.auc for point in curve if point.at == math.inf}) == 3  # each repeat is another split
