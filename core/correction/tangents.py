"""Certified correction of the counts by tangent cuts, with HiGHS.

Each F_cg is bounded below by its tangents, F(k) + (cost of the next record) (outflow - k): valid everywhere and exact
at whole counts k. Tangents are added where they are violated: first in the linear relaxation until it is settled, then
around its solution in the integer program, whose dual bound then bounds the objective from below. Costs are scaled by
the objective of a feasible solution, and groups keep at least the records that alone would cost more, because raw
costs may span eighteen magnitudes. Where an exact unfairness can be attained in several ways, they are searched in the
order of their relaxations, and those whose bound exceeds the best solution are left out.

On a single row set the relaxation only gives multipliers to `core.correction.enumeration`, which proves the optimum
without HiGHS; the integer program is left with what that would take too long to list (many equal costs).

Counts are handed on only if they meet every constraint in integers; HiGHS is believed for its lower bound alone.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable

from core.arrays import Ints
from core.correction.counts import CountOutcome, CountProblem
from core.correction.enumeration import cheapest_counts, is_one_row_set
from core.correction.programs import TIGHTENING, Answer, Choice, Left, System, Tangents

_CLOSED = 2e-10
"""Relative gap at which a search ends, well within what the certificate asks for."""

_MUCH = 4.0
"""Fall of the objective after which a bound found at the old scale is not trusted, and the search is repeated."""

_MOST_NODES = 20_000
"""Nodes of integer programs, and programs, that one search may take: a bound that does not depend on the machine."""


def solve_counts(problem: CountProblem, *, seconds: float) -> CountOutcome:
    """Return the cheapest counts with their lower bound.

    The search may take so many seconds, infinitely many for what does not depend on the machine: it ends after
    `_MOST_NODES` in any case; afterwards the best counts so far are returned with the bound reached.
    """
    if problem.meets(problem.old):
        return CountOutcome(counts=problem.old.copy(), bound=0.0)
    if any(rate.impossible(problem.n_groups) for rate in problem.rates):
        return CountOutcome(counts=None, bound=math.inf)
    search = _Search(problem, time.perf_counter() + seconds)
    bound = search.start()
    if problem.surely_possible():
        bound = 0.0  # whatever HiGHS says
    if search.best is not None:
        bound = search.settle(search.enumerate if is_one_row_set(problem) else search.run)
    return CountOutcome(counts=search.best, bound=bound)


class _Search:
    """Best-first search over the alternatives; the tangents are shared by all of them."""

    def __init__(self, problem: CountProblem, deadline: float) -> None:
        self.problem, self.deadline = problem, deadline
        self.best: Ints | None = None
        self.value = math.inf
        self.tangents = Tangents(problem)
        self.systems: dict[Choice, System] = {}
        self.nodes = _MOST_NODES

    def left(self) -> Left:
        return Left(self.deadline - time.perf_counter(), max(self.nodes, 1))

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
            if self.accept(answer.counts) or self.accept(system.tightened_changes(answer, self.left())):
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

    def settle(self, run: Callable[[], float]) -> float:
        """Search again as long as the objective, and with it the scale of the costs, falls by much."""
        bound, before = 0.0, math.inf
        while self.value < before / _MUCH and not self.over():
            before = self.value
            self.tangents.spread(self.value)
            bound = run()
        return bound if self.value >= before / _MUCH else 0.0

    def enumerate(self) -> float:
        """Solve a single row set by enumeration, and by integer programs only where that lists too much."""
        self.relax(())
        multipliers = self.system(()).multipliers(self.tangents, self.value)
        found = None
        if multipliers is not None:
            found = cheapest_counts(self.problem, multipliers, self.value, self.deadline)
        if found is None:
            return self.run()
        self.accept(found[0])
        return min(found[1], self.value)

    def run(self) -> float:
        """Search all choices; return the lower bound on the objective."""
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
            bound = max(bound, answer.bound)
            if not self.tangents.separate(answer.point, answer.heights, self.value):
                break
        return bound

    def integer(self, choice: Choice) -> float:
        """Solve the integer program, adding tangents at its solutions; return its lower bound."""
        system, bound, margin = self.system(choice), 0.0, 0.0
        self.tangents.surround(system.point)
        while not self.over():
            answer = self.counted(system.program(self.tangents, self.value, self.left(), margin=margin))
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
