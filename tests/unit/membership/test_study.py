"""The study of membership: attacks it refuses, gaps of its verdicts, tables and limits by group."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from core.auditing.policy import judge
from core.base.errors import InputError
from core.datasets.splits import split
from core.stats.estimates import Estimate
from core.studies.membership import (
    MembershipResult,
    MembershipSettings,
    most_caught,
    roc,
    vulnerability_disparity,
)
from core.studies.membership.attack import audited_target
from core.studies.membership.findings import EPSILONS, curve_rows, release_findings
from core.studies.membership.result import MISSING, column_grouping, grouping_columns
from core.studies.membership.study import STUDY, measured
from core.studies.study import Measurement, subject_of, synthetic_people
from core.studies.subject import AuditConfig, train_model
from core.studies.subject import subject_of as trained
from tests import samples
from tests.policy_samples import policy
from tests.unit.charts.samples import bands


@pytest.fixture(scope="module")
def result():
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
def test_run_refuses_attacks(attack, sentence, result):
    dataset = replace(result.subject.dataset, sets=np.full(1500, "train"))
    answers = replace(result.subject, trainable=False, dataset=dataset)
    with pytest.raises(InputError, match=sentence):
        list(STUDY.run(answers, MembershipSettings(shadows=0, attacks=(attack,))))


def test_disparities_are_those_of_the_verdicts(result):
    verdict, member, group = result.verdicts[result.strongest], result.member, result.groups
    alone = vulnerability_disparity(verdict, group, member)
    (gaps,) = result.disparities
    for name in ("vd", "fpr_gap", "advantage_gap"):
        assert getattr(gaps, name).value == pytest.approx(getattr(alone, name).value, abs=1e-12)
    assert result.ranges[0].vd == pytest.approx(alone.vd.value, abs=1e-12)
    advantage = verdict[member == 1].mean() - verdict[member == 0].mean()
    assert advantage == pytest.approx(result.advantages[result.strongest].value)


def test_grouped_changes_nothing_but_the_gaps(result):
    thirds = (np.arange(1500) % 3).astype(np.uint8)
    regrouped = result.grouped(thirds, ("a", "b", "c"))
    assert regrouped.curves[result.strongest].auc == result.curves[result.strongest].auc
    assert {gaps.group for gaps in regrouped.disparities} == {"a", "b", "c"}


def drawn_result(sensitive, side, names, remembered=None):
    """Return a result on people of these groups, of whom one attack says chance, or remembers a share."""
    n, rng = sensitive.size, np.random.default_rng(2)
    labels = np.arange(n, dtype=np.uint8) % 2
    drawn = synthetic_people(np.zeros((n, 1)), labels, sensitive.astype(np.uint8))
    subject = subject_of(drawn, labels, (side, 200, side), seed=0, scores=rng.random(n))
    subject.dataset = replace(subject.dataset, group_names=names)
    rows = np.concatenate([subject.splits.train, subject.splits.test])
    score = rng.standard_normal(rows.size)
    if remembered is not None:
        score += 4.0 * ((rows < side) & remembered[rows])
    return MembershipResult(subject=subject, shadows=0, guesses={"loss": (score, None)})


@pytest.mark.parametrize("names", [("men", "women"), ("A", "B", "C")])
def test_the_table_of_an_audit_has_a_row_a_group_and_one_of_everybody(names):
    side = 1000 * len(names)
    sensitive = np.arange(2 * side + 200) % len(names)
    result = drawn_result(sensitive, side, names)
    score, _ = result.guesses["loss"]
    table = STUDY.tables(result, MembershipSettings(shadows=0))["Membership attacks"]
    rates = {row["people"]: row["TPR at 1% FPR"] for row in table}
    assert sorted(rates) == sorted((*names, "everybody"))
    for code, name in enumerate(names):
        in_group = sensitive[result.rows] == code
        rate = roc(score[in_group], result.member[in_group]).tpr_at(0.01).value
        assert rates[name] == pytest.approx(rate)


@pytest.mark.parametrize(("leaks", "verdict"), [(True, "fail"), (False, "inconclusive")])
def test_a_small_group_takes_the_gap_of_no_other_and_can_break_a_limit_but_not_keep_it(leaks, verdict):
    sensitive = np.arange(4600) % 2
    sensitive[:20] = sensitive[-20:] = 2
    remembered = (sensitive == 1) if leaks else None
    result = drawn_result(sensitive, 2200, ("men", "women", "rather not say"), remembered)
    measurement = measured(result)["membership_gap"]
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
def test_release_findings_need_an_auc_surely_above_a_half(low, beats):
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


N = 400


@pytest.mark.parametrize(
    "method", ["unmitigated", "exponentiated_gradient", "threshold_optimizer", "correlation_remover", "dp_id3"]
)
def test_the_audited_model_is_the_audits(method):
    dataset = samples.dataset(N)
    config = AuditConfig(method=method, tolerance=0.05, train_share=0.4, seed=3)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    audited = train_model(config, dataset, splits)
    p = audited_target(config, dataset)(splits.train, config.seed)
    assert np.array_equal(p, audited.scores)


FAR = 60


def law(count, epsilon):
    """Return the discrete Laplace distribution around a count, of -FAR to FAR."""
    shares = np.exp(-epsilon * np.abs(np.arange(-FAR, FAR + 1) - count))
    return np.asarray(shares / shares.sum())


@cache
def curve(epsilon):
    """Return (false alarms, members caught) of the best attacks on her, shape (m, 2).

    A leaf tells the noisy counts of both labels. She has label 1, the other has label 0, and one of both is trained
    on. By Neyman and Pearson the best attacks flag what is told in the order of its likelihood ratio.
    """
    hers = np.outer(law(0, epsilon), law(1, epsilon)).ravel()
    other_law = np.outer(law(1, epsilon), law(0, epsilon)).ravel()
    order = np.argsort(-hers / other_law, kind="stable")
    return np.column_stack([np.cumsum(other_law[order]), np.cumsum(hers[order])])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_no_attack_on_one_of_two_people_is_better_and_the_best_needs_twice_epsilon(epsilon):
    alarms, caught = curve(epsilon).T
    for false_alarms, share in zip(alarms, caught, strict=True):
        assert share <= most_caught(min(false_alarms, 1.0), epsilon) + 1e-9
    ratio = float((caught[alarms > 1e-6] / alarms[alarms > 1e-6]).max())
    assert ratio > 1.5 * math.exp(epsilon)  # a bound of once epsilon is broken
    assert ratio == pytest.approx(math.exp(2 * epsilon), rel=1e-6)


def test_most_caught_by_hand():
    twice = math.log(2.0) / 2.0  # of a record replaced: outcomes are at most twice as likely
    by_hand = {0.0: 0.0, 0.1: 0.2, 1 / 3: 2 / 3, 0.4: 0.7, 0.8: 0.9}  # doubled, and 1 less half of those not flagged
    assert [most_caught(rate, twice) for rate in by_hand] == pytest.approx(list(by_hand.values()))
    assert [most_caught(0.2, epsilon) for epsilon in (0.0, math.inf)] == pytest.approx([0.2, 1.0])
