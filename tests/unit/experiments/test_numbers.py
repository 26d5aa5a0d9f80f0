"""Numbers beside the checks: those of the correction's own functions, of one model whoever attacks it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import core.auditing.run
from core.auditing import AuditPlan, DataPlan, MembershipSettings
from core.auditing.run import audited_of, measured, measured_number, result_of
from core.experiments.experiment import grid_of, measurable, measured_names, models_of, run_experiment
from core.studies.correction import KINDS, STUDY, CorrectionResult
from core.studies.correction.numbers import NUMBERS, controlled_attribution, step_measurements
from core.studies.subject import AuditConfig
from tests import samples

TABLE = samples.table(600)
PLAN = AuditPlan(
    data=DataPlan(dataset="", file="people.csv"),
    config=AuditConfig(
        dataset="upload",
        roles=samples.ROLES,
        method="unmitigated",
        tolerance=0.05,
        seed=3,
        forest=(("n_estimators", 10),),
    ),
    membership=MembershipSettings(shadows=0),
)
ATTACKERS = {
    "correction.adversary": ("features", "strong"),
    "correction.as_published": (False, True),
    "correction.tolerance": (None, 0.01),
}


@pytest.fixture(scope="module")
def result() -> CorrectionResult:
    return CorrectionResult.of(audited_of(PLAN, TABLE), as_published=True)


@pytest.mark.long
def test_a_model_is_trained_once_for_all_its_attackers(monkeypatch: pytest.MonkeyPatch, result: CorrectionResult):
    trained = []
    train = core.auditing.run.train_model
    monkeypatch.setattr(core.auditing.run, "train_model", lambda *people: trained.append(1) or train(*people))
    points = grid_of([PLAN], ATTACKERS)
    assert len(points) == 8 and len(models_of(points)) == 1
    measures = ("attack_before", "attack_after", "attack_gain", "tolerance_used", "tolerance_holds")
    steps: list[tuple[int, int]] = []
    rows = list(
        run_experiment(points, TABLE, measures=measures, report=lambda done, total: steps.append((done, total)))
    )
    assert len(trained) == 1 and steps[-1] == (1, 1) and len(rows) == 8 * 5
    for row in rows:
        tolerance = row.values["correction.tolerance"]
        published = row.values["correction.as_published"]
        now = result.disclose(
            0.05 if tolerance is None else tolerance,
            adversary=row.values["correction.adversary"],
            as_published=published,
            until_true=published or tolerance is None,  # of a model that was trained for none
        )
        expected = {
            "attack_before": (now.before, now.majority),
            "attack_after": (now.after, now.before),
            "attack_gain": (now.gain, now.before),
        }
        name = row.measurement.check
        if name in expected:
            assert (row.measurement.estimate, row.measurement.control) == expected[name]
        value = row.measurement.estimate.value if row.measurement.estimate else None
        assert name != "tolerance_used" or value == now.used
        assert name != "tolerance_holds" or value == now.is_true


@pytest.mark.long
def test_a_plan_of_a_group_has_the_checks_of_its_own_audit():
    points = grid_of(
        [PLAN], {"correction.adversary": ("features", "strong"), "membership.attacks": (("gap",), ("loss",))}
    )
    rows = list(run_experiment(points, TABLE, studies=("correction", "membership")))
    assert len(models_of(points)) == 1
    for point in points:
        audited = audited_of(point.plan, TABLE)
        for row in rows:
            assert row.values != point.values or row.measurement == measured(row.measurement.check, audited)


@pytest.mark.long
def test_steps_are_those_of_the_attribution_and_their_controls_what_they_build_on():
    points = grid_of([PLAN], {"correction.adversary": ("features", "strong")})
    names = [number.name for number in NUMBERS if "_features" in number.name or "constraint" in number.name]
    rows = list(run_experiment(points, TABLE, measures=names))
    audited = audited_of(PLAN, TABLE)
    for kind, (adversary, _) in KINDS.items():
        result, settings = result_of(STUDY, audited)
        leak = controlled_attribution(result, replace(settings, adversary=adversary))
        assert leak.attacker == kind and leak.step("permuted_predictions").n_seeds == 1
        expected = step_measurements(leak)
        mine = {row.measurement.check: row.measurement for row in rows if adversary in row.values.values()}
        assert mine == {name: expected[name] for name in names}
        assert mine["accuracy_features"].control is not None


def test_the_controls_use_other_peoples_predictions_and_an_estimated_constraint(result: CorrectionResult):
    audited = audited_of(PLAN, TABLE)
    now = result.disclose(0.05, until_true=True)
    permuted = result.disclose(now.used, permuted=True)
    assert measured_number("permuted_gain", audited).estimate == permuted.gain
    accuracy = measured_number("own_accuracy", audited)
    assert accuracy.estimate == result.attack("features").held_out_accuracy and accuracy.control is not None
    fact = measured_number("estimates_statistical_parity", audited).estimate
    assert fact is not None and fact.value in (0.0, 1.0)
    assert measured_number("estimated_difference", audited).reason == "The model was trained for no constraint."


def test_what_is_measured_is_named_or_all_checks_of_the_studies():
    assert measured_names(["fairness"]) == ("unfairness", "four_fifths", "absence")
    assert measured_names(measures=["attack_gain", "accuracy_test"]) == ("attack_gain", "accuracy_test")
    studies = measurable()
    assert studies["attack_gain"][0] == "correction" and studies["accuracy_test"][0] == "fairness"
    assert len(studies) == len({*studies})
