"""One row set in whole numbers: the smallest tolerance of K groups, and the exact correction of two.

A row set has N records, P of them predicted 1 and M = N - P predicted 0. A reconstruction puts a of the first and
b of the second into group 1, m = a + b in all. Both groups must be non-empty, and with D = a N - P m (the same for
both groups but for its sign) both groups' rates are within t of the overall rate P/N exactly when

    |D| <= t N min(m, N - m).

D is an exact integer (N up to 10^9). The disclosed tolerance is widened by one part in 10^12, so that a bound such as
1/3 is met by counts that meet it in fractions. Every solver uses this one definition.

A row set has N records, P of them predicted 1; d = gcd(N, P), (q, p) = (N, P)/d. A group with m records, a of them
predicted 1, is the lattice vector (m, a); its rate is a/m. A split into K non-empty groups within t of p/q is a way to
write d (q, p) as a sum of K nonzero lattice vectors in the cone |a/m - p/q| <= t.

If d >= K, K multiples of (q, p) do it: t = 0. Otherwise let the sail be the boundary of the convex hull of the cone's
nonzero lattice vectors. The concave function that is linear on every ray and 1 on the sail is superadditive and at
least 1 on every such vector, so d (q, p) is a sum of at most its value there, and any longer sum can be merged into K
parts (the cone is convex). The value is reached: (q, p) lies between two neighbouring lattice vectors u and v of the
sail, which form a basis of the lattice, and

    (q, p) = D_v u + D_u v,    D_u = q a_u - p m_u > 0,    D_v = p m_v - q a_v > 0,

so exactly d (D_u + D_v) parts are possible. Two vectors of determinant 1 with p/q between their rates are a bracket on
the way from (0/1, 1/1) down to p/q in the Stern-Brocot tree. On that way D_u + D_v, which starts at q, and both
distances fall, so the smallest tolerance is the larger distance of the last bracket with d (D_u + D_v) >= K.

Two groups are corrected by sorting, cumulated costs and one pass over the counts. An optimum never changes guesses in
both directions among records with the same prediction, so its cost is F(a) + G(b), with F and G the cumulated sorted
costs to the left and right of today's counts a0 and b0.

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
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.validation import Codes, Floats, Ints, Mask, binary_array, whole_number
from ...stats.fairness import TOLERANCE_STEP, row_sets

MOST_GROUPS = 20
"""Largest number of groups a correction handles."""


def group_number(value: int) -> int:
    """Return a number of groups if it is a whole number from 2 to `MOST_GROUPS`."""
    return whole_number(value, name="n_groups", least=2, most=MOST_GROUPS)


def smallest_tolerance(
    predictions: npt.ArrayLike,
    *,
    metric: str = "statistical_parity",
    labels: npt.ArrayLike | None = None,
    n_groups: int = 2,
) -> float:
    """Return the smallest tolerance that some split into groups meets, every group non-empty in every row set.

    It lies in [0, 1] and is exact up to rounding; inf where a row set has fewer records than there are groups, of which
    there are 2 to 20. Predictions (n,), 0 or 1, metric and labels are those of `core.stats.fairness.unfairness`.
    """
    predicted = binary_array(predictions, name="predictions")
    groups = group_number(n_groups)
    sets = [
        predicted if rows is None else predicted[rows]
        for _, rows in row_sets(metric, labels, predicted.size)
    ]
    fractions = [
        smallest_fraction(inside.size, int(np.count_nonzero(inside)), groups) for inside in sets
    ]
    return max(math.inf if fraction is None else float(fraction) for fraction in fractions)


def true_tolerance(tolerance: float, achieved: float) -> float:
    """Return a tolerance raised in steps of 0.001 until an unfairness keeps to it; itself where it does."""
    steps = max(0, math.ceil((achieved - tolerance) / TOLERANCE_STEP - 1e-9))
    return min(1.0, tolerance + steps * TOLERANCE_STEP)


def feasible_tolerance(tolerance: float, smallest: float) -> float:
    """Return a tolerance raised to the smallest that some split meets; itself where none does, which is inf."""
    if smallest <= 1:
        return max(tolerance, smallest)
    return tolerance


def smallest_fraction(n: int, positives: int, n_groups: int) -> Fraction | None:
    """Return the smallest tolerance of n records with this many positive predictions; None where n < n_groups."""
    if n < n_groups:
        return None
    d = math.gcd(n, positives)
    q = n // d
    p = positives // d
    # K multiples of (q, p): every group has the overall rate.
    if d >= n_groups:
        return Fraction(0)
    # A bracket serves while d (D_u + D_v) >= K, that is D_u + D_v >= ceil(K / d).
    need = -(-n_groups // d)
    # (m, D) of the rates 1/1 and 0/1
    high = (1, q - p)
    low = (1, p)
    while True:
        # The end with the larger D = |q a - p m| becomes a mediant with the other end: one way down
        # the Stern-Brocot tree.
        gap = high[1] - low[1]
        if gap == 0:  # the next bracket has p/q itself as an end
            break
        (m, far), (_, near) = (high, low) if gap > 0 else (low, high)
        # The farther end takes k steps towards p/q: its D falls by `near` each, and must stay above 0.
        k = min((far - 1) // near, (far + near - need) // near)
        if k < 1:
            break
        opposite = low if gap > 0 else high
        moved = (m + k * opposite[0], far - k * near)
        high, low = (moved, opposite) if gap > 0 else (opposite, moved)
    # |a/m - p/q| = D / (m q).
    return max(Fraction(end[1], end[0] * q) for end in (high, low))


WIDENING = 1 + 1e-12
"""Factor on the tolerance that absorbs the rounding of decimal fractions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSetCounts:
    """Counts of one row set: N, P, today's a and b, and the slope t N of the tolerance."""

    n: int
    positives: int
    a: int
    b: int
    slack: float

    @property
    def negatives(self) -> int:
        """M, the records predicted 0."""
        return self.n - self.positives

    def gap(self, a: Any, b: Any) -> Any:
        """Return D = a N - P m = a M - b P: negative where group 1's rate is below the overall rate."""
        return a * self.negatives - b * self.positives

    def room(self, a: Any, b: Any) -> Any:
        """Return t N min(m, N - m), the largest |D| the tolerance allows."""
        m = a + b
        if isinstance(m, np.ndarray):
            return self.slack * np.minimum(m, self.n - m)
        return self.slack * min(m, self.n - m)

    def allowed(self, a: Any, b: Any) -> Any:
        """Tell whether the counts meet the tolerance with two non-empty groups (scalars or arrays)."""
        m = a + b
        # Ferry et al. (2023): (7) and (8), both groups keep a record; (9) and (10), multiplied out.
        return (m >= 1) & (m <= self.n - 1) & (abs(self.gap(a, b)) <= self.room(a, b))

    def high_enough(self, a: Any, b: Any) -> Any:
        """Tell whether group 1's rate is not too low (and so group 0's not too high), empty groups included."""
        return -self.gap(a, b) <= self.room(a, b)

    def swapped(self) -> RowSetCounts:
        """Return the same problem with the groups' names exchanged."""
        return replace(self, a=self.positives - self.a, b=self.negatives - self.b)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProblem:
    """The records of one row set: guesses and predictions (uint8 0/1), the cost of changing each, what is known.

    The unfairness is at most `upper`, a tolerance already widened, and above `lower` where that is above 0. `sizes` are
    the fewest and the most records of group 1.
    """

    guess: Codes
    predictions: Codes
    cost: Floats
    upper: float
    lower: float = 0.0
    sizes: tuple[int, int] | None = None

    def counts(self) -> RowSetCounts:
        """Count the records."""
        in_group = int(np.count_nonzero(self.guess))
        a = int(np.count_nonzero(self.guess & self.predictions))
        n = self.guess.size
        positives = int(np.count_nonzero(self.predictions))
        return RowSetCounts(n=n, positives=positives, a=a, b=in_group - a, slack=self.upper * n)

    def cell(self, prediction: int, guess: int) -> Mask:
        """Return the mask of the records with this prediction and this guess."""
        if prediction != guess:
            if prediction:
                return self.predictions > self.guess
            return self.guess > self.predictions
        matching = (
            self.predictions & self.guess if prediction else (self.predictions | self.guess) ^ 1
        )
        return matching.view(np.bool_)


