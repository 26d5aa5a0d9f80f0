"""The study attack by attack, its curves and tables: seeded, cancelled, resumed, never more than was asked for."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from core.auditing.policy import judge
from core.base.errors import Cancelled
from core.studies.membership import (
    ATTACKS,
    REGISTRY,
    CurvePoint,
    MemberGuess,
    MemberPeople,
    MembershipFindings,
    MembershipPlan,
    MembershipSettings,
    TrainedTarget,
    epsilon_curve,
    evaluate_attack,
    roc,
    run_attacks,
    target_of,
    train_target,
    vulnerability_disparity,
)
from core.studies.membership.findings import MembershipSummary, headline
from core.studies.membership.study import STUDY, MembershipResult, measured
from core.studies.planted import SyntheticRecords, subject_of
from tests.policy_samples import policy
from tests.unit.membership.samples import invented, study

SETTINGS = MembershipSettings(max_depth=4, shadows=4, seed=3)


def people(n: int = 800, n_groups: int = 2, seed: int = 1) -> MemberPeople:
    """Return invented people: five columns, the last of which is the group; the label follows the first two."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_groups, n).astype(np.uint8)
    codes = np.column_stack([*(rng.integers(0, k, n) for k in (6, 5, 4, 7)), groups]).astype(np.int64)
    chance = 0.2 + 0.1 * codes[:, 0] * (codes[:, 1] > 1)
    return replace(invented(codes, rng.random(n) < chance, groups), protected=(4,))


@cache
def whole_study() -> tuple[MembershipFindings, ...]:
    return tuple(study(people(), SETTINGS))


@cache
def network() -> tuple[TrainedTarget, MemberGuess]:
    """Return a target and what the published attack says of it."""
    member_people = people()
    target = train_target(member_people, SETTINGS, target_of(member_people, SETTINGS))
    return target, next(run_attacks(target, finished=("loss", "confidence")))


def test_attacks_come_in_order_and_nothing_before_is_lost():
    steps = whole_study()
    assert [list(step.attacks) for step in steps] == [list(ATTACKS[: i + 1]) for i in range(len(ATTACKS))]
    for before, after in itertools.pairwise(steps):
        for name, attack in before.attacks.items():
            assert after.attacks[name] is attack
    alone = {name for name, attack in steps[-1].attacks.items() if attack.disparities is None}
    assert alone == {"quantile", *(name for name in ATTACKS if "shadows" in REGISTRY[name].needs)}


def test_the_report_of_a_step_may_stop_it():
    def stop(done: int, total: int) -> None:
        if done == 5:  # within LiRA
            raise Cancelled("Stopped.")

    growing = study(people(), SETTINGS, report=stop)
    steps = [next(growing) for _ in range(4)]
    with pytest.raises(Cancelled):
        next(growing)
    assert list(steps[-1].attacks) == list(ATTACKS[:4])


def test_the_gaps_are_those_of_the_verdicts():
    member_people = people()
    target, guess = network()
    evaluated = evaluate_attack(target, guess)
    assert guess.verdict is not None and evaluated.disparities is not None and evaluated.recall is not None
    member, group = np.isin(guess.rows, target.split.members), member_people.groups[guess.rows]
    alone = vulnerability_disparity(guess.verdict, group, member)
    (result,) = evaluated.disparities.results
    for gap in ("vd", "fpr_gap", "advantage_gap"):
        assert getattr(result, gap).value == pytest.approx(getattr(alone, gap).value, abs=1e-12)
    assert evaluated.ranges[0].vd == pytest.approx(alone.vd.value, abs=1e-12)
    assert evaluated.recall.value == pytest.approx(guess.verdict[member].mean())


def points(**more: object) -> list[CurvePoint]:
    return list(epsilon_curve(people(), SETTINGS, epsilons=(0.5, math.inf), repeats=3, **more))  # type: ignore[arg-type]


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
    table = STUDY.tables(result, MembershipPlan(shadows=0))["Membership attacks"]
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


def test_a_curve_goes_through_all_budgets_of_a_repeat_first_and_a_resumed_one_is_the_same():
    curve = points()
    assert curve[:4] + points(finished=curve[:4]) == curve and points(finished=curve) == []
    assert [(point.repeat, point.at) for point in curve] == [(r, e) for r in range(3) for e in (0.5, math.inf)]
    assert all(point.advantage_gap == pytest.approx(point.vd - point.fpr_gap) for point in curve)
    assert len({point.auc for point in curve if point.at == math.inf}) == 3  # each repeat is another split


def test_every_interval_has_the_level_that_was_asked_for():
    target, guess = network()
    target = replace(target, settings=replace(SETTINGS, level=0.8))
    evaluated, model = evaluate_attack(target, guess), target.quality
    gaps = [gap.estimate for gap in evaluated.low_fpr if not math.isnan(gap.estimate.low)]
    rates = [evaluated.precision, evaluated.recall, evaluated.roc.auc, *(roc.auc for roc in evaluated.roc_by_group)]
    rates += [model.accuracy_train, model.accuracy_test, model.majority_test]
    assert {rate.level for rate in (*rates, *gaps) if rate is not None} == {0.8}
    evidence_text = headline(
        MembershipSummary(replace(target.findings, attacks={guess.name: evaluated}), target.settings)
    ).evidence
    assert evidence_text.count("80% CI") == evidence_text.count("CI") > 0
