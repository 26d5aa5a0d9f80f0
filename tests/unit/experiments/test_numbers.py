"""Numbers beside the checks: those of the correction's own functions, of one model whoever attacks it."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

import core.auditing.run
from core.auditing.run import audited_of, measured_number
from core.experiments.experiment import grid_of, models_of, run_experiment
from core.studies.correction import CorrectionResult
from tests import samples

TABLE = samples.table(600)
PLAN = samples.plan(forest=(("n_estimators", 10),))
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
    trained = Mock(wraps=core.auditing.run.train_model)
    monkeypatch.setattr(core.auditing.run, "train_model", trained)
    points = grid_of(PLAN, ATTACKERS)
    measures = ("attack_before", "attack_after", "attack_gain", "tolerance_used", "tolerance_holds")
    rows = list(run_experiment(points, TABLE, measures=measures))
    assert (len(points), len(models_of(points)), trained.call_count, len(rows)) == (8, 1, 1, 8 * 5)
    for row in rows:
        tolerance, published = row.values["correction.tolerance"], row.values["correction.as_published"]
        now = result.disclose(
            0.05 if tolerance is None else tolerance,
            adversary=row.values["correction.adversary"],
            as_published=published,
            until_true=published or tolerance is None,  # of a model that was trained for none
        )
        expected = {
            "attack_before": now.before,
            "attack_after": now.after,
            "attack_gain": now.gain,
            "tolerance_used": now.used,
            "tolerance_holds": now.is_true,
        }[row.measurement.check]
        estimate = row.measurement.estimate
        assert expected in (estimate, estimate and estimate.value)


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
