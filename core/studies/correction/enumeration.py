"""Exact search of one row set's counts between a Lagrangian bound and the optimum.

With one row set, a group's counts are a point (a, b): its records predicted 1 and 0. The groups are tied together by
two sums only, sum a = P and sum b = M. For any multipliers x and y of these,

    objective = L + sum over g of r_g(a_g, b_g),    L = sum over g of min f_g + x P + y M,
    f_g(a, b) = F_1g + F_0g - x a - y b,            r_g = f_g - min f_g >= 0,

the minimum being over the points the tolerance and the shares allow group g. So the optimum only uses points with
r_g <= objective - L. Take a budget, list each group's points within it (for each a, f_g is convex in b: an interval),
add the groups up to the sums they can reach at least r, in two halves, and match the halves. The cheapest match is
the optimum; if there is none, the objective exceeds L + budget, and the budget is raised. Nothing is left to a
solver: the multipliers may come from anywhere, they only decide how much there is to list.

An exact unfairness is one more bit of a sum: whether some group attains the lower limit.
"""

from __future__ import annotations

import time

import numpy as np

from ...base.validation import Floats, Ints, Mask
from .counts import CountProblem, Rate

_MOST_POINTS = 20_000
"""Points of one group beyond which the search gives up."""

_MOST_SUMS = 2_000_000
"""Sums formed in all beyond which the search gives up (somewhat less than a second)."""

_FIRST_POINTS = 12
"""Points a group, on average, with which the first budget is taken."""

_ROUNDING = 1e-15
"""Relative rounding error of a group's costs and multipliers."""

_TRUSTED = 1e-10
"""Relative rounding error of the objective above which the search is not trusted."""


class _TooMany(Exception):
    """There is more to list than is worth it."""


_Points = tuple[Ints, Floats]
"""Points, or sums of points: a, b and whether the lower limit is attained in one number (see `_key`), and r.

Points come by rising r, sums by rising number.
"""

_Sums = tuple[_Points, list[tuple[int, Ints, Ints, Ints]]]
"""Sums of some groups' points, least r for each; of each group, with the sum and the point that each sum comes from."""


def is_one_row_set(problem: CountProblem) -> bool:
    """Tell whether the counts are those of one row set with both predictions."""
    if len(problem.rates) != 1 or problem.old.shape[0] != 2:
        return False
    rate = problem.rates[0]
    return bool(rate.inside.all()) and 0 < rate.positives < rate.n


def cheapest_counts(
    problem: CountProblem, multipliers: tuple[float, float], value: float, deadline: float
) -> tuple[Ints | None, float] | None:
    """Return the cheapest counts below a known objective, and the lower bound; None where it is of no use.

    The multipliers are what a record predicted 1, and one predicted 0, costs at the margin; the deadline is on
    `time.perf_counter`. The counts are None where nothing is cheaper than the `value` of known ones.
    """
    # f_g of every group, with x and y the multipliers of sum a = P and sum b = M.
    groups = [_GroupPoints(problem, g, multipliers) for g in range(problem.n_groups)]
    rate = problem.rates[0]
    total = rate.positives, rate.n - rate.positives
    # L = sum over g of min f_g + x P + y M: the Lagrangian bound.
    least = (
        sum(group.least for group in groups) + multipliers[0] * total[0] + multipliers[1] * total[1]
    )
    size = abs(least) + sum(abs(x) * most for x, most in zip(multipliers, total, strict=True))
    # L is a difference of large numbers; where rounding would decide, nothing is proved here.
    if size * _ROUNDING > value * _TRUSTED:
        return None
    # Counts of this value are at hand, so no point with r_g > value - L is of use.
    full_budget = max(value - least, 0.0)
    try:
        work = [0]
        budget = _first_budget(groups, full_budget)
        while time.perf_counter() < deadline:
            # A match of least r within the budget is the optimum: objective = L + r.
            match = _match(problem, groups, budget, work)
            if match is not None:
                counts, r = match
                return counts, min(least + r, problem.cost_of(counts))
            # None up to the value itself: the counts at hand are the optimum.
            if budget >= full_budget * (1 + 1e-9):
                return None, value
            budget = min(1.6 * budget, full_budget * (1 + 1e-8))
    except _TooMany:
        pass
    return None


