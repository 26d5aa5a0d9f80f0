"""What a disclosure measures: by hand, with its switches, where there is no correction; costs and their exponent."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.adversaries import AttackedRecords
from core.base.errors import InputError
from core.stats.fairness import METRICS
from core.studies.correction import correct, disclose
from core.studies.correction.disclosure import (
    choose_exponent,
    corrected_accuracy,
    log_odds_cost,
    published_cost,
)
from tests.unit.correction.test_bootstrap import people


def _both(first: np.ndarray) -> np.ndarray:
    """Return P(s = 0) and P(s = 1) side by side."""
    return np.column_stack([1 - first, first])


def records_of(p: np.ndarray, predictions: Any, truth: Any, labels: Any = None) -> AttackedRecords:
    """Return records of these probabilities, which are calibrated, with label 1 unless it is said."""
    columns = {"predictions": predictions, "truth": truth, "labels": np.ones(len(p)) if labels is None else labels}
    codes = {name: np.asarray(values, dtype=np.uint8) for name, values in columns.items()}
    return AttackedRecords(probability=p, calibrated=p, **codes)


ATTACKED, HELD_OUT = people(900, 1, bias=1.0), people(500, 2, bias=1.0)


ODD = records_of(_both(np.linspace(0.1, 0.9, 7)), [1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1, 1])
"""No two groups of these seven have the same rate."""


def test_ten_people_by_hand():
    """Six positives among ten; group 1 guessed on five of them: rate 5/5, so somebody must change."""
    probability = _both(np.array([0.9, 0.8, 0.7, 0.6, 0.55, 0.1, 0.4, 0.3, 0.2, 0.1]))
    attacked = records_of(probability, [1, 1, 1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 1, 1, 0, 0])
    disclosure = disclose(attacked, HELD_OUT, tolerance=0.0, cost="log_odds")
    # Rate 6/10 in both groups means 3 of 5 and 3 of 5: two leave group 1 among the positives, two join it,
    # and the unsure go first.
    assert (disclosure.n_changed, disclosure.n_right) == (4, 4)
    assert disclosure.before.value == pytest.approx(0.6)
    assert disclosure.after is not None
    assert disclosure.after.value == pytest.approx(1.0)
    assert [before.value for before, _ in disclosure.groups.values()] == pytest.approx([0.6, 0.6])


def test_a_tolerance_is_raised_in_thousandths_until_it_is_true():
    plain = disclose(ATTACKED, HELD_OUT, tolerance=0.0105)
    assert not plain.is_true
    assert plain.used == 0.0105
    raised = disclose(ATTACKED, HELD_OUT, tolerance=0.0105, raise_until_true=True)
    assert raised.is_true
    assert raised.used - 0.001 < raised.achieved <= raised.used
    steps = (raised.used - raised.disclosed_tolerance) / 0.001
    assert steps == pytest.approx(round(steps))


def test_the_smallest_tolerance_is_one_that_can_be_met():
    disclosure = disclose(ODD, HELD_OUT, tolerance=0.0)
    assert disclosure.certificate.status == "infeasible"
    assert disclosure.after is None
    assert disclosure.smallest_tolerance is not None
    assert disclose(ODD, HELD_OUT, tolerance=disclosure.smallest_tolerance, cost="count").after is not None


def test_log_odds_start_from_the_calibrated_guess_and_find_the_most_probable_answer():
    """Where calibration moves guesses over the border, brute force over all answers confirms the result."""
    rng = np.random.default_rng(3)
    n = 11
    raw = rng.uniform(0.2, 0.9, n)
    calibrated = np.clip(raw - 0.25, 0.05, 0.95)
    records = records_of(_both(raw), rng.random(n) < 0.5, rng.random(n) < 0.5)
    records = replace(records, calibrated=_both(calibrated))
    disclosure = disclose(records, HELD_OUT, tolerance=0.1, cost="log_odds")
    assert disclosure.before.value == pytest.approx((records.calibrated_guess == records.truth).mean())
    assert not np.array_equal(records.guess, records.calibrated_guess)
    best = np.inf
    for code in range(1, 2**n - 1):
        answer = np.array([(code >> i) & 1 for i in range(n)])
        rates = [records.predictions[answer == g].mean() for g in (0, 1)]
        if max(abs(r - records.predictions.mean()) for r in rates) <= 0.1 + 1e-12:
            best = min(best, -np.log(np.where(answer == 1, calibrated, 1 - calibrated)).sum())
    start = -np.log(np.maximum(calibrated, 1 - calibrated)).sum()
    assert disclosure.certificate.objective is not None
    assert start + disclosure.certificate.objective == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize(("confidence", "sentence"), [([0.6, 1.2], "at most 1, got 1.2"), ([0.0, 0.9], "above 0")])
def test_log_odds_refuse_what_is_no_probability(confidence: list[float], sentence: str):
    with pytest.raises(InputError, match=sentence):
        log_odds_cost(confidence)


def rounded(n, decimals=9):
    """Return n people of whom an attacker is as sure as so many decimals say."""
    records = people(n, n, bias=1.0)
    p = _both(np.round(records.probability[:, 1], decimals))
    return replace(records, probability=p, calibrated=p)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "decimals"), [(400, 9), (401, 1)])
@pytest.mark.parametrize("tolerance", [0.0, 0.002])
def test_curve_is_the_accuracy_of_the_corrections(metric, n, decimals, tolerance):
    records = rounded(n, decimals)
    arguments = {"tolerance": tolerance, "metric": metric, "labels": records.labels}
    tried = (0, 1, 2, 7, 40, 99)
    curve = corrected_accuracy(records, tolerance=tolerance, metric=metric, exponents=tried)
    chosen = choose_exponent(records, tolerance=tolerance, metric=metric, exponents=tried)
    for exponent, accuracy in zip(tried, curve, strict=True):
        cost = published_cost(records.confidence, exponent)
        vector = correct(records.guess, records.predictions, cost=cost, **arguments).reconstruction
        if vector is None:
            assert math.isnan(accuracy) and chosen is None
        else:
            assert accuracy == np.mean(vector == records.truth)
