"""Recovery of attributes from few answers by linear programs (Hamman et al. 2023, algorithm 2).

With r = 1/N1 and s_j = r − v_j, which is 0 for the advantaged and c = 1/N0 + 1/N1 for the disadvantaged, the answers
SP = H v become H s = H r − SP (the published equation 7 has the opposite sign, which recovers nobody). The programs
are solved for x = s/c, an indicator of the disadvantaged, so that every variable and every bound is about 1:

l1             min Σ|x|             H x = η/c          the paper's decoder
nonnegative    min Σ x              the same, x >= 0
box            min Σ w x            the same, 0 <= x <= 1 and Σ x = N0
sizes_unknown  min Σ s              (mean of the row − H) s = SP, s >= 0

The first two look for the smaller group, whichever it is: they need the vector they seek to be sparse. The last needs
no group size, because Σ v = 0 makes Σ s = n r: it assumes the disadvantaged to be the fewer, and takes the sizes for
which its solution is nearest to two values. With a prior p = P(advantaged), the most probable vector maximises
Σ x log(1 − p) + (1 − x) log p, so w = log(p/(1 − p)); without one w = 1, which the sum makes a constant and which
keeps the simplex on short paths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.gaps import Floats, answer_array, check_sizes, score_matrix
from core.queries.reveal import Recovery, RecoveryStatus
from core.validation import choice, probabilities

TOLERANCE = 1e-6  # of a row, relative to its size; HiGHS works to 1e-7


@dataclass(frozen=True, slots=True)
class ProgramSolution:
    """What came of a program: `x` of shape (n,) when it is solved to the optimum, else None and why."""

    x: Floats | None
    status: RecoveryStatus
    reason: str = ""


def solve_program(
    cost: Floats, matrix: Floats, low: Floats, high: Floats, *, upper: float = np.inf, time_limit: float = 60.0
) -> ProgramSolution:
    """Minimise cost · x (n,) subject to low <= matrix x <= high (m,) and 0 <= x <= upper; the limit is in seconds.

    HiGHS' dual simplex, without the presolve that takes as long as solving these dense programs. The matrix is passed
    as sparse: scipy turns dense ones over with all warnings made errors, in every thread of the process. A solution is
    handed on only after its rows and bounds were recomputed.
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
        return ProgramSolution(None, RecoveryStatus.INFEASIBLE, "No attributes explain every answer.")
    if found.status != 0 or found.x is None:
        return ProgramSolution(None, RecoveryStatus.NOT_SOLVED, f"The solver stopped: {found.message}")
    x = np.clip(found.x, 0.0, upper)
    reached = matrix @ x
    room = TOLERANCE * (1.0 + np.abs(matrix) @ np.abs(x))
    if ((reached < low - room) | (reached > high + room)).any():
        return ProgramSolution(None, RecoveryStatus.NOT_SOLVED, "The solver's solution does not meet the answers.")
    return ProgramSolution(x, RecoveryStatus.RECOVERED)


RECOVERY_METHODS = ("l1", "nonnegative", "box", "sizes_unknown")
SURE = 1e-9  # a prior nearer to 0 or 1 counts as this, so that its weight is finite


def reveal_compressed(scores: npt.ArrayLike, answers: npt.ArrayLike, **known: Any) -> npt.NDArray[np.uint8]:
    """Return the recovered attribute, shape (n,), 1 = advantaged: `recover_compressed` without the rest."""
    return recover_compressed(scores, answers, **known).recovered