class _GroupPoints:
    """One group's allowed points, by a: the interval of b, and f as u(a) + w(b)."""

    def __init__(self, problem: CountProblem, g: int, multipliers: tuple[float, float]) -> None:
        rate = problem.rates[0]
        k = problem.n_groups
        positive = int(np.flatnonzero(rate.positive)[0])
        if problem.sizes is None:
            sizes = (0, rate.n)
        else:
            sizes = problem.sizes[g]
        self.rate = rate
        self.a = np.arange(rate.positives + 1, dtype=np.int64)
        self.low, self.high = _interval(rate, self.a, sizes)
        old_counts = [int(problem.old[c, g]) for c in (positive, 1 - positive)]
        totals = [problem.total[c * k + g] for c in (positive, 1 - positive)]
        # u(a) = F_1g(old - a) - x a and w(b) = F_0g(old - b) - y b, so f_g(a, b) = u(a) + w(b).
        self.u = _penalty(totals[0], old_counts[0], rate.positives) - multipliers[0] * self.a
        w = _penalty(totals[1], old_counts[1], rate.n - rate.positives)
        w -= multipliers[1] * np.arange(w.size)
        self.w = w
        self.turn = int(w.argmin())
        # w is convex; running minima from both ends towards the turn take the rounding out of that.
        self.falling = np.minimum.accumulate(w[: self.turn + 1])
        self.rising = np.minimum.accumulate(w[self.turn :][::-1])[::-1]
        self.possible = self.low <= self.high
        # min over b of f_g for each a: w is least at its turn, clipped to the allowed interval of b.
        best = np.full(self.a.size, np.inf)
        nearest = np.clip(self.turn, self.low, np.maximum(self.low, self.high))[self.possible]
        best[self.possible] = self.u[self.possible] + w[nearest]
        self.best = best
        self.least = float(best.min())

    def intervals(self, budget: float) -> tuple[Ints, Ints, Ints]:
        """Return the a, and the first and last b, of the points with r within the budget (or a hair above)."""
        # r_g(a, b) <= budget exactly when w(b) <= min f_g + budget - u(a): around the turn of w an
        # interval, found by bisection on its falling and its rising branch.
        a = np.flatnonzero(self.best <= self.least + budget)
        room = self.least + budget - self.u[a]
        first = np.searchsorted(-self.falling, -room, side="left")
        last = self.turn + np.searchsorted(self.rising, room, side="right") - 1
        return a, np.maximum(first, self.low[a]), np.minimum(last, self.high[a])

    def count(self, budget: float) -> int:
        """Return how many points there are within a budget."""
        _, first, last = self.intervals(budget)
        return int(np.maximum(last - first + 1, 0).sum())

    def points(self, budget: float) -> _Points:
        """List the points within a budget by rising r."""
        a, first, last = self.intervals(budget)
        width = np.maximum(last - first + 1, 0)
        if width.sum() > _MOST_POINTS:
            raise _TooMany
        a = np.repeat(a, width)
        start = np.repeat(first, width)
        # Every b of every interval, one after the other, then r_g = f_g - min f_g.
        b = start + np.arange(a.size) - np.repeat(np.cumsum(width) - width, width)
        r = np.maximum(self.u[a] + self.w[b] - self.least, 0.0)
        order = np.argsort(r, kind="stable")
        # D = N a - P (a + b), which attains the lower limit where |D| > lower N m.
        gap = np.abs(self.rate.n * a - self.rate.positives * (a + b))
        attained = gap > self.rate.lower * self.rate.n * (a + b)
        return _key(a, b, attained)[order], r[order]


def _penalty(total: Floats, old_count: int, most: int) -> Floats:
    """Return F for every count from 0 to the most."""
    return np.concatenate([total[::-1], np.zeros(most - old_count)])


def _interval(rate: Rate, a: Ints, sizes: tuple[int, int]) -> tuple[Ints, Ints]:
    """Return the smallest and largest b with |D| <= upper N m, m >= 1 and m within the sizes."""
    positives = rate.positives
    negatives = rate.n - rate.positives
    slack = rate.upper * rate.n

    def holds(b: Ints, sign: int) -> Mask:
        allowed: Mask = sign * (a * negatives - b * positives) <= slack * (a + b)
        return allowed

    # a M - b P <= t N (a + b) solved for b, one below the rounded quotient, then the exact test.
    low = (
        np.ceil(a * max(0.0, (negatives - slack) / (positives + slack))).astype(np.int64) - 1
    )  # D <= upper N m
    low = np.maximum(low, 0)
    for _ in range(2):
        low += ~holds(low, 1)
    # b P - a M <= t N (a + b): no bound on b where P <= t N.
    high = np.full(a.size, negatives, dtype=np.int64)  # -D <= upper N m
    if positives > slack:
        limit = np.minimum(a * ((negatives + slack) / (positives - slack)), negatives)
        high = np.minimum(np.floor(limit).astype(np.int64) + 1, negatives)
        for _ in range(2):
            high -= ~holds(high, -1)
    # Each group keeps a record, and its known share: sizes[0] <= a + b <= sizes[1].
    low = np.maximum(low, max(1, sizes[0]) - a)
    return low, np.minimum(high, sizes[1] - a)


