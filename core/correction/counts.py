"""The correction of K groups in counts.

A cell holds the records that no disclosure tells apart: they lie in the same row sets with the same predictions. The
records of a cell c guessed in group g are `old[c, g]`; a reconstruction only has to choose new[c, g], because every
constraint is one on counts and where a record goes costs nothing:

    minimise  sum over c, g of F_cg(max(0, old - new)),    sum over g of new[c, g] = size of c,

with F_cg the cumulated sorted costs of those records, convex. Constraints on disjoint cells are solved apart. Records
outside every row set form cells too; without group shares they stay as they are.

Exact unfairness. Some group in some row set has to attain the lower limit, with a rate above or below the overall one:
a choice of one such `Attained` a disclosure turns the problem into one with linear rows.

Linear rows. The integer unknowns are new[c, g], numbered c * K + g, and after them one multiplier for each rate that is
pinned to a fraction p / q: then A = p z and m = q z with a whole z >= 1. That is so where the limits leave room for D =
0 only (p / q = P / N), and where an exact unfairness has to be attained by a rate that is a fraction known in advance,
two fractions with denominators up to N lying at least 1 / N^2 apart. Rows of D are scaled to coefficients of about
1,000.

Correction by integer programming, through PuLP and CBC.

Two models of the problem of `core.correction.counts`, after Ferry et al. (SaTML 2023, section IV and appendix):

RC_e  an integer a cell and group, new[c, g]; the records that leave are the sum of one bounded segment variable a
      distinct cost. As costs are minimised, the cheap segments fill first.
RC    one binary variable a record and group. It has no use beyond small N but to check RC_e.

Both have the same optima (Theorem 1). The paper's two groups under one tolerance are the smallest case.

Costs are scaled by the objective of a feasible reconstruction found beforehand, and records that alone cost more stay,
because raw costs may span eighteen magnitudes. Counts are handed on only if they meet every constraint in integers.
That no counts do is CBC's word, unless the tolerance alone rules them out.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from core.arrays import Codes, Floats, Ints, Mask
from core.correction.problem import Claim, smallest_fraction
from core.solvers import empty_model, linear, run


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


Choice = tuple[Attained, ...]

TIGHTENING = 1e-5
"""Margin on scaled rows when a solution within the solver's own row tolerance breaks a constraint."""

MUCH = 4.0
"""Fall of the objective after which a bound found at the old scale is not trusted, and all is solved again."""


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

    def choices(self) -> Iterator[Choice]:
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


def linear_rows(problem: CountProblem, chosen: Choice = (), margin: float = 0.0) -> Rows:
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
        for g in range(k):  # Ferry et al. (2023): (2) and (3) of RC, (7) and (8) of RC_e
            self.add(self.sum_of(rate.inside, g), 1, rate.n - k + 1)
        if not 0 < rate.positives < rate.n:  # D = 0 whatever the counts
            return
        if rate.upper * rate.n * (rate.n - k + 1) < 1:  # |D| < 1, and D is an integer
            for g in range(k):
                self.pin(rate, g, Fraction(rate.positives, rate.n))
            return
        for g in range(k):
            for sign in (1, -1):  # (4) and (5) of RC, (9) and (10) of RC_e, multiplied by the size of the group
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


_CBC_SCALE = 1e7
"""Objective of the best known solution after scaling: CBC takes reduced costs below 1e-7 for 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A problem with one choice of alternatives; costs are multiplied by 1 / `unit`, all 1 where `value` is None."""

    problem: CountProblem
    choice: Choice
    value: float | None
    per_record: bool
    margin: float = 0.0

    @property
    def unit(self) -> float:
        return 1.0 if self.value is None else self.value / _CBC_SCALE

    def costs(self, j: int) -> Floats:
        """Return the scaled costs, in rising order, of the records that may leave group and cell j."""
        own = np.diff(self.problem.total[j])
        if self.value is None:
            return np.ones(own.size)
        kept: Floats = own[own <= self.value * (1 + 1e-9)] / self.unit
        return kept


def solve_counts_by_ilp(problem: CountProblem, *, per_record: bool, seconds: float) -> CountOutcome:
    """Return the best counts CBC finds in the given time, with their lower bound.

    RC (one variable a record) is solved rather than RC_e where it is asked `per_record`. The seconds are for the model
    and CBC together, which looks at its clock now and then, so it may overrun a little.
    """
    deadline = time.perf_counter() + seconds
    best, possible = _start(problem, per_record, deadline)
    if best is None:
        return CountOutcome(counts=None, bound=0.0 if possible or problem.surely_possible() else math.inf)
    bound, before = 0.0, math.inf
    while problem.cost_of(best) < before / MUCH and time.perf_counter() < deadline:
        before = problem.cost_of(best)
        best, bound = _all(problem, per_record, best, possible, deadline)
    value = problem.cost_of(best)
    return CountOutcome(counts=best, bound=min(bound, value) if value >= before / MUCH else 0.0)


