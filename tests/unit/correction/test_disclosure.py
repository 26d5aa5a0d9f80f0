"""What a disclosure measures: by hand, with its switches, where there is no correction; costs and their exponent."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.adversaries import AttackedRecords
from core.stats.estimates import Estimate, tolerance_text
from core.stats.fairness import METRICS
from core.studies.correction import COSTS, correct, disclose
from core.studies.correction.disclosure import (
    SMALLEST_COST,
    choose_exponent,
    corrected_accuracy,
    log_odds_cost,
    published_cost,
)
from core.studies.correction.findings import by_tolerance, truth_of
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


def test_ten_people_by_hand() -> None:
    """Six positives among ten; group 1 guessed on five of them: rate 5/5, so somebody must change."""
    probability = _both(np.array([0.9, 0.8, 0.7, 0.6, 0.55, 0.1, 0.4, 0.3, 0.2, 0.1]))
    attacked = records_of(probability, [1, 1, 1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 1, 1, 0, 0])
    disclosure = disclose(attacked, HELD_OUT, tolerance=0.0, cost="log_odds")
    # Rate 6/10 in both groups means 3 of 5 and 3 of 5: two leave group 1 among the positives, two join it,
    # and the unsure go first.
    assert disclosure.n_changed == 4 and disclosure.n_right == 4
    assert disclosure.before.value == pytest.approx(0.6)
    assert disclosure.after is not None and disclosure.after.value == pytest.approx(1.0)
    assert disclosure.reached == 0.0
    assert disclosure.achieved == pytest.approx(0.0)
    assert [g.before.value for g in disclosure.groups] == pytest.approx([0.6, 0.6])
    assert disclosure.gain is not None and disclosure.gain.value == pytest.approx(0.4)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("metric", METRICS)
def test_the_numbers_hang_together(metric: str, cost: str) -> None:
    disclosure = disclose(ATTACKED, HELD_OUT, tolerance=0.05, metric=metric, cost=cost)
    assert (
        disclosure.after is not None
        and disclosure.gain is not None
        and disclosure.n_changed is not None
        and disclosure.n_right is not None
    )
    assert disclosure.gain.value == pytest.approx(disclosure.after.value - disclosure.before.value)
    assert disclosure.gain.value == pytest.approx((2 * disclosure.n_right - disclosure.n_changed) / ATTACKED.truth.size)
    assert disclosure.reached <= 0.05 + 1e-9
    assert disclosure.majority.value == pytest.approx(max(ATTACKED.truth.mean(), 1 - ATTACKED.truth.mean()))
    assert (disclosure.exponent is None) == (cost != "published")
    weighted = sum(g.after.value * g.after.n for g in disclosure.groups if g.after is not None)
    assert weighted / ATTACKED.truth.size == pytest.approx(disclosure.after.value)


def test_a_falsehood_is_called_one_and_the_published_rule_raises_until_it_is_true() -> None:
    plain = disclose(ATTACKED, HELD_OUT, tolerance=0.0105)
    assert plain.achieved > 0.0105 and not plain.is_true and plain.used == 0.0105
    raised = disclose(ATTACKED, HELD_OUT, tolerance=0.0105, raise_until_true=True)
    assert raised.is_true
    steps = (raised.used - raised.disclosed_tolerance) / 0.001
    assert steps == pytest.approx(round(steps))
    assert raised.used - 0.001 < raised.achieved <= raised.used
    sentence = f"Tolerance 0.0105 does not hold; raised to {tolerance_text(raised.used)}, it does."
    assert truth_of(raised, raised.used, 0.0).point == sentence
    true = disclose(ATTACKED, HELD_OUT, tolerance=0.5, raise_until_true=True)
    assert true.used == 0.5 and true.n_changed == 0 and true.gain is not None and true.gain.value == 0


def test_no_correction_is_a_value_with_its_reason() -> None:
    disclosure = disclose(ODD, HELD_OUT, tolerance=0.0)
    assert disclosure.certificate.status == "infeasible"
    assert (
        disclosure.after is None
        and disclosure.gain is None
        and disclosure.n_changed is None
        and disclosure.balanced_after is None
    )
    assert math.isnan(disclosure.reached)
    assert disclosure.smallest_tolerance is not None and disclosure.smallest_tolerance > 0
    met = disclose(ODD, HELD_OUT, tolerance=disclosure.smallest_tolerance, cost="count")
    assert met.after is not None


def test_the_exponent_is_chosen_without_looking_at_the_attacked() -> None:
    """Other truths for the attacked leave every guess, and so the exponent and the changes, as they were."""
    flipped = replace(ATTACKED, truth=1 - ATTACKED.truth)
    original, altered = (disclose(records, HELD_OUT, tolerance=0.02) for records in (ATTACKED, flipped))
    assert (original.exponent, original.n_changed) == (altered.exponent, altered.n_changed)
    assert original.certificate.objective == altered.certificate.objective


def test_log_odds_start_from_the_calibrated_guess_and_find_the_most_probable_answer() -> None:
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


@pytest.mark.parametrize(
    ("gains", "ending"),
    [
        ([0, 0, 0], "has no statistically significant effect"),
        ([-1, -1, -1], "lowers accuracy"),
        ([0, -1, 0], "Accuracy by disclosed tolerance"),
        ([-1, 0, 1], "Accuracy by disclosed tolerance"),
        ([1, 0, 0], "Tighter disclosed tolerances help this attack more"),
        ([1, 1, 0], "Tighter disclosed tolerances help this attack more"),
    ],
)
def test_the_curves_title_claims_no_more_than_all_its_tolerances_show(gains: list[int], ending: str) -> None:
    """A gain of -1, 0 or 1 is significantly negative, not significant, or significantly positive."""
    disclosure = disclose(ATTACKED, HELD_OUT, tolerance=0.1, cost="log_odds")
    estimates = [Estimate(value=0.1 * sign, low=0.1 * sign - 0.04, high=0.1 * sign + 0.04, n=900) for sign in gains]
    assert by_tolerance([replace(disclosure, gain=gain) for gain in estimates]).endswith(ending)


# Costs from confidences, and the exponent chosen on validation records.


def rounded(n, decimals=9):
    """Return n people of whom an attacker is as sure as so many decimals say."""
    records = people(n, n, bias=1.0)
    p = _both(np.round(records.probability[:, 1], decimals))
    return replace(records, probability=p, calibrated=p)


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


def test_the_smallest_exponent_of_the_best_wins():
    records, arguments = rounded(2000), {"tolerance": 0.001, "metric": "statistical_parity"}
    curve = corrected_accuracy(records, **arguments, exponents=range(100))
    assert choose_exponent(records, **arguments) == int(np.flatnonzero(curve == curve.max())[0])
    assert curve.max() > curve.min()
