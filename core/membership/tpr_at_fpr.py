"""TPR at a given FPR with ties broken at random, and its interval over members and non-members.

Take n non-members and m members whose scores tell nothing: ordered from the highest score down, ties in random order,
m j / (n + 1) members are expected above the j-th non-member. So an FPR of f is read at j = f (n + 1), between whole j
by interpolation, and the TPR is then f on average where nothing leaks, whatever n and whatever the ties. A threshold
that takes all of a tie or none does not have that: it reads 0 where the highest tie is larger than f.
With A non-members and B members above a tie of a and b, its i-th non-member has B + b i / (a + 1) members above it on
average over the orders of the tie. That is a real attack: whoever holds these scores may toss a coin within a tie.

Interval: the true FPR of a threshold at the j-th of n non-members is a Beta(j, n + 1 - j) variable, whatever the
scores, and of m members drawn again a binomial number lies above it. The percentiles of this mixture are those of a
bootstrap over both, computed instead of drawn. The mixture is a little too narrow where few non-members lie above the
threshold; so the distances to its ends are stretched by 1 + `_WIDER` / j.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints
from core.estimates import Estimate, proportion

_SPARSE = 10
"""Fewest members above, and below, the threshold with which the percentiles stand by themselves."""

_WIDER = 1.0
"""At ten false positives an interval is a tenth wider, at a hundred a hundredth."""

_CELLS = 400
"""Equally likely thresholds that stand for all."""


def position(fpr: float, outsiders: int) -> float:
    """Return the place j, from 1 at the highest score, of the non-member at which an FPR is read."""
    return fpr * (outsiders + 1)


def members_above(place: npt.ArrayLike, false_positives: Ints, true_positives: Ints) -> Floats:
    """Return the expected number of members above the non-member at each place, ties broken at random.

    Parameters
    ----------
    place : array-like of float in [0, n + 1]
        From 1 for the highest of n non-members; between whole places it is interpolated, at n + 1 everybody is above.
    false_positives, true_positives : ndarray of shape (k,), int
        Non-members and members at or above each distinct score, falling, after a 0 each.
    """
    places = np.asarray(place, dtype=np.float64)
    below = np.floor(places)
    share = places - below
    return (1.0 - share) * _above(below, false_positives, true_positives) + share * _above(
        below + 1.0, false_positives, true_positives
    )


def _above(place: Floats, false_positives: Ints, true_positives: Ints) -> Floats:
    n = int(false_positives[-1])
    inside = np.clip(place, 1, n)
    tie = np.searchsorted(false_positives, inside, side="left")  # the last cut of the tie that holds the place
    before, a = false_positives[tie - 1], false_positives[tie] - false_positives[tie - 1]
    b = true_positives[tie] - true_positives[tie - 1]
    found = true_positives[tie - 1] + b * (inside - before) / (a + 1.0)
    return np.where(place < 1, 0.0, np.where(place > n, float(true_positives[-1]), found))


def tpr_estimate(fpr: float, false_positives: Ints, true_positives: Ints, *, level: float) -> Estimate:
    """Return the TPR at an FPR, and its interval.

    Parameters
    ----------
    fpr : float in (0, 1]
    false_positives, true_positives : ndarray of shape (k,), int
        As for `members_above`.
    level : float in (0, 1)

    Notes
    -----
    Where fewer than 10 members lie above the threshold, or below it, the interval is widened to hold Wilson's: so few
    show too little variance, none shows none.
    """
    from scipy.special import betaincinv

    n, m = int(false_positives[-1]), int(true_positives[-1])
    j = position(fpr, n)
    if j >= n + 1:
        return proportion(m, m, level=level)
    found = float(members_above(j, false_positives, true_positives))
    rate = betaincinv(j, n + 1 - j, (np.arange(_CELLS) + 0.5) / _CELLS)
    shares = members_above((n + 1) * rate, false_positives, true_positives) / m
    low, high = (_quantile(q, shares, m) / m for q in (0.5 - level / 2, 0.5 + level / 2))
    value, wider = found / m, 1.0 + _WIDER / j
    low, high = value - wider * (value - low), value + wider * (high - value)
    if min(found, m - found) < _SPARSE:
        wilson = proportion(found, m, level=level)
        low, high = min(low, wilson.low), max(high, wilson.high)
    return Estimate(value=value, low=max(0.0, min(value, low)), high=min(1.0, max(value, high)), n=m, level=level)


def _quantile(q: float, shares: Floats, members: int) -> int:
    """Return the smallest number that a mixture of binomials, all as likely, stays at or below with probability q."""
    from scipy.special import bdtr

    below, at = -1, members
    while at - below > 1:
        middle = (at + below) // 2
        if float(bdtr(middle, members, shares).mean()) >= q:
            at = middle
        else:
            below = middle
    return at
