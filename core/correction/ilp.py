"""Correction by integer programming, through PuLP and CBC.

Two models of the same problem, after Ferry et al. (SaTML 2023, section IV and appendix):

RC_e  four integer counts, the changes 0 to 1 and 1 to 0 among the records predicted 1 and 0. Each distinct cost of a
      cell is one bounded segment variable; as costs are minimised, the cheap segments fill first.
RC    one binary variable a record. It has no use beyond small N but to check RC_e.

Both have the same optima (Theorem 1).

The tolerance rows are multiplied out to counts (see `core.correction.problem`). Costs are scaled by the objective of
a feasible reconstruction found beforehand, and records that alone cost more are left out, because raw costs may span
eighteen magnitudes. A vector is handed on only if its own counts meet the tolerance. Whether any counts do is decided
by `allowed_interval` before CBC starts, so that CBC never has to prove infeasibility.

More groups, shares, or several disclosures. Two models of the problem of `core.correction.counts`, after the appendix
of Ferry et al. (SaTML 2023):

per count    new[c, g] integer; the records that leave are the sum of one bounded segment variable a distinct cost.
per record   one binary variable a record and group; of no use beyond small N but to check the others.

As for two groups, costs are scaled by the objective of a feasible reconstruction found beforehand, records that alone
cost more stay, and counts are handed on only if they meet every constraint in integers. That no counts do is CBC's
word, unless the tolerance alone rules them out.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.arrays import Codes, Floats, Ints, Mask
from core.correction.counts import Attained, CountOutcome, CountProblem, linear_rows
from core.correction.exact import allowed_interval
from core.correction.problem import CELLS, Counts, Outcome, RowProblem, flip_cheapest
from core.solvers import empty_model, linear, run

_ROW_SCALE = 1e5
"""Objective of the feasible reconstruction after scaling; CBC prints bounds with three or more decimals."""

_ROW_TIGHTENING = 1e-6
"""Share of N taken off the tolerance rows when CBC's own row tolerance let a solution pass that breaks them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowTask:
    """A row set ready for CBC: its costs scaled, `keep` marking the records that may change."""

    problem: RowProblem
    counts: Counts
    cost: Floats
    keep: Mask
    unit: float
    margin: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowAnswer:
    """CBC's answer: the vector read from its variables, its objective or bound, and whether it claims optimality."""

    vector: Codes | None
    bound: float
    proved: bool


def solve_rows_by_ilp(problem: RowProblem, *, per_record: bool, seconds: float) -> Outcome:
    """Return the best reconstruction CBC finds in the given time, with its lower bound.

    RC (one variable a record) is solved rather than RC_e where it is asked `per_record`. The seconds are for the model
    and CBC together, which looks at its clock now and then, so it may overrun a little.
    """
    counts = problem.counts()
    target = _nearest_allowed(counts)
    if target is None:
        return Outcome(vector=None, bound=np.inf)
    start = _move_to(problem, counts, *target)
    budget = _objective(problem, start)
    if budget == 0.0:
        return Outcome(vector=start, bound=0.0)
    task = _RowTask(
        problem=problem,
        counts=counts,
        cost=problem.cost * (_ROW_SCALE / budget),
        keep=problem.cost <= budget * (1 + 1e-9),
        unit=budget / _ROW_SCALE,
    )
    return _solve_twice(task, per_record, time.perf_counter() + seconds)


def _solve_twice(task: _RowTask, per_record: bool, deadline: float) -> Outcome:
    """Solve; once more with tightened rows if the first vector breaks the tolerance. The first bound stays."""
    attempt = _solve_records if per_record else _solve_counts
    first = attempt(task, deadline)
    bound, vector = max(0.0, first.bound), first.vector
    if vector is not None and not _meets(task, vector):
        again = attempt(replace(task, margin=_ROW_TIGHTENING * task.counts.n), deadline)
        vector = again.vector
    if vector is None or not _meets(task, vector):
        return Outcome(vector=None, bound=bound)
    own = _objective(task.problem, vector)
    if first.proved and abs(own - bound) <= 1e-6 * own and vector is first.vector:
        bound = own  # CBC's printed digits end before ours
    return Outcome(vector=vector, bound=min(bound, own))


