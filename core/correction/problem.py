"""The correction problem on one row set, in counts.

A row set has N records, P of them predicted 1 and M = N - P predicted 0. A reconstruction puts a of the first and
b of the second into group 1, m = a + b in all. Both groups must be non-empty, and with D = a N - P m (the same for
both groups but for its sign) both groups' rates are within t of the overall rate P/N exactly when

    |D| <= t N min(m, N - m).

D is an exact integer (N up to 10^9). The disclosed tolerance is widened by one part in 10^12, so that a bound such as
1/3 is met by counts that meet it in fractions. Every solver uses this one definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.arrays import Codes, Floats, Mask

WIDENING = 1 + 1e-12
"""Factor on the tolerance that absorbs the rounding of decimal fractions."""

CELLS = ((1, 0), (1, 1), (0, 0), (0, 1))
"""(prediction, guess) of a row set's four cells."""


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
