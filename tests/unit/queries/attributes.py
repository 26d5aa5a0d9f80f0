"""Every attribute vector of n people, and the ways to walk between them: for checks by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np


def vectors(n: int) -> list[tuple[int, ...]]:
    """Return all attribute vectors of n people in which both groups occur."""
    return [a for a in product((0, 1), repeat=n) if 0 < sum(a) < n]


def neighbours(a: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the vectors that differ in one person and still have both groups."""
    flipped = [(*a[:j], 1 - a[j], *a[j + 1 :]) for j in range(len(a))]
    return [b for b in flipped if 0 < sum(b) < len(b)]


def weights(a: tuple[int, ...]) -> np.ndarray:
    """Return v, straight from the definition."""
    n1 = sum(a)
    return np.array([1 / n1 if x else -1 / (len(a) - n1) for x in a])


def largest_move(a: tuple[int, ...], b: tuple[int, ...], *, absolute: bool) -> float:
    """Return the largest change of a gap from a to b that any scores in [0, 1] can make.

    Signed: the positive (or negative) part of the change of v, at binary scores. Absolute: the largest of
    ±h·v(b) − |h·v(a)| over both signs, a linear program in h and a bound t ≥ |h·v(a)|; and the same with a, b swapped.
    """
    v, w = weights(a), weights(b)
    if not absolute:
        change = w - v
        return float(max(change[change > 0].sum(), -change[change < 0].sum()))
    from scipy.optimize import linprog

    best = 0.0
    for far, near in ((w, v), (v, w)):
        for sign in (1, -1):
            cost = np.append(-sign * far, 1.0)  # minimise t − sign h·far
            bound = np.vstack([np.append(near, -1.0), np.append(-near, -1.0)])
            done = linprog(cost, A_ub=bound, b_ub=[0, 0], bounds=[(0, 1)] * len(a) + [(0, None)], method="highs")
            best = max(best, -float(done.fun))
    return best
