"""Certified correction of the counts by tangent cuts, with HiGHS.

Each F_cg is bounded below by its tangents, F(k) + (cost of the next record) (outflow - k): valid everywhere and exact
at whole counts k. Tangents are added where they are violated: first in the linear relaxation until it is settled, then
around its solution in the integer program, whose dual bound then bounds the objective from below. Costs are scaled by
the objective of a feasible solution, and groups keep at least the records that alone would cost more, because raw
costs may span eighteen magnitudes. Where an exact unfairness can be attained in several ways, they are searched in the
order of their relaxations, and those whose bound exceeds the best solution are left out.

On a single row set the relaxation only gives multipliers to `core.correction.enumeration`, which proves the optimum
without HiGHS; the integer program is left with what that would take too long to list (many equal costs).

A program holds the rows of one choice of alternatives; tangents are shared by all of them. Counts are handed on only
if they meet every constraint in integers; HiGHS is believed for its lower bound alone.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints
from core.correction.counts import Choice, CountOutcome, CountProblem, linear_rows
from core.correction.enumeration import cheapest_counts, is_one_row_set
from core.solvers import rescaled

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


class Tangents:
    """The tangents of all F_cg found so far."""

    def __init__(self, problem: CountProblem) -> None:
        self.problem = problem
        self.old = problem.old.ravel().tolist()
        self.known: set[tuple[int, int]] = set()

    def _add(self, j: int, k: int) -> bool:
        """Add the tangent of F_j at k changes, if it is new and there is a next record."""
        if not 0 <= k < self.old[j] or (j, k) in self.known:
            return False
        self.known.add((j, k))
        return True

    def spread(self, value: float) -> None:
        """Add a few tangents over all numbers of changes that cost at most `value`."""
        for j, total in enumerate(self.problem.total):
            most = int(np.searchsorted(total, value, side="right")) - 1
            for k in {0, *np.geomspace(1, max(most, 1), 8).astype(int).tolist()}:
                self._add(j, min(k, most))

    def separate(self, point: Floats, heights: Floats, value: float) -> int:
        """Add the tangents that a solution of the relaxation breaks; return how many."""
        added = 0
        for j, (x, height) in enumerate(zip(point.tolist(), heights.tolist(), strict=True)):
            moved = self.old[j] - x
            if moved > 0:
                k = min(int(moved + 1e-9), self.old[j] - 1)
                total = self.problem.total[j]
                if total[k] + (total[k + 1] - total[k]) * (moved - k) > height + _SETTLED * value:
                    added += self._add(j, k)
        return added

    def surround(self, point: npt.NDArray[Any]) -> int:
        """Add tangents around a solution; return how many are new."""
        added = 0
        for j, x in enumerate(point.ravel().tolist()):
            k = math.floor(self.old[j] - x)
            if k >= _AROUND[0]:
                added += sum([self._add(j, k + step) for step in _AROUND])
        return added

    def matrix(self, unit: float, width: int) -> tuple[Any, Floats]:
        """Return the tangents as rows -slope new - height <= right, costs multiplied by `unit`.

        A next record that alone would cost more than the best solution may not leave, so its tangent is left out.
        """
        from scipy.sparse import csr_array

        rows = []
        for j, k in sorted(self.known):
            total = self.problem.total[j]
            slope = (total[k + 1] - total[k]) * unit
            if slope >= _SMALLEST and total[k + 1] * unit <= _SCALE * (1 + 1e-9):
                rows.append((j, slope, -(total[k] * unit + slope * (self.old[j] - k))))
        place = np.array([row[0] for row in rows], dtype=np.int64)
        count = np.arange(len(rows))
        data = np.concatenate([[-row[1] for row in rows], np.full(len(rows), -1.0)])
        columns = np.concatenate([place, place + len(self.old)])
        matrix = csr_array((data, (np.concatenate([count, count]), columns)), shape=(len(rows), width))
        return matrix, np.array([row[2] for row in rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What HiGHS answers, in the costs' own unit; `counts` are rounded, `point` and `heights` are not.

    The prices are what one record more of each cell would cost, in a relaxation.
    """

    infeasible: bool = False
    bound: float = 0.0
    counts: Ints | None = None
    point: Floats | None = None
    heights: Any = None
    prices: Any = None
    nodes: int = 0


