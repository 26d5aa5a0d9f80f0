"""An experiment: its rows are the numbers of its plans' audits, whoever asks for them, each once whatever stops it."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

import core.auditing.run
from core.auditing.run import audited_of, measured
from core.base.errors import InputError
from core.experiments.experiment import grid_of, models_of, rows_frame, run_experiment
from core.studies.correction import CorrectionResult
from tests import samples

TABLE = samples.table(600)
PLAN = samples.plan()


def test_a_row_has_the_number_of_the_audit_of_its_plan():
    points = grid_of(PLAN, {"model.method": ("unmitigated", "private_fair"), "model.epsilon": (3.0,)})
    rows = list(run_experiment(points, TABLE, studies=("fairness", "membership")))
    assert len(rows) == 2 * 7
    for plan, values in points.items():
        audited = audited_of(plan, TABLE)
        for row in rows:
            assert row.values != values or row.measurement == measured(row.measurement.check, audited)


@pytest.mark.parametrize(
    ("varied", "message"),
    [
        ({"model.beauty": (1,)}, "must be TABLE.KEY"),
        ({"model.tolerance": (2.0,)}, r"model.tolerance must be in \[0, 1\], got 2.0"),
        ({"model.tolerance": ()}, "model.tolerance must have at least one value"),
        ({"model.seed": tuple(range(2001))}, "at most 2,000 plans"),
    ],
    ids=["key", "rule", "empty", "many"],
)
def test_a_grid_that_there_cannot_be(varied, message):
    with pytest.raises(InputError, match=message):
        grid_of(PLAN, varied)


def test_a_frame_has_a_reason_where_there_is_no_number():
    points = grid_of(PLAN, {"outputs.released": ("labels",)})
    (row, *_) = run_experiment(points, TABLE, studies=("membership",))
    line = rows_frame([row]).iloc[0]
    assert line["check"] == "membership_caught" and line["reason"] and line["value"] is None


FOREST_PLAN = samples.plan(forest=(("n_estimators", 10),))
ATTACKERS = {
    "correction.adversary": ("features", "strong"),
    "correction.as_published": (False, True),
    "correction.tolerance": (None, 0.01),
}


@pytest.fixture(scope="module")
def result() -> CorrectionResult:
    return CorrectionResult.of(audited_of(FOREST_PLAN, TABLE), as_published=True)


NUMBERS = {
    "attack_before": lambda now: now.before,
    "attack_after": lambda now: now.after,
    "attack_gain": lambda now: now.gain,
    "tolerance_used": lambda now: now.used,
    "tolerance_holds": lambda now: now.is_true,
}


@pytest.mark.long
def test_a_model_is_trained_once_for_all_its_attackers(monkeypatch, result):
    trained = Mock(wraps=core.auditing.run.train_model)
    monkeypatch.setattr(core.auditing.run, "train_model", trained)
    points = grid_of(FOREST_PLAN, ATTACKERS)
    rows = list(run_experiment(points, TABLE, measures=tuple(NUMBERS)))
    assert (len(points), len(models_of(points)), trained.call_count, len(rows)) == (8, 1, 1, 8 * 5)
    for row in rows:
        tolerance, published = row.values["correction.tolerance"], row.values["correction.as_published"]
        now = result.disclose(
            0.05 if tolerance is None else tolerance,
            adversary=row.values["correction.adversary"],
            as_published=published,
            until_true=published or tolerance is None,  # of a model that was trained for none
        )
        estimate = row.measurement.estimate
        assert NUMBERS[row.measurement.check](now) in (estimate, estimate and estimate.value)


def test_the_controls_use_other_peoples_predictions_and_an_estimated_constraint(result):
    audited = audited_of(FOREST_PLAN, TABLE)
    now = result.disclose(0.05, until_true=True)
    permuted = result.disclose(now.used, permuted=True)
    assert measured("permuted_gain", audited).estimate == permuted.gain
    accuracy = measured("own_accuracy", audited)
    assert accuracy.estimate == result.attack("features")[1].accuracy and accuracy.control is not None
    fact = measured("estimates_statistical_parity", audited).estimate
    assert fact.value in (0.0, 1.0)
    assert measured("estimated_difference", audited).reason == "The model was trained for no constraint."
