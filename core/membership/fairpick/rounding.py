"""Whole numbers of deletions from real ones, with each group's total kept, and whom they fall on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.arrays import Ints, Mask


def whole(deletions: npt.ArrayLike, counts: npt.ArrayLike) -> Ints:
    """Return whole deletions by largest remainders, of the same shape (k, groups).

    Each is the real one rounded down or up, and so at most the whole number of people there are; each column adds up
    to the real sum, rounded to the nearest. Of equal remainders the first cluster is rounded up.
    """
    x = np.asarray(deletions, dtype=np.float64)
    near = np.rint(x)
    x = np.where(np.abs(x - near) < 1e-9, near, x)  # rounding errors are no remainders
    down = np.floor(x)
    missing = np.rint(x.sum(axis=0) - down.sum(axis=0)).astype(np.int64)
    rank = np.argsort(np.argsort(down - x, axis=0, kind="stable"), axis=0)
    up = (rank < missing) & (x > down)
    return np.minimum(down.astype(np.int64) + up, np.asarray(counts).astype(np.int64))


def chosen(cell: Ints, deletions: Ints, order: Ints) -> Mask:
    """Return who is deleted: of each cell the first so many in a random order; cell -1 loses nobody."""
    placed = order[np.argsort(cell[order], kind="stable")]  # by cell, and by the order within
    cells = cell[placed]
    rank = np.arange(cell.size) - np.searchsorted(cells, cells)
    gone = np.zeros(cell.size, dtype=bool)
    gone[placed] = (cells >= 0) & (rank < deletions[cells])
    return gone
