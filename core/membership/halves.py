"""Two halves of the judged people, alike in members and non-members: one teaches, the other is judged, and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.seeds import child_generator

__all__ = ["halves"]


def halves(member: npt.ArrayLike, *, seed: int) -> npt.NDArray[np.bool_]:
    """Return who is in the second half; each half has as many members, and as many non-members, as the other.

    An odd one goes to the second half. Were the halves unlike, what is learned of one would say something of the
    other's share of members, and scores of both would not be exchangeable where nothing leaks.

    Parameters
    ----------
    member : array-like of shape (n,), 0 or 1
    seed : int
        The same people in the same order get the same halves.
    """
    inside = np.asarray(member)
    rng = child_generator(seed, "halves of the judged")
    second = np.zeros(inside.size, dtype=np.bool_)
    for kind in (0, 1):
        rows = rng.permutation(np.flatnonzero(inside == kind))
        second[rows[rows.size // 2 :]] = True
    return second
