"""What is disclosed about the guessed records, and what a correction proves about itself.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Mask
from core.correction.problem import WIDENING
from core.errors import InputError
from core.fairness import METRICS, group_counts, row_sets
from core.serialize import Result
from core.validation import binary_array, choice, one_length, unit_interval

_ROUNDING = 5e-16
"""Rounding error of the difference between two rates in [0, 1]."""

Unfairness = float | tuple[float, float]
Shares = Sequence[float | tuple[float, float] | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Disclosed:
    """One disclosure: what is published about one vector of predictions under one metric.

    The model's predictions (n,) are 0 or 1, and so are the true labels, which all `core.fairness.METRICS` but
    statistical parity need. Published is either a bound on the unfairness, the tolerance, in [0, 1], or its value, or
    the interval (low, high) that a rounded value stands for.
    """

    predictions: npt.ArrayLike
    metric: str = "statistical_parity"
    tolerance: float | None = None
    unfairness: Unfairness | None = None
    labels: npt.ArrayLike | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A checked disclosure; `lower` and `upper` are widened, `lower` is 0 where only a tolerance is disclosed."""

    predictions: Codes
    labels: Codes | None
    metric: str
    tolerance: float
    lower: float
    upper: float

    def row_sets(self) -> list[tuple[str, Mask | None]]:
        """Return the metric's row sets."""
        return row_sets(self.metric, self.labels, self.predictions.size)

    def residual(self, vector: Codes, n_groups: int) -> float:
        """Return how far the vector's unfairness lies outside the interval; inf where a group is empty."""
        reached, over, attained = 0.0, False, self.lower <= 0
        for _, rows in self.row_sets():
            counted = group_counts(self.predictions, vector, rows, n_groups)
            size, hits = (counts.tolist() for counts in counted)
            n, positives = sum(size), sum(hits)
            for m, a in zip(size, hits, strict=True):
                if m == 0:  # constraints (2) and (3) of Ferry et al. (2023)
                    return math.inf
                # constraints (4) and (5), |a / m - P / N| <= upper, multiplied by N m
                gap = abs(n * a - positives * m)
                reached = max(reached, gap / (n * m))
                over |= gap > self.upper * n * m
                attained |= gap > self.lower * n * m
        if over:
            return max(reached - self.tolerance, sys.float_info.epsilon)
        return 0.0 if attained else max(self.lower - reached, sys.float_info.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The arrays a reconstruction is checked against; `sizes` is (fewest, most) records of each group, or None."""

    guess: Codes
    cost: Floats
    n_groups: int
    bounds: tuple[Bound, ...]
    sizes: tuple[tuple[int, int], ...] | None = None

    def residual(self, vector: Codes) -> float:
        """Return the largest distance of the vector from what is known, 0 when it meets everything."""
        worst = max((bound.residual(vector, self.n_groups) for bound in self.bounds), default=0.0)
        if self.sizes is not None:
            counts = np.bincount(vector, minlength=self.n_groups).tolist()
            off = max(max(low - m, m - high) for m, (low, high) in zip(counts, self.sizes, strict=True))
            worst = max(worst, off / vector.size)
        return worst

    def objective(self, vector: Codes) -> float:
        """Return the cost of the records whose guess the vector changes."""
        return float(np.compress(vector != self.guess, self.cost).sum())  # Ferry et al. (2023), objective (1)


def bound_of(disclosed: Disclosed | Mapping[str, object]) -> Bound:
    """Check one disclosure."""
    if isinstance(disclosed, Mapping):
        known = set(Disclosed.__dataclass_fields__)
        if wrong := sorted(set(disclosed) - known):
            raise InputError(f"A disclosure may have the keys {', '.join(sorted(known))}, got {wrong[0]!r}.")
        if "predictions" not in disclosed:
            raise InputError("A disclosure must have predictions, got none.")
        disclosed = Disclosed(**disclosed)  # type: ignore[arg-type]
    if not isinstance(disclosed, Disclosed):
        raise InputError(f"A disclosure must be a Disclosed or a mapping, got {type(disclosed).__name__}.")
    predicted = binary_array(disclosed.predictions, name="predictions")
    labels = None if disclosed.labels is None else binary_array(disclosed.labels, name="labels")
    one_length(predictions=predicted, labels=labels)
    metric = choice(disclosed.metric, METRICS, name="metric")
    row_sets(metric, labels, predicted.size)
    tolerance, lower, upper = _limits(disclosed.tolerance, disclosed.unfairness)
    return Bound(predictions=predicted, labels=labels, metric=metric, tolerance=tolerance, lower=lower, upper=upper)


def _limits(tolerance: float | None, unfairness: Unfairness | None) -> tuple[float, float, float]:
    """Return (highest unfairness as told, lower, upper)."""
    if (tolerance is None) == (unfairness is None):
        told = "neither" if tolerance is None else "both"
        raise InputError(f"Exactly one of tolerance and unfairness must be given, got {told}.")
    if unfairness is None:
        told_high = unit_interval(tolerance, name="tolerance")  # type: ignore[arg-type]
        return told_high, 0.0, told_high * WIDENING
    low, high = interval_of(unfairness, name="unfairness")
    rounding = _ROUNDING if high else 0.0
    return high, max(0.0, min(low * (2 - WIDENING), low - _ROUNDING)), max(high * WIDENING, high + rounding)


def interval_of(value: object, *, name: str) -> tuple[float, float]:
    """Return a number in [0, 1] as (number, number), and a pair in rising order as it is."""
    if not isinstance(value, (tuple, list, np.ndarray)):
        number = unit_interval(value, name=name)  # type: ignore[arg-type]
        return number, number
    if len(value) != 2:
        raise InputError(f"{name} must be a number or an interval (low, high), got {len(value)} values.")
    low, high = (unit_interval(end, name=name) for end in value)
    if low > high:
        raise InputError(f"{name} must be an interval (low, high) in rising order, got ({low:g}, {high:g}).")
    return low, high


def share_counts(shares: Shares | None, n: int, n_groups: int) -> tuple[tuple[int, int], ...] | None:
    """Return the fewest and most records of each group that the shares allow; None where nothing is known.

    A share stands for the nearest whole count (a half for both its neighbours), an interval for the counts in it.
    """
    if shares is None:
        return None
    given = list(shares)
    if len(given) != n_groups:
        raise InputError(f"group_shares must have one entry a group ({n_groups}), got {len(given)}.")
    if all(share is None for share in given):
        return None
    limits = tuple(_share_limits(share, n, group) for group, share in enumerate(given))
    fewest, most = (sum(limit[i] for limit in limits) for i in (0, 1))
    if not fewest <= n <= most:
        told = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise InputError(f"group_shares must be able to add up to all {n} records, got {told}.")
    return limits


def _share_limits(share: object, n: int, group: int) -> tuple[int, int]:
    if share is None:
        return 0, n
    low, high = interval_of(share, name=f"group_shares of group {group}")
    if low == high and not isinstance(share, (tuple, list, np.ndarray)):
        low, high = max(0.0, (low * n - 0.5) / n), min(1.0, (high * n + 0.5) / n)
    fewest, most = math.ceil(low * n - 1e-9), math.floor(high * n + 1e-9)
    if fewest > most:
        raise InputError(f"group_shares of group {group} must allow a whole count of {n} records, got {share}.")
    if most < 1:
        raise InputError(f"group_shares of group {group} must leave the group a record, got {share} of {n} records.")
    return max(fewest, 0), min(most, n)


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
