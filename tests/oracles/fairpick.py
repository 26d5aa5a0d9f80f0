"""FairPick's quadratic program through cvxpy: what the closed form is checked against.

The program of `core.studies.membership.fairpick` as it stands, but for Σ_c x_c0 = s N_0: that follows from the other
equations, and an equation too many costs digits. Without any difference there is nothing to solve.
"""

import numpy as np

from core.base.solvers import solve
from core.studies.membership.fairpick import differences

_TOLERANCES = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def fairpick_program(counts, theta):
    """Return the deletions, of shape (k, 2), by the solver; the arguments are those of `fairpick_counts`.

    Raises
    ------
    FairLeakError
        If the solver gives up.
    """
    import cvxpy

    n = np.asarray(counts, dtype=np.float64)
    sizes, dd = n.sum(axis=0), differences(n)
    if theta == 1.0 or not dd.any():
        return np.zeros_like(n)
    x, s = cvxpy.Variable(n.shape), cvxpy.Variable()
    reached = x[:, 1] / sizes[1] - x[:, 0] / sizes[0] - theta * dd * s == (1.0 - theta) * dd
    rules = [reached, cvxpy.sum(x[:, 1]) == s * sizes[1], x >= 0, x <= n]
    solve(cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x)), rules), **_TOLERANCES)
    return np.clip(np.asarray(x.value, dtype=np.float64), 0.0, n)
