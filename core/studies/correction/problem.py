"""Reconstruction correction: the cheapest change of guesses that a fairness bound allows.

Ferry et al., "Exploiting Fairness to Enhance Sensitive Attributes Reconstruction" (SaTML 2023): a published bound on
a model's unfairness is a constraint on its training records, so an adversary who knows the predictions can correct
guesses that break it. The correction is the cheapest such change, or says that there is none.

Beyond the paper's two groups and one tolerance: K groups, known group shares, the exact unfairness, several
disclosures at once. Two groups under one tolerance, and two groups on one row set with shares or an exact value, are
solved by sorting; everything else, and all that CBC is asked, in the counts of `core.studies.correction.counts`.

A disclosure limits the unfairness of one vector of predictions under one metric to [lower, upper]; a tolerance is the
case lower = 0. Exact values stand for an interval of one part in 10^12 (at least the rounding of a difference of two
rates), tolerances are widened by one part in 10^12. Group shares are limits on whole counts. `Claim.residual` checks a
reconstruction against all of it with integer counts; it is the definition every solver is held to:

    every group has m >= 1 records in every row set (N records, P predicted 1), A of them predicted 1,
    D = N A - P m meets |D| <= upper N m for every group,
    and, where lower > 0, |D| > lower N m for some group in some row set of the disclosure.

A solver hands over a vector and a lower bound. Tolerance, non-emptiness and objective are recomputed here from the
vector; the status follows from these numbers and the bound, never from the solver's status word. The lower bound is
the one the solver reached. That nothing is feasible is known exactly for a tolerance alone, and for two groups on one
row set; with more constraints it is the integer programs' word.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.solvers import SolverStatus
from ...base.validation import (
    Codes,
    Floats,
    Mask,
    binary_array,
    choice,
    group_array,
    one_length,
    positive_array,
    unit_interval,
)
from ...stats.fairness import METRICS, group_counts, row_sets
from .counts import components, count_problem
from .exact import WIDENING, RowProblem, group_number, smallest_tolerance, solve_rows
from .integer_programs import solve_counts_by_ilp
from .tangents import solve_counts

SOLVERS = ("exact", "ilp", "ilp_general")
"""Certified solver; integer program over counts (RC_e); integer program over records (RC)."""

_ROUNDING = 5e-16
"""Rounding error of the difference between two rates in [0, 1]."""

Unfairness = float | tuple[float, float]
Shares = Sequence[float | tuple[float, float] | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Disclosed:
    """One disclosure: what is published about one vector of predictions under one metric.

    The model's predictions (n,) are 0 or 1, and so are the true labels, which all `core.stats.fairness.METRICS` but
    statistical parity need. Published is either a bound on the unfairness, the tolerance, in [0, 1], or its value, or
    the interval (low, high) that a rounded value stands for. Raises `InputError` if one of these rules is broken.
    """

    predictions: Any
    metric: str = "statistical_parity"
    tolerance: float | None = None
    unfairness: Unfairness | None = None
    labels: Any = None
    highest: float = field(init=False)
    """Highest unfairness, as disclosed."""
    lower: float = field(init=False)
    upper: float = field(init=False)
    """The limits, widened; the lower one is 0 where only a tolerance is disclosed."""

    def __post_init__(self) -> None:
        predicted = binary_array(self.predictions, name="predictions")
        if self.labels is None:
            labels = None
        else:
            labels = binary_array(self.labels, name="labels")
        one_length(predictions=predicted, labels=labels)
        metric = choice(self.metric, METRICS, name="metric")
        row_sets(metric, labels, predicted.size)
        highest, lower, upper = _limits(self.tolerance, self.unfairness)
        for name, value in (
            ("predictions", predicted),
            ("labels", labels),
            ("highest", highest),
            ("lower", lower),
            ("upper", upper),
        ):
            object.__setattr__(self, name, value)

    def row_sets(self) -> list[tuple[str, Mask | None]]:
        """Return the metric's row sets."""
        return row_sets(self.metric, self.labels, self.predictions.size)

    def residual(self, vector: Codes, n_groups: int) -> float:
        """Return how far the vector's unfairness lies outside the interval; inf where a group is empty."""
        reached = 0.0
        over = False
        attained = self.lower <= 0
        for _, rows in self.row_sets():
            counted = group_counts(self.predictions, vector, rows, n_groups)
            size, hits = (counts.tolist() for counts in counted)
            n = sum(size)
            positives = sum(hits)
            for m, a in zip(size, hits, strict=True):
                if m == 0:  # constraints (2) and (3) of Ferry et al. (2023)
                    return math.inf
                # constraints (4) and (5), |a / m - P / N| <= upper, multiplied by N m
                gap = abs(n * a - positives * m)
                reached = max(reached, gap / (n * m))
                over |= gap > self.upper * n * m
                attained |= gap > self.lower * n * m
        if over:
            return max(reached - self.highest, sys.float_info.epsilon)
        if attained:
            return 0.0
        return max(self.lower - reached, sys.float_info.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The arrays a reconstruction is checked against; `sizes` is (fewest, most) records of each group, or None."""

    guess: Codes
    cost: Floats
    n_groups: int
    bounds: tuple[Disclosed, ...]
    sizes: tuple[tuple[int, int], ...] | None = None

    def residual(self, vector: Codes) -> float:
        """Return the largest distance of the vector from what is known, 0 when it meets everything."""
        worst = max((bound.residual(vector, self.n_groups) for bound in self.bounds), default=0.0)
        if self.sizes is not None:
            counts = np.bincount(vector, minlength=self.n_groups).tolist()
            off = max(
                max(low - m, m - high) for m, (low, high) in zip(counts, self.sizes, strict=True)
            )
            worst = max(worst, off / vector.size)
        return worst

    def objective(self, vector: Codes) -> float:
        """Return the cost of the records whose guess the vector changes."""
        return float(
            np.compress(vector != self.guess, self.cost).sum()
        )  # Ferry et al. (2023), objective (1)


def _limits(tolerance: float | None, unfairness: Unfairness | None) -> tuple[float, float, float]:
    """Return (highest unfairness as disclosed, lower, upper)."""
    if (tolerance is None) == (unfairness is None):
        provided = "neither" if tolerance is None else "both"
        raise InputError(f"Exactly one of tolerance and unfairness must be given, got {provided}.")
    if unfairness is None:
        highest = unit_interval(tolerance, name="tolerance")  # type: ignore[arg-type]
        return highest, 0.0, highest * WIDENING
    low, high = interval_of(unfairness, name="unfairness")
    rounding = _ROUNDING if high else 0.0
    return (
        high,
        max(0.0, min(low * (2 - WIDENING), low - _ROUNDING)),
        max(high * WIDENING, high + rounding),
    )


def interval_of(value: object, *, name: str) -> tuple[float, float]:
    """Return a number in [0, 1] as (number, number), and a pair in rising order as it is."""
    if not isinstance(value, (tuple, list, np.ndarray)):
        number = unit_interval(value, name=name)  # type: ignore[arg-type]
        return number, number
    ends = [unit_interval(end, name=name) for end in value]
    if len(ends) != 2 or ends[0] > ends[1]:
        raise InputError(
            f"{name} must be a number or an interval (low, high) in rising order, got {tuple(ends)}."
        )
    return ends[0], ends[1]


def share_counts(
    shares: Shares | None, n: int, n_groups: int
) -> tuple[tuple[int, int], ...] | None:
    """Return the fewest and most records of each group that the shares allow; None where nothing is known.

    A share stands for the nearest whole count (a half for both its neighbours), an interval for the counts in it.
    """
    if shares is None:
        return None
    share_list = list(shares)
    if len(share_list) != n_groups:
        raise InputError(
            f"group_shares must have one entry a group ({n_groups}), got {len(share_list)}."
        )
    if all(share is None for share in share_list):
        return None
    limits = tuple(_share_limits(share, n, group) for group, share in enumerate(share_list))
    fewest = sum(low for low, _ in limits)
    most = sum(high for _, high in limits)
    if not fewest <= n <= most:
        if fewest == most:
            total_text = f"{fewest}"
        else:
            total_text = f"{fewest} to {most}"
        raise InputError(
            f"group_shares must be able to add up to all {n} records, got {total_text}."
        )
    return limits


def _share_limits(share: object, n: int, group: int) -> tuple[int, int]:
    if share is None:
        return 0, n
    low, high = interval_of(share, name=f"group_shares of group {group}")
    if low == high and not isinstance(share, (tuple, list, np.ndarray)):
        low = (low * n - 0.5) / n
        high = (high * n + 0.5) / n
    fewest = math.ceil(low * n - 1e-9)
    most = math.floor(high * n + 1e-9)
    if not max(fewest, 1) <= most:
        raise InputError(
            f"group_shares of group {group} must allow a whole count from 1 of {n} records, got {share}."
        )
    return fewest, most


_GAP = 1e-9
"""Relative distance between objective and bound within which a reconstruction counts as optimal."""


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

    The reconstruction, (n,) uint8 and read-only, is None when infeasible or not solved, and `reason` a sentence why.
    When a single tolerance is infeasible, `smallest_tolerance` is the smallest one any guesses can meet with these
    predictions; None otherwise (with shares, exact values or several disclosures no single tolerance is to blame).
    """

    reconstruction: Codes | None
    objective: float | None
    n_changed: int | None
    smallest_tolerance: float | None
    certificate: SolverCertificate
    reason: str = ""


def certify(
    claim: Claim, vector: Codes | None, bounds: Sequence[float], *, solver: str, started: float
) -> SolverCertificate:
    """Check a reconstruction (None where the solver has none) against the bounds of its row sets, which add up.

    It was `started` on the clock of `time.perf_counter`.
    """
    bound = float(sum(bounds))
    objective = residual = None
    if vector is None:
        if math.isinf(bound):
            status = SolverStatus.INFEASIBLE
        else:
            status = SolverStatus.NOT_SOLVED
    else:
        objective = claim.objective(vector)
        residual = claim.residual(vector)
        proved = (
            abs(objective - bound) <= _GAP * objective
        )  # a bound above what was reached is none
        if proved:
            status = SolverStatus.OPTIMAL
        else:
            status = SolverStatus.FEASIBLE
        if residual > 0:
            status = SolverStatus.NOT_SOLVED
    return SolverCertificate(
        status=status,
        objective=objective,
        best_bound=bound,
        residual=residual,
        solver=solver,
        seconds=time.perf_counter() - started,
    )


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
        The disclosed metric, one of `core.stats.fairness.METRICS`. Records outside its row sets keep their guess,
        unless group shares are given.
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
        predictions=predictions,
        metric=metric,
        tolerance=tolerance,
        unfairness=unfairness,
        labels=labels,
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
    disclosures: Sequence[Disclosed],
    *,
    cost: npt.ArrayLike | None = None,
    n_groups: int | None = None,
    group_shares: Shares | None = None,
    solver: str = "exact",
    time_limit: float = 60.0,
) -> Correction:
    """Return the cheapest guesses that meet several disclosures at once: of several metrics, models or both.

    When that is infeasible, the result carries the reason. There may be none where group shares are given. The other
    arguments are those of `correct`.
    """
    started = time.perf_counter()
    guesses, k = _guesses(guess, n_groups)
    bounds = tuple(disclosures)
    if cost is None:
        costs = np.ones(guesses.size)
    else:
        costs = positive_array(cost, name="cost")
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
    return group_array(array, k, name="guess"), group_number(k)


