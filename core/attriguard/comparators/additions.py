"""What BlurMe and ChiSquare share: a value's list of items, of which everybody with it gets the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy import sparse

COMPARATOR_TITLES = {
    "blurme": "BlurMe",
    "chisquare": "ChiSquare",
    "qpm": "Quantised mapping (QPM)",
    "local_dp": "Local differential privacy",
}
"""What to call them."""


def with_additions(
    records: sparse.csr_array,
    value: npt.NDArray[np.int64],
    listed: npt.NDArray[np.int64],
    ratings: npt.NDArray[np.float64],
    n_added: int,
) -> sparse.csr_array:
    """Return the records with some items added.

    Parameters
    ----------
    records : csr_array of shape (u, d)
    value : ndarray of shape (u,)
        Everybody's value, known or guessed.
    listed : ndarray of shape (m, l)
        For each value, items to add, the best first; -1 where the list has ended.
    ratings : ndarray of shape (d,)
        What each item is rated when it is added.
    n_added : int
        Number of items a person gets; fewer where the list ends.
    """
    from scipy import sparse

    rows, columns = [], []
    for k in range(records.shape[0]):
        own = records.indices[records.indptr[k] : records.indptr[k + 1]]
        wanted = listed[value[k]]
        new = wanted[(wanted >= 0) & ~np.isin(wanted, own)][:n_added]
        rows.append(np.full(new.size, k))
        columns.append(new)
    row, column = (
        np.concatenate(part).astype(np.int32) for part in (rows, columns)
    )  # forests take no 64 bit positions
    added = sparse.csr_array((ratings[column], (row, column)), shape=records.shape)
    return sparse.csr_array(records + added)


def usual_ratings(records: sparse.csr_array) -> npt.NDArray[np.float64]:
    """Return each item's mean rating among those who rated it, in steps of a fifth; 0 where nobody did."""
    count = np.diff(records.tocsc().indptr)
    return np.asarray(np.round(5 * records.sum(axis=0) / np.maximum(count, 1)) / 5)