def _solve_counts(task: _RowTask, deadline: float) -> _RowAnswer:
    """Solve RC_e."""
    model, variables, costs = empty_model(), {}, []
    for prediction, guess in CELLS:
        cell = task.problem.cell(prediction, guess) & task.keep
        distinct, sizes = np.unique(task.cost[cell], return_counts=True)
        name = f"x{prediction}{guess}"
        count = model.add_variable(name, 0, int(sizes.sum()), "Integer")
        segments = [model.add_variable(f"{name}_{j}", 0, size) for j, size in enumerate(sizes.tolist())]
        model += linear([(segment, 1) for segment in segments] + [(count, -1)]) == 0
        costs += list(zip(segments, distinct.tolist(), strict=True))
        variables[prediction, guess] = count
    a_moves = [(variables[1, 0], 1), (variables[1, 1], -1)]
    b_moves = [(variables[0, 0], 1), (variables[0, 1], -1)]
    _constrain(model, task, a_moves, b_moves)
    status, bound = run(model, linear(costs), deadline)  # objective (6): cumulated costs, as bounded segments
    vector = None
    if status >= 1:
        changes = {cell: round(variable.value()) for cell, variable in variables.items()}
        a = task.counts.a + changes[1, 0] - changes[1, 1]
        b = task.counts.b + changes[0, 0] - changes[0, 1]
        vector = _move_to(task.problem, task.counts, a, b)
    return _RowAnswer(vector=vector, bound=bound * task.unit, proved=status == 1)


def _solve_records(task: _RowTask, deadline: float) -> _RowAnswer:
    """Solve RC."""
    model, records = empty_model(), np.flatnonzero(task.keep)
    flips = [model.add_variable(f"z{i}", 0, 1, "Integer") for i in records.tolist()]
    effect = (1 - 2 * task.problem.guess[records].astype(int)).tolist()
    positive = task.problem.predictions[records].tolist()
    moves = list(zip(flips, effect, strict=True))
    a_moves = [move for move, predicted in zip(moves, positive, strict=True) if predicted]
    b_moves = [move for move, predicted in zip(moves, positive, strict=True) if not predicted]
    _constrain(model, task, a_moves, b_moves)
    # objective (1)
    status, bound = run(model, linear(zip(flips, task.cost[records].tolist(), strict=True)), deadline)
    vector = None
    if status >= 1:
        vector = task.problem.guess.copy()
        vector[records] ^= np.array([round(flip.value()) for flip in flips], dtype=np.uint8)
    return _RowAnswer(vector=vector, bound=bound * task.unit, proved=status == 1)


