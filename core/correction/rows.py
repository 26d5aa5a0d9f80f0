"""The linear rows of the counts, shared by every integer program.

The integer unknowns are new[c, g], numbered c * K + g, and after them one multiplier for each rate that is pinned to a
fraction p / q: then A = p z and m = q z with a whole z >= 1. That is so where the limits leave room for D = 0 only
(p / q = P / N), and where an exact unfairness has to be attained by a rate that is a fraction known in advance, two
fractions with denominators up to N lying at least 1 / N^2 apart. Rows of D are scaled to coefficients of about 1,000.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.arrays import Mask
from core.correction.counts import Attained, CountProblem, Rate

_SCALE = 1000.0
"""Size of the coefficients in the rows of D."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """low <= sum of coefficient * unknown <= high."""

    index: list[int]
    coefficient: list[float]
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """All rows, and the largest value of each multiplier; `impossible` where an alternative has no fraction."""

    rows: list[Row]
    multipliers: list[int]
    impossible: bool = False


def linear_rows(problem: CountProblem, chosen: tuple[Attained, ...] = (), margin: float = 0.0) -> Rows:
    """Return the rows of a problem with the chosen alternatives; `margin` tightens the rows of D."""
    maker = _Maker(problem, margin)
    for c, size in enumerate(problem.old.sum(axis=1).tolist()):
        maker.add({maker.place(c, g): 1.0 for g in range(problem.n_groups)}, size, size)
    for rate in problem.rates:
        maker.add_rate(rate)
    for g, (low, high) in enumerate(problem.sizes or ()):
        maker.add({maker.place(c, g): 1.0 for c in range(problem.old.shape[0])}, low, high)
    possible = all([maker.attain(alternative) for alternative in chosen])
    return Rows(rows=maker.rows, multipliers=maker.multipliers, impossible=not possible)


class _Maker:
    """Collects rows."""

    def __init__(self, problem: CountProblem, margin: float) -> None:
        self.problem, self.margin = problem, margin
        self.rows: list[Row] = []
        self.multipliers: list[int] = []

    def place(self, c: int, g: int) -> int:
        return c * self.problem.n_groups + g

    def add(self, terms: dict[int, float], low: float, high: float) -> None:
        self.rows.append(Row(index=list(terms), coefficient=list(terms.values()), low=low, high=high))

    def sum_of(self, cells: Mask, g: int) -> dict[int, float]:
        return {self.place(c, g): 1.0 for c in np.flatnonzero(cells).tolist()}

    def add_rate(self, rate: Rate) -> None:
        k = self.problem.n_groups
        for g in range(k):
            self.add(self.sum_of(rate.inside, g), 1, rate.n - k + 1)
        if not 0 < rate.positives < rate.n:  # D = 0 whatever the counts
            return
        if rate.upper * rate.n * (rate.n - k + 1) < 1:  # |D| < 1, and D is an integer
            for g in range(k):
                self.pin(rate, g, Fraction(rate.positives, rate.n))
            return
        for g in range(k):
            for sign in (1, -1):
                self.add(self.gap(rate, g, sign, -rate.upper), -math.inf, -self.margin)

    def gap(self, rate: Rate, g: int, sign: int, limit: float) -> dict[int, float]:
        """Return the terms of sign D + limit N m, scaled; its coefficient is that of a record predicted 1 or 0."""
        share, positive = rate.positives / rate.n, rate.positive.tolist()
        return {
            self.place(c, g): _SCALE * (sign * ((1 - share) if positive[c] else -share) + limit)
            for c in np.flatnonzero(rate.inside).tolist()
        }

    def pin(self, rate: Rate, g: int, fraction: Fraction) -> None:
        """Ask that A / m is this fraction."""
        p, q = fraction.numerator, fraction.denominator
        z = self.problem.old.size + len(self.multipliers)
        self.multipliers.append(rate.n // q)
        self.add(self.sum_of(rate.positive, g) | {z: -p}, 0, 0)
        self.add(self.sum_of(rate.inside, g) | {z: -q}, 0, 0)

    def attain(self, alternative: Attained) -> bool:
        """Ask that a group attains the lower limit; False where no rate with a denominator up to N can."""
        rate, g, sign = alternative.rate, alternative.group, alternative.sign
        if (rate.upper - rate.lower) * rate.n**2 >= 1:
            self.add(self.gap(rate, g, sign, -rate.lower), self.margin, math.inf)
            return True
        overall = Fraction(rate.positives, rate.n)
        ends = sorted(overall + sign * Fraction(limit) for limit in (rate.lower, rate.upper))
        fraction = ((ends[0] + ends[1]) / 2).limit_denominator(rate.n)
        if not (ends[0] <= fraction <= ends[1] and 0 <= fraction <= 1):
            return False
        self.pin(rate, g, fraction)
        return True
