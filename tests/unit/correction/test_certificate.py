"""The certificate believes the vector, not the solver; limits of time and work are told honestly."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import InputError
from core.stats.fairness import METRICS, row_sets
from core.studies.correction import disclose_more, enumeration, integer_programs, run, smallest_tolerance, tangents
from core.studies.correction import problem as problems
from core.studies.correction.attribute_attacks import IDENTIFIABLE
from core.studies.correction.disclosure import disclose, permuted_records
from core.studies.correction.numbers import compare_constraints, estimate_constraint, violations
from core.studies.correction.problem import Claim, Disclosed, certify, correct
from core.studies.subject import AuditConfig
from tests.problem_bank import adult_like
from tests.samples import ROLES, dataset
from tests.unit.correction.test_disclosure import ATTACKED, HELD_OUT, ODD, people


@pytest.mark.parametrize(
    ("vector", "bounds", "status", "objective", "residual"),
    [
        ([1, 0, 0, 1], [5.0], "optimal", 5.0, 0.0),
        ([1, 0, 0, 1], [4.0], "feasible", 5.0, 0.0),
        ([1, 0, 0, 1], [5.1], "feasible", 5.0, 0.0),  # a bound that the vector refutes proves nothing
        ([0, 1, 0, 1], [5.0], "feasible", 8.0, 0.0),
        ([1, 1, 0, 0], [0.0], "not_solved", 0.0, 0.4),
        ([1, 1, 1, 1], [0.0], "not_solved", 10.0, math.inf),
        (None, [2.0], "not_solved", None, None),
        (None, [math.inf], "infeasible", None, None),
        (None, [1.0, math.inf], "infeasible", None, None),
    ],
)
def test_status_follows_from_the_vector_and_the_bound(vector, bounds, status, objective, residual):
    claim = Claim(
        guess=np.array([1, 1, 0, 0], dtype=np.uint8),
        cost=np.array([5.0, 2.0, 7.0, 3.0]),
        n_groups=2,
        bounds=(Disclosed(predictions=[1, 1, 0, 0], tolerance=0.1),),
    )
    vector = None if vector is None else np.array(vector, dtype=np.uint8)
    result = certify(claim, vector, bounds, solver="any", started=0.0)
    assert (result.status, result.objective, result.best_bound) == (status, objective, sum(bounds))
    assert result.residual == (None if residual is None else pytest.approx(residual))


def test_a_solver_that_breaks_the_tolerance_is_not_believed(monkeypatch):
    monkeypatch.setattr(problems, "solve_counts_by_ilp", lambda problem, **_: (problem.old.copy(), 0.0))
    result = correct([1, 1, 0, 0], [1, 1, 0, 0], tolerance=0.1, solver="ilp")
    assert result.certificate.status == "not_solved" and result.certificate.residual == pytest.approx(0.4)
    assert result.reconstruction is None and result.objective is None and result.smallest_tolerance is None


@pytest.mark.parametrize("limit", [0.05, 1.0])
def test_a_time_limit_never_passes_for_an_optimum(limit):
    arguments = adult_like(3000, seed=1)
    best = correct(**arguments, tolerance=1e-5).objective
    result = correct(**arguments, tolerance=1e-5, solver="ilp_general", time_limit=limit)
    proof = result.certificate
    assert 0 <= proof.best_bound < best and proof.seconds < limit + 60
    if proof.status == "feasible":
        assert result.objective >= best and proof.residual == 0
    else:
        assert proof.status == "not_solved" and result.reconstruction is None


def test_rows_are_tightened_once_when_a_solution_breaks_them(monkeypatch):
    margins, run = [], integer_programs._Programs.program

    def breaks_first(programs, choice, margin):
        margins.append(margin)
        claim, cost, counts = run(programs, choice, margin)
        return claim, cost, counts if margin else programs.problem.old.copy()

    monkeypatch.setattr(integer_programs._Programs, "program", breaks_first)
    arguments = adult_like(200)
    result = correct(**arguments, tolerance=0.02, solver="ilp")
    assert margins[:2] == [0.0, integer_programs.TIGHTENING] and set(margins) == set(margins[:2])
    assert result.certificate.residual == 0
    assert result.objective == pytest.approx(correct(**arguments, tolerance=0.02).objective)
    assert result.certificate.best_bound <= result.objective * (1 + 1e-12)


def problem(n=400, groups=4):
    """Return a problem of more than two groups, which is corrected within a limit of work."""
    rng = np.random.default_rng(5)
    guess = rng.integers(0, groups, n)
    return {
        "guess": guess,
        "predictions": (rng.random(n) < 0.2 + 0.15 * guess).astype(int),
        "labels": rng.integers(0, 2, n),
        "cost": 1 + rng.random(n),
        "n_groups": groups,
        "metric": "equalized_odds",
        "tolerance": 0.02,
    }


def test_without_a_limit_of_time_the_clock_does_not_matter(monkeypatch):
    arguments, hours = problem(), itertools.count()
    fast = correct(**arguments, time_limit=math.inf)
    assert fast.certificate.status == "optimal" and fast.n_changed
    for module in (tangents, enumeration, problems):  # an hour passes whenever somebody looks at the clock
        monkeypatch.setattr(module.time, "perf_counter", lambda: 3600.0 * next(hours))
    slow = correct(**arguments, time_limit=math.inf)
    assert slow.certificate == fast.certificate and (slow.reconstruction == fast.reconstruction).all()
    stopped = correct(**arguments, time_limit=60.0)  # with one it does
    assert stopped.certificate.status == "not_solved" and "within 60 seconds" in stopped.reason


def test_relaxation_answers_in_the_unit_of_the_costs(monkeypatch):
    """What is minimised is the sum of the heights, so it is their sum in whatever unit."""
    relax, separate = tangents._BestFirstSearch.relax, tangents._BestFirstSearch.separate
    sums, bounds = [], []

    def separated(search, point, heights):
        sums.append(heights.sum())
        return separate(search, point, heights)

    def relaxed(search, choice):
        before = len(sums)
        bounds.append((bound := relax(search, choice), sums[-1] if len(sums) > before else None))
        return bound

    monkeypatch.setattr(tangents._BestFirstSearch, "separate", separated)
    monkeypatch.setattr(tangents._BestFirstSearch, "relax", relaxed)
    arguments = problem(120, 3)
    assert correct(**(arguments | {"cost": 1e5 * arguments["cost"]})).certificate.status == "optimal"
    points = [(bound, total) for bound, total in bounds if total is not None]
    assert points and all(total == pytest.approx(bound) for bound, total in points)


@pytest.mark.parametrize("metric", METRICS)
def test_permuted_predictions_keep_every_rate_and_lose_the_gain(metric):
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
    assert real.gain.low > 0
    assert control.before == real.before and control.is_true  # the permuted answers are as fair as chance
    assert control.gain.value == pytest.approx(0, abs=0.005) and control.gain.high < real.gain.value


def test_every_answer_to_more_knowledge_is_proved():
    config = AuditConfig(dataset="sample", roles=ROLES, metric="equalized_odds", tolerance=0.02, seed=3)
    audit = run(config, dataset=dataset(1500, seed=5))
    disclosures = disclose_more(audit, 0.02)
    assert [more.knowledge for more in disclosures] == ["bound", "bound_shares", "exact", "exact_shares", "all_metrics"]
    for more in disclosures:
        assert (more.certificate.status, more.certificate.residual) == ("optimal", 0)
        assert more.gain.value == pytest.approx(more.after.value - more.before.value)
    (bound, *_), expected = disclose_more(audit, 0.02, cost="count"), audit.disclose(0.02, cost="count")
    assert (bound.after, bound.gain, bound.n_changed) == (expected.after, expected.gain, expected.n_changed)


def _direct(rows):
    """Return the metrics in exact fractions, person by person; None where fewer than two groups can be compared."""

    def worst(keep):
        inside = [(p, g) for p, g, y in rows if y in keep]
        answers = {g: [p for p, h in inside if h == g] for _, g in inside}
        if len(answers) < 2:
            return None
        overall = Fraction(sum(p for p, _ in inside), len(inside))
        return max(abs(overall - Fraction(sum(a), len(a))) for a in answers.values())

    pe, eo = worst((0,)), worst((1,))
    both = None if pe is None or eo is None else max(pe, eo)
    return dict(zip(METRICS, (worst((0, 1)), pe, eo, both), strict=True))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4), st.integers(0, 1)), min_size=2, max_size=40))
def test_the_estimate_is_the_first_of_the_smallest_violations(rows):
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
    assert taken == min(comparable, key=comparable.get) and taken in IDENTIFIABLE


@pytest.mark.parametrize("metric", METRICS)
def test_both_corrections_are_those_of_disclose_and_their_difference_by_hand(metric):
    estimate = estimate_constraint(HELD_OUT.predictions, HELD_OUT.truth, HELD_OUT.labels)
    trained, estimated, difference = compare_constraints(ATTACKED, HELD_OUT, estimate, (metric, 0.0105))
    assert trained == disclose(ATTACKED, HELD_OUT, tolerance=0.0105, metric=metric, raise_until_true=True)
    # never raised until it is true
    assert estimated == disclose(ATTACKED, HELD_OUT, tolerance=estimate[1], metric=estimate[0])
    e, t = estimated.after, trained.after
    assert difference.value == pytest.approx(e.value - t.value)
    assert difference.low == pytest.approx(difference.value - math.hypot(e.value - e.low, t.high - t.value))
    assert difference.high == pytest.approx(difference.value + math.hypot(e.high - e.value, t.value - t.low))


@pytest.mark.parametrize(("estimated", "used"), [(0.0, smallest_tolerance(ODD.predictions)), (0.3, 0.3)])
def test_an_estimate_that_nobody_can_meet_is_raised_to_what_can_be_met(estimated, used):
    trained, disclosure, _ = compare_constraints(ODD, HELD_OUT, ("statistical_parity", estimated), None)
    assert disclosure.used == used > 0
    assert trained is None and disclosure.after is not None


def test_an_estimate_about_groups_that_cannot_be_compared_corrects_nothing():
    lonely = replace(ODD, labels=np.array([0, 1, 1, 1, 1, 1, 1], dtype=np.uint8))  # no two groups with label 0
    _, none, _ = compare_constraints(lonely, HELD_OUT, ("predictive_equality", 0.1), None)
    assert (none.after, none.smallest_tolerance) == (None, math.inf)