def _corrected(claim: Claim, solver: str, time_limit: float, started: float) -> Correction:
    choice(solver, SOLVERS, name="solver")
    if not time_limit > 0:
        raise InputError(f"time_limit must be above 0 seconds, got {time_limit!r}.")
    sortable = solver == "exact" and _is_sortable(claim)
    written = claim.guess.copy()
    if sortable:
        parts = _by_sorting(claim, written)
    else:
        parts = _by_counts(claim, written, solver, started + time_limit)
    solved, bounds = zip(*parts, strict=True)
    vector = written if all(solved) else None
    certificate = certify(claim, vector, bounds, solver=solver, started=started)
    needed = None
    reason = ""
    if certificate.status == SolverStatus.INFEASIBLE:
        needed, reason = _why_infeasible(claim)
    elif certificate.status == SolverStatus.NOT_SOLVED:
        if np.isfinite(time_limit):
            within = f"{time_limit:g} seconds"
        else:
            within = "the work allowed"
        reason = f"No guesses that meet what is disclosed were found within {within}."
    if reason:
        vector = None
    if vector is not None:
        vector.flags.writeable = False
    objective = None
    n_changed = None
    if vector is not None:
        objective = certificate.objective
        n_changed = int(np.count_nonzero(vector != claim.guess))
    return Correction(
        reconstruction=vector,
        objective=objective,
        n_changed=n_changed,
        smallest_tolerance=needed,
        certificate=certificate,
        reason=reason,
    )


