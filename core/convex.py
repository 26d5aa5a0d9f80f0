"""Convex programs through cvxpy, one at a time.

A program of cvxpy holds its parameters and its solution itself, so threads that share one would mix theirs: whoever
sets parameters, solves and reads the variables of a shared program holds `SOLVING` meanwhile.

`solve` takes the steps of cvxpy's own but does not warn of a solution that may be inaccurate: the program's status
says so too. Silencing that warning instead would change the filters of all threads, whatever they do at the time.
"""

from __future__ import annotations

from threading import RLock
from typing import Any

from core.errors import FairLeakError

SOLVING = RLock()
"""Held while a program is set, solved and read; `solve` takes it by itself."""


def solve(program: Any, **options: Any) -> None:
    """Solve a program of cvxpy by Clarabel; the variables hold the solution, inaccurate ones too.

    Parameters
    ----------
    program : cvxpy.Problem
    **options
        Clarabel's settings, such as tolerances.

    Raises
    ------
    FairLeakError
        If there is no solution, or the solver gives up.
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
