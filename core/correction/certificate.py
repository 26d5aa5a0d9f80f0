"""What a correction proves about itself, recomputed from its vector.

A solver hands over a vector and a lower bound. Tolerance, non-emptiness and objective are recomputed here from the
vector; the status follows from these numbers and the bound, never from the solver's status word. The lower bound is
the one the solver reached.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.correction.problem import WIDENING
from core.fairness import row_sets, unfairness
from core.results import Result

__all__ = ["Claim", "Correction", "SolverCertificate", "certify"]

_GAP = 1e-9
"""Relative distance between objective and bound within which a reconstruction counts as optimal."""

_ROUNDING = 5e-16
"""Rounding error of the difference between two rates in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverCertificate(Result):
    """The checked outcome of a correction.

    Attributes
    ----------
    status : str
        "optimal", "feasible" (meets the tolerance, optimality not proved), "infeasible" or "not_solved".
    objective : float or None
        Cost of the changes, recomputed from the reconstruction; None without one.
    best_bound : float
        Lower bound on the objective claimed by the solver; inf when infeasible.
    residual : float or None
        How far the reconstruction's unfairness exceeds the tolerance, 0 when it does not; inf if a group is empty.
    solver : str
        Solver used.
    seconds : float
        Wall time, checks included.
    """

    status: str
    objective: float | None
    best_bound: float
    residual: float | None
    solver: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correction(Result):
    """A corrected reconstruction of the sensitive attribute.

    Attributes
    ----------
    reconstruction : (n,) uint8 array or None
        Corrected guesses, read-only; None when infeasible or not solved.
    objective : float or None
        Cost of the changes.
    n_changed : int or None
        Records whose guess was changed.
    smallest_tolerance : float or None
        When infeasible, the smallest tolerance any guesses can meet with these predictions; None otherwise.
    certificate : SolverCertificate
        Status and what was checked.
    """

    reconstruction: npt.NDArray[np.uint8] | None
    objective: float | None
    n_changed: int | None
    smallest_tolerance: float | None
    certificate: SolverCertificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The arrays a reconstruction is checked against; `labels` is None where the metric needs none."""

    guess: npt.NDArray[np.uint8]
    predictions: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint8] | None
    cost: npt.NDArray[np.float64]
    metric: str
    tolerance: float

    def residual(self, vector: npt.NDArray[np.uint8]) -> float:
        """Return how far the vector's unfairness exceeds the tolerance."""
        for _, rows in row_sets(self.metric, self.labels, vector.size):
            members = np.count_nonzero(vector if rows is None else vector & rows)
            if not 0 < members < (vector.size if rows is None else np.count_nonzero(rows)):
                return math.inf
        reached = unfairness(self.predictions, vector, metric=self.metric, labels=self.labels)
        return max(0.0, reached - self.tolerance) if reached > self.tolerance * WIDENING + _ROUNDING else 0.0

    def objective(self, vector: npt.NDArray[np.uint8]) -> float:
        """Return the cost of the records whose guess the vector changes."""
        return float(np.compress((vector ^ self.guess).view(np.bool_), self.cost).sum())


def certify(
    claim: Claim, vector: npt.NDArray[np.uint8] | None, bounds: Sequence[float], *, solver: str, seconds: float
) -> SolverCertificate:
    """Check a reconstruction (None where the solver has none) against the bounds of its row sets, which add up."""
    bound = float(sum(bounds))
    objective = residual = None
    if vector is None:
        status = "infeasible" if math.isinf(bound) else "not_solved"
    else:
        objective, residual = claim.objective(vector), claim.residual(vector)
        proved = objective - bound <= _GAP * objective
        status = "not_solved" if residual > 0 else "optimal" if proved else "feasible"
    return SolverCertificate(
        status=status, objective=objective, best_bound=bound, residual=residual, solver=solver, seconds=seconds
    )
