"""The unknown constraint on Adult (Ferry et al., SaTML 2023, V-B, tables IV and V), held to what was measured here.

The paper says: equalized odds is never identified; statistical parity and predictive equality mostly are; a model
trained for equal opportunity is often taken for one of predictive equality, which then corrects better than the truth.
Measured (`RECORDED`), published protocol, adversary A', seeds 0 to 4 for accuracies, 0 to 19 for names and tolerances.

What does not hold: table V's 68% for predictive equality with correlation remover; it is named in every seed. What the
paper does not show: models trained with no mitigation at all are given the same name in 75% of the seeds, and
correcting with the constraint estimated for them gains as much. On Adult only "statistical parity" is a name that comes
from the training and not from the data.
"""

from functools import cache

import numpy as np
import pytest

from core.datasets.splits import split
from core.models import fit_model
from core.stats.fairness import METRICS
from core.studies.correction import attack_model, disclose
from core.studies.correction.disclosure import permuted_records
from core.studies.correction.numbers import compare_constraints, estimate_constraint
from core.studies.subject import AuditConfig
from tests.reference.data import adult_by_sex as adult
from tests.reference.data import needs_adult

pytestmark = [pytest.mark.long, needs_adult]

SEEDS = range(5)
SP, PE, EO, EODDS = METRICS

# (method, metric) -> shares of SP, PE, EO; mean tolerance; accuracy of A' before, told the truth, with the estimate
RECORDED = {
    ("threshold_optimizer", SP): ((1.0, 0.0, 0.0), 0.0055, 0.7693, 0.8431, 0.8422),
    ("threshold_optimizer", PE): ((0.0, 1.0, 0.0), 0.0038, 0.7627, 0.8326, 0.8318),
    ("threshold_optimizer", EO): ((0.0, 0.8, 0.2), 0.0247, 0.7629, 0.7653, 0.7977),
    ("threshold_optimizer", EODDS): ((0.0, 1.0, 0.0), 0.0035, 0.7644, 0.8190, 0.8308),
    ("correlation_remover", None): ((0.0, 1.0, 0.0), 0.0321, 0.7636, None, 0.8179),
    ("unmitigated", None): ((0.0, 0.75, 0.25), 0.0191, 0.7617, None, 0.8121),
}
cases = pytest.mark.parametrize("key", RECORDED, ids=lambda key: f"{key[0]}-{key[1]}")


@cache
def model_of(key, seed):
    """Return the splits of a seed and what a model answers about everybody."""
    method, metric = key
    splits = split(adult(), seed=seed)
    arrays = [values[splits.train] for values in (adult().features, adult().labels, adult().sensitive)]
    model = fit_model(method, *arrays, metric=metric or SP, tolerance=0.0, seed=seed)
    return splits, model.predict(adult().features, adult().sensitive, seed=seed)


@cache
def estimate_of(key, seed):
    splits, predictions = model_of(key, seed)
    rows = splits.attacker_rows
    return estimate_constraint(predictions[rows], adult().sensitive[rows], adult().labels[rows])


@cache
def comparison(key, seed):
    """Return what the real and the estimated constraint change, the difference, and the control."""
    splits, predictions = model_of(key, seed)
    metric, tolerance = estimate_of(key, seed)
    config = AuditConfig(dataset="adult", seed=seed)
    records = attack_model("predictions", "as_published", adult(), splits, predictions, config=config)
    compared = compare_constraints(*records, (metric, tolerance), None if key[1] is None else (key[1], 0.0))
    permuted = [
        permuted_records(record_set, metric=metric, seed=seed, name=name)
        for record_set, name in zip(records, ("attacked", "held out"), strict=True)
    ]
    control = disclose(*permuted, tolerance=tolerance, metric=metric)
    return *compared, control


@cases
def test_estimated_metrics(key):
    shares, tolerance, *_ = RECORDED[key]
    estimates = [estimate_of(key, seed) for seed in range(20)]
    counted = [np.mean([taken == metric for taken, _ in estimates]) for metric in METRICS]
    assert counted == pytest.approx([*shares, 0.0], abs=0.051)  # one seed
    assert np.mean([measured for _, measured in estimates]) == pytest.approx(tolerance, rel=0.15)


@cases
def test_accuracies_before_told_and_estimated_and_nothing_from_permuted_predictions(key):
    comparisons = [comparison(key, seed) for seed in SEEDS]
    with_truth = [trained.after.value for trained, *_ in comparisons if key[1] is not None]
    estimated = [disclosure for _, disclosure, *_ in comparisons]
    measured = (
        np.mean([disclosure.before.value for disclosure in estimated]),
        np.mean(with_truth) if with_truth else None,
        np.mean([disclosure.after.value for disclosure in estimated]),
    )
    assert measured == pytest.approx(RECORDED[key][2:], abs=0.03)
    assert all(abs(control.gain.value) < 0.005 for *_, control in comparisons)


def test_a_wrong_name_corrects_better_than_the_truth_about_equal_opportunity():
    """As the paper says: predictive equality is about right and speaks of more people."""
    comparisons = [comparison(("threshold_optimizer", EO), seed) for seed in SEEDS]
    mistaken = [
        (trained, estimated, difference)
        for trained, estimated, difference, _ in comparisons
        if trained is None or trained.metric != estimated.metric
    ]
    assert mistaken and {estimated.metric for _, estimated, _ in mistaken} == {PE}
    assert all(difference.low > 0.02 for _, _, difference in mistaken)
    assert all(estimated.n_changed > trained.n_changed for trained, estimated, _ in mistaken)
