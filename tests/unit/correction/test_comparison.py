"""The known constraint beside the measured one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.adversaries.adversary import AttackedRecords
from core.correction import EstimatedConstraint, compare_constraints, disclose, estimate_constraint, smallest_tolerance
from core.errors import InputError
from core.fairness import METRICS
from tests.unit.correction.test_disclosure import ATTACKED, HELD_OUT


def _told(metric: str, tolerance: float) -> EstimatedConstraint:
    return EstimatedConstraint(metric=metric, tolerance=tolerance, unfairness=dict.fromkeys(METRICS, 0.5), n=500)


ESTIMATE = estimate_constraint(HELD_OUT.predictions, HELD_OUT.truth, HELD_OUT.labels)


@pytest.mark.parametrize("cost", ["published", "log_odds", "count"])
@pytest.mark.parametrize("metric", METRICS)
def test_both_corrections_are_those_of_disclose(metric: str, cost: str) -> None:
    found = compare_constraints(ATTACKED, HELD_OUT, ESTIMATE, metric=metric, tolerance=0.02, cost=cost)
    assert found.trained is not None
    for told, name, tolerance in (
        (found.trained, metric, 0.02),
        (found.estimated, ESTIMATE.metric, ESTIMATE.tolerance),
    ):
        direct = disclose(ATTACKED, HELD_OUT, tolerance=tolerance, metric=name, cost=cost)
        same = replace(direct, certificate=replace(direct.certificate, seconds=told.certificate.seconds))
        assert told == same
    assert found.trained.before == found.estimated.before


def test_the_difference_by_hand() -> None:
    found = compare_constraints(ATTACKED, HELD_OUT, ESTIMATE, metric="statistical_parity", tolerance=0.0)
    assert found.trained is not None and found.trained.after is not None and found.estimated.after is not None
    assert found.difference is not None
    e, t = found.estimated.after, found.trained.after
    assert found.difference.value == pytest.approx(e.value - t.value)
    assert found.difference.low == pytest.approx(
        e.value - t.value - math.sqrt((e.value - e.low) ** 2 + (t.high - t.value) ** 2)
    )
    assert found.difference.high == pytest.approx(
        e.value - t.value + math.sqrt((e.high - e.value) ** 2 + (t.value - t.low) ** 2)
    )
    same = compare_constraints(
        ATTACKED, HELD_OUT, _told("statistical_parity", 0.0), metric="statistical_parity", tolerance=0.0
    )
    assert same.difference is not None and same.difference.value == 0.0
    assert same.difference.low < 0 < same.difference.high


def test_the_published_rule_raises_the_truth_only() -> None:
    estimate = _told("statistical_parity", 0.0105)
    found = compare_constraints(
        ATTACKED, HELD_OUT, estimate, metric="statistical_parity", tolerance=0.0105, raise_until_true=True
    )
    assert found.trained is not None
    assert found.trained.is_true and found.trained.used > 0.0105
    assert found.estimated.used == 0.0105 and not found.estimated.is_true


def _odd() -> AttackedRecords:
    probability = np.column_stack([np.linspace(0.9, 0.1, 7), np.linspace(0.1, 0.9, 7)])
    return AttackedRecords(
        probability=probability,
        calibrated=probability,
        predictions=np.array([1, 1, 1, 0, 0, 0, 0], dtype=np.uint8),
        labels=np.ones(7, dtype=np.uint8),
        truth=np.array([0, 1, 0, 1, 0, 1, 1], dtype=np.uint8),
    )


def test_a_tolerance_nobody_can_meet_is_reported_not_relaxed() -> None:
    odd, estimate = _odd(), _told("statistical_parity", 0.0)
    found = compare_constraints(odd, HELD_OUT, estimate, metric="equal_opportunity", tolerance=0.5)
    assert found.trained is not None and found.trained.after is not None
    assert found.estimated.after is None and found.difference is None
    assert found.estimated.certificate.status == "infeasible"
    assert found.estimated.smallest_tolerance == smallest_tolerance(odd.predictions)
    assert found.to_frame()["status"].tolist()[1] == "infeasible"


def test_an_attacker_may_raise_her_estimate_to_what_can_be_met() -> None:
    odd = _odd()
    needed = smallest_tolerance(odd.predictions)
    assert needed > 0
    found = compare_constraints(
        odd, HELD_OUT, _told("statistical_parity", 0.0), metric=None, tolerance=None, raise_until_feasible=True
    )
    assert found.estimated.told == found.estimated.used == needed
    assert found.estimated.after is not None
    above = compare_constraints(
        odd, HELD_OUT, _told("statistical_parity", 0.3), metric=None, tolerance=None, raise_until_feasible=True
    )
    assert above.estimated.told == 0.3


def test_metrics_nobody_could_ever_meet_stay_infeasible() -> None:
    """One person with label 0 among the attacked: no answer puts both groups there."""
    lonely = replace(_odd(), labels=np.array([0, 1, 1, 1, 1, 1, 1], dtype=np.uint8))
    found = compare_constraints(
        lonely, HELD_OUT, _told("predictive_equality", 0.1), metric=None, tolerance=None, raise_until_feasible=True
    )
    assert found.estimated.told == 0.1 and found.estimated.after is None
    assert found.estimated.smallest_tolerance == math.inf


def test_a_model_trained_for_no_metric_has_only_the_estimate() -> None:
    found = compare_constraints(ATTACKED, HELD_OUT, ESTIMATE, metric=None, tolerance=None)
    assert found.trained is None and found.difference is None
    assert found.to_frame()["constraint"].tolist() == ["estimated"]
    assert compare_constraints(ATTACKED, HELD_OUT, ESTIMATE, metric="equal_opportunity", tolerance=0.1).to_frame()[
        "metric"
    ].tolist() == ["equal_opportunity", ESTIMATE.metric]


def test_half_a_constraint_is_refused() -> None:
    with pytest.raises(InputError, match="given together or not at all, got 'equal_opportunity' and None"):
        compare_constraints(ATTACKED, HELD_OUT, ESTIMATE, metric="equal_opportunity", tolerance=None)
