"""The correction problem in counts, and the smallest tolerance that K groups can meet.

A row set has N records, P of them predicted 1 and M = N - P predicted 0. A reconstruction puts a of the first and
b of the second into group 1, m = a + b in all. Both groups must be non-empty, and with D = a N - P m (the same for
both groups but for its sign) both groups' rates are within t of the overall rate P/N exactly when

    |D| <= t N min(m, N - m).

D is an exact integer (N up to 10^9). The disclosed tolerance is widened by one part in 10^12, so that a bound such as
1/3 is met by counts that meet it in fractions. Every solver uses this one definition.

A row set has N records, P of them predicted 1; d = gcd(N, P), (q, p) = (N, P)/d. A group with m records, a of them
predicted 1, is the lattice vector (m, a); its rate is a/m. A split into K non-empty groups within t of p/q is a way to
write d (q, p) as a sum of K nonzero lattice vectors in the cone |a/m - p/q| <= t.

If d >= K, K multiples of (q, p) do it: t = 0. Otherwise let the sail be the boundary of the convex hull of the cone's
nonzero lattice vectors. The concave function that is linear on every ray and 1 on the sail is superadditive and at
least 1 on every such vector, so d (q, p) is a sum of at most its value there, and any longer sum can be merged into K
parts (the cone is convex). The value is reached: (q, p) lies between two neighbouring lattice vectors u and v of the
sail, which form a basis of the lattice, and

    (q, p) = D_v u + D_u v,    D_u = q a_u - p m_u > 0,    D_v = p m_v - q a_v > 0,

so exactly d (D_u + D_v) parts are possible. Two vectors of determinant 1 with p/q between their rates are a bracket on
the way from (0/1, 1/1) down to p/q in the Stern-Brocot tree. On that way D_u + D_v, which starts at q, and both
distances fall, so the smallest tolerance is the larger distance of the last bracket with d (D_u + D_v) >= K.

What is disclosed about the guessed records, and what a correction proves about itself.

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
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Mask
from core.errors import InputError
from core.fairness import METRICS, group_counts, row_sets
from core.serialize import Result
from core.validation import binary_array, choice, one_length, unit_interval

MOST_GROUPS = 20
"""Largest number of groups a correction handles."""

_RAISE_STEP = 0.001


def group_number(value: int) -> int:
    """Return a number of groups if it is a whole number from 2 to `MOST_GROUPS`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 2 <= value <= MOST_GROUPS:
        raise InputError(f"n_groups must be a whole number from 2 to {MOST_GROUPS}, got {value!r}.")
    return int(value)


def smallest_tolerance(
    predictions: npt.ArrayLike,
    *,
    metric: str = "statistical_parity",
    labels: npt.ArrayLike | None = None,
    n_groups: int = 2,
) -> float:
    """Return the smallest tolerance that some split into groups meets, every group non-empty in every row set.

    It lies in [0, 1] and is exact up to rounding; inf where a row set has fewer records than there are groups, of which
    there are 2 to 20. Predictions (n,), 0 or 1, metric and labels are those of `core.fairness.unfairness`.
    """
    predicted, groups = binary_array(predictions, name="predictions"), group_number(n_groups)
    tolerances = []
    for _, rows in row_sets(metric, labels, predicted.size):
        inside = predicted if rows is None else predicted[rows]
        if inside.size < groups:
            return math.inf
        q, larger = _last_bracket(inside.size, int(np.count_nonzero(inside)), groups)
        tolerances.append(larger.numerator / larger.denominator / q)
    return max(tolerances)


def true_tolerance(tolerance: float, achieved: float) -> float:
    """Return a tolerance raised in steps of 0.001 until an unfairness keeps to it; itself where it does."""
    steps = max(0, math.ceil((achieved - tolerance) / _RAISE_STEP - 1e-9))
    return min(1.0, tolerance + steps * _RAISE_STEP)


def smallest_fraction(n: int, positives: int, n_groups: int) -> Fraction | None:
    """Return the smallest tolerance of n records with this many positive predictions; None where n < n_groups."""
    if n < n_groups:
        return None
    q, larger = _last_bracket(n, positives, n_groups)
    return Fraction(larger.numerator, larger.denominator * q)


