"""The correction of K groups in counts.

A cell holds the records that no disclosure tells apart: they lie in the same row sets with the same predictions. The
records of a cell c guessed in group g are `old[c, g]`; a reconstruction only has to choose new[c, g], because every
constraint is one on counts and where a record goes costs nothing:

    minimise  sum over c, g of F_cg(max(0, old - new)),    sum over g of new[c, g] = size of c,

with F_cg the cumulated sorted costs of those records, convex. Constraints on disjoint cells are solved apart. Records
outside every row set form cells too; without group shares they stay as they are.

Exact unfairness. Some group in some row set has to attain the lower limit, with a rate above or below the overall one:
a choice of one such `Attained` a disclosure turns the problem into one with linear rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.arrays import Codes, Floats, Ints, Mask
from core.correction.claim import Claim
from core.correction.smallest import smallest_fraction


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Attained:
    """The group whose rate, in one row set, lies at least the lower limit above (sign 1) or below the overall rate."""

    rate: Rate
    group: int
    sign: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountProblem:
    """Counts, records and constraints of some cells.

    Attributes
    ----------
    old : (cells, groups) int array
        Records of each cell by guess.
    members : tuple of int arrays
        For cell c and group g, at c * groups + g, the records' numbers by rising cost, ties in record order.
    total : tuple of float arrays
        At the same place F_cg, from 0 changes on.
    sizes : tuple of (fewest, most) or None
        Limits on each group's records over all cells.
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
        for rate in self.rates:
            size, hits = new[rate.inside].sum(axis=0).tolist(), new[rate.positive].sum(axis=0).tolist()
            for m, a in zip(size, hits, strict=True):
                gap = abs(rate.n * a - rate.positives * m)
                if m < 1 or gap > rate.upper * rate.n * m:
                    return False
                if rate.lower > 0 and gap > rate.lower * rate.n * m:
                    attained[rate.disclosure] = True
        limits = self.sizes or ()
        inside = all(low <= m <= high for m, (low, high) in zip(new.sum(axis=0).tolist(), limits, strict=False))
        return inside and all(attained.values())

    def place(self, new: Ints, vector: Codes) -> None:
        """Write the cheapest reconstruction with these counts into a vector that holds the guesses."""
        leaving = self.outflow(new)
        for c, missing in enumerate((new - self.old).tolist()):
            own = range(c * self.n_groups, (c + 1) * self.n_groups)
            movers = np.concatenate([self.members[j][: leaving[j]] for j in own])
            target = np.repeat(np.arange(self.n_groups, dtype=np.uint8), np.maximum(missing, 0))
            vector[np.sort(movers)] = target

    def surely_possible(self) -> bool:
        """Tell whether a single tolerance, which is known exactly to be possible, is the only constraint."""
        alone = len(self.rates) == 1 and self.rates[0].lower <= 0 and self.sizes is None
        return alone and not self.rates[0].impossible(self.n_groups)

    def alternatives(self) -> list[list[Attained]]:
        """Return, for each disclosure with a lower limit, the ways to attain it."""
        found: dict[int, list[Attained]] = {rate.disclosure: [] for rate in self.rates if rate.lower > 0}
        for rate, sign in itertools.product(self.rates, (1, -1)):
            room = rate.n - rate.positives if sign > 0 else rate.positives
            if rate.lower > 0 and rate.lower * rate.n < room:
                found[rate.disclosure] += [Attained(rate=rate, group=g, sign=sign) for g in range(self.n_groups)]
        return list(found.values())

    def choices(self) -> Iterator[tuple[Attained, ...]]:
        """Return every full choice of alternatives; a single empty one where no disclosure has a lower limit."""
        return itertools.product(*self.alternatives())


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOutcome:
    """The best counts found (None without any) and a lower bound on the objective, inf when infeasible."""

    counts: Ints | None
    bound: float


def count_problem(claim: Claim) -> CountProblem:
    """Sort the records into cells and collect the constraints."""
    code, values = np.zeros(claim.guess.size, dtype=np.int64), []
    for number, bound in enumerate(claim.bounds):
        for _, rows in bound.row_sets():
            value = bound.predictions + np.uint8(1)
            if rows is not None:
                value = value * rows
            values.append((number, value))
            code = _compressed(code * 3 + value)
    n_cells = int(code.max()) + 1 if code.size else 1
    rates = tuple(_rate(claim, number, value, code, n_cells) for number, value in values)
    place = code * claim.n_groups + claim.guess
    order = np.lexsort((claim.cost, place))
    old = np.bincount(place, minlength=n_cells * claim.n_groups)
    members = tuple(np.split(order, np.cumsum(old)[:-1]))
    total = tuple(np.concatenate([[0.0], np.cumsum(claim.cost[records])]) for records in members)
    return CountProblem(
        old=old.reshape(n_cells, claim.n_groups), members=members, total=total, rates=rates, sizes=claim.sizes
    )


def components(problem: CountProblem) -> list[CountProblem]:
    """Return the independent problems: row sets that share no cell, no group shares and no lower limit."""
    if problem.sizes is not None:
        return [problem]
    parts: list[list[Rate]] = []
    for rate in problem.rates:
        linked = [part for part in parts if any(_linked(rate, other) for other in part)]
        parts = [part for part in parts if part not in linked] + [[rate, *itertools.chain(*linked)]]
    return [_restricted(problem, part) for part in parts]


def _linked(one: Rate, other: Rate) -> bool:
    same = one.disclosure == other.disclosure and one.lower > 0
    return same or bool((one.inside & other.inside).any())


def _restricted(problem: CountProblem, rates: list[Rate]) -> CountProblem:
    cells = np.flatnonzero(np.any([rate.inside for rate in rates], axis=0))
    k = problem.n_groups
    own = [c * k + g for c in cells.tolist() for g in range(k)]
    return replace(
        problem,
        old=problem.old[cells],
        members=tuple(problem.members[j] for j in own),
        total=tuple(problem.total[j] for j in own),
        rates=tuple(replace(r, inside=r.inside[cells], positive=r.positive[cells]) for r in rates),
    )


def _rate(claim: Claim, number: int, value: Codes, code: Ints, n_cells: int) -> Rate:
    of_cell = np.zeros(n_cells, dtype=np.uint8)
    of_cell[code] = value
    bound = claim.bounds[number]
    return Rate(
        disclosure=number,
        inside=of_cell > 0,
        positive=of_cell == 2,
        n=int(np.count_nonzero(value)),
        positives=int(np.count_nonzero(value == 2)),
        lower=bound.lower,
        upper=bound.upper,
    )


def _compressed(code: Ints) -> Ints:
    """Renumber the codes in use from 0 on."""
    number = np.cumsum(np.bincount(code) > 0) - 1 if code.size else code
    renumbered: Ints = number[code]
    return renumbered
