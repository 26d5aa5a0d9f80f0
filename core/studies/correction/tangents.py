"""Certified correction of the counts by tangent cuts, with HiGHS.

Each F_cg is bounded below by its tangents, F(k) + (cost of the next record) (outflow - k): valid everywhere and exact
at whole counts k. Tangents are added where they are violated: first in the linear relaxation until it is settled, then
around its solution in the integer program, whose dual bound then bounds the objective from below. Costs are scaled by
the objective of a feasible solution, and groups keep at least the records that alone would cost more, because raw
costs may span eighteen magnitudes. Where an exact unfairness can be attained in several ways, they are searched in the
order of their relaxations, and those whose bound exceeds the best solution are left out.

On a single row set the relaxation only gives multipliers to `core.studies.correction.enumeration`, which proves the
optimum without HiGHS; the integer program is left with what that would take too long to list (many equal costs).

A program holds the rows of one choice of alternatives; tangents are shared by all of them. Counts are handed on only
if they meet every constraint in integers; HiGHS is believed for its lower bound alone.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.solvers import rescaled
from ...base.validation import Floats, Ints
from .counts import Choice, CountProblem, Rows, Solved
from .enumeration import cheapest_counts, is_one_row_set

TIGHTENING = 1e-5
"""Margin on scaled rows when a solution within the solver's own row tolerance breaks a constraint."""

_SCALE = 1e6
"""Objective of the best known solution after scaling: HiGHS works to 1e-6 or so."""

_SETTLED = 1e-9
"""Share of the objective below which a violated tangent is not worth adding to the relaxation."""

_SMALLEST = 1e-9
"""Coefficients below this are dropped by HiGHS."""

_AROUND = (-40, -20, -10, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 10, 20, 40)
"""Whole counts around a solution at which the integer program gets a tangent at once."""


_Cut = tuple[int, float, float]
"""Of a row -slope new - height <= right: the group and cell, the slope, and the right side, costs scaled."""


_Program = tuple[Floats, Any, Any, Any]
"""What HiGHS is asked: scipy's objective, rows, tangents and bounds.

The unknowns are counts, then heights (costs times the unit), which the objective adds up, then multipliers.
"""


_CLOSED = 2e-10
"""Relative gap at which a search ends, well within what the certificate asks for."""

_MOST_NODES = 20_000
"""Nodes of integer programs, and programs, that one search may take: a bound that does not depend on the machine."""


def solve_counts(problem: CountProblem, *, seconds: float) -> Solved:
    """Return the cheapest counts with their lower bound.

    The search may take so many seconds, infinitely many for what does not depend on the machine: it ends after
    `_MOST_NODES` in any case; afterwards the best counts so far are returned with the bound reached.
    """
    search = _BestFirstSearch(problem, time.perf_counter() + seconds)
    # Costs are scaled by a feasible objective, so feasible counts come first.
    bound = search.start()
    if problem.surely_possible():
        bound = 0.0  # whatever HiGHS says
    if search.best is not None:
        if is_one_row_set(problem):
            run = search.enumerate
        else:
            run = search.run
        bound = rescaled(lambda: search.value, run, search.over)
    return search.best, bound


def relaxed_bound(problem: CountProblem, counts: Ints) -> float:
    """Return the lower bound of the linear relaxation, given feasible counts."""
    search = _BestFirstSearch(problem, math.inf)
    search.accept(counts)
    search.spread()
    return search.relax(())


