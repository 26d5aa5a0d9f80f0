"""Correction by integer programming, through PuLP and CBC.

Two models of the problem of `core.studies.correction.counts`, after Ferry et al. (SaTML 2023, section IV and appendix):

RC_e  an integer a cell and group, new[c, g]; the records that leave are the sum of one bounded segment variable a
      distinct cost. As costs are minimised, the cheap segments fill first.
RC    one binary variable a record and group. It has no use beyond small N but to check RC_e.

Both have the same optima (Theorem 1). The paper's two groups under one tolerance are the smallest case.

Costs are scaled by the objective of a feasible reconstruction found beforehand, and records that alone cost more stay.
Counts are handed on only if they meet every constraint in integers. That no counts do is CBC's word, unless the
tolerance alone rules them out. Where CBC stops early, the bound is that of the linear relaxation.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.solvers import SolverStatus, empty_model, linear, rescaled, run
from ...base.validation import Floats, Ints
from .counts import Choice, CountProblem, Rows, Solved
from .tangents import TIGHTENING, relaxed_bound

_CBC_SCALE = 1e7
"""Objective of the best known solution after scaling: CBC takes reduced costs below 1e-7 for 0."""


@dataclass(slots=True, kw_only=True)
class _Programs:
    """A problem's programs, the best counts so far, and their cost, which scales the costs; inf before there are any.

    RC is solved rather than RC_e where it is asked `per_record`.
    """

    problem: CountProblem
    per_record: bool
    deadline: float
    best: Ints | None = None
    value: float = math.inf

    @property
    def unit(self) -> float:
        """What scaled costs are multiplied by."""
        if self.best is not None:
            return self.value / _CBC_SCALE
        return 1.0

    def costs(self, j: int) -> Floats:
        """Return the scaled costs, in rising order, of the records that may leave group and cell j; at first all 1."""
        cell_costs = np.diff(self.problem.total[j])
        if self.best is None:
            return np.ones(cell_costs.size)
        affordable: Floats = cell_costs[cell_costs <= self.value * (1 + 1e-9)] / self.unit
        return affordable

    def solve(self, choice: Choice) -> tuple[SolverStatus, float]:
        """Solve, once more with tightened rows if the counts break a constraint; keep better counts that do not.

        Return what CBC claims of the first program, and a lower bound where it claims an optimum.
        """
        claims = []
        bound = 0.0
        for margin in (0.0, TIGHTENING):
            # Tightened rows exclude some counts: their objective is no lower bound of the first program.
            claim, cost, counts = self.program(choice, margin)
            claims.append(claim)
            if claim == SolverStatus.OPTIMAL and not margin:
                bound = cost
            if counts is None:
                break
            if self.problem.meets(counts):
                if self.problem.cost_of(counts) < self.value:
                    self.value = self.problem.cost_of(counts)
                    self.best = counts
                break
        return claims[0], bound

    def program(self, choice: Choice, margin: float) -> tuple[SolverStatus, float, Ints | None]:
        """Run CBC; return what it claims, the objective it reached, and the counts."""
        rows = Rows(self.problem, choice, margin)
        if rows.impossible:
            return SolverStatus.INFEASIBLE, 0.0, None
        model = empty_model()
        old = self.problem.old
        sizes = np.repeat(old.sum(axis=1), self.problem.n_groups).tolist()
        # Variables: new[c, g] (of RC_e's s_01^± and s_10^± only the outcome matters), then the
        # multipliers z of pinned rates.
        unknowns = [model.add_variable(f"n{j}", 0, size, "Integer") for j, size in enumerate(sizes)]
        unknowns += [
            model.add_variable(f"z{j}", 1, most, "Integer")
            for j, most in enumerate(rows.multipliers)
        ]
        # Constraints (2) to (5) of RC, (7) to (10) of RC_e, as `Rows` writes them.
        for row, low, high in zip(rows.matrix, rows.low.tolist(), rows.high.tolist(), strict=True):
            terms = linear((unknowns[j], row[j]) for j in np.flatnonzero(row).tolist())
            if low == high:
                model += terms == low
            elif math.isfinite(high):
                model += terms <= high
            if low < high and math.isfinite(low):
                model += terms >= low
        # objective (1) of RC, (6) of RC_e: cumulated costs, as bounded segments
        if self.per_record:
            costs = self.of_records(model, unknowns)
        else:
            costs = self.of_segments(model, unknowns)
        if self.best is not None:
            gap = 0.0
        else:
            gap = 0.2
        claim = run(model, linear(costs), self.deadline, gap=gap)
        if claim not in (SolverStatus.OPTIMAL, SolverStatus.FEASIBLE):
            return claim, 0.0, None
        # s*: the counts; which records stand behind them is post-processing.
        counts = np.array(
            [round(unknown.value()) for unknown in unknowns[: old.size]], dtype=np.int64
        )
        reached = max(0.0, sum(cost * variable.value() for variable, cost in costs))
        return claim, reached * self.unit, counts.reshape(old.shape)

    def of_segments(self, model: Any, unknowns: list[Any]) -> list[tuple[Any, float]]:
        """Let segments take up what leaves, old - new at least; return their costs."""
        costs: list[tuple[Any, float]] = []
        for j, old in enumerate(self.problem.old.ravel().tolist()):
            if not old:
                continue
            # T[k], the k smallest costs added up, as segments: one a distinct cost, as long as it has records.
            distinct, sizes = np.unique(self.costs(j), return_counts=True)
            segments = [
                model.add_variable(f"s{j}_{i}", 0, size) for i, size in enumerate(sizes.tolist())
            ]
            # Sum of segments >= old - new, the outflow of the cell.
            model += linear([(segment, 1) for segment in segments] + [(unknowns[j], 1)]) >= old
            costs += list(zip(segments, distinct.tolist(), strict=True))
        return costs

    def of_records(self, model: Any, unknowns: list[Any]) -> list[tuple[Any, float]]:
        """Give every record one group, and every count its records; return the costs of leaving."""
        cells, k = self.problem.old.shape
        held: list[list[tuple[Any, int]]] = [[(unknown, -1)] for unknown in unknowns[: cells * k]]
        costs: list[tuple[Any, float]] = []
        for j, old in enumerate(self.problem.old.ravel().tolist()):
            c, g = divmod(j, k)
            cell_costs = self.costs(j)
            for i in range(old):
                # s*_i of record i, one binary a group h; with K = 2 these are s*_i and 1 - s*_i.
                assignments = [
                    model.add_variable(f"r{j}_{i}_{h}", 0, 1, "Integer") for h in range(k)
                ]
                model += linear((assignment, 1) for assignment in assignments) == 1
                # A record that alone costs more than the best counts stays.
                if i >= cell_costs.size:
                    model += linear([(assignments[g], 1)]) == 1
                # p_i [s*_i != ŝ_i] of (1): leaving the guess g costs, staying is free.
                for h, assignment in enumerate(assignments):
                    held[c * k + h].append((assignment, 1))
                    if h != g and i < cell_costs.size:
                        costs.append((assignment, float(cell_costs[i])))
        # new[c, h] = number of records of cell c assigned to h.
        for terms in held:
            model += linear(terms) == 0
        return costs


def solve_counts_by_ilp(problem: CountProblem, *, per_record: bool, seconds: float) -> Solved:
    """Return the best counts CBC finds in the given time, with their lower bound.

    The seconds are for the model and CBC together, which looks at its clock now and then, so it may overrun a little.
    """
    deadline = time.perf_counter() + seconds
    programs = _Programs(problem=problem, per_record=per_record, deadline=deadline)
    possible: list[Choice] = []
    for (
        choice
    ) in problem.choices():  # any counts to begin with; what is proved infeasible is left out
        if programs.best is not None or programs.solve(choice)[0] != SolverStatus.INFEASIBLE:
            possible.append(choice)
    # That no counts exist is CBC's word, unless the tolerance alone is known to be possible.
    if programs.best is None:
        if possible or problem.surely_possible():
            return None, 0.0
        return None, math.inf

    def search() -> float:
        bound = math.inf
        for choice in possible:
            before = programs.value
            claim, lower = programs.solve(choice)
            # Records that alone cost more than the best counts may not leave: then nothing is cheaper than these.
            if claim == SolverStatus.INFEASIBLE:
                choice_bound = before
            else:
                choice_bound = lower
            bound = min(bound, choice_bound)
        return bound

    bound = rescaled(lambda: programs.value, search, lambda: time.perf_counter() >= deadline)
    # CBC stopped early: the linear relaxation still bounds the objective from below.
    if bound == 0.0:
        bound = relaxed_bound(problem, programs.best)
    return programs.best, min(bound, programs.value)
