"""Denoising by low-rank approximation (LRA-A): what the known people's main directions of taste say about a record.

A rating that no direction explains, as noise may be, is lost in the projection; a network learns from what is left.
The directions come from a truncated singular value decomposition (the paper's from a non-negative factorisation).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.attackers.known import Known, in_batches
from core.attriguard.attackers.network import fit_network


class LowRank:
    """Looks at a record's place along a few directions.

    Parameters
    ----------
    rank : int
        Number of directions, at most one below the number of entries.
    """

    def __init__(self, known: Known, *, seed: int, rank: int = 100) -> None:
        from sklearn.decomposition import TruncatedSVD

        people, entries = known.records.shape
        self._directions = TruncatedSVD(max(1, min(rank, entries - 1, people - 1)), random_state=seed)
        there = self._directions.fit_transform(known.records)
        places = Known(records=there, values=known.values, n_values=known.n_values)
        self._network = fit_network(places, seed=seed)

    def guess(self, records: Any) -> npt.NDArray[np.int64]:
        """Return the value named for each record, (n,)."""
        return in_batches(lambda part: self._network.predict(self._directions.transform(part)), records)
