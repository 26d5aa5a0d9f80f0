"""Where the flags fall: members called members, by the probability the model gave to their true label.

Each range is divided by all members of the group, not by those in the range, so that the differences of the ranges add
up to the vulnerability disparity (Zhang et al. 2020, equation 5 and figure 5).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.errors import InputError
from core.membership.disparity.results import RangeRow, RangeTable
from core.validation import binary_array, one_length

RANGES = 10
"""Ranges of equal width; a probability of 1 is in the last."""


def recall_by_range(
    probability: npt.ArrayLike,
    verdict: npt.ArrayLike,
    group: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    names: tuple[str, str] = ("group", "others"),
) -> RangeTable:
    """Return the flagged members of a group and of the others by range.

    Raises `InputError` if an array breaks its rule, or the group or the others have no member.

    Parameters
    ----------
    probability : array-like of shape (n,)
        What the model gave to each judged person's true label, in [0, 1].
    verdict, group, member : array-like of shape (n,)
        As for `vulnerability_disparity`.
    names : tuple of str
        Of the group and of the others.
    """
    p = _probabilities(probability)
    told, side, inside = (
        binary_array(values, name=name) for values, name in ((verdict, "verdict"), (group, "group"), (member, "member"))
    )
    one_length(probability=p, verdict=told, group=side, member=inside)
    members = np.bincount(side[inside == 1], minlength=2)
    for code in (1, 0):
        if not members[code]:
            raise InputError(f"Recall needs at least one member of each group, got none of “{names[1 - code]}”.")
    edges = np.arange(RANGES + 1) / RANGES
    caught = (told == 1) & (inside == 1)
    place = np.searchsorted(edges[1:-1], p[caught], side="right")
    shares = np.bincount(2 * place + side[caught], minlength=2 * RANGES).reshape(RANGES, 2) / members
    rows = tuple(
        RangeRow(low=low, high=high, group=own, others=other, difference=own - other)
        for low, high, (other, own) in zip(edges[:-1].tolist(), edges[1:].tolist(), shares.tolist(), strict=True)
    )
    return RangeTable(group=names[0], others=names[1], rows=rows, vd=math.fsum(row.difference for row in rows))


def _probabilities(values: npt.ArrayLike) -> Floats:
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1:
        raise InputError(f"probability must be one-dimensional, got {p.ndim} dimensions.")
    wrong = ~((p >= 0) & (p <= 1))  # nan too
    if wrong.any():
        raise InputError(f"probability must be in [0, 1], got {p[wrong][0]}.")
    return p