def _is_sortable(claim: Claim) -> bool:
    """Tell whether two groups are compared under a tolerance alone, or on one row set, all records where shares are."""
    if claim.n_groups != 2 or len(claim.bounds) != 1:
        return False
    (bound,) = claim.bounds
    if bound.metric == "statistical_parity" or (bound.lower <= 0 and claim.sizes is None):
        return True
    return bound.metric != "equalized_odds" and claim.sizes is None


_Parts = Iterator[tuple[bool, float]]
"""Of each part, whether there is a reconstruction, which is then in the vector, and a lower bound on its objective."""


def _by_sorting(claim: Claim, vector: Codes) -> _Parts:
    """Solve each row set of a single disclosure with two groups."""
    bound = claim.bounds[0]
    sizes = None
    if claim.sizes is not None:  # both groups' shares limit group 1's records
        n = vector.size
        (fewest, most), limits = claim.sizes
        sizes = max(limits[0], n - most), min(limits[1], n - fewest)
    for _, rows in bound.row_sets():
        inside = slice(None) if rows is None else rows
        problem = RowProblem(
            guess=claim.guess[inside],
            predictions=bound.predictions[inside],
            cost=claim.cost[inside],
            upper=bound.upper,
            lower=bound.lower,
            sizes=sizes,
        )
        solved, reached = solve_rows(problem)
        if solved is not None:
            vector[inside] = solved
        yield solved is not None, reached


