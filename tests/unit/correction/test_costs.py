"""Costs from confidences, and the exponent chosen on validation records."""

import math

import numpy as np
import pytest

from core.adversaries import AttackedRecords
from core.correction import correct
from core.correction.disclosure import (
    SMALLEST_COST,
    choose_exponent,
    corrected_accuracy,
    log_odds_cost,
    published_cost,
)
from core.fairness import METRICS


def validation_records(n, seed=0, decimals=9):
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.33).astype(np.uint8)
    predictions = (rng.random(n) < 0.2).astype(np.uint8)
    labels = (rng.random(n) < np.where(predictions, 0.7, 0.2)).astype(np.uint8)
    confidence = np.round(0.5 + rng.random(n) / 2, decimals)
    guess = np.where(rng.random(n) < confidence - 0.2 * predictions * truth, truth, 1 - truth).astype(np.uint8)
    said = np.stack([1 - confidence, confidence], axis=1)
    said[guess == 0] = said[guess == 0, ::-1]
    return AttackedRecords(probability=said, calibrated=said, predictions=predictions, labels=labels, truth=truth)


def test_published_cost_is_a_power_of_the_rescaled_confidence():
    assert published_cost([0.5, 0.75, 1.0], 3).tolist() == [1.0, 1.5**3, 8.0]
    assert published_cost([0.5, 0.75, 1.0], 0).tolist() == [1.0, 1.0, 1.0]
    assert published_cost([0.7, 0.7], 9).tolist() == [1.0, 1.0]
    assert published_cost([], 9).tolist() == []


def test_log_odds_are_clipped_at_both_ends():
    cost = log_odds_cost([0.2, 0.5, 0.75, 1.0])
    assert cost[:2].tolist() == [SMALLEST_COST] * 2
    assert cost[2] == pytest.approx(math.log(3))
    assert np.isfinite(cost[3]) and cost[3] > 20


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "decimals"), [(400, 9), (401, 1)])
@pytest.mark.parametrize("tolerance", [0.0, 0.002])
def test_curve_is_the_accuracy_of_the_corrections(metric, n, decimals, tolerance):
    records = validation_records(n, seed=n, decimals=decimals)
    known = {"tolerance": tolerance, "metric": metric, "labels": records.labels}
    tried = (0, 1, 2, 7, 40, 99)
    curve = corrected_accuracy(records, tolerance=tolerance, metric=metric, exponents=tried)
    chosen = choose_exponent(records, tolerance=tolerance, metric=metric, exponents=tried)
    for exponent, told in zip(tried, curve, strict=True):
        cost = published_cost(records.confidence, exponent)
        vector = correct(records.guess, records.predictions, cost=cost, **known).reconstruction
        if vector is None:
            assert math.isnan(told) and chosen is None
        else:
            assert told == np.mean(vector == records.truth)


def test_the_smallest_exponent_of_the_best_wins():
    records, asked = validation_records(2000), {"tolerance": 0.001, "metric": "statistical_parity"}
    curve = corrected_accuracy(records, **asked, exponents=range(100))
    assert choose_exponent(records, **asked) == int(np.flatnonzero(curve == curve.max())[0])
    assert curve.max() > curve.min()
