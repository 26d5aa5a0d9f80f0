"""Every check's number against the one its building blocks give, and its reason where there is none."""

from collections import defaultdict
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from core.auditing import MembershipSettings
from core.auditing.policy import default_policy, predictions_policy
from core.auditing.run import audited_of, measured, result_of, tables
from core.auditing.sizes import FEWEST_GROUP_NON_MEMBERS, GROUP_NON_MEMBERS, counted, size_problems, split_problem
from core.base.errors import Cancelled, FairLeakError, InputError
from core.datasets import Roles
from core.datasets.splits import split
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import paired_gain, proportion
from core.studies.attribute import released_posteriors
from core.studies.correction import ATTACKERS, false_promise
from core.studies.correction import run as whole_audit
from core.studies.correction.study import applied_tolerance
from core.studies.fairness.study import rate_ratio
from core.studies.membership import roc
from core.studies.membership.roc import advantage, cross_fitted_verdict
from core.studies.membership.study import STUDY
from core.studies.membership.tpr_gaps import tpr_gaps
from core.studies.subject import AuditConfig, check_cells
from tests import samples
from tests.policy_samples import policy

BARE = samples.plan(seed=7)
PLAN = replace(BARE, membership=MembershipSettings(shadows=4))


@pytest.fixture(scope="module")
def small():
    return audited_of(PLAN, samples.table(1500, seed=8))


def done(check, audited):
    """Return a measurement that must have been made: a number within its interval, in sentences."""
    measurement = measured(check, audited)
    assert (measurement.outcome, measurement.check) == ("done", check)
    estimate = measurement.estimate
    assert estimate.low <= estimate.value <= estimate.high
    assert all(text.endswith(".") for text in (measurement.attacked, measurement.knows, *measurement.assumptions))
    assert bool(measurement.control_name) == (measurement.control is not None)
    return measurement


def test_attribute_gains_are_paired_and_of_the_attacker_who_gains_most(small):
    """A model that follows features alone: imputation gets what there is, from outside and inside."""
    measurement = done("attribute_excess", small)
    gains = {}
    for side, released in released_posteriors(small).items():
        before, after = (p.argmax(axis=1) == released.truth for p in (released.before, released.after))
        gains[side] = paired_gain(int((after & ~before).sum()), int((before & ~after).sum()), before.size)
        assert sorted(released.truth) == sorted(small.dataset.sensitive[small.splits.train])
    assert set(gains) == {"outside", "inside"}
    assert measurement.estimate.value == max(gain.value for gain in gains.values())
    assert measurement.details["from outside, gain in accuracy"] == gains["outside"].value
    assert abs(done("attribute_bits", small).estimate.value) < 0.05


def test_correction_gain_is_the_best_after_minus_the_best_before(small, monkeypatch):
    monkeypatch.setattr("core.studies.correction.study.TOLERANCES", ())  # let tables have the promised one alone
    measurement = done("correction_gain", small)
    audit = whole_audit(BARE.config, dataset=small.dataset)
    disclosures = [audit.disclose(applied_tolerance(audit), adversary=kind) for kind in ATTACKERS]
    before, after = ([getattr(x, when).value for x in disclosures if x.after] for when in ("before", "after"))
    majority = disclosures[0].majority.value
    assert len(after) == 4 and small.model.unfairness_train > 0.05  # so that the promise is false
    assert measurement.estimate.value == max(majority, *after) - max(majority, *before)
    assert measurement.control.value == max(majority, *before)
    assert measurement.attacked.startswith(false_promise(BARE.config.tolerance, small.model.unfairness_train))
    rows = tables(small)["Correction with a true tolerance"]
    assert {(row["tolerance"], row["true"]) for row in rows} == {(applied_tolerance(audit), "yes")}


