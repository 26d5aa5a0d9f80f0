"""Local differential privacy: every entry is kept, or replaced by another level, by randomised response.

With k levels (no rating, and each rating) an entry, rounded to the nearest level first, stays with probability
e^ε / (e^ε + k − 1). The comparator of Jia and Gong is a succinct histogram; this is the plain mechanism, its ε the
budget of one entry.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.errors import InputError

if TYPE_CHECKING:
    from scipy import sparse

LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""No rating, and one to five stars."""


def local_dp(records: sparse.csr_array, *, epsilon: float, rng: np.random.Generator) -> sparse.csr_array:
    """Return records whose every entry passed through randomised response.

    Parameters
    ----------
    records : csr_array of shape (u, d), in [0, 1]
        Ratings between two levels, which some uploads hold, become the nearest one, the lower of two as near.
    epsilon : float, above 0
        Privacy budget of one entry.
    """
    from scipy import sparse

    if not epsilon > 0:
        raise InputError(f"epsilon must be above 0, got {epsilon!r}.")
    records = _rounded(records)
    people, entries = records.shape
    moved = (len(LEVELS) - 1) / (math.exp(min(epsilon, 700.0)) + len(LEVELS) - 1)
    count = rng.binomial(entries, moved, size=people)
    if not count.any():
        return records
    rows = np.repeat(np.arange(people, dtype=np.int32), count)
    drawn = [rng.choice(entries, size=number, replace=False) for number in count]
    columns = np.concatenate(drawn).astype(np.int32)  # forests take no 64 bit positions
    old = np.asarray(records[rows, columns]).ravel()
    changed = sparse.csr_array((_another(old, rng) - old, (rows, columns)), shape=records.shape)
    noisy = sparse.csr_array(records + changed)
    noisy.data = np.round(noisy.data, 12)  # sums of floats: what became no rating is 0 again
    noisy.eliminate_zeros()
    return noisy


def _rounded(records: sparse.csr_array) -> sparse.csr_array:
    """Return the records with every rating at its nearest level."""
    rounded = records.copy()
    rounded.data = np.array(LEVELS)[_nearest(records.data)]
    rounded.eliminate_zeros()
    return rounded


def _nearest(ratings: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the place of each rating's nearest level."""
    return np.asarray(np.abs(ratings[:, None] - np.array(LEVELS)).argmin(axis=1))


def _another(old: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return one of the other levels for each entry, all alike likely."""
    levels = np.array(LEVELS)
    return levels[(_nearest(old) + rng.integers(1, levels.size, size=old.size)) % levels.size]
