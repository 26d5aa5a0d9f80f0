"""Reconstruction correction: the cheapest change of an adversary's guesses that a disclosed fairness bound allows.

Ferry et al., "Exploiting Fairness to Enhance Sensitive Attributes Reconstruction" (SaTML 2023): a published bound on
a model's unfairness is a constraint on its training records, so an adversary who knows the predictions can correct
guesses that break it. The correction promises the cheapest such change, or says that there is none.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from core.correction import exact, ilp
from core.correction.certificate import Claim, Correction, SolverCertificate, certify
from core.correction.problem import Outcome, RowProblem, smallest_tolerance
from core.errors import InputError
from core.fairness import METRICS, row_sets
from core.validation import binary_array, choice, one_length, positive_array, unit_interval

__all__ = ["SOLVERS", "correct"]

SOLVERS = ("exact", "ilp", "ilp_general")
"""Exact two-group solver; integer program over change counts (RC_e); integer program over records (RC)."""


def correct(
    guess: npt.ArrayLike,
    predictions: npt.ArrayLike,
    *,
    tolerance: float,
    metric: str = "statistical_parity",
    labels: npt.ArrayLike | None = None,
    cost: npt.ArrayLike | None = None,
    solver: str = "exact",
    time_limit: float = 60.0,
) -> Correction:
    """Return the cheapest guesses that meet the disclosed tolerance with two non-empty groups.

    Parameters
    ----------
    guess : array-like of shape (n,)
        The adversary's guess of each record's group, 0 or 1.
    predictions : array-like of shape (n,)
        The audited model's predictions, 0 or 1.
    tolerance : float
        Disclosed bound on the unfairness, in [0, 1].
    metric : str
        The disclosed metric, one of `core.fairness.METRICS`. Records outside its row sets keep their guess.
    labels : array-like of shape (n,), optional
        True labels, 0 or 1; needed by all metrics but statistical parity.
    cost : array-like of shape (n,), optional
        Cost of changing each guess, finite and above 0; without it changes are counted.
    solver : str
        One of `SOLVERS`; they reach the same objective.
    time_limit : float
        Seconds the integer programs may take, above 0; the exact solver takes milliseconds and ignores it.

    Returns
    -------
    Correction
        The reconstruction with its certificate. An infeasible tolerance is never relaxed: the result then carries
        the smallest feasible one.

    Raises
    ------
    InputError
        If an argument breaks its rule.
    """
    started = time.perf_counter()
    claim = _checked(guess, predictions, labels, cost, metric, tolerance)
    choice(solver, SOLVERS, name="solver")
    if not time_limit > 0:
        raise InputError(f"time_limit must be above 0 seconds, got {time_limit!r}.")
    vector: npt.NDArray[np.uint8] | None = None
    bounds = []
    for _, rows in row_sets(metric, claim.labels, claim.guess.size):
        remaining = started + time_limit - time.perf_counter()
        outcome = _solve(_row_problem(claim, rows), solver, remaining)
        bounds.append(outcome.bound)
        vector = _placed(claim, vector, rows, outcome) if len(bounds) == 1 or vector is not None else None
    certificate = certify(claim, vector, bounds, solver=solver, seconds=0.0)
    return _correction(claim, vector, certificate, time.perf_counter() - started)


def _checked(
    guess: npt.ArrayLike,
    predictions: npt.ArrayLike,
    labels: npt.ArrayLike | None,
    cost: npt.ArrayLike | None,
    metric: str,
    tolerance: float,
) -> Claim:
    guesses, predicted = binary_array(guess, name="guess"), binary_array(predictions, name="predictions")
    truth = None if labels is None else binary_array(labels, name="labels")
    costs = np.ones(guesses.size) if cost is None else positive_array(cost, name="cost")
    one_length(guess=guesses, predictions=predicted, labels=truth, cost=costs)
    return Claim(
        guess=guesses,
        predictions=predicted,
        labels=truth,
        cost=costs,
        metric=choice(metric, METRICS, name="metric"),
        tolerance=unit_interval(tolerance, name="tolerance"),
    )


def _row_problem(claim: Claim, rows: npt.NDArray[np.bool_] | None) -> RowProblem:
    inside = slice(None) if rows is None else rows
    return RowProblem(
        guess=claim.guess[inside],
        predictions=claim.predictions[inside],
        cost=claim.cost[inside],
        tolerance=claim.tolerance,
    )


def _solve(problem: RowProblem, solver: str, seconds: float) -> Outcome:
    if solver == "exact":
        return exact.solve(problem)
    return ilp.solve(problem, per_record=solver == "ilp_general", seconds=seconds)


def _placed(
    claim: Claim,
    vector: npt.NDArray[np.uint8] | None,
    rows: npt.NDArray[np.bool_] | None,
    outcome: Outcome,
) -> npt.NDArray[np.uint8] | None:
    """Write a row set's outcome into the vector of all records, which starts as the guess."""
    if outcome.vector is None or rows is None:
        return outcome.vector
    whole = claim.guess.copy() if vector is None else vector
    whole[rows] = outcome.vector
    return whole


def _correction(
    claim: Claim, vector: npt.NDArray[np.uint8] | None, certificate: SolverCertificate, seconds: float
) -> Correction:
    needed = None
    if certificate.status == "infeasible":
        needed = smallest_tolerance(claim.predictions, metric=claim.metric, labels=claim.labels)
    if certificate.status not in ("optimal", "feasible"):
        vector = None
    changed = None
    if vector is not None:
        changed = int(np.count_nonzero(vector ^ claim.guess))
        vector.flags.writeable = False
    return Correction(
        reconstruction=vector,
        objective=None if vector is None else certificate.objective,
        n_changed=changed,
        smallest_tolerance=needed,
        certificate=replace(certificate, seconds=seconds),
    )
