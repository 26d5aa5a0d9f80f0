"""The threshold an attacker sets on people she knows."""

from __future__ import annotations

import numpy as np

from core.arrays import Codes, Floats


def best_threshold(score: Floats, member: Codes) -> float:
    """Return the score from which up people are called members for the best balanced accuracy.

    Of several as good the highest, which calls the fewest people members; infinity, which calls nobody one, if no
    threshold is better than chance. There is at least one member and one outsider.
    """
    levels, place = np.unique(score, return_inverse=True)
    members = np.bincount(place, weights=member, minlength=levels.size)
    outsiders = np.bincount(place, weights=1 - member.astype(np.int64), minlength=levels.size)
    caught, alarms = np.cumsum(members[::-1])[::-1], np.cumsum(outsiders[::-1])[::-1]
    # whole numbers, so that equal gains tie exactly
    gain = caught * alarms[0] - alarms * caught[0]
    if gain.max() <= 0:
        return float("inf")
    return float(levels[np.flatnonzero(gain == gain.max())[-1]])
