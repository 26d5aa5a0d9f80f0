"""The correction of K groups in counts.

A cell holds the records that no disclosure distinguishes: they lie in the same row sets with the same predictions. The
records of a cell c guessed in group g are `old[c, g]`; a reconstruction only has to choose new[c, g], because every
constraint is one on counts and where a record goes costs nothing:

    minimise  sum over c, g of F_cg(max(0, old - new)),    sum over g of new[c, g] = size of c,

with F_cg the cumulated sorted costs of those records, convex. Constraints on disjoint cells are solved apart. Records
outside every row set form cells too; without group shares they stay as they are.

Exact unfairness. Some group in some row set has to attain the lower limit, with a rate above or below the overall one:
a choice of one such `Attained` a disclosure turns the problem into one with linear rows.

Linear rows. The integer unknowns are new[c, g], numbered c * K + g, and after them one multiplier for each rate that is
fixed to a fraction p / q: then A = p z and m = q z with a whole z >= 1. That is so where the limits leave room for D =
0 only (p / q = P / N), and where an exact unfairness has to be attained by a rate that is a fraction known in advance,
two fractions with denominators up to N lying at least 1 / N^2 apart. Rows of D are scaled to coefficients of about
1,000.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.validation import Codes, Floats, Ints, Mask
from .exact import smallest_fraction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rate:
    """One row set of one disclosure: its cells, those predicted 1, its N and P, and the limits on |D| / (N m)."""

    disclosure: int
    inside: Mask
    positive: Mask
    n: int
    positives: int
    lower: float
    upper: float

    def impossible(self, n_groups: int) -> bool:
        """Tell whether no split of these records into non-empty groups meets the upper limit."""
        smallest = smallest_fraction(self.n, self.positives, n_groups)
        return smallest is None or smallest > self.upper


Attained = tuple[Rate, int, int]
"""Row set, group and sign: the group's rate lies at least the lower limit above (1) or below (-1) the overall rate."""

Choice = tuple[Attained, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountProblem:
    """Counts, records and constraints of some cells.

    `old`, of shape (cells, groups), counts the records of each cell by guess. For cell c and group g, at c * groups +
    g, `members` are the records' numbers by rising cost, ties in record order, and `total` is F_cg, from 0 changes on.
    `sizes` limit each group's records over all cells.
    """

    old: Ints
    members: tuple[Ints, ...]
    total: tuple[Floats, ...]
    rates: tuple[Rate, ...]
    sizes: tuple[tuple[int, int], ...] | None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.old.shape[1])

    def outflow(self, new: Ints) -> list[int]:
        """Return how many records leave each group of each cell."""
        moved: list[int] = np.maximum(self.old - new, 0).ravel().tolist()
        return moved

    def cost_of(self, new: Ints) -> float:
        """Return the cost of the cheapest reconstruction with these counts."""
        return float(sum(total[k] for total, k in zip(self.total, self.outflow(new), strict=True)))

    def meets(self, new: Ints) -> bool:
        """Tell whether the counts meet every constraint, in integers."""
        if (new < 0).any() or (new.sum(axis=1) != self.old.sum(axis=1)).any():
            return False
        attained = {rate.disclosure: False for rate in self.rates if rate.lower > 0}
        # (4) and (5) of RC, (9) and (10) of RC_e, in whole numbers: with D = N A - P m of group g,
        # its rate A / m lies within t of P / N exactly when |D| <= t N m.
        for rate in self.rates:
            size = new[rate.inside].sum(axis=0).tolist()
            hits = new[rate.positive].sum(axis=0).tolist()
            for m, a in zip(size, hits, strict=True):
                gap = abs(rate.n * a - rate.positives * m)
                if m < 1 or gap > rate.upper * rate.n * m:
                    return False
                if rate.lower > 0 and gap > rate.lower * rate.n * m:
                    attained[rate.disclosure] = True
        limits = self.sizes or ()
        inside = all(
            low <= m <= high
            for m, (low, high) in zip(new.sum(axis=0).tolist(), limits, strict=False)
        )
        return inside and all(attained.values())

    def write(self, new: Ints, vector: Codes) -> None:
        """Write the cheapest reconstruction with these counts into a vector that holds the guesses."""
        leaving = self.outflow(new)
        for c, missing in enumerate((new - self.old).tolist()):
            group_cells = range(c * self.n_groups, (c + 1) * self.n_groups)
            # Post-processing of RC_e: of each group the cheapest old - new records leave; all of
            # the cell are dealt out to the groups that miss some, in the order of the records.
            movers = np.concatenate([self.members[j][: leaving[j]] for j in group_cells])
            target = np.repeat(np.arange(self.n_groups, dtype=np.uint8), np.maximum(missing, 0))
            vector[np.sort(movers)] = target

    def surely_possible(self) -> bool:
        """Tell whether a single tolerance, which is known exactly to be possible, is the only constraint."""
        alone = len(self.rates) == 1 and self.rates[0].lower <= 0 and self.sizes is None
        return alone and not self.rates[0].impossible(self.n_groups)

    def alternatives(self) -> list[list[Attained]]:
        """Return, for each disclosure with a lower limit, the ways to attain it."""
        alternatives: dict[int, list[Attained]] = {
            rate.disclosure: [] for rate in self.rates if rate.lower > 0
        }
        for rate, sign in itertools.product(self.rates, (1, -1)):
            # |D| / (N m) of an attained limit is at most 1 - P / N above the overall rate, P / N below it.
            room = rate.n - rate.positives if sign > 0 else rate.positives
            if rate.lower > 0 and rate.lower * rate.n < room:
                alternatives[rate.disclosure] += [(rate, g, sign) for g in range(self.n_groups)]
        return list(alternatives.values())

    def choices(self) -> Iterator[Choice]:
        """Return every full choice of alternatives; a single empty one where no disclosure has a lower limit."""
        return itertools.product(*self.alternatives())


