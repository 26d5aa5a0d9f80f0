"""Ferry et al. (SaTML 2023) on Adult, seed 42: the published protocol, tuned forests, and the soft correction.

The authors' published run goes from 0.7655 to 0.8300 with exponent 6. An independent re-run with today's libraries
found 0.7588 to 0.8290, exponent 6, tolerance raised to 0.001. Measured here, when the tests were written: adversary A
0.7629 to 0.8279, A' 0.7540 to 0.8252, exponent 6 for both, tolerance 0.001; strong adversary 0.855 without being told
anything; the calibrated forest with the log-odds cost 0.840 before and 0.840 after.

The paper tunes its forests (IV-B4) but does not print what was found; its published script pins 100 trees of depth 6.
`TUNED` was found by `tune_forest` with 100 evaluations on the 10,446 attack records, for balanced accuracy. The tuned
attacker knows about as much before being told anything as the pinned one does after it.

Soft correction, statistical parity, told a tolerance of 0.001: the independent figures (log-loss in nats a person,
accuracy) do not say which records taught the attackers. Of the variants tried here the forest of the figures is A' as
it comes, taught by the attack records, and the boosting one learns from all known records, from features and label,
categories as numbers, uncalibrated: within .0006 nats. Bands: accuracies ± .03; log-losses ± .005, which shuts out the
calibrated forest and each next step of the attribution but the last, whose change is held to a band of its own.

Four metrics, A, A′ and the strong adversary, this project's own (figures 2 to 4): `MEASURED` holds means over seeds 42,
0 and 1 of `fairleak experiment --dataset adult --vary model.tolerance=0 --vary model.metric=... --vary
correction.adversary=features,predictions,strong --vary correction.as_published=true --seeds 42,0,1 --measures
attack_before,attack_after`; seed 42 is repeated here. Independent runs of the first line's A at other seeds: .763 →
.823, .766 → .829, .765 → .824. The paper's text has lost its numbers for the other metrics; its figures show the same
order.
"""

from dataclasses import replace
from functools import partial

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from core.adversaries.adversary import AttackedRecords, known_columns
from core.auditing import catalogue_plan
from core.base.validation import seed_value
from core.experiments.engine import measured_points
from core.experiments.experiment import ModelMeasurements, grid_of, measured_model, models_of, rows_of, summarise
from core.stats.fairness import METRICS
from core.studies.correction import attack_model, disclose
from core.studies.correction.attribution import attribute_leak
from tests.reference.data import adult_by_sex, adult_findings, adult_subject, needs_adult

pytestmark = needs_adult


@pytest.mark.long
def test_records_splits_and_model_are_those_of_the_paper():
    findings, splits = adult_findings(), adult_findings().subject.splits
    assert adult_by_sex().n == 45_222
    assert len(adult_by_sex().feature_names) == 13
    assert splits.train.size == 15_375
    assert splits.attacker_rows.size == 14_923
    assert splits.test.size == 14_924
    assert findings.model.unfairness_train <= 0.001
    assert 0.80 <= findings.model.accuracy_test.value <= 0.86
    assert findings.model.accuracy_test.low > findings.model.majority_test.high


@pytest.mark.long
@pytest.mark.parametrize("adversary", ["features", "predictions"])
def test_published_protocol(adversary):
    disclosure = adult_findings().disclose(0.0, adversary=adversary, as_published=True)
    assert disclosure.used == pytest.approx(0.001)
    assert disclosure.certificate.status == "optimal"
    assert 0.74 <= disclosure.before.value <= 0.79
    assert 0.045 <= disclosure.gain.value <= 0.085
    assert disclosure.after.value == pytest.approx(0.829, abs=0.03)


@pytest.mark.long
def test_the_calibrated_forest_gains_nothing_from_the_promise():
    """Calibration alone brings what the correction seems to bring; the independent figure for it is 0.838."""
    disclosure = adult_findings().disclose(0.001, cost="log_odds")
    assert disclosure.before.value == pytest.approx(0.838, abs=0.03)
    assert abs(disclosure.gain.value) < 0.01


_SEARCHED = ("n_estimators", "max_depth", "min_samples_split", "min_samples_leaf", "max_features", "criterion")
TUNED = {
    "features": dict(zip(_SEARCHED, (60, 10, 6, 9, None, "gini"), strict=True)),
    "predictions": dict(zip(_SEARCHED, (274, 20, 2, 12, None, "entropy"), strict=True)),
}
RECORDED = {  # kind -> pinned before, after; tuned before, after
    "features": (0.7679, 0.8302, 0.8270, 0.8430),
    "predictions": (0.7573, 0.8278, 0.8313, 0.8422),
}


def disclosures_of(subject, kind, parameters):
    """Return what the forest with these parameters gains from the promise, by the cost of a change."""
    forest = None if parameters is None else tuple(parameters.items())
    model = subject.dataset, subject.splits, subject.model.predictions
    records = attack_model(kind, "held_out", *model, config=replace(subject.config, forest=forest))
    settings = {"tolerance": 0.0, "raise_until_true": True}
    return {cost: disclose(*records, cost=cost, **settings) for cost in ("published", "log_odds")}


