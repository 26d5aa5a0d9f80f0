"""How few entries carry how much of the noise.

Minimum noise goes where the classifier looks: to the entries that tell the values apart best. Whoever leaves those out
loses most of the noise with them (see `core.attriguard.attackers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.records import Noise
from core.serialize import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration(Result):
    """Where the expected noise sits.

    Attributes
    ----------
    entries : tuple of str, length k
        Names of the entries that carry noise, the most used first.
    share : ndarray of shape (k,), in [0, 1]
        Share of all expected changes each of them carries; their sum is 1.
    n_entries : int
        d, number of entries a record has.
    """

    entries: tuple[str, ...] = field(repr=False)
    share: npt.NDArray[np.float64] = field(repr=False)
    n_entries: int


def concentration(
    records: Any, noise: Noise, mechanism: npt.NDArray[np.float64], names: Sequence[str]
) -> Concentration:
    """Return how much of the expected noise each entry carries.

    Parameters
    ----------
    records : array or csr matrix of shape (u, d)
        The clean records.
    noise : Noise
        Their representative noise.
    mechanism : ndarray of shape (u, m)
        How often each noise is used.
    names : sequence of str, length d
        Names of the entries.
    """
    changes = changes_per_entry(records, noise, mechanism)
    order = np.argsort(-changes, kind="stable")
    order = order[changes[order] > 0]
    return Concentration(
        entries=tuple(names[i] for i in order),
        share=changes[order] / changes[order].sum(),
        n_entries=changes.size,
    )


def changes_per_entry(records: Any, noise: Noise, mechanism: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the expected number of changes of each entry, over people and draws, (d,)."""
    people, values = noise.size.shape
    total = np.zeros(records.shape[1])
    step = max(1, 50_000 // values)  # people at a time, so that memory stays small
    for start in range(0, people, step):
        stop = min(start + step, people)
        rows = np.repeat(np.arange(start, stop), values)
        changed = noise.noisy[start * values : stop * values] != records[rows]
        total += np.asarray(changed.T.astype(np.float64) @ mechanism[start:stop].ravel()).ravel()
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNoise(Result):
    """How the noise is spread over the d columns, most used first."""

    names: tuple[str, ...]
    changes: npt.NDArray[np.float64] = field(repr=False)  # of each column per person, on average over people and draws
    shares: npt.NDArray[np.float64] = field(repr=False)  # of all changes; 0 where nothing changes
    cumulative: npt.NDArray[np.float64] = field(repr=False)  # its share and those of the columns before

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
