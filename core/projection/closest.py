"""The projection itself: checks, the climb, and a status that says how far the result can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.errors import InputError
from core.projection.ascent import climb
from core.projection.constraints import Constraints
from core.projection.dual import Dual, Point
from core.results import Result

_ACCEPTED = 1e-8
"""Residual up to which a projection counts as converged, in records (a statistic's largest feature counts as one)."""

_IMPOSSIBLE = 1e-6
"""Distance from the bounds, in records, from which on they count as impossible to meet."""


class ProjectionStatus(StrEnum):
    """How far a projection came; where it did not converge the log-loss guarantee still holds."""

    CONVERGED = "converged"
    NOT_CONVERGED = "not_converged"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projection(Result):
    """A projected posterior and how far it can be trusted.

    Attributes
    ----------
    probability : ndarray of shape (n,) or (n, K)
        The projected posterior, in the shape of the given one; the given one itself where nothing had to move or
        nothing can meet the statistics.
    status : str
        A `ProjectionStatus`.
    reason : str
        One sentence on a status other than "converged"; empty otherwise.
    multipliers : ndarray of shape (rows,)
        λ, in the units of the statistics; at least 0 for inequalities.
    value : float
        Dual value in nats, at least 0: the log-loss of a truth that meets the statistics falls by at least this, in
        all. The divergence KL(q'‖q) once converged.
    residuals : ndarray of shape (rows,)
        By how much E[F_k] misses its bound, in the units of the statistics; 0 for an inequality that is met.
    """

    probability: Floats
    status: str
    reason: str
    multipliers: Floats
    value: float
    residuals: Floats
    steps: int

    @property
    def converged(self) -> bool:
        """Whether the statistics are met in expectation."""
        return self.status == ProjectionStatus.CONVERGED


def project(posterior: npt.ArrayLike, constraints: Constraints) -> Projection:
    """Project a posterior on statistics.

    The posterior, in [0, 1], is P(s = 1) of each record, or one row of probabilities over K groups a record, adding up
    to 1; constraints are over the same records and groups. Raises `InputError` if the posterior holds no probabilities
    or does not fit the constraints.
    """
    given = _posterior(posterior, constraints)
    problem = Dual(given, constraints)
    rest = problem.at(np.zeros(problem.bound.size))
    best, steps = climb(problem, rest)
    status, reason = _verdict(problem, best, len(given))
    if best.value <= 0.0 or status == ProjectionStatus.INFEASIBLE:
        best = rest
    return Projection(
        probability=problem.posterior(best),
        status=status,
        reason=reason,
        multipliers=best.multipliers / problem.scale,
        value=best.value,
        residuals=problem.misses(best) * problem.scale,
        steps=steps,
    )


def _verdict(problem: Dual, best: Point, n: int) -> tuple[ProjectionStatus, str]:
    """Return the status and, unless converged, its reason."""
    left = problem.residual(best)
    if left <= max(_ACCEPTED, 1e-14 * n):
        return ProjectionStatus.CONVERGED, ""
    miss = problem.least_miss()
    if miss > _IMPOSSIBLE:
        return (
            ProjectionStatus.INFEASIBLE,
            f"No probabilities meet the constraints: the closest miss one by {miss:.3g} records.",
        )
    return ProjectionStatus.NOT_CONVERGED, f"The search stopped {left:.3g} records short of the constraints."


def _posterior(posterior: npt.ArrayLike, constraints: Constraints) -> Floats:
    q = np.asarray(posterior, dtype=np.float64)
    k = constraints.groups.shape[1]
    if q.ndim not in (1, 2) or (q.ndim == 1 and k != 2) or (q.ndim == 2 and q.shape[1] != k):
        raise InputError(f"probability must have shape (n,) for two groups or (n, {k}), got {q.shape}.")
    if len(q) != constraints.pattern.size:
        raise InputError(
            f"All arrays must have the same length: probability has {len(q)}, the constraints have "
            f"{constraints.pattern.size}."
        )
    if not len(q):
        raise InputError("probability must hold at least one record, got none.")
    wrong = ~((q >= 0.0) & (q <= 1.0))
    if wrong.any():
        raise InputError(f"probability must be in [0, 1], got {q[wrong][0]}.")
    if q.ndim == 2 and len(q):
        off = np.abs(q.sum(axis=1) - 1.0)
        if off.max() > 1e-6:
            raise InputError(f"Each row of probability must add up to 1, got a sum of {q[off.argmax()].sum():.6g}.")
    return q
