"""The correction's control: same guess, same promise, predictions of other people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.adversaries.adversary import AttackedRecords
from core.correction import Disclosure, disclose, permuted_control, permuted_records, smallest_tolerance
from core.fairness import METRICS, row_sets


def _records(n: int, seed: int) -> AttackedRecords:
    """Return records of a model that is exactly as likely to accept both groups, guessed by how they score.

    The score carries both the group and the decision, so the guess takes accepted people for group 0 too often.
    """
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.4).astype(np.uint8)
    predictions = (rng.random(n) < 0.4).astype(np.uint8)
    labels = (rng.random(n) < 0.3 + 0.4 * predictions).astype(np.uint8)
    score = 1.2 * (truth - 0.5) - 1.0 * (predictions - 0.4) + rng.normal(size=n)
    first = 1 / (1 + np.exp(-score))
    probability = np.column_stack([1 - first, first])
    return AttackedRecords(
        probability=probability, calibrated=probability, predictions=predictions, labels=labels, truth=truth
    )


def _timeless(told: Disclosure) -> Disclosure:
    return replace(told, certificate=replace(told.certificate, seconds=0.0))


ATTACKED, HELD_OUT = _records(8000, 1), _records(4000, 2)


@pytest.mark.parametrize("metric", METRICS)
def test_rates_and_feasibility_stay_as_they_were(metric: str) -> None:
    permuted = permuted_records(ATTACKED, metric=metric, seed=3)
    assert not np.array_equal(permuted.predictions, ATTACKED.predictions)
    for name in ("probability", "calibrated", "labels", "truth"):
        assert getattr(permuted, name) is getattr(ATTACKED, name)
    for _, rows in row_sets(metric, ATTACKED.labels, ATTACKED.truth.size):
        inside = slice(None) if rows is None else rows
        assert permuted.predictions[inside].sum() == ATTACKED.predictions[inside].sum()
    same = [smallest_tolerance(r.predictions, metric=metric, labels=r.labels) for r in (ATTACKED, permuted)]
    assert same[0] == same[1]


@pytest.mark.parametrize("metric", METRICS)
def test_a_gain_that_comes_from_the_predictions_is_gone_without_them(metric: str) -> None:
    control = permuted_control(ATTACKED, HELD_OUT, tolerance=0.05, metric=metric, seed=3)
    assert _timeless(control.real) == _timeless(disclose(ATTACKED, HELD_OUT, tolerance=0.05, metric=metric))
    assert control.permuted.before == control.real.before
    assert control.real.gain is not None and control.permuted.gain is not None
    assert control.real.gain.low > 0
    assert control.permuted.gain.value == pytest.approx(0, abs=0.005)
    assert control.permuted.gain.high < control.real.gain.value
    assert control.permuted.is_true  # the permuted answers are as fair as chance


def test_the_control_is_told_what_the_real_correction_used() -> None:
    control = permuted_control(ATTACKED, HELD_OUT, tolerance=0.0, raise_until_true=True, seed=3)
    assert control.real.used > control.real.told
    assert control.permuted.told == control.permuted.used == control.real.used


def test_same_seed_same_control_other_seed_another() -> None:
    first, again, other = (
        permuted_control(ATTACKED, HELD_OUT, tolerance=0.001, cost="count", seed=seed).permuted for seed in (1, 1, 2)
    )
    assert first.achieved == again.achieved and first.n_changed == again.n_changed
    assert first.achieved != other.achieved


def test_the_table_has_a_row_each() -> None:
    table = permuted_control(ATTACKED, HELD_OUT, tolerance=0.05, seed=3).to_frame()
    assert table["predictions"].tolist() == ["real", "permuted"]
    assert table["gain"].tolist() == pytest.approx((table["after"] - table["before"]).tolist())
