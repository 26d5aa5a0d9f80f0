"""Two halves of the judged people, alike in members and non-members: one teaches, the other is judged, and back."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from core.arrays import Mask
from core.estimates import Estimate
from core.seeds import child_generator

_AGREE = math.sqrt(1.0 + 2.0 / math.pi)


def halves(member: npt.ArrayLike, *, seed: int) -> Mask:
    """Return who is in the second half; each half has as many members, and as many non-members, as the other.

    An odd one goes to the second half. Were the halves unlike, what is learned of one would say something of the
    other's share of members, and scores of both would not be exchangeable where nothing leaks. The same people in the
    same order get the same halves.
    """
    inside = np.asarray(member)
    rng = child_generator(seed, "halves of the judged")
    second = np.zeros(inside.size, dtype=np.bool_)
    for kind in (0, 1):
        rows = rng.permutation(np.flatnonzero(inside == kind))
        second[rows[rows.size // 2 :]] = True
    return second


def taught_both_ways(found: Estimate, chance: float) -> Estimate:
    """Return an estimate over both halves, each judged by what the other taught, with an interval that is wide enough.

    Where nothing leaks, the halves differ from chance in a and b, independent with variance v. What one learns is the
    sign of its own difference, and the mean of both, (sign(b) a + sign(a) b) / 2, has the variance v (1 + 2/pi) / 2 and
    not v / 2: either both halves are right or both are wrong. Where something leaks for certain the signs are no
    chance. So the interval is sqrt(1 + 2/pi) times as wide unless it lies above chance even then.
    """
    below, above = (_AGREE * abs(end - found.value) for end in (found.low, found.high))
    if found.value - below > chance:
        return found
    return replace(found, low=found.value - below, high=found.value + above)
