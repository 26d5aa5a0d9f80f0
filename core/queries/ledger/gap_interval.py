"""From a noisy sum and a noisy count to a gap with its interval; everything here is public arithmetic.

With h the scores minus any constant, S = Σ h over the disadvantaged, T = Σ h over everybody and N0 disadvantaged among
n people, the gap is (T - S)/(n - N0) - S/N0; it does not depend on the constant.
"""

from __future__ import annotations

import math

import numpy as np

from core.estimates import Estimate
from core.queries.checks import Floats
from core.queries.ledger.noise import GRID

LEVEL = 0.95
"""Coverage of the intervals; the sum's and the count's each use half of what is left."""


def gap_value(total: float, part: float, count: float, n: int) -> float:
    """Return the gap for S = `part`, T = `total` and N0 = `count`, which is brought into [1, n - 1]."""
    n0 = min(max(count, 1.0), n - 1.0)
    return (total - part) / (n - n0) - part / n0


def gap_interval(scores: Floats, *, part: float, reach: float, count: float, count_reach: float) -> Estimate:
    """Return the gap with an interval that holds it with probability `LEVEL` at least.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        The scores, minus the constant that belongs to `part`.
    part, count : float
        Noisy S and N0.
    reach, count_reach : float
        Their largest errors at (1 + `LEVEL`)/2.
    """
    n, total = scores.size, float(scores.sum())
    least = np.concatenate([[0.0], np.cumsum(np.sort(scores))])  # S cannot be less with so many disadvantaged
    first = min(max(math.ceil(count - count_reach), 1), n - 1)
    counts = np.arange(first, max(first, min(math.floor(count + count_reach), n - 1)) + 1)
    lowest, highest = least[counts], total - least[n - counts]
    low_part, high_part = (np.clip(part + sign * reach, lowest, highest) for sign in (-1, 1))
    high = float(np.max((total - low_part) / (n - counts) - low_part / counts)) + 1 / GRID
    low = float(np.min((total - high_part) / (n - counts) - high_part / counts)) - 1 / GRID
    low, high = max(low, -1.0), min(high, 1.0)
    value = min(max(gap_value(total, part, count, n), low), high)
    return Estimate(value=value, low=low, high=high, n=n, level=LEVEL)


def standard_error(
    n: int, *, total: float, part: float, deviation: float, count: float, count_deviation: float
) -> float:
    """Return the gap's standard error to first order, from the standard deviations of the two noises; at most 1."""
    n0 = min(max(count, 1.0), n - 1.0)
    by_part = deviation * (1 / (n - n0) + 1 / n0)
    by_count = count_deviation * ((total - part) / (n - n0) ** 2 + part / n0**2)
    return min(1.0, math.hypot(by_part, by_count))