def _all(
    problem: CountProblem, per_record: bool, best: Ints, possible: list[Choice], deadline: float
) -> tuple[Ints, float]:
    """Solve every choice; return the cheapest counts, and the lowest bound."""
    bound = math.inf
    for choice in possible:
        task = _Task(problem=problem, choice=choice, value=problem.cost_of(best), per_record=per_record)
        answer = _believed(task, deadline)
        bound = min(bound, answer.bound)
        if answer.counts is not None and problem.cost_of(answer.counts) < problem.cost_of(best):
            best = answer.counts
    return best, bound


def _start(problem: CountProblem, per_record: bool, deadline: float) -> tuple[Ints | None, list[Choice]]:
    """Return feasible counts (None if none were found), and the choices that are not proved infeasible."""
    possible, best = [], None
    for choice in problem.choices():
        if best is None:
            task = _Task(problem=problem, choice=choice, value=None, per_record=per_record)
            answer = _believed(task, deadline)
            if math.isinf(answer.bound):
                continue
            best = answer.counts
        possible.append(choice)
    return best, possible


def _believed(task: _Task, deadline: float) -> CountOutcome:
    """Solve; once more with tightened rows if the first counts break a constraint. The first bound stays."""
    first = _run(task, deadline)
    if first.counts is None:
        return first
    counts: Ints | None = first.counts
    if not task.problem.meets(first.counts):
        counts = _run(replace(task, margin=TIGHTENING), deadline).counts
        if counts is not None and not task.problem.meets(counts):
            counts = None
    return replace(first, counts=counts)


def _run(task: _Task, deadline: float) -> CountOutcome:
    rows = linear_rows(task.problem, task.choice, task.margin)
    if rows.impossible:
        return CountOutcome(counts=None, bound=math.inf)
    model, k = empty_model(), task.problem.n_groups
    sizes = np.repeat(task.problem.old.sum(axis=1), k).tolist()
    unknowns = [model.add_variable(f"n{j}", 0, size, "Integer") for j, size in enumerate(sizes)]
    unknowns += [model.add_variable(f"z{j}", 1, most, "Integer") for j, most in enumerate(rows.multipliers)]
    for row in rows.rows:
        terms = linear((unknowns[j], value) for j, value in zip(row.index, row.coefficient, strict=True))
        if row.low == row.high:
            model += terms == row.low
            continue
        if math.isfinite(row.high):
            model += terms <= row.high
        if math.isfinite(row.low):
            model += terms >= row.low
    terms = _record_terms(model, task, unknowns) if task.per_record else _segment_terms(model, task, unknowns)
    # objective (1) of RC, (6) of RC_e: cumulated costs, as bounded segments
    status, bound = run(model, linear(terms), deadline, gap=0.0 if task.value else 0.2)
    if status < 0:
        # Records that alone cost more than the best counts may not leave: then nothing is cheaper than these.
        return CountOutcome(counts=None, bound=math.inf if task.value is None else task.value)
    counts = None
    if status >= 1:
        counts = np.array([round(unknown.value()) for unknown in unknowns[: len(sizes)]], dtype=np.int64)
        counts = counts.reshape(task.problem.old.shape)
    return CountOutcome(counts=counts, bound=max(0.0, bound) * task.unit)


def _segment_terms(model: Any, task: _Task, unknowns: list[Any]) -> list[tuple[Any, float]]:
    """Let segments take up what leaves, old - new at least; return their costs."""
    costs: list[tuple[Any, float]] = []
    for j, old in enumerate(task.problem.old.ravel().tolist()):
        if not old:
            continue
        distinct, sizes = np.unique(task.costs(j), return_counts=True)
        segments = [model.add_variable(f"s{j}_{i}", 0, size) for i, size in enumerate(sizes.tolist())]
        model += linear([(segment, 1) for segment in segments] + [(unknowns[j], 1)]) >= old
        costs += list(zip(segments, distinct.tolist(), strict=True))
    return costs


def _record_terms(model: Any, task: _Task, unknowns: list[Any]) -> list[tuple[Any, float]]:
    """Give every record one group, and every count its records; return the costs of leaving."""
    cells, k = task.problem.old.shape
    held: list[list[tuple[Any, int]]] = [[(unknown, -1)] for unknown in unknowns[: cells * k]]
    costs: list[tuple[Any, float]] = []
    for j, old in enumerate(task.problem.old.ravel().tolist()):
        c, g = divmod(j, k)
        own = task.costs(j)
        for i in range(old):
            places = [model.add_variable(f"r{j}_{i}_{h}", 0, 1, "Integer") for h in range(k)]
            model += linear((place, 1) for place in places) == 1
            if i >= own.size:
                model += linear([(places[g], 1)]) == 1
            for h, place in enumerate(places):
                held[c * k + h].append((place, 1))
                if h != g and i < own.size:
                    costs.append((place, float(own[i])))
    for terms in held:
        model += linear(terms) == 0
    return costs
