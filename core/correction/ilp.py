"""Correction by integer programming, through PuLP and CBC.

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

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.arrays import Floats, Ints
from core.correction.counts import MUCH, TIGHTENING, Choice, CountOutcome, CountProblem, linear_rows
from core.solvers import empty_model, linear, run

_SCALE = 1e7
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
        return 1.0 if self.value is None else self.value / _SCALE

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