class System:
    """The linear rows of one choice of alternatives. Unknowns: counts, heights (scaled costs), multipliers."""

    def __init__(self, problem: CountProblem, choice: Choice) -> None:
        self.problem, self.choice = problem, choice
        self.old = problem.old.ravel()
        self.point: npt.NDArray[Any] = self.old
        self.size = self.old.size
        self.multipliers = linear_rows(problem, choice).multipliers
        self.width = 2 * self.size + len(self.multipliers)
        self.objective = np.repeat([0.0, 1.0, 0.0], [self.size, self.size, len(self.multipliers)])

    def rows(self, margin: float = 0.0) -> tuple[Any, Floats, Floats] | None:
        """Return the rows and their limits, None where they are impossible; multipliers come after the heights."""
        from scipy.sparse import csr_array

        rows = linear_rows(self.problem, self.choice, margin)
        if rows.impossible:
            return None
        heights = np.zeros((len(rows.matrix), self.size))
        every = [rows.matrix[:, : self.size], heights, rows.matrix[:, self.size :]]
        return csr_array(np.hstack(every)), rows.low, rows.high

    def fewest_changes(self, options: dict[str, Any], margin: float = 0.0) -> Answer:
        """Return feasible counts with nearly the fewest changes; the margin tightens the rows."""
        from scipy.sparse import csr_array

        every = np.arange(self.size)
        ones = np.full(2 * self.size, -1.0)
        cuts = csr_array((ones, (np.tile(every, 2), np.arange(2 * self.size))), shape=(self.size, self.width))
        return self._run(cuts, -self.old.astype(float), math.inf, options | {"mip_rel_gap": 0.2}, margin)

    def relaxation(self, tangents: Tangents, value: float) -> Answer:
        """Solve the linear relaxation."""
        from scipy.optimize import linprog
        from scipy.sparse import vstack

        unit, rows = _SCALE / value, self.rows()
        if rows is None:
            return Answer(infeasible=True)
        cuts, right = tangents.matrix(unit, self.width)
        matrix, low, high = rows
        same, above, below = low == high, np.isfinite(high) & (low < high), np.isfinite(low) & (low < high)
        found = linprog(
            self.objective,
            A_ub=vstack([matrix[above], -matrix[below], cuts]),
            b_ub=np.concatenate([high[above], -low[below], right]),
            A_eq=matrix[same],
            b_eq=low[same],
            bounds=np.column_stack(self._limits(value)),
            method="highs-ds",
        )
        if found.status != 0:  # 2: infeasible
            return Answer(infeasible=found.status == 2)
        self.point = found.x[: self.size]
        return Answer(
            bound=found.fun / unit,
            point=self.point,
            heights=found.x[self.size : 2 * self.size] / unit,
            prices=found.eqlin.marginals / unit,  # the first rows are the cells'
        )

    def program(self, tangents: Tangents, value: float, options: dict[str, Any], margin: float) -> Answer:
        """Solve the integer program."""
        unit = _SCALE / value
        answer = self._run(*tangents.matrix(unit, self.width), value, options, margin)
        return replace(answer, bound=answer.bound / unit)

    def _limits(self, value: float) -> tuple[Floats, Floats]:
        """Return the limits of all unknowns in solutions that cost at most `value`: few enough records leave."""
        limit = value * (1 + 1e-9)
        most = [int(np.searchsorted(total, limit, side="right")) - 1 for total in self.problem.total]
        cells = np.repeat(self.problem.old.sum(axis=1), self.problem.n_groups)
        multipliers = np.array(self.multipliers, dtype=float)
        low = np.concatenate([self.old - np.array(most), np.zeros(self.size), np.ones(multipliers.size)])
        return low, np.concatenate([cells, np.full(self.size, np.inf), multipliers])

    def _run(self, cuts: Any, right: Floats, value: float, options: dict[str, Any], margin: float) -> Answer:
        from scipy.optimize import Bounds, LinearConstraint, milp

        rows = self.rows(margin)
        if rows is None:
            return Answer(infeasible=True)

        def answered(**more: Any) -> Any:
            return milp(
                self.objective,
                integrality=1 - self.objective,
                bounds=Bounds(*self._limits(value)),
                constraints=[LinearConstraint(*rows), LinearConstraint(cuts, -np.inf, right)],
                options=options | more,
            )

        found = answered()
        if found.status == 4:  # an error: its presolve fails on some problems with many equal costs
            found = answered(presolve=False)
        nodes, bound = int(getattr(found, "mip_node_count", None) or 0), getattr(found, "mip_dual_bound", None) or 0.0
        if found.x is None:  # status 2: infeasible
            return Answer(infeasible=found.status == 2, bound=bound if math.isfinite(bound) else 0.0, nodes=nodes)
        counts = np.rint(found.x[: self.size]).astype(np.int64).reshape(self.problem.old.shape)
        return Answer(bound=max(0.0, float(bound)), counts=counts, nodes=nodes)


_CLOSED = 2e-10
"""Relative gap at which a search ends, well within what the certificate asks for."""

_MOST_NODES = 20_000
"""Nodes of integer programs, and programs, that one search may take: a bound that does not depend on the machine."""


def solve_counts(problem: CountProblem, *, seconds: float) -> CountOutcome:
    """Return the cheapest counts with their lower bound.

    The search may take so many seconds, infinitely many for what does not depend on the machine: it ends after
    `_MOST_NODES` in any case; afterwards the best counts so far are returned with the bound reached.
    """
    search = _Search(problem, time.perf_counter() + seconds)
    bound = search.start()
    if problem.surely_possible():
        bound = 0.0  # whatever HiGHS says
    if search.best is not None:
        run = search.enumerate if is_one_row_set(problem) else search.run
        bound = rescaled(lambda: search.value, run, search.over)
    return CountOutcome(counts=search.best, bound=bound)