Solved = tuple[Ints | None, float]
"""The best counts found (None without any) and a lower bound on the objective, inf when infeasible."""


def count_problem(
    guess: Codes,
    cost: Floats,
    n_groups: int,
    limits: Sequence[tuple[int, Codes, float, float]],
    sizes: tuple[tuple[int, int], ...] | None,
) -> CountProblem:
    """Sort the records into cells and collect the constraints.

    `limits` are, for each row set of each disclosure, the disclosure's number, what it says of each record (0 outside
    of the row set, 1 or 2 with prediction 0 or 1), and the lower and the upper limit.
    """
    # Records with the same code lie in the same row sets with the same predictions: a cell c.
    code = np.zeros(guess.size, dtype=np.int64)
    for _, value, _, _ in limits:
        code = np.unique(code * 3 + value, return_inverse=True)[1]
    n_cells = int(code.max()) + 1 if code.size else 1
    rates = []
    for number, value, lower, upper in limits:
        of_cell = np.zeros(n_cells, dtype=np.uint8)
        of_cell[code] = value
        n = int(np.count_nonzero(value))
        positives = int(np.count_nonzero(value == 2))
        cells = {"inside": of_cell > 0, "positive": of_cell == 2}
        rates.append(
            Rate(disclosure=number, n=n, positives=positives, lower=lower, upper=upper, **cells)
        )
    cell_index = code * n_groups + guess
    # old[c, g] and F_cg(k), the k smallest costs of cell c and group g added up: n and T of RC_e,
    # where K = 2 and one cell a prediction give n_0^+, n_1^+, n_0^-, n_1^-.
    order = np.lexsort((cost, cell_index))
    old = np.bincount(cell_index, minlength=n_cells * n_groups)
    members = tuple(np.split(order, np.cumsum(old)[:-1]))
    total = tuple(np.concatenate([[0.0], np.cumsum(cost[records])]) for records in members)
    return CountProblem(
        old=old.reshape(n_cells, n_groups),
        members=members,
        total=total,
        rates=tuple(rates),
        sizes=sizes,
    )


def components(problem: CountProblem) -> list[CountProblem]:
    """Return the independent problems: row sets that share no cell, no group shares and no lower limit."""
    if problem.sizes is not None:
        return [problem]
    parts: list[list[Rate]] = []
    for rate in problem.rates:
        # The rate joins every part that it shares a cell with, and these become one part.
        linked = [part for part in parts if any(_linked(rate, member) for member in part)]
        parts = [part for part in parts if part not in linked] + [[rate, *itertools.chain(*linked)]]
    return [_restricted(problem, part) for part in parts]


def _linked(first: Rate, second: Rate) -> bool:
    same = first.disclosure == second.disclosure and first.lower > 0
    return same or bool((first.inside & second.inside).any())


def _restricted(problem: CountProblem, rates: list[Rate]) -> CountProblem:
    cells = np.flatnonzero(np.any([rate.inside for rate in rates], axis=0))
    k = problem.n_groups
    cell_indices = [c * k + g for c in cells.tolist() for g in range(k)]
    return replace(
        problem,
        old=problem.old[cells],
        members=tuple(problem.members[j] for j in cell_indices),
        total=tuple(problem.total[j] for j in cell_indices),
        rates=tuple(replace(r, inside=r.inside[cells], positive=r.positive[cells]) for r in rates),
    )


