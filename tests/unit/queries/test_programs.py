"""The solver's word is checked before it is passed on."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import _constraints

from core.queries.reveal import solve_program

COST, MATRIX, RIGHT = np.ones(3), np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]), np.array([1.0, 1.0])


def test_an_optimum_has_its_numbers():
    found = solve_program(COST, MATRIX, RIGHT, RIGHT)
    assert found.status == "recovered" and found.reason == ""
    assert found.x == pytest.approx([1, 0, 1]) or found.x == pytest.approx([0, 2, 0])


def test_ranges_and_bounds():
    found = solve_program(np.array([-1.0, -0.5, -1.0]), MATRIX, RIGHT - 0.1, RIGHT + 0.2, upper=0.9)
    assert found.x == pytest.approx([0.9, 0.6, 0.9])


def test_contradicting_rows_are_infeasible():
    right = np.array([1.0, 1.0, 2.0, 1.0])
    found = solve_program(COST, np.vstack([MATRIX, MATRIX]), right, right)
    assert found.x is None and found.status == "infeasible"


def test_time_may_run_out():
    rng = np.random.default_rng(0)
    matrix = rng.random((150, 600))
    right = matrix @ (rng.random(600) < 0.1)
    found = solve_program(np.ones(600), matrix, right, right, time_limit=1e-3)
    assert found.x is None and found.status == "not_solved" and found.reason.startswith("The solver stopped: ")


def test_a_wrong_solution_is_not_passed_on(monkeypatch: pytest.MonkeyPatch):
    real = scipy.optimize.milp

    def lying(*args, **keywords):
        found = real(*args, **keywords)
        found.x = found.x + 0.01
        return found

    monkeypatch.setattr(scipy.optimize, "milp", lying)
    found = solve_program(COST, MATRIX, RIGHT, RIGHT)
    assert found.x is None and found.status == "not_solved"
    assert found.reason == "The solver's solution does not meet the answers."


def test_a_program_leaves_other_threads_warnings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What scipy does inside is done to the whole process: a model trained meanwhile would fail on a warning."""
    entered = []

    class Watched(warnings.catch_warnings):
        def __enter__(self):
            entered.append(True)
            return super().__enter__()

    monkeypatch.setattr(_constraints, "catch_warnings", Watched)
    assert solve_program(np.ones(3), np.eye(3)[:2], np.ones(2), np.ones(2)).status == "recovered"
    assert not entered
