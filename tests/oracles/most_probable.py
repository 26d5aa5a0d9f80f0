"""The most probable memberships that agree with the published numbers, by linear or integer programming."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.model_card.equations import Equations, equations
from core.model_card.release import Published
from core.serialize import Result
from core.validation import at_least_zero, choice, probabilities

Floats = npt.NDArray[np.float64]

SOLVERS = ("lp", "milp")

MOST_PEOPLE = 500

_MET = 1e-6
"""Residual, in people, up to which the numbers count as met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(Result):
    """What is known of a solution, checked here and not taken from the solver.

    Attributes
    ----------
    status : {"optimal", "feasible", "infeasible", "not_solved"}
    objective, best_bound : float or None
        Log-probability of the vector, in nats, and an upper bound on that of any vector.
    residual : float
        By how many people the vector misses the farthest of the published numbers; nan without a vector.
    solver : str
    seconds : float
    """

    status: str
    objective: float | None
    best_bound: float | None
    residual: float
    solver: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MostProbable(Result):
    """The vector and its certificate.

    Attributes
    ----------
    vector : ndarray of shape (n,), 0 or 1, or None
        None where nothing was found; of the linear program the nearest whole numbers.
    relaxed : ndarray of shape (n,), in [0, 1], or None
        The linear program's own solution, in which at most as many people as there are numbers are fractions.
    certificate : Certificate
    """

    vector: npt.NDArray[np.uint8] | None
    relaxed: npt.NDArray[np.float64] | None
    certificate: Certificate


def most_probable(
    posterior: npt.ArrayLike, published: Published, *, solver: str = "lp", time_limit: float = 60.0
) -> MostProbable:
    """Return the memberships with the largest Π q_i(s_i) among those that agree with the published numbers.

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
        Probabilities of 0 and 1 are taken as certain.
    published : Published
        With privacy noise its density takes part: Π q_i(s_i) · exp(−Σ |noise| / scale).
    solver : {"lp", "milp"}
        "lp" for any number of people; "milp" is exact and may be asked for up to 500 people (it proves optimality for
        about 200).
    time_limit : float
        Seconds.

    Raises
    ------
    InputError
        If the posterior does not fit the release, or a MILP is asked for more than 500 people.

    Notes
    -----
    The right target only where people are nearly determined: elsewhere it is the most probable of very many vectors,
    and names the larger group too often.
    """
    choice(solver, SOLVERS, name="solver")
    q = probabilities(posterior, published.release.n, name="posterior")
    if solver == "milp" and q.size > MOST_PEOPLE:
        raise InputError(f"An integer program may hold at most {MOST_PEOPLE} people, got {q.size}.")
    start = time.perf_counter()
    program = _Program.of(q, equations(published, q), 0.0 if published.noise is None else published.noise.scale)
    x, bound, status = program.solve(whole=solver == "milp", time_limit=at_least_zero(time_limit, name="time_limit"))
    vector = None if x is None else (x > 0.5).astype(np.uint8)
    objective = None if vector is None else program.log_probability(vector)
    residual = math.nan if vector is None else program.residual(vector)
    if status == "optimal" and objective is not None and bound is not None:
        good = residual <= _MET and bound - objective <= 1e-6 * max(1.0, abs(objective))
        status = "optimal" if good else "feasible" if residual <= _MET else "not_solved"
    return MostProbable(
        vector=vector,
        relaxed=x if solver == "lp" else None,
        certificate=Certificate(
            status=status,
            objective=objective,
            best_bound=bound,
            residual=residual,
            solver=f"highs-{solver}",
            seconds=time.perf_counter() - start,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Program:
    """Maximise Σ s_i logit q_i − Σ_k |a_k s − b_k| / scale, subject to low ≤ a s ≤ high."""

    gain: Floats
    base: float
    features: Any
    low: Floats
    high: Floats
    scale: float
    fixed: Floats

    @classmethod
    def of(cls, q: Floats, told: Equations, scale: float) -> _Program:
        from scipy.sparse import csr_array

        sure = (q == 0.0) | (q == 1.0)
        inner = np.clip(q, 1e-300, 1.0 - 1e-16)
        return cls(
            gain=np.where(sure, 0.0, np.log(inner) - np.log1p(-inner)),
            base=float(np.where(sure, 0.0, np.log1p(-inner)).sum()),
            features=csr_array(told.features[:, told.pattern]),
            low=told.low,
            high=told.high,
            scale=scale,
            fixed=np.where(sure, q, np.nan),
        )

    def log_probability(self, s: npt.NDArray[np.uint8]) -> float:
        """Return the log of what is maximised at a vector."""
        value = self.base + float(self.gain @ s)
        if self.scale > 0:
            value -= float(np.abs(self.features @ s - self.low).sum()) / self.scale
        return value

    def residual(self, s: npt.NDArray[np.uint8]) -> float:
        """Return by how many people a vector misses the farthest limit."""
        if self.scale > 0:
            return 0.0
        at = self.features @ s
        return float(np.maximum(np.maximum(self.low - at, at - self.high), 0.0).max(initial=0.0))

    def solve(self, *, whole: bool, time_limit: float) -> tuple[Floats | None, float | None, str]:
        """Return the solution, an upper bound on the log-probability, and what the solver says."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import eye_array, hstack

        n, rows = self.gain.size, self.low.size
        sure = ~np.isnan(self.fixed)
        least, most = np.where(sure, self.fixed, 0.0), np.where(sure, self.fixed, 1.0)
        cost, matrix, slack = -self.gain, self.features, 0
        if self.scale > 0:
            slack = 2 * rows
            cost = np.concatenate([cost, np.full(slack, 1.0 / self.scale)])
            matrix = hstack([matrix, eye_array(rows), -eye_array(rows)], format="csr")
        found = milp(
            cost,
            constraints=LinearConstraint(matrix, self.low, self.high),
            bounds=Bounds(np.concatenate([least, np.zeros(slack)]), np.concatenate([most, np.full(slack, np.inf)])),
            integrality=np.concatenate([np.full(n, int(whole)), np.zeros(slack)]),
            options={"time_limit": time_limit},
        )
        bound = found.get("mip_dual_bound") if whole else found.fun
        best = None if bound is None or not np.isfinite(bound) else self.base - float(bound)
        if found.x is not None:
            return np.clip(found.x[:n], 0.0, 1.0), best, "optimal" if found.status == 0 else "feasible"
        return None, None, "infeasible" if found.status == 2 else "not_solved"
