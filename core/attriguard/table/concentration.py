"""Which columns carry the noise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.attriguard.noise import Noise
from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNoise(Result):
    """How the noise is spread over the columns, most used first.

    Attributes
    ----------
    names : tuple of str, length d
    changes : ndarray of shape (d,)
        Changes of each column per person, on average over people and draws.
    shares, cumulative : ndarray of shape (d,), in [0, 1]
        Its share of all changes, and that of it and the columns before; 0 where nothing changes.
    """

    names: tuple[str, ...]
    changes: npt.NDArray[np.float64] = field(repr=False)
    shares: npt.NDArray[np.float64] = field(repr=False)
    cumulative: npt.NDArray[np.float64] = field(repr=False)

    def carrying(self, share: float) -> int:
        """Return the fewest columns that carry at least this share of all changes."""
        if not self.shares.any():
            return 0
        return int(np.searchsorted(self.cumulative, share - 1e-12)) + 1


def column_noise(
    names: tuple[str, ...],
    public: npt.NDArray[np.float64],
    noise: Noise,
    mechanism: npt.NDArray[np.float64] | None = None,
) -> ColumnNoise:
    """Return which columns carry the noise of records (u, d) under a mechanism (u, m); all values alike by default."""
    u, m = noise.size.shape
    weights = np.full((u, m), 1.0 / m) if mechanism is None else mechanism
    changed = noise.noisy.reshape(u, m, len(names)) != public[:, None]
    changes = np.einsum("ki,kij->j", weights, changed) / max(u, 1)
    order = np.argsort(-changes, kind="stable")
    total = changes.sum()
    shares = changes[order] / total if total > 0 else np.zeros(len(names))
    return ColumnNoise(
        names=tuple(names[j] for j in order), changes=changes[order], shares=shares, cumulative=np.cumsum(shares)
    )
