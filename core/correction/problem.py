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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Mask
from core.errors import InputError
from core.fairness import row_sets
from core.validation import binary_array

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
