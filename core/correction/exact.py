"""Exact correction for two groups: sorting, cumulated costs and one pass over the counts.

An optimum never changes guesses in both directions among records with the same prediction, so its cost is
F(a) + G(b), with F and G the cumulated sorted costs to the left and right of today's counts a0 and b0.

Full pass. For a fixed a every constraint bounds b from one side, so the allowed b form an interval; G is convex with
its minimum 0 at b0, so the best b is b0 clipped to that interval. All a from 0 to P are tried at once. Group shares
limit the group's size m = a + b, an interval for b as well. An unfairness above `lower` means |D| > lower N min(m, N -
m): b leaves a hole, the interval where the lower limit would be met as a tolerance (b too large above it, too small
below), so that the allowed b form two intervals.

Short search, for a tolerance alone. Let group 1's rate be too low (D < 0; else exchange the groups). "High enough"
means -D <= t N min(m, N - m); it holds for all b up to a limit h(a) that does not fall as a grows. Raising a by x and
lowering b by y is the natural repair: X is the smallest x that is enough with y = 0, Y the smallest y with x = 0. Only
the X cheapest records of one cell and the Y cheapest of another are selected, and with V the cheapest allowed pair (x,
y) among them, every solution left out costs at least one of:

    a < a0:      one change there, and b <= h(a) <= h(a0), so Y changes:    cheapest + G(Y)
    b > b0:      one change there, and h(a) > b0, so at least X changes:     cheapest + F(X)
    x > X:       the whole prefix and one more record as dear as its last:   F(X) + last
    y > Y:       likewise                                                    G(Y) + last

V is the optimum if it is at most each of these; otherwise (at tiny tolerances, where divisibility decides) the full
pass is made. The objective is the same either way.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.arrays import Floats, Ints, Mask
from core.correction.problem import Counts, Outcome, RowProblem, flip_cheapest


def solve_rows(problem: RowProblem) -> Outcome:
    """Return the cheapest reconstruction of a row set, or a bound of inf when there is none."""
    counts = problem.counts()
    if counts.n < 2:
        return Outcome(vector=None, bound=math.inf)
    if counts.allowed(counts.a, counts.b):
        return Outcome(vector=problem.guess.copy(), bound=0.0)
    short = _short_search(problem, counts)
    return full_search(problem, counts) if short is None else short


def solve_rows_within(problem: RowProblem, *, lower: float, upper: float, sizes: tuple[int, int]) -> Outcome:
    """Return the cheapest reconstruction of a row set within limits on its unfairness and on group 1's records.

    The problem's own tolerance is not used; the unfairness must exceed `lower` where that is above 0.
    """
    counts = replace(problem.counts(), slack=upper * problem.guess.size)
    if counts.n < 2:
        return Outcome(vector=None, bound=math.inf)
    return full_search(problem, counts, hole=lower * counts.n, sizes=sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """The natural repairs of a row set: counts only, whatever the costs.

    Cells that x and y changed records come from; X and Y; for x = 0..X the fewest y, and whether (x, y) is allowed.
    """

    raised: tuple[int, int]
    lowered: tuple[int, int]
    x_limit: int
    y_limit: int
    y: Ints
    allowed: Mask


def repairs(counts: Counts) -> Repairs | None:
    """List the natural repairs of counts that are not allowed; None where a group is empty today."""
    if not 1 <= counts.a + counts.b <= counts.n - 1:
        return None
    group = 1 if counts.gap(counts.a, counts.b) < 0 else 0  # the group whose rate is too low
    own = counts if group else counts.swapped()
    # X and Y: once enough, more is enough
    x_limit = bisect_left(range(own.positives - own.a), True, key=lambda x: own.high_enough(own.a + x, own.b))
    y_limit = bisect_left(range(own.b), True, key=lambda y: own.high_enough(own.a, own.b - y))
    a = np.arange(own.a, own.a + x_limit + 1, dtype=np.int64)
    b = np.minimum(highest_b(own, a), own.b)
    return Repairs(
        raised=(1, 1 - group),
        lowered=(0, group),
        x_limit=x_limit,
        y_limit=y_limit,
        y=own.b - b,
        allowed=own.allowed(a, b),
    )


def best_repair(plan: Repairs, raise_cost: Floats, lower_cost: Floats, cheapest: Any) -> tuple[Ints, Floats, Mask]:
    """Return the cheapest natural repair: x, its cost (inf if none is allowed), and whether it is surely the optimum.

    The cheapest X and Y costs of the two cells come in rising order along the last axis; leading axes are independent
    problems, each with a lower bound on every cost, `cheapest`.
    """
    up, down = cumulated(raise_cost), cumulated(lower_cost)
    total = np.where(plan.allowed, up + down[..., plan.y], np.inf)
    x = np.asarray(total.argmin(axis=-1))
    value = np.take_along_axis(total, x[..., None], axis=-1)[..., 0]
    last = [cost[..., -1] if cost.shape[-1] else cheapest for cost in (raise_cost, lower_cost)]
    left_out = np.minimum(up[..., -1] + np.maximum(last[0], cheapest), down[..., -1] + np.maximum(last[1], cheapest))
    left_out = np.minimum(left_out, np.minimum(up[..., -1], down[..., -1]) + cheapest)
    return x, value, value <= left_out


def allowed_interval(counts: Counts, a: Ints) -> tuple[Ints, Ints]:
    """Return the smallest and largest allowed b for each a; the first exceeds the second where there is none."""
    highest = highest_b(counts, a)
    mirrored = counts.swapped()
    lowest = counts.negatives - highest_b(mirrored, counts.positives - a)  # group 0 is high enough
    lowest = np.where(a == 0, np.maximum(lowest, 1), lowest)
    highest = np.where(a == counts.positives, np.minimum(highest, counts.negatives - 1), highest)
    return lowest, highest


def full_pass(
    counts: Counts,
    a_cost: tuple[Floats, Floats],
    b_cost: tuple[Floats, Floats],
    *,
    hole: float = 0.0,
    sizes: tuple[int, int] | None = None,
) -> tuple[int, int, float] | None:
    """Return the cheapest allowed (a, b) and its cost, or None when there is none.

    The costs are pairs: sorted costs of the records that can leave and that can join group 1, among those predicted 1
    (`a_cost`) and 0. The unfairness must exceed hole / N where that is above 0; `sizes` limit group 1's records.
    """
    a = np.arange(counts.positives + 1, dtype=np.int64)
    low, high = allowed_interval(counts, a)
    if sizes is not None:
        low, high = np.maximum(low, sizes[0] - a), np.minimum(high, sizes[1] - a)
    intervals = [(low, high)]
    if hole > 0:
        fair = replace(counts, slack=hole)
        first = counts.negatives - highest_b(fair.swapped(), counts.positives - a)
        intervals = [(low, np.minimum(high, first - 1)), (np.maximum(low, highest_b(fair, a) + 1), high)]
    # Objective (6) of RC_e; by Theorem 1 its optima are those of RC. The records behind counts are the cheapest.
    of_a, of_b = _two_sided(a_cost), _two_sided(b_cost)
    best: tuple[int, int, float] | None = None
    for lowest, highest in intervals:
        possible = np.flatnonzero(lowest <= highest)
        if possible.size == 0:
            continue
        b = np.clip(counts.b, lowest[possible], highest[possible])
        total = of_a[possible] + of_b[b]
        i = int(total.argmin())
        if best is None or total[i] < best[2]:
            best = int(possible[i]), int(b[i]), float(total[i])
    return best


def _short_search(problem: RowProblem, counts: Counts) -> Outcome | None:
    plan = repairs(counts)
    if plan is None:
        return None
    cells = [problem.cell(*plan.raised), problem.cell(*plan.lowered)]
    prefixes = [_cheapest(problem.cost, cell, k) for cell, k in zip(cells, (plan.x_limit, plan.y_limit), strict=True)]
    x, value, certain = best_repair(plan, prefixes[0], prefixes[1], problem.cost.min())
    if not certain or not np.isfinite(value):
        return None
    vector = problem.guess.copy()
    for cell, prefix, k in zip(cells, prefixes, (int(x), int(plan.y[x])), strict=True):
        flip_cheapest(vector, cell, problem.cost, k, prefix[k - 1] if k else 0.0)
    return Outcome(vector=vector, bound=float(value))


def full_search(problem: RowProblem, counts: Counts, **more: Any) -> Outcome:
    """Sort all four cells and let `full_pass`, which is told more, find the counts."""
    cells = {(p, g): problem.cell(p, g) for p in (0, 1) for g in (0, 1)}
    costs = {key: np.sort(problem.cost[cell]) for key, cell in cells.items()}
    found = full_pass(counts, (costs[1, 1], costs[1, 0]), (costs[0, 1], costs[0, 0]), **more)
    if found is None:
        return Outcome(vector=None, bound=math.inf)
    vector = problem.guess.copy()
    for prediction, change in ((1, found[0] - counts.a), (0, found[1] - counts.b)):
        key, k = (prediction, 0 if change > 0 else 1), abs(change)
        flip_cheapest(vector, cells[key], problem.cost, k, costs[key][k - 1] if k else 0.0)
    return Outcome(vector=vector, bound=found[2])


def highest_b(counts: Counts, a: Ints) -> Ints:
    """Return h(a), the largest b in 0..M for which group 1's rate is high enough.

    -D <= t N m        gives b (P - t N) <= a (M + t N), no bound when P <= t N,
    -D <= t N (N - m)  gives (M - b)(P + t N) >= (P - a)(M - t N), no bound when M <= t N.

    Both are free of cancellation, so the rounded quotient is off by at most one, which the exact test mends.
    """
    positives, negatives, slack = counts.positives, counts.negatives, counts.slack
    bound = np.full(a.shape, float(negatives))
    if positives > slack:
        np.minimum(bound, a * ((negatives + slack) / (positives - slack)), out=bound)
    if negatives > slack and positives > 0:
        np.minimum(bound, negatives - (positives - a) * ((negatives - slack) / (positives + slack)), out=bound)
    b = np.clip(np.floor(bound).astype(np.int64) + 1, 0, negatives)
    for _ in range(2):
        b -= ~counts.high_enough(a, b)
    return b


def _cheapest(cost: Floats, cell: Mask, k: int) -> Floats:
    """Return the k smallest costs of a cell in rising order."""
    inside = np.compress(cell, cost)
    if k < inside.size:
        inside = np.partition(inside, k)[:k]
    inside.sort()
    return inside


def cumulated(cost: Floats) -> Floats:
    """Return 0 and the running sums along the last axis."""
    total = np.zeros((*cost.shape[:-1], cost.shape[-1] + 1))
    np.cumsum(cost, axis=-1, out=total[..., 1:])
    return total


def _two_sided(cost: tuple[Floats, Floats]) -> Floats:
    """Return the cost of every count from 0 on, given the sorted costs of leaving and of joining."""
    leave, join = cost
    return np.concatenate([cumulated(leave)[::-1], np.cumsum(join)])