def flip_cheapest(vector: Codes, cell: Mask, cost: Floats, k: int, dearest: float) -> None:
    """Change, in place, the k cheapest records of a cell; `dearest` is the cost of the k-th.

    Records of equal cost are taken in the order of the records.
    """
    if k == 0:
        return
    chosen = cell & (cost <= dearest)
    surplus = np.count_nonzero(chosen) - k
    if surplus:
        chosen[np.flatnonzero(chosen & (cost == dearest))[-surplus:]] = False
    vector ^= chosen.view(np.uint8)


_Solved = tuple[Codes | None, float]
"""A vector, None where there is none, and a lower bound on the objective, inf when infeasible."""


def solve_rows(problem: RowProblem) -> _Solved:
    """Return the cheapest reconstruction of a row set, and its cost as the bound."""
    counts = problem.counts()
    if counts.n < 2:
        return None, math.inf
    if problem.lower > 0 or problem.sizes is not None:
        return full_search(problem, counts)
    if counts.allowed(counts.a, counts.b):
        return problem.guess.copy(), 0.0
    return _short_search(problem, counts) or full_search(problem, counts)


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


def repairs(counts: RowSetCounts) -> Repairs | None:
    """List the natural repairs of counts that are not allowed; None where a group is empty today."""
    if not 1 <= counts.a + counts.b <= counts.n - 1:
        return None
    group = 1 if counts.gap(counts.a, counts.b) < 0 else 0  # the group whose rate is too low
    oriented = counts if group else counts.swapped()
    # X, the fewest people predicted 1 that join the group, and Y, the fewest predicted 0 that leave it, each alone:
    # once enough, more is enough.
    x_limit = bisect_left(
        range(oriented.positives - oriented.a),
        True,
        key=lambda x: oriented.high_enough(oriented.a + x, oriented.b),
    )
    y_limit = bisect_left(
        range(oriented.b), True, key=lambda y: oriented.high_enough(oriented.a, oriented.b - y)
    )
    # For x = 0..X: b = min(h(a0 + x), b0), so y = b0 - b is the fewest that go with x.
    a = np.arange(oriented.a, oriented.a + x_limit + 1, dtype=np.int64)
    b = np.minimum(highest_b(oriented, a), oriented.b)
    return Repairs(
        raised=(1, 1 - group),
        lowered=(0, group),
        x_limit=x_limit,
        y_limit=y_limit,
        y=oriented.b - b,
        allowed=oriented.allowed(a, b),
    )


