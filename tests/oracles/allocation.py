"""Phase II as convex programs through cvxpy: what `core.studies.attriguard.allocation` is checked against.

One program a person, with exponential cones for the logarithms, by Clarabel with tight tolerances; seconds where
`allocate` takes milliseconds. In y_i = M_i / p_i all unknowns are of one size, which is worth three digits:

    minimise −Σ p_i log y_i      subject to      Σ p_i y_i + rest = 1,    Σ p_i l_i y_i + min l · rest = β.

Values without a share in the goal get nothing, but for the rest, which goes to the cheapest. Two cases need no program:
a budget that covers M = p, and one of just the smallest noise, which leaves no finite goal but all on the cheapest.
Between them the budget is used up, and saying so (= and not ≤) is worth two digits more.
"""

from functools import cache

import numpy as np

from core.base.solvers import SOLVING, solve
from core.studies.attriguard.allocation import checked_arguments


def allocate_with_solver(noise_size, target_distribution, budget, *, available=None):
    """Return the mechanism of every person; arguments and result as for `core.studies.attriguard.allocate`."""
    size, p, cheapest = checked_arguments(noise_size, target_distribution, budget, available)
    result = np.zeros_like(size)
    for k in range(size.shape[0]):
        least = float(size[k, cheapest[k]][0])
        targeted = p[k] > 0
        mass, rest = p[k, targeted], 0.0
        if budget <= least:
            mass, rest = 0.0 * mass, 1.0
        elif size[k] @ p[k] > budget:
            shared = bool((targeted & cheapest[k]).any())
            mass, rest = _solved(size[k, targeted], p[k, targeted], None if shared else least, float(budget))
        share = np.where(cheapest[k], p[k] if p[k, cheapest[k]].any() else 1.0, 0.0)
        result[k, targeted] = mass
        result[k] += rest * share / share.sum()
    return result / result.sum(axis=1, keepdims=True)


def _solved(size, p, least, budget):
    """Return one person's mass on the values with a share, and the rest where the cheapest (`least`) have none."""
    scale = p
    best = np.inf, p, 0.0
    for _ in range(4):  # after the first time in units of the solution before, which makes all unknowns 1
        values = {"p": p, "scale": scale, "cost": scale * size / budget, "least": (least or 0.0) / budget}
        mass, rest = _run(values, with_rest=least is not None)
        mass, rest = np.maximum(mass * scale, 1e-12 * p), max(rest, 0.0)
        off = _off(mass, p, size)
        if off < best[0]:
            best = off, mass, rest
        if off < 1e-10:  # the error of the condition of a minimum
            break
        scale = mass
    return best[1:]


def _off(mass, p, size):
    """Return how far a solution is from p = M (λ + μ l) with the best λ and μ, the condition of a minimum."""
    rows = np.column_stack([mass, mass * size])
    return float(np.abs(p - rows @ np.linalg.lstsq(rows, p, rcond=None)[0]).max())


def _run(values, *, with_rest):
    with SOLVING:  # threads share the programs
        program = _program(values["p"].size, with_rest)
        for name, parameter in program.param_dict.items():
            parameter.value = values[name]
        solve(program, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
        rest = float(program.var_dict["rest"].value) if with_rest else 0.0
        return program.var_dict["mass"].value, rest


@cache
def _program(values, with_rest):
    """Return the program for this many values, compiled once."""
    import cvxpy

    mass, rest = cvxpy.Variable(values, name="mass"), cvxpy.Variable(nonneg=True, name="rest")
    p, scale, cost = (cvxpy.Parameter(values, nonneg=True, name=name) for name in ("p", "scale", "cost"))
    total, spent = scale @ mass, cost @ mass
    if with_rest:
        total, spent = total + rest, spent + cvxpy.Parameter(nonneg=True, name="least") * rest
    return cvxpy.Problem(cvxpy.Minimize(-p @ cvxpy.log(mass)), [total == 1, spent == 1])
