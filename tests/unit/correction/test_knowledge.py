"""What the attacker knows else: permuted predictions, more than a bound, a constraint of her own measuring."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import InputError
from core.stats.fairness import METRICS, row_sets
from core.studies.correction import (
    CorrectionResult,
    Disclosure,
    disclose,
    disclose_more,
    run,
    smallest_tolerance,
)
from core.studies.correction.disclosure import permuted_records
from core.studies.correction.knowledge import (
    IDENTIFIABLE,
    compare_constraints,
    estimate_constraint,
    violations,
)
from core.studies.subject import AuditConfig
from tests.samples import ROLES, dataset
from tests.unit.correction.test_bootstrap import people
from tests.unit.correction.test_disclosure import ATTACKED, HELD_OUT, ODD


def _timeless(disclosure: Disclosure) -> Disclosure:
    return replace(disclosure, certificate=replace(disclosure.certificate, seconds=0.0))


@pytest.mark.parametrize("metric", METRICS)
def test_permuted_predictions_keep_every_rate_and_lose_the_gain(metric: str):
    attacked, validation = people(8000, 1, bias=1.5), people(4000, 2, bias=1.5)
    permuted, reseeded = (permuted_records(attacked, metric=metric, seed=seed) for seed in (3, 4))
    for _, rows in row_sets(metric, attacked.labels, attacked.truth.size):
        inside = slice(None) if rows is None else rows
        assert permuted.predictions[inside].sum() == attacked.predictions[inside].sum()
    same = [smallest_tolerance(r.predictions, metric=metric, labels=r.labels) for r in (attacked, permuted)]
    assert same[0] == same[1] and not np.array_equal(permuted.predictions, reseeded.predictions)
    held_out = permuted_records(validation, metric=metric, seed=3, name="held out")
    real = disclose(attacked, validation, tolerance=0.05, metric=metric)
    control = disclose(permuted, held_out, tolerance=0.05, metric=metric)
    assert real.gain is not None and control.gain is not None and real.gain.low > 0
    assert control.before == real.before and control.is_true  # the permuted answers are as fair as chance
    assert control.gain.value == pytest.approx(0, abs=0.005) and control.gain.high < real.gain.value


@pytest.fixture(scope="module")
def audit() -> CorrectionResult:
    config = AuditConfig(dataset="sample", roles=ROLES, metric="equalized_odds", tolerance=0.02, seed=3)
    return run(config, dataset=dataset(1500, seed=5))


def test_every_answer_to_more_knowledge_is_proved(audit: CorrectionResult):
    by_knowledge = {more.knowledge: more for more in disclose_more(audit, 0.02)}
    assert tuple(by_knowledge) == ("bound", "bound_shares", "exact", "exact_shares", "all_metrics")
    for more in by_knowledge.values():
        assert (more.certificate.status, more.certificate.residual) == ("optimal", 0)
        assert more.after is not None
        assert more.gain is not None
        assert more.gain.value == pytest.approx(more.after.value - more.before.value)
    (bound, *_), expected = disclose_more(audit, 0.02, cost="count"), audit.disclose(0.02, cost="count")
    assert (bound.after, bound.gain, bound.n_changed) == (expected.after, expected.gain, expected.n_changed)


def _direct(rows: list[tuple[int, int, int]]) -> dict[str, Fraction | None]:
    """Return the metrics in exact fractions, person by person; None where fewer than two groups can be compared."""

    def worst(keep: tuple[int, ...]) -> Fraction | None:
        inside = [(p, g) for p, g, y in rows if y in keep]
        answers = {g: [p for p, h in inside if h == g] for _, g in inside}
        if len(answers) < 2:
            return None
        overall = Fraction(sum(p for p, _ in inside), len(inside))
        return max(abs(overall - Fraction(sum(a), len(a))) for a in answers.values())

    pe, eo = worst((0,)), worst((1,))
    both = None if pe is None or eo is None else max(pe, eo)
    return dict(zip(METRICS, (worst((0, 1)), pe, eo, both), strict=True))


drawn = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4), st.integers(0, 1)), min_size=2, max_size=40)


@given(drawn)
def test_the_estimate_is_the_first_of_the_smallest_violations(rows: list[tuple[int, int, int]]):
    arrays = [np.array(column) for column in zip(*rows, strict=True)]
    expected = _direct(rows)
    if expected["statistical_parity"] is None:
        with pytest.raises(InputError, match="at least two groups, got 1"):
            estimate_constraint(*arrays)
        return
    taken, tolerance = estimate_constraint(*arrays)
    measured = violations(*arrays)
    for metric, value in expected.items():
        assert (value is None) == math.isnan(measured[metric])
        assert value is None or measured[metric] == pytest.approx(float(value), abs=1e-12)
    comparable = {metric: value for metric, value in expected.items() if value is not None}
    assert tolerance == pytest.approx(float(min(comparable.values())), abs=1e-12)
    assert taken == next(metric for metric, value in comparable.items() if value == min(comparable.values()))
    assert taken in IDENTIFIABLE


@pytest.mark.parametrize("metric", METRICS)
def test_both_corrections_are_those_of_disclose_and_their_difference_by_hand(metric: str):
    estimate = estimate_constraint(HELD_OUT.predictions, HELD_OUT.truth, HELD_OUT.labels)
    trained, estimated, difference = compare_constraints(ATTACKED, HELD_OUT, estimate, (metric, 0.0105))
    direct = disclose(ATTACKED, HELD_OUT, tolerance=0.0105, metric=metric, raise_until_true=True)
    assert trained is not None
    assert _timeless(trained) == _timeless(direct)
    expected = disclose(ATTACKED, HELD_OUT, tolerance=estimate[1], metric=estimate[0])
    assert _timeless(estimated) == _timeless(expected)  # which is never raised until it is true
    e, t = estimated.after, trained.after
    assert difference.value == pytest.approx(e.value - t.value)
    assert difference.low == pytest.approx(difference.value - math.hypot(e.value - e.low, t.high - t.value))
    assert difference.high == pytest.approx(difference.value + math.hypot(e.high - e.value, t.value - t.low))


@pytest.mark.parametrize(("estimated", "used"), [(0.0, smallest_tolerance(ODD.predictions)), (0.3, 0.3)])
def test_an_estimate_that_nobody_can_meet_is_raised_to_what_can_be_met(estimated: float, used: float):
    trained, disclosure, _ = compare_constraints(ODD, HELD_OUT, ("statistical_parity", estimated), None)
    assert disclosure.used == used > 0
    assert disclosure.after is not None
    assert trained is None


def test_an_estimate_about_groups_that_cannot_be_compared_corrects_nothing():
    lonely = replace(ODD, labels=np.array([0, 1, 1, 1, 1, 1, 1], dtype=np.uint8))  # no two groups with label 0
    _, none, _ = compare_constraints(lonely, HELD_OUT, ("predictive_equality", 0.1), None)
    assert none.after is None
    assert none.smallest_tolerance == math.inf
