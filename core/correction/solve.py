"""Reconstruction correction: the cheapest change of guesses that a fairness bound allows.

Ferry et al., "Exploiting Fairness to Enhance Sensitive Attributes Reconstruction" (SaTML 2023): a published bound on
a model's unfairness is a constraint on its training records, so an adversary who knows the predictions can correct
guesses that break it. The correction promises the cheapest such change, or says that there is none.

Beyond the paper's two groups and one tolerance: K groups, known group shares, the exact unfairness, several
disclosures at once. Two groups under one tolerance, and two groups on one row set with shares or an exact value, are
solved by sorting; everything else, and all that CBC is asked, in the counts of `core.correction.counts`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes
from core.correction.counts import CountOutcome, components, count_problem, solve_counts_by_ilp
from core.correction.exact import solve_rows, solve_rows_within
from core.correction.problem import (
    Bound,
    Claim,
    Correction,
    Disclosed,
    Outcome,
    RowProblem,
    Shares,
    SolverStatus,
    Unfairness,
    bound_of,
    certify,
    group_number,
    share_counts,
    smallest_tolerance,
)
from core.correction.tangents import solve_counts
from core.errors import InputError
from core.validation import binary_array, choice, one_length, positive_array

SOLVERS = ("exact", "ilp", "ilp_general")
"""Certified solver; integer program over counts (RC_e); integer program over records (RC)."""


def correct(
    guess: npt.ArrayLike,
    predictions: npt.ArrayLike,
    *,
    tolerance: float | None = None,
    metric: str = "statistical_parity",
    labels: npt.ArrayLike | None = None,
    cost: npt.ArrayLike | None = None,
    n_groups: int | None = None,
    group_shares: Shares | None = None,
    unfairness: Unfairness | None = None,
    solver: str = "exact",
    time_limit: float = 60.0,
) -> Correction:
    """Return the cheapest guesses that meet what is disclosed, every group non-empty in every row set.

    What is infeasible is never relaxed: the result then carries the reason and, for a tolerance alone, the smallest
    feasible one.

    Parameters
    ----------
    guess : array-like of shape (n,)
        The adversary's guess of each record's group, 0 to K - 1.
    predictions : array-like of shape (n,)
        The audited model's predictions, 0 or 1.
    tolerance : float, optional
        Disclosed bound on the unfairness, in [0, 1]. Exactly one of `tolerance` and `unfairness` is given.
    metric : str
        The disclosed metric, one of `core.fairness.METRICS`. Records outside its row sets keep their guess, unless
        group shares are given.
    labels : array-like of shape (n,), optional
        True labels, 0 or 1; needed by all metrics but statistical parity.
    cost : array-like of shape (n,), optional
        Cost of changing each guess, to whatever group, finite and above 0; without it changes are counted.
    n_groups : int, optional
        K, from 2 to 20; by default the largest guess and one more, at least 2.
    group_shares : sequence of length K, optional
        What is known of each group's share of all records: a number (it stands for the nearest whole count), an
        interval (low, high), or None.
    unfairness : float or (low, high), optional
        Disclosed value of the unfairness (counts that equal it up to one part in 10^12), or the interval that a
        rounded value stands for.
    solver : str
        One of `SOLVERS`; they reach the same objective.
    time_limit : float
        Seconds the search may take, above 0; two groups under a tolerance take the exact solver milliseconds. The exact
        solver also ends after a fixed amount of work: with an infinite limit its answer does not depend on the machine.
    """
    disclosed = Disclosed(
        predictions=predictions, metric=metric, tolerance=tolerance, unfairness=unfairness, labels=labels
    )
    return correct_jointly(
        guess,
        [disclosed],
        cost=cost,
        n_groups=n_groups,
        group_shares=group_shares,
        solver=solver,
        time_limit=time_limit,
    )


def correct_jointly(
    guess: npt.ArrayLike,
    disclosures: Sequence[Disclosed | Mapping[str, Any]],
    *,
    cost: npt.ArrayLike | None = None,
    n_groups: int | None = None,
    group_shares: Shares | None = None,
    solver: str = "exact",
    time_limit: float = 60.0,
) -> Correction:
    """Return the cheapest guesses that meet several disclosures at once: of several metrics, models or both.

    When that is infeasible, the result carries the reason. Mappings with the keys of a `Disclosed` do as well; there
    may be none where group shares are given. The other arguments are those of `correct`.
    """
    started = time.perf_counter()
    guesses, k = _guesses(guess, n_groups)
    bounds = tuple(bound_of(disclosed) for disclosed in disclosures)
    costs = np.ones(guesses.size) if cost is None else positive_array(cost, name="cost")
    for bound in bounds:
        one_length(guess=guesses, predictions=bound.predictions, labels=bound.labels, cost=costs)
    one_length(guess=guesses, cost=costs)
    sizes = share_counts(group_shares, guesses.size, k)
    if not bounds and sizes is None:
        raise InputError("At least one disclosure or group share must be given, got none.")
    claim = Claim(guess=guesses, cost=costs, n_groups=k, bounds=bounds, sizes=sizes)
    return _corrected(claim, solver, time_limit, started)


def _guesses(guess: npt.ArrayLike, n_groups: int | None) -> tuple[Codes, int]:
    """Return the guesses as whole numbers, and the number of groups."""
    array = np.asarray(guess)
    numeric = array.ndim == 1 and array.size and array.dtype.kind in "iuf"
    if n_groups is None:
        highest = float(array.max()) if numeric else 1.0  # nan and fractions are refused below
        k = max(2, int(highest) + 1) if np.isfinite(highest) else 2
    else:
        k = group_number(n_groups)
    if k == 2 or not numeric:
        return binary_array(array, name="guess"), k
    wrong = (array < 0) | (array >= k) | (array != np.floor(array))
    if wrong.any():
        raise InputError(f"guess must hold whole numbers from 0 to {k - 1}, got {array[wrong][0]}.")
    return array.astype(np.uint8), group_number(k)


def _corrected(claim: Claim, solver: str, time_limit: float, started: float) -> Correction:
    choice(solver, SOLVERS, name="solver")
    if not time_limit > 0:
        raise InputError(f"time_limit must be above 0 seconds, got {time_limit!r}.")
    sortable = solver == "exact" and (_is_plain(claim) or _is_one_row_set(claim))
    vector, bounds = _by_sorting(claim) if sortable else _by_counts(claim, solver, started + time_limit)
    certificate = certify(claim, vector, bounds, solver=solver, seconds=0.0)
    needed, reason = None, ""
    if certificate.status == SolverStatus.INFEASIBLE:
        needed, reason = _why_infeasible(claim)
    elif certificate.status == SolverStatus.NOT_SOLVED:
        within = f"{time_limit:g} seconds" if np.isfinite(time_limit) else "the work allowed"
        reason = f"No guesses that meet what is disclosed were found within {within}."
    if reason:
        vector = None
    if vector is not None:
        vector.flags.writeable = False
    return Correction(
        reconstruction=vector,
        objective=None if vector is None else certificate.objective,
        n_changed=None if vector is None else int(np.count_nonzero(vector != claim.guess)),
        smallest_tolerance=needed,
        certificate=replace(certificate, seconds=time.perf_counter() - started),
        reason=reason,
    )


def _is_plain(claim: Claim) -> bool:
    """Tell whether this is the paper's problem: two groups, one tolerance."""
    return claim.n_groups == 2 and len(claim.bounds) == 1 and claim.bounds[0].lower <= 0 and claim.sizes is None


