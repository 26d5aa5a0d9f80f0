"""How few entries carry how much of the noise.

Minimum noise goes where the classifier looks: to the entries that tell the values apart best. Whoever leaves those out
loses most of the noise with them (see `core.attriguard.attackers`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.records import Floats, Noise
from core.serialize import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration(Result):
    """Where the expected noise sits.

    Attributes
    ----------
    entries : ndarray of shape (k,), int
        The entries that carry noise, by their places in a record, the most used first.
    share : ndarray of shape (k,), in [0, 1]
        Share of all expected changes each of them carries; their sum is 1.
    n_entries : int
        d, number of entries a record has.
    """

    entries: npt.NDArray[np.intp] = field(repr=False)
    share: Floats = field(repr=False)
    n_entries: int

    def carrying(self, share: float) -> npt.NDArray[np.intp]:
        """Return the fewest entries that carry at least this share of all changes; one at least is left out."""
        fewest = int(np.searchsorted(np.cumsum(self.share), share - 1e-12)) + 1
        return self.entries[: min(fewest, self.n_entries - 1)]


def concentration(records: Any, noise: Noise, mechanism: Floats) -> Concentration:
    """Return how much of the expected noise each entry carries.

    Parameters
    ----------
    records : array or csr matrix of shape (u, d)
        The clean records.
    noise : Noise
        Their representative noise.
    mechanism : ndarray of shape (u, m)
        How often each noise is used.
    """
    changes = changes_per_entry(records, noise, mechanism)
    order = np.argsort(-changes, kind="stable")
    order = order[changes[order] > 0]
    return Concentration(entries=order, share=changes[order] / changes[order].sum(), n_entries=changes.size)


def changes_per_entry(records: Any, noise: Noise, mechanism: Floats) -> Floats:
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