def best_repair(
    plan: Repairs, raise_cost: Floats, lower_cost: Floats, cheapest: Any
) -> tuple[Ints, Floats, Mask]:
    """Return the cheapest natural repair: x, its cost (inf if none is allowed), and whether it is surely the optimum.

    The cheapest X and Y costs of the two cells come in rising order along the last axis; leading axes are independent
    problems, each with a lower bound on every cost, `cheapest`.
    """
    # F(x) + G(y(x)) of every allowed pair.
    up = cumulated(raise_cost)
    down = cumulated(lower_cost)
    total = np.where(plan.allowed, up + down[..., plan.y], np.inf)
    x = np.asarray(total.argmin(axis=-1))
    value = np.take_along_axis(total, x[..., None], axis=-1)[..., 0]
    # The four lower bounds of what is left out: x > X and y > Y, then b > b0 and a < a0.
    last = [cost[..., -1] if cost.shape[-1] else cheapest for cost in (raise_cost, lower_cost)]
    left_out = np.minimum(
        up[..., -1] + np.maximum(last[0], cheapest), down[..., -1] + np.maximum(last[1], cheapest)
    )
    left_out = np.minimum(left_out, np.minimum(up[..., -1], down[..., -1]) + cheapest)
    return x, value, value <= left_out


def allowed_interval(counts: RowSetCounts, a: Ints) -> tuple[Ints, Ints]:
    """Return the smallest and largest allowed b for each a; the first exceeds the second where there is none."""
    # b <= h(a): group 1's rate is high enough; the same of group 0, whose counts are P - a and M - b.
    highest = highest_b(counts, a)
    mirrored = counts.swapped()
    lowest = counts.negatives - highest_b(mirrored, counts.positives - a)  # group 0 is high enough
    # (7) and (8): 1 <= m <= N - 1.
    lowest = np.where(a == 0, np.maximum(lowest, 1), lowest)
    highest = np.where(a == counts.positives, np.minimum(highest, counts.negatives - 1), highest)
    return lowest, highest


