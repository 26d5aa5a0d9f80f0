"""Convex programs, also from several threads at once."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy
import numpy as np
import pytest

from core.attriguard.comparators import _mapping
from core.errors import FairLeakError
from core.solvers import solve
from tests.oracles.allocation import allocate_with_solver


def program(*, least: float = 0.0) -> tuple[cvxpy.Variable, cvxpy.Problem]:
    x = cvxpy.Variable(3)
    return x, cvxpy.Problem(cvxpy.Minimize(-cvxpy.sum(cvxpy.log(x))), [cvxpy.sum(x) == 1, x >= least])


def test_a_solution_is_in_the_variables() -> None:
    x, own = program()
    solve(own)
    assert x.value == pytest.approx([1 / 3] * 3, abs=1e-5) and own.status == cvxpy.OPTIMAL


def test_an_inaccurate_solution_is_one_without_a_warning() -> None:
    # warnings are errors here
    x, own = program()
    solve(own, tol_gap_abs=1e-17, tol_gap_rel=1e-17, tol_feas=1e-17)
    assert x.value == pytest.approx([1 / 3] * 3, abs=1e-6) and own.status == cvxpy.OPTIMAL_INACCURATE


def test_no_solution_is_an_error() -> None:
    with pytest.raises(FairLeakError, match="Clarabel gave up: infeasible"):
        solve(program(least=0.5)[1])
    with pytest.raises(FairLeakError, match="Clarabel gave up: user_limit"):
        solve(program()[1], max_iter=1)


def test_the_filters_of_warnings_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, unpack = [], cvxpy.Problem.unpack

    def watched(own: cvxpy.Problem, found: Any) -> None:
        seen.append(warnings.filters)
        unpack(own, found)

    monkeypatch.setattr(cvxpy.Problem, "unpack", watched)
    allocate_with_solver([[0, 2, 3]], [0.5, 0.3, 0.2], 0.5)
    _mapping(np.diag([0.4, 0.6]), np.array([[0.0, 2.0], [2.0, 0.0]]), 0.5)
    assert len(seen) >= 2 and all(filters is warnings.filters for filters in seen)
