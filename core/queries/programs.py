"""The linear programs of the attacks, through HiGHS' dual simplex.

Rows are ranges, so answers known to within a rounding step need no second copy of the matrix. Nothing can be removed
from these dense programs beforehand, so HiGHS' presolve, which takes as long as solving, is off. A solution is
handed on only after its rows and bounds were recomputed. Matrices are passed as sparse: scipy turns dense ones over
with all warnings made errors, in every thread of the process.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.queries.checks import Floats
from core.queries.recovery import RecoveryStatus

TOLERANCE = 1e-6  # of a row, relative to its size; HiGHS works to 1e-7


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSolution:
    """What came of a program: `x` of shape (n,) when it is solved to the optimum, else None and why."""

    x: Floats | None
    status: RecoveryStatus
    reason: str


def solve_program(
    cost: Floats,
    matrix: Floats,
    low: Floats,
    high: Floats,
    *,
    upper: float = np.inf,
    time_limit: float = 60.0,
) -> ProgramSolution:
    """Minimise cost · x subject to low <= matrix x <= high and 0 <= x <= upper.

    Parameters
    ----------
    cost : ndarray of shape (n,)
    matrix : ndarray of shape (m, n)
    low, high : ndarray of shape (m,)
        Equal where the row is an equation.
    upper : float
        Upper bound of every variable.
    time_limit : float
        Seconds.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    found = milp(  # without whole-numbered variables HiGHS solves the linear program itself
        cost,
        constraints=LinearConstraint(csc_array(matrix), low, high),
        bounds=Bounds(0.0, upper),
        options={"presolve": False, "time_limit": time_limit},
    )
    if found.status == 2:
        return ProgramSolution(x=None, status=RecoveryStatus.INFEASIBLE, reason="No attributes explain every answer.")
    if found.status != 0 or found.x is None:
        return ProgramSolution(x=None, status=RecoveryStatus.NOT_SOLVED, reason=f"The solver stopped: {found.message}")
    x = np.clip(found.x, 0.0, upper)
    reached = matrix @ x
    room = TOLERANCE * (1.0 + np.abs(matrix) @ np.abs(x))
    if ((reached < low - room) | (reached > high + room)).any():
        return ProgramSolution(
            x=None, status=RecoveryStatus.NOT_SOLVED, reason="The solver's solution does not meet the answers."
        )
    return ProgramSolution(x=x, status=RecoveryStatus.RECOVERED, reason="")