@pytest.mark.parametrize("kind", ["features", pytest.param("predictions", marks=pytest.mark.long)])
def test_a_tuned_forest_has_little_left_to_correct(kind):
    pinned, tuned = (disclosures_of(adult_subject(), kind, parameters) for parameters in (None, TUNED[kind]))
    first, second = pinned["published"], tuned["published"]
    assert (first.used, second.used) == pytest.approx((0.001, 0.001))
    reached = (first.before.value, first.after.value, second.before.value, second.after.value)
    assert reached == pytest.approx(RECORDED[kind], abs=0.03)
    assert second.before.low > first.before.high
    assert second.before.value == pytest.approx(first.after.value, abs=0.01)
    assert second.gain.high < first.gain.low / 2
    assert max(abs(variants["log_odds"].gain.value) for variants in (pinned, tuned)) < 0.005


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
def boosting():
    dataset, splits = adult_by_sex(), adult_subject().splits
    x = known_columns(dataset.features, dataset.labels, None)
    booster = HistGradientBoostingClassifier(early_stopping=True, random_state=seed_value(42))
    booster.fit(x[splits.attacker_rows], dataset.sensitive[splits.attacker_rows])
    return steps_of(adult_subject(), *[booster.predict_proba(x[splits.train])] * 2)


def check_step(step, *, log_loss, accuracy=None):
    assert step.values["log_loss"].value == pytest.approx(log_loss, abs=0.005)
    assert accuracy is None or step.values["accuracy"].value == pytest.approx(accuracy, abs=0.03)


@pytest.mark.long
def test_the_balanced_forest_and_what_the_bound_adds(boosting):
    findings = adult_findings()
    posteriors = [findings.attacks[kind, "held_out"][0].probability for kind in ("features", "predictions")]
    forest = steps_of(findings.subject, *posteriors)
    check_step(forest["predictions"], log_loss=0.3969)
    check_step(forest["constraint_without_shares"], log_loss=0.3919)
    check_step(forest["shares"], log_loss=0.3634, accuracy=0.8382)
    check_step(forest["constraint"], log_loss=0.3612, accuracy=0.8368)
    alone, on_top = forest["constraint_without_shares"], forest["constraint"]
    assert alone.changes["log_loss"].value == pytest.approx(-0.0050, abs=0.0015)
    assert on_top.changes["log_loss"].value == pytest.approx(-0.0022, abs=0.0015)
    assert forest["shares"].changes["accuracy"].low > alone.changes["accuracy"].high
    assert forest["shares"].values["log_loss"].high < alone.values["log_loss"].low
    assert boosting["features"].values["log_loss"].high < on_top.values["log_loss"].low
    assert boosting["features"].values["accuracy"].low > on_top.values["accuracy"].high


def test_boosting_needs_neither(boosting):
    check_step(boosting["features"], log_loss=0.2872, accuracy=0.852)
    check_step(boosting["constraint_without_shares"], log_loss=0.2870, accuracy=0.850)
    change = boosting["constraint_without_shares"].changes["log_loss"]
    assert -0.001 <= change.value <= 1e-9  # the bound is true: it cannot rise


MEASURED = {
    ("statistical_parity", "features"): (0.7644, 0.8271),
    ("statistical_parity", "predictions"): (0.7642, 0.8269),
    ("predictive_equality", "features"): (0.7644, 0.8296),
    ("predictive_equality", "predictions"): (0.7629, 0.8299),
    ("equal_opportunity", "features"): (0.7644, 0.7669),
    ("equal_opportunity", "predictions"): (0.7614, 0.7641),
    ("equalized_odds", "features"): (0.7644, 0.8228),
    ("equalized_odds", "predictions"): (0.7641, 0.8230),
} | {(metric, "strong"): (0.8522, 0.852) for metric in METRICS}


@pytest.fixture(scope="module")
def summaries():
    plan = catalogue_plan("adult")
    points = grid_of(
        replace(plan, config=replace(plan.config, roles=adult_by_sex().roles)),
        {
            "model.metric": METRICS,
            "model.tolerance": (0.0,),
            "model.seed": (42,),
            "correction.adversary": ("features", "predictions", "strong"),
            "correction.as_published": (True,),
        },
    )
    names = ("attack_before", "attack_after", "attack_gain", "tolerance_holds")
    measure = partial(measured_model, names=names)
    results = measured_points(models_of(points), adult_by_sex(), measure=measure, result=ModelMeasurements)
    return {
        (summary.values["model.metric"], summary.values["correction.adversary"]): summary
        for summary in summarise(rows_of(points, list(results)))
    }


@pytest.mark.long
@pytest.mark.parametrize(("metric", "adversary"), MEASURED)
def test_before_and_after(summaries, metric, adversary):
    summary, (before, after) = summaries[metric, adversary], MEASURED[metric, adversary]
    assert summary.seeds == (42,) and summary.numbers["attack_after"].seeds == 1
    assert summary.count("tolerance_holds") == 1  # raised until true
    assert summary.numbers["attack_before"].value == pytest.approx(before, abs=0.03)
    assert summary.numbers["attack_after"].value == pytest.approx(after, abs=0.03)
    if adversary == "strong":
        assert abs(summary.numbers["attack_gain"].value) < 0.01
    assert summary.baselines["attack_before"].value == pytest.approx(0.672, abs=0.01)


@pytest.mark.long
def test_what_helps_the_papers_attacker(summaries):
    """The promise helps it measurably with every metric but equal opportunity, and never as far as the strong one."""
    for (metric, adversary), summary in summaries.items():
        if adversary in ("features", "predictions"):
            assert (summary.numbers["attack_gain"].value > 0.045) == (metric != "equal_opportunity")
            strong = summaries[metric, "strong"].numbers["attack_before"]
            assert summary.numbers["attack_after"].value < strong.value