def _by_counts(claim: Claim, vector: Codes, solver: str, deadline: float) -> _Parts:
    """Solve the counts of every component."""
    limits = []
    for number, bound in enumerate(claim.bounds):
        for _, rows in bound.row_sets():
            value = bound.predictions + np.uint8(1)
            if rows is not None:
                value = value * rows
            limits.append((number, value, bound.lower, bound.upper))
    for part in components(
        count_problem(claim.guess, claim.cost, claim.n_groups, limits, claim.sizes)
    ):
        seconds = deadline - time.perf_counter()
        if part.meets(part.old):
            counts = part.old
            reached = 0.0
        elif any(rate.impossible(part.n_groups) for rate in part.rates):
            counts = None
            reached = math.inf
        elif solver == "exact":
            counts, reached = solve_counts(part, seconds=seconds)
        else:
            counts, reached = solve_counts_by_ilp(
                part, per_record=solver == "ilp_general", seconds=seconds
            )
        if counts is not None:
            part.write(counts, vector)
        yield counts is not None, reached


def _why_infeasible(claim: Claim) -> tuple[float | None, str]:
    """Return the smallest feasible tolerance, where a single tolerance is what failed, and the reason."""
    if len(claim.bounds) == 1:
        bound = claim.bounds[0]
        k = claim.n_groups
        needed = smallest_tolerance(
            bound.predictions, metric=bound.metric, labels=bound.labels, n_groups=k
        )
        alone = bound.lower <= 0 and claim.sizes is None
        if math.isinf(needed):
            reason = f"No guesses can fill {k} groups, as a row set has fewer records than that."
            if alone:
                return needed, reason
            return None, reason
        if alone:
            upwards = Context(prec=6, rounding=ROUND_CEILING).create_decimal(needed / WIDENING)
            return needed, (
                f"No guesses meet the tolerance {bound.highest:g} with {k} non-empty groups; the "
                f"smallest that some meet is {float(upwards):g}."
            )
    return None, "No guesses meet everything that is disclosed at once."
