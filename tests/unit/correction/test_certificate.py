"""The certificate believes the vector, not the solver; limits of time and work are told honestly."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from core.studies.correction import Disclosed, correct, enumeration, integer_programs, tangents
from core.studies.correction import problem as problems
from core.studies.correction.problem import Claim, Correction, certify
from tests.problem_bank import adult_like


def claim(*, n_groups=2, sizes=None, guess=(1, 1, 0, 0), **changed):
    disclosed = {"predictions": [1, 1, 0, 0], "tolerance": 0.1} | changed
    return Claim(
        guess=np.array(guess, dtype=np.uint8),
        cost=np.array([5.0, 2.0, 7.0, 3.0]),
        n_groups=n_groups,
        bounds=(Disclosed(**disclosed),),
        sizes=sizes,
    )


def certificate(vector, bounds, **changed):
    vector = None if vector is None else np.array(vector, dtype=np.uint8)
    return certify(claim(**changed), vector, bounds, solver="any", started=0.0)


@pytest.mark.parametrize(
    ("vector", "bounds", "status", "objective", "residual"),
    [
        ([1, 0, 0, 1], [5.0], "optimal", 5.0, 0.0),
        ([1, 0, 0, 1], [4.0], "feasible", 5.0, 0.0),
        ([1, 0, 0, 1], [5.1], "feasible", 5.0, 0.0),  # a bound that the vector refutes proves nothing
        ([0, 1, 0, 1], [5.0], "feasible", 8.0, 0.0),
        ([1, 1, 0, 0], [0.0], "not_solved", 0.0, 0.4),
        ([1, 1, 1, 1], [0.0], "not_solved", 10.0, math.inf),
        ([0, 0, 0, 0], [0.0], "not_solved", 7.0, math.inf),
        (None, [2.0], "not_solved", None, None),
        (None, [math.inf], "infeasible", None, None),
        (None, [1.0, math.inf], "infeasible", None, None),
    ],
)
def test_status_follows_from_the_vector_and_the_bound(vector, bounds, status, objective, residual):
    result = certificate(vector, bounds)
    assert (result.status, result.objective, result.best_bound) == (status, objective, sum(bounds))
    assert result.residual == (None if residual is None else pytest.approx(residual))


def test_a_solver_that_breaks_the_tolerance_is_not_believed(monkeypatch):
    def unchanged(problem, **_):
        return problem.old.copy(), 0.0

    monkeypatch.setattr(problems, "solve_counts_by_ilp", unchanged)
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
        assert result.objective >= best and proof.best_bound < result.objective and proof.residual == 0
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


# More than two groups are corrected within a limit of work: a slow machine gives the same answer as a fast one.


def problem(n: int = 400, groups: int = 4) -> dict[str, Any]:
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


def same(first: Correction, second: Correction) -> bool:
    if first.reconstruction is None or second.reconstruction is None:
        return first.reconstruction is second.reconstruction
    return bool((first.reconstruction == second.reconstruction).all()) and first.certificate == second.certificate


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which an hour passes whenever somebody looks at the clock."""
    hours = itertools.count()
    for module in (tangents, enumeration, problems):
        monkeypatch.setattr(module.time, "perf_counter", lambda: 3600.0 * next(hours))


def test_without_a_limit_of_time_the_clock_does_not_matter(request: pytest.FixtureRequest):
    arguments = problem()
    fast = correct(**arguments, time_limit=math.inf)
    assert fast.certificate.status == "optimal" and fast.n_changed
    request.getfixturevalue("slow")
    assert same(fast, correct(**arguments, time_limit=math.inf))
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
    arguments["cost"] = 1e5 * arguments["cost"]
    assert correct(**arguments).certificate.status == "optimal"
    points = [(bound, total) for bound, total in bounds if total is not None]
    assert points and all(total == pytest.approx(bound) for bound, total in points)
