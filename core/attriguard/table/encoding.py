"""Records as a linear classifier wants them: an indicator for each category, numbers standardised or in ranges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.table.columns import Column

_RANGES = 10

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """How each column becomes a block of inputs.

    Attributes
    ----------
    indicators : tuple of (ndarray or None)
        Values of a column with an indicator each; None for the other columns.
    edges : tuple of (ndarray or None)
        Limits of a number's ranges, with an indicator each; None for the other columns.
    centre, spread : ndarray of shape (d,)
        Mean and standard deviation of a number that is standardised.
    """

    indicators: tuple[Floats | None, ...] = field(repr=False)
    edges: tuple[Floats | None, ...] = field(repr=False)
    centre: Floats = field(repr=False)
    spread: Floats = field(repr=False)

    def block(self, column: int, values: Floats) -> Any:
        """Return the inputs of one column for values of shape (n,), a sparse matrix with n rows."""
        from scipy import sparse

        seen, edges = self.indicators[column], self.edges[column]
        if seen is None and edges is None:
            return sparse.csr_array(((values - self.centre[column]) / self.spread[column])[:, None])
        if seen is not None:
            place = np.minimum(np.searchsorted(seen, values), seen.size - 1)
            hit, width = np.flatnonzero(seen[place] == values), seen.size
        else:
            assert edges is not None
            place, hit, width = np.searchsorted(edges, values), np.arange(values.size), edges.size + 1
        return sparse.csr_array((np.ones(hit.size), (hit, place[hit])), shape=(values.size, width))

    def widths(self) -> list[int]:
        """Return how many inputs each column takes."""
        return [self.block(j, np.zeros(1)).shape[1] for j in range(self.centre.size)]

    def transform(self, records: Floats) -> Any:
        """Return the inputs of whole records (n, d), as a sparse matrix."""
        from scipy import sparse

        return sparse.hstack([self.block(j, records[:, j]) for j in range(records.shape[1])], format="csr")


def fit_encoder(known: Floats, columns: tuple[Column, ...], *, ranges: bool = False) -> Encoder:
    """Return the encoder of the known people's records (n, d); numbers in ranges of equal size if `ranges`."""
    indicators, edges = [], []
    for j, column in enumerate(columns):
        category = column.kind == "category"
        indicators.append(column.listed if category else None)
        inner = np.linspace(0, 1, _RANGES + 1)[1:-1]
        cuts = None if category or not ranges else np.unique(np.quantile(known[:, j], inner, method="inverted_cdf"))
        edges.append(cuts)
    spread = known.std(axis=0)
    return Encoder(
        indicators=tuple(indicators),
        edges=tuple(edges),
        centre=known.mean(axis=0),
        spread=np.where(spread > 0, spread, 1.0),
    )