_SCALE = 1000.0
"""Size of the coefficients in the rows of D."""


class Rows:
    """low <= matrix @ unknowns <= high with the chosen alternatives, and the largest value of each multiplier.

    They are `impossible` where an alternative has no fraction; the margin tightens the rows of D.
    """

    def __init__(self, problem: CountProblem, chosen: Choice = (), margin: float = 0.0) -> None:
        self.multipliers: list[int] = []
        self.impossible = False
        self._shape = problem.old.shape
        self._margin = margin
        self._rows: list[tuple[Floats, float, float]] = []
        self._pins: list[tuple[int, int, int]] = []  # row, multiplier, coefficient
        cells = np.eye(len(problem.old))
        # Sum over g of new[c, g] = size of c: no record appears or vanishes.
        for cell, size in zip(cells, problem.old.sum(axis=1).tolist(), strict=True):
            self._add(cell, slice(None), size, size)
        for rate in problem.rates:
            self._compare(rate)
        # Known group shares: low <= sum over c of new[c, g] <= high.
        for g, (low, high) in enumerate(problem.sizes or ()):
            self._add(cells.sum(axis=0), g, low, high)
        for rate, g, sign in chosen:
            self._attain(rate, g, sign)
        # Columns: new[c, g] at c K + g, then the multipliers z of pinned rates.
        counts, self.low, self.high = (np.array(column) for column in zip(*self._rows, strict=True))
        pinned = np.zeros((len(counts), len(self.multipliers)))
        for row, multiplier, coefficient in self._pins:
            pinned[row, multiplier] = coefficient
        self.matrix = np.hstack([counts, pinned])

    def _add(self, weights: Any, g: Any, low: float, high: float) -> None:
        """Add a row with these weights of the cells in one group (or in all of a slice)."""
        row = np.zeros(self._shape)
        row.T[g] = weights
        self._rows.append((row.ravel(), low, high))

    def _compare(self, rate: Rate) -> None:
        k = self._shape[1]
        for g in range(k):  # Ferry et al. (2023): (2) and (3) of RC, (7) and (8) of RC_e
            self._add(rate.inside, g, 1, rate.n - k + 1)
        if not 0 < rate.positives < rate.n:  # D = 0 whatever the counts
            return
        # m is at most N - K + 1 as every other group keeps a record.
        if rate.upper * rate.n * (rate.n - k + 1) < 1:  # |D| < 1, and D is an integer
            for g in range(k):
                self._pin(rate, g, Fraction(rate.positives, rate.n))
            return
        for g in range(k):
            for sign in (
                1,
                -1,
            ):  # (4) and (5) of RC, (9) and (10) of RC_e, multiplied by the size of the group
                self._add(_gap(rate, sign, -rate.upper), g, -math.inf, -self._margin)

    def _pin(self, rate: Rate, g: int, fraction: Fraction) -> None:
        """Ask that A / m is this fraction."""
        for cells, coefficient in (
            (rate.positive, -fraction.numerator),
            (rate.inside, -fraction.denominator),
        ):
            self._pins.append((len(self._rows), len(self.multipliers), coefficient))
            self._add(cells, g, 0, 0)
        # A = p z and m = q z <= N, so z is at most N / q.
        self.multipliers.append(rate.n // fraction.denominator)

    def _attain(self, rate: Rate, g: int, sign: int) -> None:
        """Ask that a group attains the lower limit, which no rate with a denominator up to N may be able to."""
        # The interval of rates is at least 1 / N^2 long: sign D >= lower N m as a linear row.
        if (rate.upper - rate.lower) * rate.n**2 >= 1:
            self._add(_gap(rate, sign, -rate.lower), g, self._margin, math.inf)
            return
        # Shorter, it holds one fraction with a denominator up to N at most: the one nearest to its middle.
        overall = Fraction(rate.positives, rate.n)
        ends = sorted(overall + sign * Fraction(limit) for limit in (rate.lower, rate.upper))
        fraction = ((ends[0] + ends[1]) / 2).limit_denominator(rate.n)
        if ends[0] <= fraction <= ends[1] and 0 <= fraction <= 1:
            self._pin(rate, g, fraction)
        else:
            self.impossible = True


def _gap(rate: Rate, sign: int, limit: float) -> Floats:
    """Return what a record of each cell adds to sign D + limit N m, scaled."""
    share = rate.positives / rate.n
    # sign D / N + limit m with D = A N - P m: a record adds sign ([predicted 1] - P / N) + limit.
    return rate.inside * _SCALE * (sign * (rate.positive - share) + limit)
