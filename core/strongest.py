"""Of several attacks on the same thing, or groups, the strongest, with an interval that holds although it was picked.

What a policy asks is whether every attack keeps a limit. To call the limit kept all of them must keep it, which needs
no correction for their number (intersection-union test, Berger 1982). With values v_j, the largest v, and upper half
widths h_j, an interval that a policy widens by w (Holm's correction, up to F for `MOST_TESTED` limits) reaches
v_j + w h_j; the half width max_j h_j - (v - v_j)/F around v reaches as far for every w from 1 to F.
To call it broken one suffices, and with m attacks one may do so by chance: the lower end is the largest of the lower
ends at level 1 - (1 - level)/m (Bonferroni). Where the least of several numbers counts, all is mirrored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from core.estimates import Estimate
from core.multiplicity import MOST_TESTED


def strongest(
    found: Mapping[str, Estimate],
    *,
    freedom: int | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[str, Estimate]:
    """Return the largest of the values under its name, and its interval.

    Parameters
    ----------
    found : mapping of str to Estimate
        At least one, at one level.
    freedom : int, optional
        Degrees of freedom where the intervals are Student's; None for normal ones.
    within : tuple of float
        Smallest and largest value there can be.
    """
    name = max(found, key=lambda each: found[each].value)
    own = found[name]
    reach = _stretch(len(found), own.level, freedom)
    low = max(each.value - reach * (each.value - each.low) for each in found.values())
    farthest = _stretch(MOST_TESTED, own.level, freedom)
    high = own.value + max(each.high - each.value - (own.value - each.value) / farthest for each in found.values())
    return name, Estimate(value=own.value, low=max(within[0], low), high=min(within[1], high), n=own.n, level=own.level)


def least(found: Mapping[str, Estimate]) -> tuple[str, Estimate]:
    """Return the smallest of the values under its name, and its interval, of normal intervals."""
    name, found_mirrored = strongest({key: _mirrored(each) for key, each in found.items()})
    return name, _mirrored(found_mirrored)


def _mirrored(found: Estimate) -> Estimate:
    return Estimate(value=-found.value, low=-found.high, high=-found.low, n=found.n, level=found.level)


def _stretch(number: int, level: float, freedom: int | None) -> float:
    """Return how much wider an interval is at Bonferroni's level for so many."""
    each = 1 - (1 - level) / number
    return _quantile(each, freedom) / _quantile(level, freedom) if number > 1 else 1.0


def _quantile(level: float, freedom: int | None) -> float:
    if freedom is None:
        from statistics import NormalDist

        return NormalDist().inv_cdf(0.5 + level / 2)
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2)) if freedom > 0 else math.nan
