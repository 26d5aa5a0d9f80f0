"""What a correction proves about itself, recomputed from its vector.

A solver hands over a vector and a lower bound. Tolerance, non-emptiness and objective are recomputed here from the
vector; the status follows from these numbers and the bound, never from the solver's status word. The lower bound is
the one the solver reached. That nothing is feasible is known exactly for a tolerance alone, and for two groups on one
row set; with more constraints it is the integer programs' word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.arrays import Codes
from core.correction.claim import Claim
from core.results import Result

_GAP = 1e-9
"""Relative distance between objective and bound within which a reconstruction counts as optimal."""


class SolverStatus(StrEnum):
    """What became of a correction, by what was checked."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NOT_SOLVED = "not_solved"


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverCertificate(Result):
    """The checked outcome of a correction.

    Attributes
    ----------
    status : str
        A `SolverStatus`; "feasible" meets the tolerance, optimality not proved.
    objective : float or None
        Cost of the changes, recomputed from the reconstruction; None without one.
    best_bound : float
        Lower bound on the objective claimed by the solver; inf when infeasible.
    residual : float or None
        How far the reconstruction's unfairness (or a group's share) lies outside what is disclosed, 0 when it does
        not; inf if a group is empty.
    seconds : float
        Wall time, checks included; two certificates that differ in it alone are equal.
    """

    status: str
    objective: float | None
    best_bound: float
    residual: float | None
    solver: str
    seconds: float = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correction(Result):
    """A corrected reconstruction of the sensitive attribute.

    Attributes
    ----------
    reconstruction : (n,) uint8 array or None
        Corrected guesses, read-only; None when infeasible or not solved.
    smallest_tolerance : float or None
        When a single tolerance is infeasible, the smallest one any guesses can meet with these predictions; None
        otherwise (with shares, exact values or several disclosures no single tolerance is to blame).
    reason : str
        Why there is no reconstruction, in one sentence; empty when there is one.
    """

    reconstruction: Codes | None
    objective: float | None
    n_changed: int | None
    smallest_tolerance: float | None
    certificate: SolverCertificate
    reason: str = ""


def certify(
    claim: Claim, vector: Codes | None, bounds: Sequence[float], *, solver: str, seconds: float
) -> SolverCertificate:
    """Check a reconstruction (None where the solver has none) against the bounds of its row sets, which add up."""
    bound = float(sum(bounds))
    objective = residual = None
    if vector is None:
        status = SolverStatus.INFEASIBLE if math.isinf(bound) else SolverStatus.NOT_SOLVED
    else:
        objective, residual = claim.objective(vector), claim.residual(vector)
        proved = objective - bound <= _GAP * objective
        status = SolverStatus.OPTIMAL if proved else SolverStatus.FEASIBLE
        if residual > 0:
            status = SolverStatus.NOT_SOLVED
    return SolverCertificate(
        status=status, objective=objective, best_bound=bound, residual=residual, solver=solver, seconds=seconds
    )
