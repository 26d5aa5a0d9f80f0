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
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.arrays import Codes, Floats, Mask
from core.correction.exact import allowed_interval
from core.correction.problem import CELLS, Counts, Outcome, RowProblem, flip_cheapest
from core.integer_programs import empty_model, linear, run

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

    Parameters
    ----------
    per_record : bool
        Solve RC (one variable a record) rather than RC_e.
    seconds : float
        Time the model and CBC may take together. CBC looks at its clock now and then, so it may overrun a little.
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
