"""The attribution against figures computed by hand, its edges, and sentences that claim no more than the intervals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss

from core.experiments.experiment import ExperimentRow, summarise
from core.experiments.leak_over_seeds import attribution_of, mitigation_rows
from core.stats.estimates import accuracy_gain, certain, mean_over_repeats
from core.studies.correction import MEASURES, STEPS, soft_correct
from core.studies.correction.attribution import BUILDS_ON, attribute_leak
from core.studies.correction.numbers import step_measurements
from core.studies.study import Measurement
from core.studies.subject import AuditConfig
from tests.unit.correction.test_disclosure import people


def records(seed=0, *, k=2):
    """Return 600 people as an attacker sees them without predictions and with them."""
    without, with_ = (people(600, seed, groups=k, bias=bias) for bias in (0.0, 0.5))
    return without, with_


def attributed(features, with_predictions, *, tolerance=0.08):
    """Return the attribution, told the groups' true sizes before."""
    prior = (np.bincount(features.truth) / 600).tolist()
    disclosed = {"metric": "statistical_parity", "tolerance": tolerance}
    return attribute_leak("test", features, with_predictions, prior=prior, **disclosed)


@pytest.mark.parametrize(("k", "tolerance"), [(2, 0.08), (4, 0.08), (2, 0.9)], ids=str)  # 0.9 says nothing
def test_every_step_is_what_its_posterior_says(k, tolerance):
    features, with_predictions = records(k=k)
    truth, yhat, q = features.truth, features.predictions, with_predictions.probability
    shares = (np.bincount(truth) / 600).tolist()
    arguments = {"metric": "statistical_parity", "labels": None}
    posteriors = {
        "majority": np.tile(shares, (600, 1)),
        "features": features.probability,
        "predictions": q,
        "shares": soft_correct(q, yhat, tolerance=None, group_shares=shares, **arguments),
        "constraint": soft_correct(q, yhat, tolerance=tolerance, group_shares=shares, **arguments),
        "constraint_without_shares": soft_correct(q, yhat, tolerance=tolerance, **arguments),
    }
    steps = {step.step: step for step in attributed(features, with_predictions, tolerance=tolerance).steps}
    assert list(steps) == list(posteriors)
    figures = {name: figures_of(p, truth) for name, p in posteriors.items()}
    for name, step in steps.items():
        assert [step.values[m].value for m in MEASURES] == pytest.approx(figures[name])
    for name, step in list(steps.items())[1:]:
        changes = [step.changes[m] for m in MEASURES]
        expected = np.subtract(figures[name], figures[BUILDS_ON[name]])
        assert [change.value for change in changes] == pytest.approx(expected, abs=1e-12)
        assert all(change.low <= change.value <= change.high for change in changes)


def figures_of(p, truth):
    """Return accuracy, balanced accuracy and log-loss of a posterior."""
    guess = p.argmax(axis=1)
    return [accuracy_score(truth, guess), balanced_accuracy_score(truth, guess), log_loss(truth, p)]


def test_a_tolerance_that_says_nothing_changes_nothing_in_no_resample():
    """The interval is that of two guesses that are the same."""
    features, with_predictions = records()
    leak = attributed(features, with_predictions, tolerance=0.9)
    shares = (np.bincount(features.truth) / 600).tolist()
    arguments = {"metric": "statistical_parity", "labels": None, "tolerance": None, "group_shares": shares}
    guess = soft_correct(with_predictions.probability, features.predictions, **arguments).argmax(axis=1)
    change, unchanged = leak.step("constraint").changes["accuracy"], accuracy_gain(features.truth, guess, guess)
    assert (change.value, change.low, change.high) == pytest.approx((0.0, unchanged.low, unchanged.high), abs=1e-6)


def row(measurement, seed, **values):
    values = {"model.seed": seed} | values
    return ExperimentRow(values=values, study="correction", measurement=measurement, seed=seed)


def over_seeds(seeds):
    """Return attributions, one a seed, put together as an experiment does."""
    rows = []
    for seed, leak in enumerate(seeds):
        holds = Measurement(check="tolerance_holds", estimate=certain(float(leak.n_true), 600))
        rows += [row(measurement, seed) for measurement in (*step_measurements(leak).values(), holds)]
    (summary,) = summarise(rows)
    config = AuditConfig(metric=seeds[0].metric, tolerance=seeds[0].tolerance)
    return attribution_of(summary, seeds[0].attacker, config)


def test_what_cannot_be_met_is_a_reason_and_not_a_figure():
    features, certain = records()
    wrong = np.arange(600) < np.flatnonzero(certain.truth)[19]  # twenty people of group 1, for certain
    certain = replace(certain, probability=np.eye(2)[certain.truth * ~wrong])
    seed = attributed(features, certain, tolerance=0.0)
    step = seed.step("shares")
    assert step.reasons[0].startswith("No probabilities meet the constraints")
    assert all(math.isnan(step.values[m].value) for m in MEASURES)
    assert seed.step("predictions").values["accuracy"].value == 1 - 19 / 600
    summary = over_seeds([seed] * 2).step("shares")
    assert summary.n_seeds == 0 and summary.reasons


def test_seeds_are_summed_up_by_student():
    seeds = [attributed(*records(seed)) for seed in range(5)]
    summary = over_seeds(seeds)
    assert (summary.n_seeds, summary.n_true) == (5, sum(s.n_true for s in seeds))
    for name in [*STEPS, "constraint_without_shares"]:
        for measure in MEASURES:
            values = mean_over_repeats([seed.step(name).values[measure].value for seed in seeds])
            spread = summary.step(name).values[measure]
            assert (spread.value, spread.low, spread.high) == pytest.approx((values.value, values.low, values.high))
            assert (spread.seeds, spread.over) == (5, "seeds")
    gained = [seed.step("constraint").changes["accuracy"].value for seed in seeds]
    assert summary.step("constraint").changes["accuracy"].value == pytest.approx(np.mean(gained))


def test_mitigation_rows_are_paired_by_seed():
    accuracies = {("exponentiated_gradient", 1): 0.7, ("exponentiated_gradient", 2): 0.6, ("unmitigated", 1): 0.9}
    rows = []
    for (method, seed), accuracy in accuracies.items():
        measurement = Measurement(check="accuracy_test", estimate=certain(accuracy, 9))
        rows.append(row(measurement, seed, **{"model.method": method, "correction.adversary": "features"}))
    (paired,) = mitigation_rows(rows, "exponentiated_gradient")
    assert [paired[name].value for name in ("with", "without")] == pytest.approx([0.7, 0.9])
    assert paired["difference"].value.value == pytest.approx(-0.2)