def _constrain(model: Any, task: _RowTask, a_moves: list[Any], b_moves: list[Any]) -> None:
    """Add non-emptiness, 1 <= m <= N - 1, and the tolerance, |D| <= t N min(m, N - m)."""
    counts = task.counts
    n, positives, negatives, slack = counts.n, counts.positives, counts.negatives, counts.slack
    in_group = linear(a_moves + b_moves) + (counts.a + counts.b)
    # (2) and (3) of RC, (7) and (8) of RC_e
    model += in_group >= 1
    model += in_group <= n - 1
    if slack * (n // 2) < 1:  # D is an integer, so it is 0: (a, b) is a multiple of (P, M) / gcd
        g = int(np.gcd(positives, negatives)) or 1
        multiple = model.add_variable("multiple", 0, g, "Integer")
        model += linear([*a_moves, (multiple, -(positives // g))]) == -counts.a
        model += linear([*b_moves, (multiple, -(negatives // g))]) == -counts.b
        return
    up = [(move, sign * negatives) for move, sign in a_moves]
    down = [(move, -sign * positives) for move, sign in b_moves]
    gap = linear(up + down) + counts.gap(counts.a, counts.b)
    # (4) and (5) of RC, (9) and (10) of RC_e, multiplied by the size of group 1 (the first) and of group 0
    for side in (1, -1):
        model += side * gap - slack * in_group <= -task.margin
        model += side * gap + slack * in_group <= slack * n - task.margin


def _nearest_allowed(counts: Counts) -> tuple[int, int] | None:
    """Return the allowed (a, b) that the fewest changes reach, or None when no counts are allowed."""
    if counts.n < 2:
        return None
    a = np.arange(counts.positives + 1, dtype=np.int64)
    lowest, highest = allowed_interval(counts, a)
    b = np.clip(counts.b, lowest, np.maximum(lowest, highest))
    changes = np.where(lowest <= highest, np.abs(a - counts.a) + np.abs(b - counts.b), np.iinfo(np.int64).max)
    best = int(changes.argmin())
    return (best, int(b[best])) if lowest[best] <= highest[best] else None


def _move_to(problem: RowProblem, counts: Counts, a: int, b: int) -> Codes:
    """Return the cheapest vector with these counts."""
    vector = problem.guess.copy()
    for prediction, change in ((1, a - counts.a), (0, b - counts.b)):
        cell, k = problem.cell(prediction, 0 if change > 0 else 1), abs(change)
        if k:
            flip_cheapest(vector, cell, problem.cost, k, np.sort(problem.cost[cell])[k - 1])
    return vector


def _objective(problem: RowProblem, vector: Codes) -> float:
    return float(problem.cost[vector != problem.guess].sum())


def _meets(task: _RowTask, vector: Codes) -> bool:
    own = replace(task.problem, guess=vector).counts()
    return bool(own.allowed(own.a, own.b))


_TIGHTENING = 1e-5
"""Margin on scaled rows when a solution within CBC's own row tolerance breaks a constraint."""

_SCALE = 1e7
"""Objective of the best known solution after scaling: CBC takes reduced costs below 1e-7 for 0."""

_MUCH = 4.0
"""Fall of the objective after which a bound found at the old scale is not trusted, and all is solved again."""

_Choice = tuple[Attained, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _CountTask:
    """A problem with one choice of alternatives; costs are multiplied by 1 / `unit`, all 1 where `value` is None."""

    problem: CountProblem
    choice: _Choice
    value: float | None
    per_record: bool
    margin: float = 0.0

    @property
    def unit(self) -> float:
        return 1.0 if self.value is None else self.value / _SCALE

    def costs(self, j: int) -> Floats:
        """Return the scaled costs, in rising order, of the records that may leave group and cell j."""
        own = np.diff(self.problem.total[j])
        if self.value is None:
            return np.ones(own.size)
        kept: Floats = own[own <= self.value * (1 + 1e-9)] / self.unit
        return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class _CountAnswer:
    counts: Ints | None
    bound: float
    infeasible: bool


def solve_counts_by_ilp(problem: CountProblem, *, per_record: bool, seconds: float) -> CountOutcome:
    """Return the best counts CBC finds in the given time, with their lower bound.

    As for `solve_rows_by_ilp`, with one variable a record and group rather than one a count.
    """
    if problem.meets(problem.old):
        return CountOutcome(counts=problem.old.copy(), bound=0.0)
    if any(rate.impossible(problem.n_groups) for rate in problem.rates):
        return CountOutcome(counts=None, bound=math.inf)
    deadline = time.perf_counter() + seconds
    best, possible = _start(problem, per_record, deadline)
    if best is None:
        return CountOutcome(counts=None, bound=0.0 if possible or problem.surely_possible() else math.inf)
    bound, before = 0.0, math.inf
    while problem.cost_of(best) < before / _MUCH and time.perf_counter() < deadline:
        before = problem.cost_of(best)
        best, bound = _all(problem, per_record, best, possible, deadline)
    value = problem.cost_of(best)
    return CountOutcome(counts=best, bound=min(bound, value) if value >= before / _MUCH else 0.0)


def _all(
    problem: CountProblem, per_record: bool, best: Ints, possible: list[_Choice], deadline: float
) -> tuple[Ints, float]:
    """Solve every choice; return the cheapest counts, and the lowest bound."""
    bound = math.inf
    for choice in possible:
        task = _CountTask(problem=problem, choice=choice, value=problem.cost_of(best), per_record=per_record)
        answer = _believed(task, deadline)
        bound = min(bound, answer.bound)
        if answer.counts is not None and problem.cost_of(answer.counts) < problem.cost_of(best):
            best = answer.counts
    return best, bound


def _start(problem: CountProblem, per_record: bool, deadline: float) -> tuple[Ints | None, list[_Choice]]:
    """Return feasible counts (None if none were found), and the choices that are not proved infeasible."""
    possible, best = [], None
    for choice in problem.choices():
        if best is None:
            task = _CountTask(problem=problem, choice=choice, value=None, per_record=per_record)
            answer = _believed(task, deadline)
            if answer.infeasible:
                continue
            best = answer.counts
        possible.append(choice)
    return best, possible


def _believed(task: _CountTask, deadline: float) -> _CountAnswer:
    """Solve; once more with tightened rows if the first counts break a constraint. The first bound stays."""
    first = _run(task, deadline)
    if first.counts is None:
        return first
    counts: Ints | None = first.counts
    if not task.problem.meets(first.counts):
        counts = _run(replace(task, margin=_TIGHTENING), deadline).counts
        if counts is not None and not task.problem.meets(counts):
            counts = None
    return replace(first, counts=counts)


def _run(task: _CountTask, deadline: float) -> _CountAnswer:
    rows = linear_rows(task.problem, task.choice, task.margin)
    nothing = _CountAnswer(counts=None, bound=math.inf, infeasible=True)
    if rows.impossible:
        return nothing
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
    status, bound = run(model, linear(terms), deadline, gap=0.0 if task.value else 0.2)
    if status < 0:
        # Records that alone cost more than the best counts may not leave: then nothing is cheaper than these.
        return nothing if task.value is None else replace(nothing, bound=task.value, infeasible=False)
    counts = None
    if status >= 1:
        counts = np.array([round(unknown.value()) for unknown in unknowns[: len(sizes)]], dtype=np.int64)
        counts = counts.reshape(task.problem.old.shape)
    return _CountAnswer(counts=counts, bound=max(0.0, bound) * task.unit, infeasible=False)


def _segment_terms(model: Any, task: _CountTask, unknowns: list[Any]) -> list[tuple[Any, float]]:
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


def _record_terms(model: Any, task: _CountTask, unknowns: list[Any]) -> list[tuple[Any, float]]:
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