@pytest.mark.long
def test_membership_checks_are_the_largest_of_the_attacks():
    large = audited_of(PLAN, samples.table(9000, seed=8))  # enough outsiders of each group for a rate of 1%
    result, _ = result_of(STUDY, large)
    guesses = result.guesses
    assert list(guesses) == ["loss", "released", "quantile", "lira", "lira_boosted", "rmia"]
    values = defaultdict(list)
    for name, (score, called) in guesses.items():
        inside = np.isin(result.rows, large.splits.train).astype(np.uint8)
        verdict = called
        if name not in ("released", "lira_boosted"):
            verdict = cross_fitted_verdict(score, inside, seed=7)
        groups, curve = large.dataset.sensitive[result.rows], roc(score, inside)
        values["membership_caught"].append(curve.tpr_at(0.01).value)
        values["membership_auc"].append(curve.auc.value)
        values["membership_advantage"].append(advantage(verdict, inside).value)
        (gap, *_) = tpr_gaps(score, groups, inside, names=large.dataset.group_names, seed=7)
        values["membership_gap"].append(abs(gap.estimate.value))
    measurements = {check: done(check, large) for check in values}
    assert {name: x.estimate.value for name, x in measurements.items()} == {name: max(x) for name, x in values.items()}
    controls = {"membership_caught": 0.01, "membership_auc": 0.5, "membership_advantage": 0.0}
    assert {check: measurements[check].control.value for check in controls} == controls
    assert measurements["membership_gap"].estimate.low >= 0


def test_unfairness_and_ratio_are_those_of_the_test_records(small):
    assert done("unfairness", small).estimate == small.model.unfairness_test
    accepted, groups = small.model.predictions[small.splits.test], small.dataset.sensitive[small.splits.test]
    rates = [proportion(int(accepted[groups == code].sum()), int((groups == code).sum())) for code in (0, 1)]
    assert done("four_fifths", small).estimate == rate_ratio(*sorted(rates, key=lambda rate: rate.value))
    nobody = replace(small.model, predictions=np.zeros_like(small.model.predictions))
    assert measured("four_fifths", replace(small, model=nobody)).outcome == "not_run"


@pytest.mark.long
@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (RuntimeError("a secret path"), "failed", "The attack stopped with an error (RuntimeError)."),
        (FairLeakError("A worker was lost."), "failed", "A worker was lost."),
        (InputError("seed must be whole."), "not_run", "seed must be whole."),
    ],
)
def test_what_breaks_is_told_and_broken_once(small, monkeypatch, error, outcome, reason):
    broken = Mock(side_effect=error)
    monkeypatch.setattr("core.studies.correction.attribute_attacks.attack_model", broken)
    monkeypatch.setattr("core.studies.attribute.study.attack_released", broken)
    audited = replace(small, plan=BARE)
    for check in ("attribute_excess", "attribute_balanced", "correction_gain"):
        measurement = measured(check, audited)
        assert (measurement.outcome, measurement.reason, measurement.estimate) == (outcome, reason, None)
    assert broken.call_count == 2  # what is released, and the first attacker of the correction
    assert tables(audited)["Reconstruction correction"] == ({"not made": reason},)


def test_cancelling_is_no_failed_attack(small, monkeypatch):
    monkeypatch.setattr("core.studies.attribute.study.attack_released", Mock(side_effect=Cancelled("Stopped.")))
    with pytest.raises(Cancelled):
        measured("attribute_excess", replace(small))


ROLES = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex", group=("F",))
RACES = replace(ROLES, sensitive="race", group=(), each=True)


def people(n, *, rate=0.3):
    """Return n people: 35 % women, one large and four small origins, hired at this rate."""
    rng = np.random.default_rng(1)
    female = rng.random(n) < 0.35
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "hours": rng.integers(10, 50, n),
            "sex": np.where(female, "F", "M"),
            "race": rng.choice(list("abcde"), n, p=[0.6, 0.1, 0.1, 0.1, 0.1]),
            "hired": np.where(rng.random(n) < rate + 0.1 * female, "yes", "no"),
        }
    )


def changed(frame, roles, config, problem):
    """Return dataset and settings as a plan with the changes has them."""
    changes = {"data": {}, "model": {}}
    for key, value in problem.changes.items():
        table, _, name = key.partition(".")
        changes[table][name] = value
    return counted(frame, replace(roles, **changes["data"])), replace(config, **changes["model"])


def test_of_118_people_a_working_seed():
    dataset, config = counted(people(118), ROLES), replace(AuditConfig(), metric="equal_opportunity")
    with pytest.raises(InputError) as caught:
        check_cells("equal_opportunity", dataset, split(dataset, seed=config.seed))
    problem, policy = size_problems(dataset, config, default_policy())
    assert problem.reason == str(caught.value)
    seed = problem.changes["model.seed"]
    assert set(problem.changes) == {"model.seed"} and split_problem(dataset, replace(config, seed=seed)) == ""
    assert all(split_problem(dataset, replace(config, seed=earlier)) for earlier in range(seed))  # the first of them
    # and no seed gives so few people the test records that a low false-positive rate takes
    assert policy.reason.startswith("The policy") and not policy.changes