class _BestFirstSearch:
    """Best-first search over the alternatives; the tangents (j, k) of F_j at k changes are shared by all of them."""

    def __init__(self, problem: CountProblem, deadline: float) -> None:
        self.problem = problem
        self.deadline = deadline
        self.old: list[int] = problem.old.ravel().tolist()
        self.best: Ints | None = None
        self.value = math.inf
        self.tangents: set[tuple[int, int]] = set()
        self.relaxed: dict[Choice, Floats] = {}
        self.nodes = _MOST_NODES
        self.prices: Any = None

    def add(self, j: int, k: int) -> bool:
        """Add a tangent, if it is new and there is a next record."""
        if not 0 <= k < self.old[j] or (j, k) in self.tangents:
            return False
        self.tangents.add((j, k))
        return True

    def spread(self) -> None:
        """Add a few tangents over all numbers of changes that cost at most the best solution."""
        for j, total in enumerate(self.problem.total):
            # Changes of F_cg <= the best objective; tangents at 0 and at about geometric steps.
            most = int(np.searchsorted(total, self.value, side="right")) - 1
            for k in {0, *np.geomspace(1, max(most, 1), 8).astype(int).tolist()}:
                self.add(j, min(k, most))

    def separate(self, point: Floats, heights: Floats) -> int:
        """Add the tangents that a solution of the relaxation breaks; return how many."""
        added = 0
        for j, (x, height) in enumerate(zip(point.ravel().tolist(), heights.tolist(), strict=True)):
            moved = self.old[j] - x
            if moved > 0:
                # The tangent at k = floor(outflow), F(k) + (F(k + 1) - F(k)) (outflow - k), is the tightest here.
                k = min(int(moved + 1e-9), self.old[j] - 1)
                total = self.problem.total[j]
                if (
                    total[k] + (total[k + 1] - total[k]) * (moved - k)
                    > height + _SETTLED * self.value
                ):
                    added += self.add(j, k)
        return added

    def surround(self, point: npt.NDArray[Any]) -> int:
        """Add tangents around a solution; return how many are new."""
        added = 0
        for j, x in enumerate(point.ravel().tolist()):
            k = math.floor(self.old[j] - x)
            added += sum([self.add(j, k + step) for step in _AROUND])
        return added

    def over(self) -> bool:
        """Tell whether the search must end."""
        return self.nodes <= 0 or self.deadline <= time.perf_counter()

    def program(self, choice: Choice, cuts: Sequence[_Cut], margin: float = 0.0) -> _Program | None:
        """Return the program of the counts of least height under some cuts; None where a choice has no fraction.

        The margin tightens the rows.
        """
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import csr_array

        rows = Rows(self.problem, choice, margin)
        old = self.problem.old.ravel()
        if rows.impossible:
            return None
        size = old.size
        empty = np.zeros((len(rows.matrix), size))
        # Unknowns: new[c, g], then a height t_cg >= F_cg each, then the multipliers of pinned rates.
        matrix = csr_array(np.hstack([rows.matrix[:, :size], empty, rows.matrix[:, size:]]))
        width = matrix.shape[1]
        # A cut -slope new - t <= right is t >= F(k) + slope (old - new - k), multiplied out.
        columns = np.array([j for j, _, _ in cuts], dtype=np.int64)
        entries = np.concatenate([[-slope for _, slope, _ in cuts], np.full(len(cuts), -1.0)])
        where = np.tile(np.arange(len(cuts)), 2), np.concatenate([columns, columns + size])
        # Few enough records leave that none of them alone costs more than the best solution.
        limit = self.value * (1 + 1e-9)
        most = [
            int(np.searchsorted(total, limit, side="right")) - 1 for total in self.problem.total
        ]
        cells = np.repeat(self.problem.old.sum(axis=1), self.problem.n_groups)
        tangents = csr_array((entries, where), shape=(len(cuts), width))
        right = np.array([cut[2] for cut in cuts])
        bounds = Bounds(
            np.concatenate([old - np.array(most), np.zeros(size), np.ones(width - 2 * size)]),
            np.concatenate([cells, np.full(size, np.inf), np.array(rows.multipliers, dtype=float)]),
        )
        # Objective (6) of RC_e, minimise the sum of F_cg, as the sum of the heights under tangents.
        return (
            np.repeat([0.0, 1.0, 0.0], [size, size, width - 2 * size]),
            LinearConstraint(matrix, rows.low, rows.high),
            LinearConstraint(tangents, -np.inf, right),
            bounds,
        )

    def relaxation(self, program: _Program) -> Any:
        """Return what HiGHS answers when asked for any numbers of least height, and count its work."""
        from scipy.optimize import linprog
        from scipy.sparse import vstack

        heights, rows, tangents, bounds = program
        low = rows.lb
        high = rows.ub
        same = low == high
        above = np.isfinite(high) & (low < high)
        below = np.isfinite(low) & (low < high)
        self.nodes -= 1
        # The linear relaxation, by dual simplex, whose marginals are the prices of a cell's records.
        return linprog(
            heights,
            A_ub=vstack([rows.A[above], -rows.A[below], tangents.A]),
            b_ub=np.concatenate([high[above], -low[below], tangents.ub]),
            A_eq=rows.A[same],
            b_eq=low[same],
            bounds=np.column_stack([bounds.lb, bounds.ub]),
            method="highs-ds",
        )

    def ask(self, program: _Program | None, *, unit: float = 1.0, gap: float = 0.0) -> Solved:
        """Ask HiGHS for whole counts of least height, costs being scaled by the unit, and count its work.

        It may take what is left, nodes on any machine and seconds of this one, to a relative gap.
        """
        from scipy.optimize import milp

        if program is None:
            return None, math.inf
        heights, rows, tangents, bounds = program
        options: dict[str, Any] = {"node_limit": max(self.nodes, 1), "mip_rel_gap": gap}
        if math.isfinite(self.deadline):
            options["time_limit"] = self.deadline - time.perf_counter()

        # Integers are the counts and multipliers; the heights, weight 1 in the objective, stay real.
        def answered(**more: Any) -> Any:
            return milp(
                heights,
                integrality=1 - heights,
                bounds=bounds,
                constraints=[rows, tangents],
                options=options | more,
            )

        solution = answered()
        if (
            solution.status == 4
        ):  # an error: its presolve fails on some problems with many equal costs
            solution = answered(presolve=False)
        # The dual bound is what HiGHS is believed; the counts are checked by `accept`.
        self.nodes -= 1 + int(solution.mip_node_count or 0)
        bound = solution.mip_dual_bound or 0.0
        if solution.status == 2:
            return None, math.inf
        if solution.x is None:
            lower = bound / unit if math.isfinite(bound) else 0.0
            return None, lower
        old = self.problem.old
        counts = np.rint(solution.x[: old.size]).astype(np.int64).reshape(old.shape)
        return counts, max(0.0, float(bound)) / unit

    def fewest_changes(self, choice: Choice, margin: float = 0.0) -> Solved:
        """Return feasible counts with nearly the fewest changes."""
        # t_cg >= old - new: heights count the changes, whatever these cost.
        cuts = [(j, 1.0, -float(old)) for j, old in enumerate(self.old)]
        return self.ask(self.program(choice, cuts, margin), gap=0.2)

    @property
    def unit(self) -> float:
        """What costs are multiplied by for HiGHS."""
        return _SCALE / self.value

    def cuts(self) -> list[_Cut]:
        """Return the tangents there are.

        A next record that alone would cost more than the best solution may not leave, so its tangent is left out.
        """
        unit = self.unit
        cuts = []
        for j, k in sorted(self.tangents):
            total = self.problem.total[j]
            # Slope F(k + 1) - F(k) and right side -(F(k) + slope (old - k)), scaled.
            slope = (total[k + 1] - total[k]) * unit
            if slope >= _SMALLEST and total[k + 1] * unit <= _SCALE * (1 + 1e-9):
                cuts.append((j, slope, -(total[k] * unit + slope * (self.old[j] - k))))
        return cuts

    def start(self) -> float:
        """Look for feasible counts with few changes; return inf if there are none, else a bound of 0."""
        everywhere = True
        for choice in self.problem.choices():
            if self.over():
                return 0.0
            # Every way to attain the lower limits is tried until one has counts.
            counts, bound = self.fewest_changes(choice)
            if self.accept(counts):
                return 0.0
            # the counts may break a constraint by a hair
            if counts is not None and self.accept(self.fewest_changes(choice, TIGHTENING)[0]):
                return 0.0
            everywhere &= math.isinf(bound)
        if everywhere:
            return math.inf
        return 0.0

    def accept(self, counts: Ints | None) -> bool:
        """Keep counts that meet every constraint, if they are the cheapest so far; tell whether they do."""
        if counts is None or not self.problem.meets(counts):
            return False
        value = self.problem.cost_of(counts)
        if value < self.value:
            self.best = counts
            self.value = value
        return True

    def enumerate(self) -> float:
        """Solve a single row set by enumeration, and by integer programs only where that lists too much."""
        self.spread()
        self.relax(())
        enumerated = None
        if self.prices is not None:
            # One row set has two cells; the relaxation's prices are the multipliers (x, y) of sum a, sum b.
            positive = int(np.flatnonzero(self.problem.rates[0].positive)[0])
            multipliers = float(self.prices[positive]), float(self.prices[1 - positive])
            enumerated = cheapest_counts(self.problem, multipliers, self.value, self.deadline)
        if enumerated is None:
            return self.run()
        self.accept(enumerated[0])
        return min(enumerated[1], self.value)

    def run(self) -> float:
        """Search all choices; return the lower bound on the objective."""
        self.spread()
        alternatives = self.problem.alternatives()
        number = itertools.count()
        closed = math.inf
        heap: list[tuple[float, int, Choice]] = [(self.relax(()), next(number), ())]
        # Best first: a choice whose bound reaches the best objective is never opened.
        while heap and heap[0][0] < self.value * (1 - _CLOSED) and not self.over():
            bound, _, choice = heapq.heappop(heap)
            # A leaf: every disclosure has its alternative, so all rows are linear.
            if len(choice) == len(alternatives):
                closed = min(closed, max(bound, self.integer(choice)))
                continue
            for alternative in alternatives[len(choice)]:
                # One more disclosure attains its lower limit; more rows never lower the bound.
                further = (*choice, alternative)
                heapq.heappush(heap, (max(bound, self.relax(further)), next(number), further))
        return min(closed, self.value, *(bound for bound, _, _ in heap))

    def relax(self, choice: Choice) -> float:
        """Settle the linear relaxation; return its value, or the best solution's where nothing below it is left."""
        bound = 0.0
        size = self.problem.old.size
        while not self.over():
            program = self.program(choice, self.cuts())
            if program is None:
                return self.value
            solution = self.relaxation(program)
            if solution.status == 2:  # infeasible
                return self.value
            if solution.status != 0:
                break
            # Cuts are valid everywhere, so the value under any of them bounds the objective from below.
            bound = max(bound, solution.fun / self.unit)
            self.relaxed[choice] = solution.x[:size]
            # d objective / d size of cell: what one more record predicted 1, or 0, costs at the margin.
            self.prices = solution.eqlin.marginals / self.unit  # the first rows are the cells'
            if not self.separate(solution.x[:size], solution.x[size : 2 * size] / self.unit):
                break
        return bound

    def integer(self, choice: Choice) -> float:
        """Solve the integer program, adding tangents at its solutions; return its lower bound."""
        bound = 0.0
        margin = 0.0
        # Tangents at whole counts about the relaxation: there they are exact.
        self.surround(self.relaxed.get(choice, self.problem.old))
        while not self.over():
            # Counts of least height; where heights are F_cg itself, they are the optimum.
            program = self.program(choice, self.cuts(), margin)
            counts, lower = self.ask(program, unit=self.unit)
            if math.isinf(lower):
                if margin:
                    return bound
                return self.value
            # Tightened rows leave solutions out, so their bound proves nothing.
            if not margin:
                bound = max(bound, lower)
            if counts is None or bound >= self.value * (1 - _CLOSED):
                break
            before = self.value
            if self.accept(counts):
                closed = bound >= self.value * (1 - _CLOSED)
                if closed or not (self.surround(counts) or self.value < before * (1 - _CLOSED)):
                    break
            # The counts break a constraint by rounding: once more with rows of D tightened.
            elif margin:
                break
            else:
                margin = TIGHTENING
        return min(bound, self.value)
