"""ChiSquare (Chen et al. 2014): add the items that tell the values apart best and speak for somebody else's.

An item's chi-square statistic between its ratings and the attribute says how much it tells; it speaks for the value
among whose people it is rated most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.attriguard.comparators.additions import with_additions

if TYPE_CHECKING:
    from scipy import sparse

    from core.attriguard.attackers.known import Known

_LISTED = 500


def chisquare(
    records: sparse.csr_array, value: npt.NDArray[np.int64], known: Known, *, n_added: int = 5
) -> sparse.csr_array:
    """Return the records with `n_added` items added, at the best rating.

    Parameters
    ----------
    records : csr_array of shape (u, d)
    value : ndarray of shape (u,)
        Everybody's true value, which ChiSquare asks for; or what a classifier takes it for.
    known : Known
        The people who publish their value.
    """
    own = np.eye(known.n_values)[known.values]
    told = _statistic(known.records, own)
    order = np.argsort(-told, kind="stable")[:_LISTED]
    among = np.asarray((known.records > 0).T.astype(np.float64) @ own)[order] / own.sum(axis=0)
    speaks_for = among.argmax(axis=1)
    listed = np.where(speaks_for == np.arange(known.n_values)[:, None], -1, order)
    return with_additions(records, value, listed, np.ones(records.shape[1]), n_added)


def _statistic(records: sparse.csr_array, own: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return Σ (observed − expected)² / expected of each item's ratings over the values, (d,); 0 where nobody rated."""
    observed = np.asarray(records.T @ own)
    expected = observed.sum(axis=1, keepdims=True) * own.mean(axis=0)
    return np.asarray(((observed - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum(axis=1))