def _first_budget(groups: list[_GroupPoints], full_budget: float) -> float:
    """Return the largest of the budgets full_budget / 4^i that lists few points."""
    budget = full_budget * (1 + 1e-8)
    most = _FIRST_POINTS * len(groups)
    for _ in range(40):
        if sum(group.count(budget) for group in groups) <= most:
            break
        budget /= 4
    return budget


def _match(
    problem: CountProblem, groups: list[_GroupPoints], budget: float, work: list[int]
) -> tuple[Ints, float] | None:
    """Return the counts of least r within the budget, and r; None when there are none. `work` counts the sums."""
    listed = [group.points(budget) for group in groups]
    order = sorted(range(len(groups)), key=lambda g: listed[g][1].size)
    # Two halves of the groups, small and large lists in turn: sums of each, then pairs of sums.
    halves = []
    for half in (order[::2], order[1::2]):
        points_of_half = [(g, listed[g]) for g in half]
        halves.append(_added(points_of_half, budget, work))
    pair = _cheapest_pair(problem.rates[0], halves[0][0], halves[1][0], budget)
    if pair is None:
        return None
    counts = np.zeros_like(problem.old)
    positive = int(np.flatnonzero(problem.rates[0].positive)[0])
    # Back along the sums to the point (a, b) of each group.
    for (_, parents), index in zip(halves, pair[:2], strict=True):
        for g, parent, point, keys in reversed(parents):
            counts[positive, g], counts[1 - positive, g] = _counts(keys[point[index]])
            index = int(parent[index])
    return counts, pair[2]


def _added(listed: list[tuple[int, _Points]], budget: float, work: list[int]) -> _Sums:
    """Add up some groups' points; keep the least r of every sum."""
    sums = np.zeros(1, dtype=np.int64)
    r = np.zeros(1)
    parents = []
    for g, (keys, point_r) in listed:
        # r adds up and is never negative: only points with r_g <= budget - r of the sum so far go on.
        many = np.searchsorted(point_r, budget - r, side="right")
        work[0] += int(many.sum())
        if work[0] > _MOST_SUMS:
            raise _TooMany
        parent = np.repeat(np.arange(many.size), many)
        point = np.arange(parent.size) - np.repeat(np.cumsum(many) - many, many)
        # a and b add up, and one group that attains the lower limit is enough.
        attained = (sums[parent] | keys[point]) & 1
        key = (sums[parent] // 2 + keys[point] // 2) * 2 + attained
        total = r[parent] + point_r[point]
        # Of sums with equal (a, b, attained) the cheapest is enough.
        cheapest = _least_of_equal(key, total)
        sums = key[cheapest]
        r = total[cheapest]
        parents.append((g, parent[cheapest], point[cheapest], keys))
    return (sums, r), parents


def _key(a: Ints, b: Ints, attained: Mask) -> Ints:
    """Return one number a point or sum."""
    return (a * 2**31 + b) * 2 + attained


def _counts(key: Ints) -> tuple[Ints, Ints]:
    """Return a and b of such numbers."""
    return np.divmod(key // 2, 2**31)


def _least_of_equal(key: Ints, r: Floats) -> Ints:
    """Return the places of the least r of every sum, by rising key."""
    order = np.lexsort((r, key))
    key = key[order]
    first = np.ones(key.size, dtype=np.bool_)
    first[1:] = key[1:] != key[:-1]
    return order[first]


def _cheapest_pair(
    rate: Rate, left: _Points, right: _Points, budget: float
) -> tuple[int, int, float] | None:
    """Return the places of the cheapest left and right sums that make up P and M, and their r."""
    left_keys, left_r = left
    keys, right_r = right
    if left_r.size == 0 or right_r.size == 0:
        return None
    # A right sum must bring what the left one lacks of P and M.
    a, b = _counts(left_keys)
    need_a = rate.positives - a
    need_b = rate.n - rate.positives - b
    best: tuple[int, int, float] | None = None
    for attained in (False, True):
        needed_keys = _key(need_a, need_b, np.full(left_r.size, attained))
        index = np.minimum(np.searchsorted(keys, needed_keys), keys.size - 1)
        # With a lower limit, some group of either half has to attain it.
        enough = (left_keys % 2 == 1) | attained | (rate.lower <= 0)
        fits = np.flatnonzero((keys[index] == needed_keys) & (need_a >= 0) & (need_b >= 0) & enough)
        if fits.size:
            r = left_r[fits] + right_r[index[fits]]
            i = int(r.argmin())
            if r[i] <= budget and (best is None or r[i] < best[2]):
                best = int(fits[i]), int(index[fits[i]]), float(r[i])
    return best