def _is_one_row_set(claim: Claim) -> bool:
    """Tell whether two groups are compared on one row set, on all records where shares are given."""
    if claim.n_groups != 2 or len(claim.bounds) != 1:
        return False
    metric = claim.bounds[0].metric
    return metric == "statistical_parity" or (metric != "equalized_odds" and claim.sizes is None)


_Solved = tuple[Codes | None, list[float]]


def _by_sorting(claim: Claim) -> _Solved:
    """Solve each row set of a single disclosure with two groups."""
    bound, vector, bounds, complete = claim.bounds[0], claim.guess.copy(), [], True
    for _, rows in bound.row_sets():
        inside = slice(None) if rows is None else rows
        problem = RowProblem(
            guess=claim.guess[inside],
            predictions=bound.predictions[inside],
            cost=claim.cost[inside],
            tolerance=bound.tolerance,
        )
        outcome = solve_rows(problem) if _is_plain(claim) else _solve_within(claim, problem)
        bounds.append(outcome.bound)
        if outcome.vector is None:
            complete = False
        else:
            vector[inside] = outcome.vector
    return (vector if complete else None), bounds


def _solve_within(claim: Claim, problem: RowProblem) -> Outcome:
    """Solve a row set within the limits on group 1's records that both groups' shares set."""
    n, sizes = problem.guess.size, (0, problem.guess.size)
    if claim.sizes is not None:
        (fewest, most), own = claim.sizes
        sizes = max(own[0], n - most), min(own[1], n - fewest)
    return solve_rows_within(problem, lower=claim.bounds[0].lower, upper=claim.bounds[0].upper, sizes=sizes)


def _by_counts(claim: Claim, solver: str, deadline: float) -> _Solved:
    """Solve the counts of every component."""
    vector, bounds, complete = claim.guess.copy(), [], True
    for part in components(count_problem(claim)):
        seconds = deadline - time.perf_counter()
        if part.meets(part.old):
            outcome = CountOutcome(counts=part.old, bound=0.0)
        elif any(rate.impossible(part.n_groups) for rate in part.rates):
            outcome = CountOutcome(counts=None, bound=math.inf)
        elif solver == "exact":
            outcome = solve_counts(part, seconds=seconds)
        else:
            outcome = solve_counts_by_ilp(part, per_record=solver == "ilp_general", seconds=seconds)
        bounds.append(outcome.bound)
        if outcome.counts is None:
            complete = False
        else:
            part.place(outcome.counts, vector)
    return (vector if complete else None), bounds


def _why_infeasible(claim: Claim) -> tuple[float | None, str]:
    """Return the smallest feasible tolerance, where a single tolerance is what failed, and the reason."""
    if len(claim.bounds) == 1:
        bound = claim.bounds[0]
        needed = smallest_tolerance(
            bound.predictions, metric=bound.metric, labels=bound.labels, n_groups=claim.n_groups
        )
        if np.isinf(needed):
            told = f"No guesses can fill {claim.n_groups} groups, as a row set has fewer records than that."
            return (needed if _is_a_tolerance(claim, bound) else None), told
        if _is_a_tolerance(claim, bound):
            return needed, (
                f"No guesses meet the tolerance {bound.tolerance:g} with {claim.n_groups} non-empty groups; the "
                f"smallest that some meet is {needed:.6g}."
            )
    return None, "No guesses meet everything that is disclosed at once."


def _is_a_tolerance(claim: Claim, bound: Bound) -> bool:
    return bound.lower <= 0 and claim.sizes is None
