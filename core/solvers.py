"""Convex programs through cvxpy and Clarabel, one at a time; integer programs through PuLP and CBC.

A program of cvxpy holds its parameters and its solution itself, so threads that share one would mix theirs: whoever
sets parameters, solves and reads the variables of a shared program holds `SOLVING` meanwhile. CBC must not run longer
than told, nor be believed without its log.
"""

from __future__ import annotations

import re
import tempfile
import time
from enum import IntEnum
from pathlib import Path
from threading import RLock
from typing import Any

from core.errors import FairLeakError

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
            found = chain.invert(chain.solve_via_data(program, data, solver_opts=options), inverse)
        except cvxpy.SolverError as error:
            raise FairLeakError(f"Clarabel gave up: {error}") from None
        if found.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
            raise FairLeakError(f"Clarabel gave up: {found.status}.")
        program.unpack(found)


class Claim(IntEnum):
    """What CBC claims of a program; above 0 its variables hold a solution."""

    INFEASIBLE = -1
    NOTHING = 0
    OPTIMAL = 1
    INCUMBENT = 2


def empty_model() -> Any:
    """Return a program that minimises."""
    import pulp

    return pulp.LpProblem("program", pulp.LpMinimize)


def linear(terms: Any) -> Any:
    """Return the sum of (variable, coefficient) pairs."""
    import pulp

    return pulp.LpAffineExpression(dict(terms))


def run(model: Any, objective: Any, deadline: float, gap: float = 0.0) -> tuple[Claim, float]:
    """Let CBC minimise; return what it claims, and its lower bound."""
    import pulp

    model += objective
    # Preprocessing takes most of the time on thousands of segments and finds nothing; but CBC crashes without it on
    # some small programs that have no solution, and then gets it.
    for options in (["preprocess off"], []):
        text = _solved(model, deadline - time.perf_counter(), options, gap)
        if text is not None:
            break
    else:
        return Claim.NOTHING, 0.0
    if model.sol_status == pulp.LpSolutionOptimal:
        return Claim.OPTIMAL, float(pulp.value(objective))
    if model.status == pulp.LpStatusInfeasible:
        return Claim.INFEASIBLE, 0.0
    found = model.sol_status == pulp.LpSolutionIntegerFeasible
    return (Claim.INCUMBENT if found else Claim.NOTHING), _printed_bound(text)


def _solved(model: Any, seconds: float, options: list[str], gap: float) -> str | None:
    """Let CBC solve and return its log; None where it crashes or no time is left."""
    import pulp

    if seconds <= 0:
        return None
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        bundled = pulp.PULP_CBC_CMD.pulp_cbc_path
        solver = pulp.COIN_CMD(
            msg=False, path=bundled, timeLimit=seconds, gapRel=gap, threads=1, logPath=str(log), options=options
        )
        solver.tmpDir = folder
        try:
            model.solve(solver)
        except pulp.PulpSolverError:
            return None
        return log.read_text()


def _printed_bound(log: str) -> float:
    """Return the last lower bound in CBC's log, less the rounding of its last digit; 0 if there is none."""
    found = re.findall(r"(?:Lower bound:\s*|best possible )(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)", log)
    if not found:
        return 0.0
    decimals = len(found[-1].partition(".")[2])
    return float(found[-1]) - 10.0**-decimals
