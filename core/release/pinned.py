"""People pinned down: unsure before the release, settled after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate, accuracy
from core.release.equations import posterior_array
from core.release.numbers import Floats
from core.results import Result
from core.validation import binary_array

UNSURE = (0.05, 0.95)
"""Before: the attacker's probability lies in here."""

SETTLED = (0.005, 0.995)
"""After: it lies outside of this."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pinned(Result):
    """Who is pinned down.

    Attributes
    ----------
    people : ndarray of int
        Their row numbers.
    count, n_unsure, n : int
        Pinned; unsure before; all.
    right : Estimate or None
        Share of the pinned whose attribute is named rightly; None without a truth.
    said : ndarray of shape (count,), 0 or 1
        What is now believed of each.
    before, after : ndarray of shape (count,)
        Probabilities of s = 1.
    """

    people: npt.NDArray[np.intp]
    count: int
    n_unsure: int
    n: int
    right: Estimate | None
    said: npt.NDArray[np.uint8]
    before: Floats
    after: Floats


def pinned(before: npt.ArrayLike, after: npt.ArrayLike, *, sensitive: npt.ArrayLike | None = None) -> Pinned:
    """Return the people unsure before (5% to 95%) and settled after (beyond 99.5%); all arrays of shape (n,)."""
    q = np.asarray(before, dtype=np.float64)
    then, now = posterior_array(q, q.size), posterior_array(after, q.size)
    unsure = (then >= UNSURE[0]) & (then <= UNSURE[1])
    people = np.flatnonzero(unsure & ((now < SETTLED[0]) | (now > SETTLED[1])))
    said = (now[people] > 0.5).astype(np.uint8)
    right = None
    if sensitive is not None:
        s = binary_array(np.asarray(sensitive), name="sensitive")
        if s.size != q.size:
            raise InputError(f"sensitive must have one value for each of {q.size} people, got {s.size}.")
        right = accuracy(s[people], said)
    return Pinned(
        people=people,
        count=int(people.size),
        n_unsure=int(np.count_nonzero(unsure)),
        n=int(q.size),
        right=right,
        said=said,
        before=then[people],
        after=now[people],
    )
