"""Exact correction for two groups on one row set, with group shares or an exact unfairness.

The full pass of `exact`, with more known. For a fixed a the group's size m = a + b is limited by the shares, an
interval for b. An unfairness above `lower` means |D| > lower N min(m, N - m): b leaves a hole, the interval where the
lower limit would be met as a tolerance (b too large above it, too small below). So the allowed b form two intervals,
today's b is clipped to each, and all a are tried at once.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from core.correction.exact import allowed_interval, full_search, highest_b, two_sided
from core.correction.problem import Counts, Outcome, RowProblem


def solve_rows_within(problem: RowProblem, *, lower: float, upper: float, sizes: tuple[int, int]) -> Outcome:
    """Return the cheapest reconstruction of a row set.

    Parameters
    ----------
    problem : RowProblem
        The row set; its tolerance is not used.
    lower, upper : float
        Limits on the unfairness; it must exceed `lower` where that is above 0.
    sizes : (fewest, most)
        Limits on the records of group 1.
    """
    counts = replace(problem.counts(), slack=upper * problem.guess.size)
    if counts.n < 2:
        return Outcome(vector=None, bound=math.inf)

    def choose(own: Counts, a_cost: Any, b_cost: Any) -> tuple[int, int, float] | None:
        return _pass(own, a_cost, b_cost, lower * own.n, sizes)

    return full_search(problem, counts, choose)


def _pass(
    counts: Counts, a_cost: Any, b_cost: Any, hole: float, sizes: tuple[int, int]
) -> tuple[int, int, float] | None:
    """Return the cheapest allowed (a, b) and its cost, like `exact.full_pass`."""
    a = np.arange(counts.positives + 1, dtype=np.int64)
    low, high = allowed_interval(counts, a)
    low, high = np.maximum(low, sizes[0] - a), np.minimum(high, sizes[1] - a)
    intervals = [(low, high)]
    if hole > 0:
        fair = replace(counts, slack=hole)
        mirrored = fair.swapped()
        first = counts.negatives - highest_b(mirrored, counts.positives - a)
        last = highest_b(fair, a)
        intervals = [(low, np.minimum(high, first - 1)), (np.maximum(low, last + 1), high)]
    stay, leave = two_sided(a_cost), two_sided(b_cost)
    best: tuple[int, int, float] | None = None
    for lowest, highest in intervals:
        possible = np.flatnonzero(lowest <= highest)
        if possible.size == 0:
            continue
        b = np.clip(counts.b, lowest[possible], highest[possible])
        total = stay[possible] + leave[b]
        i = int(total.argmin())
        if best is None or total[i] < best[2]:
            best = int(possible[i]), int(b[i]), float(total[i])
    return best