def _short_search(problem: RowProblem, counts: RowSetCounts) -> _Solved | None:
    plan = repairs(counts)
    if plan is None:
        return None
    cells = [problem.cell(*plan.raised), problem.cell(*plan.lowered)]
    prefixes = [
        _cheapest(problem.cost, cell, k)
        for cell, k in zip(cells, (plan.x_limit, plan.y_limit), strict=True)
    ]
    # V and whether it is at most every bound; if not, the full pass has the word.
    x, value, certain = best_repair(plan, prefixes[0], prefixes[1], problem.cost.min())
    if not certain or not np.isfinite(value):
        return None
    vector = problem.guess.copy()
    for cell, prefix, k in zip(cells, prefixes, (int(x), int(plan.y[x])), strict=True):
        if k:
            dearest = prefix[k - 1]
        else:
            dearest = 0.0
        flip_cheapest(vector, cell, problem.cost, k, dearest)
    return vector, float(value)


def full_search(problem: RowProblem, counts: RowSetCounts) -> _Solved:
    """Sort all four cells and try every a with its best b."""
    cells = {(p, g): problem.cell(p, g) for p in (0, 1) for g in (0, 1)}
    costs = {key: np.sort(problem.cost[cell]) for key, cell in cells.items()}
    a = np.arange(counts.positives + 1, dtype=np.int64)
    low, high = allowed_interval(counts, a)
    if problem.sizes is not None:
        # Known group shares: sizes[0] <= a + b <= sizes[1].
        low = np.maximum(low, problem.sizes[0] - a)
        high = np.minimum(high, problem.sizes[1] - a)
    intervals = [(low, high)]
    if problem.lower > 0:
        # An unfairness above `lower`: b where the lower limit would be met as a tolerance is cut out.
        fair = replace(counts, slack=problem.lower * counts.n)
        first = counts.negatives - highest_b(fair.swapped(), counts.positives - a)
        intervals = [
            (low, np.minimum(high, first - 1)),
            (np.maximum(low, highest_b(fair, a) + 1), high),
        ]
    # Objective (6) of RC_e; by Theorem 1 its optima are those of RC. The records behind counts are the cheapest.
    of_a, of_b = (
        np.concatenate([cumulated(costs[p, 1])[::-1], np.cumsum(costs[p, 0])]) for p in (1, 0)
    )
    best: tuple[int, int, float] | None = None
    for lowest, highest in intervals:
        possible = np.flatnonzero(lowest <= highest)
        if possible.size == 0:
            continue
        # For this a the best b is b0 clipped to the interval, as G is convex with G(b0) = 0.
        b = np.clip(counts.b, lowest[possible], highest[possible])
        total = of_a[possible] + of_b[b]
        i = int(total.argmin())
        if best is None or total[i] < best[2]:
            best = int(possible[i]), int(b[i]), float(total[i])
    if best is None:
        return None, math.inf
    vector = problem.guess.copy()
    # Post-processing: s_01^+, s_10^+, s_01^- and s_10^- are the moves in these cells, cheapest first.
    for prediction, change in ((1, best[0] - counts.a), (0, best[1] - counts.b)):
        if change > 0:
            old_group = 0
        else:
            old_group = 1
        key = (prediction, old_group)
        k = abs(change)
        if k:
            dearest = costs[key][k - 1]
        else:
            dearest = 0.0
        flip_cheapest(vector, cells[key], problem.cost, k, dearest)
    return vector, best[2]


def highest_b(counts: RowSetCounts, a: Ints) -> Ints:
    """Return h(a), the largest b in 0..M for which group 1's rate is high enough.

    -D <= t N m        gives b (P - t N) <= a (M + t N), no bound when P <= t N,
    -D <= t N (N - m)  gives (M - b)(P + t N) >= (P - a)(M - t N), no bound when M <= t N.

    Both are free of cancellation, so the rounded quotient is off by at most one, which the exact test mends.
    """
    positives = counts.positives
    negatives = counts.negatives
    slack = counts.slack
    bound = np.full(a.shape, float(negatives))
    if positives > slack:
        np.minimum(bound, a * ((negatives + slack) / (positives - slack)), out=bound)
    if negatives > slack and positives > 0:
        np.minimum(
            bound,
            negatives - (positives - a) * ((negatives - slack) / (positives + slack)),
            out=bound,
        )
    # One above the rounded bound, then down by what the exact test of D says.
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
