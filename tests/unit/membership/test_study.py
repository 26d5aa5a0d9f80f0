"""The study of membership: attacks it refuses, gaps of its verdicts, tables and limits by group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.auditing.policy import judge
from core.base.errors import InputError
from core.stats.estimates import Estimate
from core.studies.membership import (
    MemberGuess,
    MembershipResult,
    MembershipSettings,
    roc,
    vulnerability_disparity,
)
from core.studies.membership.findings import EPSILONS, curve_rows, release_findings
from core.studies.membership.result import MISSING, column_grouping, grouping_columns
from core.studies.membership.study import STUDY, measured
from core.studies.study import Measurement, SyntheticRecords, subject_of
from core.studies.subject import AuditConfig
from core.studies.subject import subject_of as trained
from tests import samples
from tests.policy_samples import policy
from tests.unit.charts.membership_samples import bands


@pytest.fixture(scope="module")
def result() -> MembershipResult:
    subject = trained(AuditConfig(method="unmitigated", depth=6, seed=3), samples.dataset(1500))
    *_, last = STUDY.run(subject, MembershipSettings(shadows=4))
    return last


@pytest.mark.parametrize(
    ("attack", "sentence"),
    [
        ("lira", "at least 4 for the attack lira, got 0"),
        ("magic", "attacks must"),
        ("boundary", "one that can be run on this model's scores, got boundary"),
    ],
)
def test_run_refuses_attacks(attack: str, sentence: str, result: MembershipResult):
    dataset = replace(result.subject.dataset, sets=np.full(1500, "train"))
    answers = replace(result.subject, trainable=False, dataset=dataset)
    with pytest.raises(InputError, match=sentence):
        list(STUDY.run(answers, MembershipSettings(shadows=0, attacks=(attack,))))


def test_disparities_are_those_of_the_verdicts(result: MembershipResult):
    guess, verdict = result.guesses[result.strongest], result.verdicts[result.strongest]
    member, group = result.inside(guess), result.subject.dataset.sensitive[guess.rows]
    alone = vulnerability_disparity(verdict, group, member)
    (gaps,) = result.disparities
    for name in ("vd", "fpr_gap", "advantage_gap"):
        assert getattr(gaps, name).value == pytest.approx(getattr(alone, name).value, abs=1e-12)
    assert result.ranges[0].vd == pytest.approx(alone.vd.value, abs=1e-12)
    advantage = verdict[member == 1].mean() - verdict[member == 0].mean()
    assert advantage == pytest.approx(result.advantages[result.strongest].value)


def test_grouped_changes_nothing_but_the_gaps(result: MembershipResult):
    thirds = (np.arange(1500) % 3).astype(np.uint8)
    regrouped = result.grouped(thirds, ("a", "b", "c"))
    assert regrouped.curves[result.strongest].auc == result.curves[result.strongest].auc
    assert {gaps.group for gaps in regrouped.disparities} == {"a", "b", "c"}


def drawn_result(sensitive: np.ndarray, side: int, names: tuple[str, ...], remembered: np.ndarray | None = None):
    """Return a result on people of these groups, of whom one attack says chance, or remembers a share."""
    n, rng = sensitive.size, np.random.default_rng(2)
    labels = np.arange(n, dtype=np.uint8) % 2
    drawn = SyntheticRecords(features=np.zeros((n, 1)), labels=labels, sensitive=sensitive.astype(np.uint8))
    subject = subject_of(drawn, labels, (side, 200, side), seed=0, scores=rng.random(n))
    subject.dataset = replace(subject.dataset, group_names=names)
    rows = np.concatenate([subject.splits.train, subject.splits.test])
    score = rng.standard_normal(rows.size)
    if remembered is not None:
        score += 4.0 * ((rows < side) & remembered[rows])
    guess = MemberGuess(name="loss", rows=rows, score=score, verdict=None)
    return MembershipResult(subject=subject, shadows=0, guesses={"loss": guess})


@pytest.mark.parametrize("names", [("men", "women"), ("A", "B", "C")])
def test_the_table_of_an_audit_has_a_row_a_group_and_one_of_everybody(names: tuple[str, ...]):
    side = 1000 * len(names)
    sensitive = np.arange(2 * side + 200) % len(names)
    result = drawn_result(sensitive, side, names)
    guess = result.guesses["loss"]
    table = STUDY.tables(result, MembershipSettings(shadows=0))["Membership attacks"]
    rates = {row["people"]: row["TPR at 1% FPR"] for row in table}
    assert sorted(rates) == sorted((*names, "everybody"))
    for code, name in enumerate(names):
        in_group = sensitive[guess.rows] == code
        rate = roc(guess.score[in_group], result.inside(guess)[in_group]).tpr_at(0.01).value
        assert rates[name] == pytest.approx(rate)


@pytest.mark.parametrize(("leaks", "verdict"), [(True, "fail"), (False, "inconclusive")])
def test_a_small_group_takes_the_gap_of_no_other_and_can_break_a_limit_but_not_keep_it(leaks: bool, verdict: str):
    sensitive = np.arange(4600) % 2
    sensitive[:20] = sensitive[-20:] = 2
    remembered = (sensitive == 1) if leaks else None
    result = drawn_result(sensitive, 2200, ("men", "women", "rather not say"), remembered)
    measurement = measured(result)["membership_gap"]
    assert measurement.estimate is not None
    assert measurement.estimate.high == 1.0
    assert (measurement.estimate.low > 0.4) == leaks
    assert "at least 100 non-members, got 20 of “rather not say”" in measurement.reason
    row = judge(policy(membership_gap=0.3), [measurement], attribute="sex").rows[0]
    assert row.verdict == verdict


def test_curve_rows_rise_with_what_the_curve_is_over_and_have_its_numbers():
    curve = bands(EPSILONS[:3], repeats=9)
    rows = curve_rows(curve[::-1], "ε")
    assert [row["ε"] for row in rows] == sorted(EPSILONS[:3])
    assert [row["repeats"] for row in rows] == [9, 8, 7]
    assert [row["AUC"].value for row in rows] == [band.values["auc"] for band in curve]


@pytest.mark.parametrize(("low", "beats"), [(0.5, False), (0.501, True)])
def test_release_findings_need_an_auc_surely_above_a_half(low: float, beats: bool):
    checks = {f"membership_{name}": Measurement(check=f"membership_{name}") for name in ("auc", "caught", "gap")}
    auc = Estimate(value=0.55, low=low, high=0.6, n=1000)
    (finding,) = release_findings(checks | {"membership_auc": Measurement(check="membership_auc", estimate=auc)})
    assert ("beats" in finding.point, bool(finding.to_do)) == (beats, beats)


def test_column_grouping_keeps_the_first_value_apart_from_missing_ones():
    people = samples.dataset(400)
    column = next(iter(grouping_columns(people)))
    index = people.feature_names.index(column)
    codes = np.arange(400) % (len(people.categories[index]) + 1) - 1
    features = people.features.copy()
    features[:, index] = codes
    groups, names = column_grouping(replace(people, features=features), column)
    values = (*people.categories[index], MISSING)
    assert [names[code] for code in groups] == [values[code] for code in codes]
