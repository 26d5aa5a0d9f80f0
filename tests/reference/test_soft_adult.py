"""Soft correction on Adult, seed 42, statistical parity, told a tolerance of 0.001: held to independent figures.

The independent figures (log-loss in nats a person, accuracy) do not say which records taught the attackers. Of the
variants tried here the forest of the figures is A' as it comes, taught by the attack records, and the boosting one
learns from all known records, from features and label, categories as numbers, uncalibrated: within .0006 nats.
Bands: accuracies ± .03; log-losses ± .005, which shuts out the calibrated forest and each next step of the attribution
but the last, whose change is held to a band of its own.
"""

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from core.adversaries.adversary import AttackedRecords, known_columns
from core.base.validation import seed_value
from core.studies.correction.attribution import attribute_leak
from tests.reference.data import needs_adult

pytestmark = needs_adult

LOG_LOSS, ACCURACY = 0.005, 0.03


def steps_of(subject, features, with_predictions):
    """Return the steps of the attribution, from what an attacker believes without and with predictions."""
    dataset, splits = subject.dataset, subject.splits
    columns = {"predictions": subject.model.predictions, "labels": dataset.labels, "truth": dataset.sensitive}
    columns = {name: values[splits.train] for name, values in columns.items()}
    records = [AttackedRecords(probability=p, calibrated=p, **columns) for p in (features, with_predictions)]
    share = dataset.sensitive[splits.attacker_rows].mean()
    disclosed = {"prior": [1 - share, share], "metric": "statistical_parity", "tolerance": 0.001}
    leak = attribute_leak("reference", *records, **disclosed)
    assert leak.n_true == 1
    return {step.step: step for step in leak.steps}


@pytest.fixture(scope="module")
def boosting(subject):
    dataset, splits = subject.dataset, subject.splits
    x = known_columns(dataset.features, dataset.labels, None)
    booster = HistGradientBoostingClassifier(early_stopping=True, random_state=seed_value(42))
    booster.fit(x[splits.attacker_rows], dataset.sensitive[splits.attacker_rows])
    return steps_of(subject, *[booster.predict_proba(x[splits.train])] * 2)


def reached(step, *, log_loss, accuracy=None):
    assert step.values["log_loss"].value == pytest.approx(log_loss, abs=LOG_LOSS)
    if accuracy is not None:
        assert step.values["accuracy"].value == pytest.approx(accuracy, abs=ACCURACY)


@pytest.mark.long
def test_the_balanced_forest_and_what_the_bound_adds(findings, boosting):
    posteriors = [findings.attacks[kind, "held_out"][0].probability for kind in ("features", "predictions")]
    forest = steps_of(findings.subject, *posteriors)
    reached(forest["predictions"], log_loss=0.3969)
    reached(forest["constraint_without_shares"], log_loss=0.3919)
    reached(forest["shares"], log_loss=0.3634, accuracy=0.8382)
    reached(forest["constraint"], log_loss=0.3612, accuracy=0.8368)
    alone, on_top = forest["constraint_without_shares"], forest["constraint"]
    assert alone.changes["log_loss"].value == pytest.approx(-0.0050, abs=0.0015)
    assert on_top.changes["log_loss"].value == pytest.approx(-0.0022, abs=0.0015)
    assert forest["shares"].changes["accuracy"].low > alone.changes["accuracy"].high
    assert forest["shares"].values["log_loss"].high < alone.values["log_loss"].low
    assert boosting["features"].values["log_loss"].high < on_top.values["log_loss"].low
    assert boosting["features"].values["accuracy"].low > on_top.values["accuracy"].high


def test_boosting_needs_neither(boosting):
    reached(boosting["features"], log_loss=0.2872, accuracy=0.852)
    reached(boosting["constraint_without_shares"], log_loss=0.2870, accuracy=0.850)
    change = boosting["constraint_without_shares"].changes["log_loss"]
    assert -0.001 <= change.value <= 1e-9  # the bound is true: it cannot rise