def test_split_problem_of_a_threshold_for_each_group_is_a_group_of_one_label():
    config = replace(AuditConfig(), method="threshold_optimizer")
    frame = people(900)
    assert split_problem(counted(frame, ROLES), config) == ""
    frame.loc[frame["sex"] == "F", "hired"] = "no"
    dataset = counted(frame, ROLES)
    women = int(dataset.sensitive[split(dataset, seed=config.seed).train].sum())
    assert f"only label 0 among {women} of" in split_problem(dataset, config)
    assert split_problem(dataset, AuditConfig()) == ""


def test_small_groups_are_taken_together_where_no_seed_or_share_works():
    frame, config = people(400, rate=0.12), replace(AuditConfig(), metric="equal_opportunity")
    problem = size_problems(counted(frame, RACES), config, default_policy())[0]
    assert problem.changes["data.group"] == ("a",) and problem.changes["data.each"] is False
    assert "2 groups (“a” and all others)" in problem.remedy
    assert split_problem(*changed(frame, RACES, config, problem)) == ""


def test_too_few_test_records_at_all_come_before_too_few_of_a_group():
    (problem,) = size_problems(counted(people(2900), RACES), AuditConfig(), default_policy())
    assert "takes 1,000 test records" in problem.reason and "no model of this table can pass" in problem.reason


def test_groups_too_small_for_the_policy_name_the_share_and_the_groups_that_work():
    frame, config = people(3200), AuditConfig()
    dataset = counted(frame, RACES)
    (problem,) = size_problems(dataset, config, default_policy())
    assert problem.reason.startswith("The policy") and "of each group" in problem.reason
    fewest = np.bincount(dataset.sensitive[split(dataset, seed=config.seed).test]).min()
    assert ("no model of this table can pass" in problem.reason) == (fewest < FEWEST_GROUP_NON_MEMBERS)
    assert problem.changes["data.group"] == ("a",) and problem.changes["model.train_share"] < config.train_share
    assert size_problems(*changed(frame, RACES, config, problem), default_policy()) == ()


def test_enough_people_are_no_problem_and_one_too_few_is():
    frame = people(9000)
    dataset, config = counted(frame, ROLES), AuditConfig()
    test = split(dataset, seed=config.seed).test
    women = int((dataset.sensitive[test] == 1).sum())
    assert women > GROUP_NON_MEMBERS and size_problems(dataset, config, default_policy()) == ()
    surplus = women - GROUP_NON_MEMBERS + 1
    fewer = frame.drop(index=frame.index[frame["sex"] == "F"][: 3 * surplus])
    (problem,) = size_problems(counted(fewer, ROLES), config, default_policy())
    assert "the comparison may stay inconclusive" in problem.reason


def test_of_given_predictions_only_their_own_sets_count():
    frame = people(900)
    frame = frame.assign(predicted=frame["hired"], score=np.linspace(0, 1, 900))
    config = replace(AuditConfig(), method=GIVEN_PREDICTIONS)
    roles = replace(ROLES, prediction="predicted", score="score")
    assert size_problems(counted(frame, roles), config, default_policy()) == ()  # not run, for want of sets
    frame["set"] = np.where(np.arange(len(frame)) % 2, "train", "test")
    roles = replace(roles, sets="set")
    (problem,) = size_problems(counted(frame, roles), config, default_policy())
    assert "this model cannot pass" in problem.reason and "model.train_share" not in problem.changes
    assert size_problems(counted(frame, roles), config, predictions_policy()) == ()


@pytest.mark.parametrize(("n", "is_enough"), [(3027, False), (3030, True)])
def test_ten_false_positives_at_one_percent_take_a_thousand_test_records(n, is_enough):
    dataset, config = counted(people(n), ROLES), AuditConfig()
    size = split(dataset, seed=config.seed).test.size
    assert size in (999, 1000)  # or this test says nothing
    problems = size_problems(dataset, config, policy(membership_caught=0.05))
    assert [problem.reason.startswith("The policy") for problem in problems] == [True] * (not is_enough)
    assert all(f"1,000 test records, and there are {size}" in problem.reason for problem in problems)
