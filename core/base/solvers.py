"""Convex programs through cvxpy and Clarabel, one at a time; integer programs through PuLP and CBC.

A program of cvxpy holds its parameters and its solution itself, so threads that share one would mix theirs: who
sets parameters, solves and reads the variables of a shared program holds `SOLVING` meanwhile. CBC must not run longer
than allowed. PuLP hands over no lower bound where CBC stops early: who needs one takes that of a relaxation.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from enum import StrEnum
from threading import RLock
from typing import Any

from .errors import FairLeakError

SOLVING = RLock()
"""Held while a program is set, solved and read; `solve` takes it by itself."""


def solve(program: Any, **options: Any) -> None:
    """Solve a program of cvxpy by Clarabel, with its `options`; the variables hold the solution, inaccurate ones too.

    These are the steps of cvxpy's own `solve`, which warns of a solution that may be inaccurate; to silence the warning
    would change the filters of all threads.

    Raises `FairLeakError` if there is no solution, or the solver gives up.
    """
    import cvxpy

    with SOLVING:
        try:
            data, chain, inverse = program.get_problem_data(cvxpy.CLARABEL, solver_opts=options)
            solution = chain.invert(
                chain.solve_via_data(program, data, solver_opts=options), inverse
            )
        except cvxpy.SolverError as error:
            raise FairLeakError(f"Clarabel gave up: {error}") from None
        if solution.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
            raise FairLeakError(f"Clarabel gave up: {solution.status}.")
        program.unpack(solution)


class SolverStatus(StrEnum):
    """What became of a program."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NOT_SOLVED = "not_solved"
    """Proved; found, but something may be better; proved that nothing meets all rows; nothing found in time."""


MUCH = 4.0
"""Fall of the objective after which a bound found at the old scale is not trusted, and all is solved again."""


def rescaled(
    value: Callable[[], float], search: Callable[[], float], over: Callable[[], bool]
) -> float:
    """Search again as long as the objective, and with it the scale of the costs, falls by much; return the bound.

    Raw costs may span eighteen magnitudes, which no solver can distinguish: a search scales them by the best objective
    known, the `value`, and returns its lower bound. It may end `over` a limit; then the last bound counts if its scale
    does, else 0.
    """
    bound = 0.0
    before = math.inf
    while value() < before / MUCH and not over():
        before = value()
        bound = search()
    if value() >= before / MUCH:
        return bound
    return 0.0


def empty_model() -> Any:
    """Return a program that minimises."""
    import pulp

    return pulp.LpProblem("program", pulp.LpMinimize)


def linear(terms: Any) -> Any:
    """Return the sum of (variable, coefficient) pairs."""
    import pulp

    return pulp.LpAffineExpression(dict(terms))


def run(model: Any, objective: Any, deadline: float, gap: float = 0.0) -> SolverStatus:
    """Let CBC minimise until a deadline of `time.perf_counter`; the variables hold what it found."""
    import pulp

    model += objective
    # Preprocessing takes most of the time on thousands of segments and finds nothing; but CBC crashes without it on
    # some small programs that have no solution, and then gets it.
    for options in (["preprocess off"], []):
        seconds = deadline - time.perf_counter()
        if seconds <= 0:
            break
        with tempfile.TemporaryDirectory() as folder:
            solver = pulp.COIN_CMD(
                msg=False,
                path=pulp.PULP_CBC_CMD.pulp_cbc_path,
                timeLimit=seconds,
                gapRel=gap,
                threads=1,
                options=options,
            )
            solver.tmpDir = folder
            try:
                model.solve(solver)
            except pulp.PulpSolverError:
                continue
        if model.status == pulp.LpStatusInfeasible:
            return SolverStatus.INFEASIBLE
        # `status` is optimal at a time limit too; only `sol_status` tells an incumbent from an optimum.
        statuses = {
            pulp.LpSolutionOptimal: SolverStatus.OPTIMAL,
            pulp.LpSolutionIntegerFeasible: SolverStatus.FEASIBLE,
        }
        return statuses.get(model.sol_status, SolverStatus.NOT_SOLVED)
    return SolverStatus.NOT_SOLVED