def _last_bracket(n: int, positives: int, n_groups: int) -> tuple[int, Fraction]:
    """Return q and max(D_u / m_u, D_v / m_v) of the last bracket with enough parts; 0 where d >= K."""
    d = math.gcd(n, positives)
    q, p = n // d, positives // d
    if d >= n_groups:
        return q, Fraction(0)
    need = -(-n_groups // d)
    high, low = (1, q - p), (1, p)  # (m, D) of the rates 1/1 and 0/1
    while True:
        gap = high[1] - low[1]
        if gap == 0:  # the next bracket has p/q itself as an end
            break
        (m, far), (_, near) = (high, low) if gap > 0 else (low, high)
        # The farther end takes k steps towards p/q: its D falls by `near` each, and must stay above 0.
        k = min((far - 1) // near, (far + near - need) // near)
        if k < 1:
            break
        other = low if gap > 0 else high
        moved = (m + k * other[0], far - k * near)
        high, low = (moved, other) if gap > 0 else (other, moved)
    return q, max(Fraction(end[1], end[0]) for end in (high, low))


WIDENING = 1 + 1e-12
"""Factor on the tolerance that absorbs the rounding of decimal fractions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts of one row set: N, P, today's a and b, and the slope t N of the tolerance."""

    n: int
    positives: int
    a: int
    b: int
    slack: float

    @property
    def negatives(self) -> int:
        """M, the records predicted 0."""
        return self.n - self.positives

    def gap(self, a: Any, b: Any) -> Any:
        """Return D = a N - P m = a M - b P: negative where group 1's rate is below the overall rate."""
        return a * self.negatives - b * self.positives

    def room(self, a: Any, b: Any) -> Any:
        """Return t N min(m, N - m), the largest |D| the tolerance allows."""
        m = a + b
        if isinstance(m, np.ndarray):
            return self.slack * np.minimum(m, self.n - m)
        return self.slack * min(m, self.n - m)

    def allowed(self, a: Any, b: Any) -> Any:
        """Tell whether the counts meet the tolerance with two non-empty groups (scalars or arrays)."""
        m = a + b
        # Ferry et al. (2023): (7) and (8), both groups keep a record; (9) and (10), multiplied out.
        return (m >= 1) & (m <= self.n - 1) & (abs(self.gap(a, b)) <= self.room(a, b))

    def high_enough(self, a: Any, b: Any) -> Any:
        """Tell whether group 1's rate is not too low (and so group 0's not too high), empty groups included."""
        return -self.gap(a, b) <= self.room(a, b)

    def swapped(self) -> Counts:
        """Return the same problem with the groups' names exchanged."""
        return Counts(
            n=self.n,
            positives=self.positives,
            a=self.positives - self.a,
            b=self.negatives - self.b,
            slack=self.slack,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProblem:
    """The records of one row set: guesses and predictions (uint8 0/1) and the cost of changing each guess."""

    guess: Codes
    predictions: Codes
    cost: Floats
    tolerance: float

    def counts(self) -> Counts:
        """Count the records."""
        in_group = int(np.count_nonzero(self.guess))
        a = int(np.count_nonzero(self.guess & self.predictions))
        n, positives = self.guess.size, int(np.count_nonzero(self.predictions))
        return Counts(n=n, positives=positives, a=a, b=in_group - a, slack=self.tolerance * WIDENING * n)

    def cell(self, prediction: int, guess: int) -> Mask:
        """Return the mask of the records with this prediction and this guess."""
        if prediction != guess:
            return self.predictions > self.guess if prediction else self.guess > self.predictions
        both = self.predictions & self.guess if prediction else (self.predictions | self.guess) ^ 1
        return both.view(np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a solver claims about one row set; nothing in it has been checked yet.

    The vector is None where the solver has none; the bound is a lower one on the objective, inf when infeasible.
    """

    vector: Codes | None
    bound: float


def flip_cheapest(vector: Codes, cell: Mask, cost: Floats, k: int, dearest: float) -> None:
    """Change, in place, the k cheapest records of a cell; `dearest` is the cost of the k-th.

    Records of equal cost are taken in the order of the records.
    """
    if k == 0:
        return
    chosen = cell & (cost <= dearest)
    surplus = np.count_nonzero(chosen) - k
    if surplus:
        chosen[np.flatnonzero(chosen & (cost == dearest))[-surplus:]] = False
    vector ^= chosen.view(np.uint8)


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