def recover_compressed(
    scores: npt.ArrayLike,
    answers: npt.ArrayLike,
    *,
    n_advantaged: int | None = None,
    n_disadvantaged: int | None = None,
    method: str = "l1",
    prior: npt.ArrayLike | None = None,
    slack: float = 0.0,
) -> Recovery:
    """Recover everybody's attribute from the statistical parity gaps of m models.

    Raises `InputError` if lengths differ, a value is out of its range, or the sizes are missing or do not sum to n.

    Parameters
    ----------
    scores : array-like of shape (m, n), in [0, 1]
        The models that were asked about; for equal opportunity, the columns of the people with label 1.
    answers : array-like of shape (m,)
        Their gaps, exact or not.
    n_advantaged, n_disadvantaged : int, at least 1, summing to n
        Group sizes; one question tells them (`sizes_from_answer`). "sizes_unknown" does not look at them.
    method : str
        One of `RECOVERY_METHODS`.
    prior : array-like of shape (n,), in [0, 1]
        P(advantaged) before any answer; for "box" only.
    slack : float, at least 0
        Answers are known to within plus or minus this: half a step of rounding.
    """
    choice(method, RECOVERY_METHODS, name="method")
    h = score_matrix(scores)
    sp = answer_array(answers)
    if not (slack >= 0.0 and math.isfinite(slack)):
        raise InputError(f"slack must be at least 0, got {slack!r}.")
    if sp.size != len(h):
        raise InputError(f"answers must have one value for each of {len(h)} questions, got {sp.size}.")
    if prior is not None and method != "box":
        raise InputError(f"A prior needs the method box, got {method}.")
    if method == "sizes_unknown":
        return _without_sizes(h, sp, slack)
    if n_advantaged is None or n_disadvantaged is None:
        raise InputError("n_advantaged and n_disadvantaged are needed, except with the method sizes_unknown.")
    n_adv, n_dis = sizes = check_sizes(n_advantaged, n_disadvantaged, h.shape[1])
    p = None if prior is None else np.clip(probabilities(prior, h.shape[1], name="prior"), SURE, 1.0 - SURE)
    c = 1.0 / n_dis + 1.0 / n_adv
    target = (h.sum(axis=1) / n_adv - sp) / c
    found = _box(h, target, slack / c, n_dis, p) if method == "box" else _sparse(h, target, slack / c, sizes, method)
    return _recovery(found, c, before=_before(sizes, p))


def _box(h: Floats, target: Floats, room: float, n_disadvantaged: int, prior: Floats | None) -> ProgramSolution:
    """Solve for 0 <= x <= 1 with the known sum."""
    weight = np.ones(h.shape[1]) if prior is None else np.log(prior) - np.log1p(-prior)
    matrix = np.vstack([h, np.ones(h.shape[1])])
    low, high = np.append(target - room, n_disadvantaged), np.append(target + room, n_disadvantaged)
    return solve_program(weight, matrix, low, high, upper=1.0)


def _sparse(h: Floats, target: Floats, room: float, sizes: tuple[int, int], method: str) -> ProgramSolution:
    """Solve for the sparsest x, or for the sparsest 1 - x when the advantaged are the fewer."""
    n_advantaged, n_disadvantaged = sizes
    turned = n_advantaged < n_disadvantaged
    if turned:
        target = h.sum(axis=1) - target
    n, signed = h.shape[1], method == "l1"
    matrix = np.hstack([h, -h]) if signed else h
    found = solve_program(np.ones(matrix.shape[1]), matrix, target - room, target + room)
    if found.x is None:
        return found
    x = found.x[:n] - found.x[n:] if signed else found.x
    return ProgramSolution(1.0 - x if turned else x, found.status)


def _without_sizes(h: Floats, sp: Floats, room: float) -> Recovery:
    """Solve for s in the unit 1/n, then read the sizes off it."""
    n = h.shape[1]
    found = solve_program(np.ones(n), h.mean(axis=1)[:, np.newaxis] - h, n * (sp - room), n * (sp + room))
    everybody = np.ones(n, dtype=np.uint8)
    if found.x is None:
        return _recovery(found, 1.0, before=everybody)
    s = found.x / n
    c = _nearest_two_values(s)
    return _recovery(ProgramSolution(s / c, found.status), c, before=everybody)


def _nearest_two_values(s: Floats) -> float:
    """Return c = 1/N0 + 1/N1 of the sizes for which s is nearest, relatively, to N0 times c and N1 times 0."""
    n = s.size
    n_dis = np.arange(1, n)
    c = 1.0 / n_dis + 1.0 / (n - n_dis)
    ideal = np.where(np.arange(n) < n_dis[:, np.newaxis], c[:, np.newaxis], 0.0)
    away = np.abs(np.sort(s)[::-1] - ideal).sum(axis=1) / (c * n_dis)
    return float(c[away.argmin()])


def _recovery(found: ProgramSolution, c: float, *, before: npt.NDArray[np.uint8]) -> Recovery:
    if found.x is None:
        return Recovery(values=None, threshold=None, recovered=before, status=found.status, reason=found.reason)
    told = (found.x <= 0.5).astype(np.uint8)
    return Recovery(values=found.x * c, threshold=c / 2, recovered=told, status=RecoveryStatus.RECOVERED, reason="")


def _before(sizes: tuple[int, int], prior: Floats | None) -> npt.NDArray[np.uint8]:
    """Return what the attacker says without an answer: more likely advantaged than people are at large, or not."""
    if prior is not None:
        return (prior >= sizes[0] / sum(sizes)).astype(np.uint8)
    return np.full(sum(sizes), sizes[0] >= sizes[1], dtype=np.uint8)
