"""How sure the share of members caught at a rate of false alarms is: the threshold is a sample's, and so are they.

The threshold stands at the (a + 1)-th highest score of n outsiders, which allows a false alarms. Among other outsiders
of the same kind it would stand elsewhere: the (a + 1)-th highest of n drawn again from them has place floor(n U) among
them, with U the (a + 1)-th smallest of n uniform numbers, a Beta(a + 1, n − a). At each place some share of the members
lies above, and of m members drawn again from them a binomial number does. The interval is that of this mixture, the
percentile interval of a bootstrap that draws outsiders and members, computed instead of drawn. An interval for the
threshold as it stands (Wilson's) is too narrow: where nothing leaks it lies above the rate of false alarms in about one
of eight samples of a thousand, not in one of forty.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.estimates import Estimate, proportion

__all__ = ["caught_estimate"]

_SPARSE = 10
"""Fewest members caught, and not caught, with which the percentile interval stands by itself."""

_NEVER = 1e-9
"""Places less probable than this are left out."""


def caught_estimate(
    caught: npt.NDArray[np.int64], allowed: int, outsiders: int, members: int, *, level: float
) -> Estimate:
    """Return the share of members caught, and its interval over outsiders and members.

    Parameters
    ----------
    caught : ndarray of shape (outsiders,), int
        Members strictly above the outsider at each place, from the highest on.
    allowed : int
        False alarms, fewer than there are outsiders.
    outsiders, members : int
    level : float in (0, 1)

    Notes
    -----
    Where fewer than 10 members are caught, or not caught, the interval is widened to hold Wilson's: the bootstrap of
    so few shows too little variance, of none it shows none.
    """
    from scipy.special import betainc

    found = int(caught[allowed])
    wilson = proportion(found, members, level=level)
    edges = betainc(allowed + 1, outsiders - allowed, np.arange(outsiders + 1) / outsiders)
    weights = np.diff(edges)
    there = weights > _NEVER
    shares, weights = caught[there] / members, weights[there] / weights[there].sum()
    low, high = (_quantile(q, shares, weights, members) / members for q in (0.5 - level / 2, 0.5 + level / 2))
    if min(found, members - found) < _SPARSE:
        low, high = min(low, wilson.low), max(high, wilson.high)
    value = wilson.value
    return Estimate(value=value, low=min(value, low), high=max(value, high), n=members, level=level)


def _quantile(q: float, shares: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], members: int) -> int:
    """Return the smallest number that a mixture of binomials stays at or below with probability q."""
    from scipy.special import bdtr

    below, at = -1, members
    while at - below > 1:
        middle = (at + below) // 2
        if float(weights @ bdtr(middle, members, shares)) >= q:
            at = middle
        else:
            below = middle
    return at