def relaxed_bound(problem: CountProblem, counts: Ints) -> float:
    """Return the lower bound of the linear relaxation, given feasible counts."""
    search = _Search(problem, math.inf)
    search.accept(counts)
    search.tangents.spread(search.value)
    return search.relax(())


class _Search:
    """Best-first search over the alternatives; the tangents are shared by all of them."""

    def __init__(self, problem: CountProblem, deadline: float) -> None:
        self.problem, self.deadline = problem, deadline
        self.best: Ints | None = None
        self.value = math.inf
        self.tangents = Tangents(problem)
        self.systems: dict[Choice, System] = {}
        self.nodes = _MOST_NODES
        self.prices: Any = None

    def left(self) -> dict[str, Any]:
        """Return what HiGHS may still take: seconds of this machine, and nodes on any."""
        options: dict[str, Any] = {"node_limit": max(self.nodes, 1), "mip_rel_gap": 0.0}
        if math.isfinite(self.deadline):
            options["time_limit"] = self.deadline - time.perf_counter()
        return options

    def over(self) -> bool:
        """Tell whether the search must end."""
        return self.nodes <= 0 or self.deadline <= time.perf_counter()

    def counted(self, answer: Answer) -> Answer:
        """Count what an answer took."""
        self.nodes -= 1 + answer.nodes
        return answer

    def system(self, choice: Choice) -> System:
        if choice not in self.systems:
            self.systems[choice] = System(self.problem, choice)
        return self.systems[choice]

    def start(self) -> float:
        """Look for feasible counts with few changes; return inf if there are none, else a bound of 0."""
        everywhere = True
        for choice in self.problem.choices():
            if self.over():
                return 0.0
            system = self.system(choice)
            answer = self.counted(system.fewest_changes(self.left()))
            if self.accept(answer.counts):
                return 0.0
            # the counts may break a constraint by a hair
            if answer.counts is not None and self.accept(system.fewest_changes(self.left(), TIGHTENING).counts):
                return 0.0
            everywhere &= answer.infeasible
        return math.inf if everywhere else 0.0

    def accept(self, counts: Ints | None) -> bool:
        """Keep counts that meet every constraint, if they are the cheapest so far; tell whether they do."""
        if counts is None or not self.problem.meets(counts):
            return False
        value = self.problem.cost_of(counts)
        if value < self.value:
            self.best, self.value = counts, value
        return True

    def enumerate(self) -> float:
        """Solve a single row set by enumeration, and by integer programs only where that lists too much."""
        self.tangents.spread(self.value)
        self.relax(())
        found = None
        if self.prices is not None:
            positive = int(np.flatnonzero(self.problem.rates[0].positive)[0])
            multipliers = float(self.prices[positive]), float(self.prices[1 - positive])
            found = cheapest_counts(self.problem, multipliers, self.value, self.deadline)
        if found is None:
            return self.run()
        self.accept(found[0])
        return min(found[1], self.value)

    def run(self) -> float:
        """Search all choices; return the lower bound on the objective."""
        self.tangents.spread(self.value)
        alternatives, number, closed = self.problem.alternatives(), itertools.count(), math.inf
        heap: list[tuple[float, int, Choice]] = [(self.relax(()), next(number), ())]
        while heap and heap[0][0] < self.value * (1 - _CLOSED) and not self.over():
            bound, _, choice = heapq.heappop(heap)
            if len(choice) == len(alternatives):
                closed = min(closed, max(bound, self.integer(choice)))
                continue
            for alternative in alternatives[len(choice)]:
                further = (*choice, alternative)
                heapq.heappush(heap, (max(bound, self.relax(further)), next(number), further))
        return min(closed, self.value, *(bound for bound, _, _ in heap))

    def relax(self, choice: Choice) -> float:
        """Settle the linear relaxation; return its value, or the best solution's where nothing below it is left."""
        bound, system = 0.0, self.system(choice)
        while not self.over():
            answer = self.counted(system.relaxation(self.tangents, self.value))
            if answer.infeasible:
                return self.value
            if answer.point is None:
                break
            bound, self.prices = max(bound, answer.bound), answer.prices
            if not self.tangents.separate(answer.point, answer.heights, self.value):
                break
        return bound

    def integer(self, choice: Choice) -> float:
        """Solve the integer program, adding tangents at its solutions; return its lower bound."""
        system, bound, margin = self.system(choice), 0.0, 0.0
        self.tangents.surround(system.point)
        while not self.over():
            answer = self.counted(system.program(self.tangents, self.value, self.left(), margin))
            if answer.infeasible:
                return bound if margin else self.value
            if not margin:
                bound = max(bound, answer.bound)
            if answer.counts is None or bound >= self.value * (1 - _CLOSED):
                break
            before = self.value
            if self.accept(answer.counts):
                closed = bound >= self.value * (1 - _CLOSED)
                if closed or not (self.tangents.surround(answer.counts) or self.value < before * (1 - _CLOSED)):
                    break
            elif margin:
                break
            else:
                margin = TIGHTENING
        return min(bound, self.value)
