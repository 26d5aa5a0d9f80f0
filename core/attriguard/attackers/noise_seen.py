"""The noise an attacker sees when she runs AttriGuard herself, on the people she knows.

She knows the defence: its classifier, policy, margin, target distribution and budget. What she does not know is which
noise was drawn for the people she attacks, so she draws noise of the same kind for those whose value she knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.allocation import allocate
from core.attriguard.noise import Noise
from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseSeen(Result):
    """AttriGuard run on the known people.

    Attributes
    ----------
    noise : Noise
        Their representative noise, n people and m values.
    target : ndarray of shape (m,)
        The defender's target distribution.
    """

    noise: Noise = field(repr=False)
    target: npt.NDArray[np.float64] = field(repr=False)

    def mechanism(self, budget: float) -> npt.NDArray[np.float64]:
        """Return how often each noise is used at a budget, (n, m)."""
        return allocate(self.noise.size, self.target, budget, found=self.noise.found)

    def draw(self, mechanism: npt.NDArray[np.float64], rng: np.random.Generator) -> Any:
        """Return every known person's record with noise drawn from a mechanism, (n, d)."""
        return self.noise.chosen(drawn(mechanism, rng))

    def item_shares(self, records: Any, budget: float) -> npt.NDArray[np.float64]:
        """Return the share of all expected changes at a budget that each entry of `records` carries, (d,)."""
        from core.attriguard.concentration import changes_per_entry

        changes = changes_per_entry(records, self.noise, self.mechanism(budget))
        total = changes.sum()
        return np.asarray(changes / total if total else changes)


def drawn(mechanism: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return one value a person, drawn from her row of the mechanism, (n,)."""
    edges = np.cumsum(mechanism, axis=1)
    place = rng.random(len(mechanism)) * edges[:, -1]
    return np.asarray((place[:, None] >= edges[:, :-1]).sum(axis=1), dtype=np.int64)
