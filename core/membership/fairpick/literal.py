"""FairPick as published: the equations alone, with negative deletions dropped afterwards.

The paper's program (equations 6 to 8) does not say that nobody can be deleted a negative number of times, that is,
duplicated. Its solution asks for that; the paper ignores such requests, so the differences it was to reach are missed.
The equations are those of `core.membership.fairpick.counts` without 0 ≤ x ≤ n. Given s the smallest x is linear in it,
x = a + s b, and then s = −a·b / b·b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.membership.fairpick.counts import checked_arguments, differences
from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedDeletions(Result):
    """What the published variant deletes.

    Attributes
    ----------
    deletions : ndarray of shape (k, 2)
        Not rounded; 0 where a negative number was asked for.
    asked : ndarray of shape (k, 2)
        What the equations ask for.
    ignored : int
        Clusters and groups with a negative request.
    """

    deletions: Floats
    asked: Floats
    ignored: int


def fairpick_literal(counts: npt.ArrayLike, theta: float) -> PublishedDeletions:
    """Return the published variant's deletions; the arguments are those of `fairpick_counts`."""
    n, theta = checked_arguments(counts, theta)
    asked = _smallest(n, theta) if theta < 1.0 else np.zeros_like(n)
    negative = asked < -1e-9 * n.sum()
    return PublishedDeletions(deletions=np.clip(asked, 0.0, n), asked=asked, ignored=int(negative.sum()))


def _smallest(n: Floats, theta: float) -> Floats:
    """Return the smallest x that solves the equations."""
    k, sizes, dd = n.shape[0], n.sum(axis=0), differences(n)
    scale = sizes / sizes.max()  # the unknowns are x / max N, so that the equations have coefficients near 1
    rows = np.zeros((k + 2, 2 * k))
    rows[np.arange(k), 2 * np.arange(k) + 1] = 1.0 / scale[1]
    rows[np.arange(k), 2 * np.arange(k)] = -1.0 / scale[0]
    rows[k, 0::2], rows[k + 1, 1::2] = 1.0 / scale[0], 1.0 / scale[1]
    fixed = np.concatenate([(1.0 - theta) * dd, [0.0, 0.0]])
    by_share = np.concatenate([theta * dd, [1.0, 1.0]])
    a, b = np.linalg.lstsq(rows, np.column_stack([fixed, by_share]), rcond=None)[0].T
    return (a - (a @ b) / (b @ b) * b).reshape(k, 2) * sizes.max()
