"""The noise found for people's records, whatever they hold, and the entries it sits in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.arrays import Floats, Ints, Mask
from ...base.serialize import Result
from .allocation import allocate


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyRecords(Result):
    """Records changed until the defender's classifier reads one value each.

    `noisy`, (u, d), is like the public records; a record for which nothing was found is as it was. `size`, (u,), are
    the entries changed; `reached` says whether the classifier, asked again, reads the wanted value; `fallback` where
    the policy left no solution and any entry was allowed to change instead (None on tables, which know no policy).
    """

    noisy: Any = field(repr=False)
    size: Ints = field(repr=False)
    reached: Mask = field(repr=False)
    fallback: Mask | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepresentativeNoise(NoisyRecords):
    """The representative noise of u people for each of m values (Jia and Gong 2018, section 4.2).

    Row k * m + i of `noisy`, (u * m, d), is person k's record with the noise for value i: the clean record where i is
    what the classifier reads anyway (`predicted`, (u,)), and where no noise for i was found. `size`, `reached` and
    `fallback` are (u, m).
    """

    predicted: Ints = field(repr=False)

    def mechanism(self, target: Floats, budget: float) -> Floats:
        """Return how often each noise is used at a budget, towards a target distribution (m,); (u, m)."""
        return allocate(self.size, target, budget, available=self.reached)

    def chosen(self, value: Ints) -> Any:
        """Return each person's record with the noise for their value in `value` (u,), as a matrix (u, d)."""
        people, values = self.size.shape
        return self.noisy[np.arange(people) * values + value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration(Result):
    """How few entries carry how much of the expected noise.

    Minimum noise goes where the classifier looks: to the entries that tell the values apart best. An attacker who
    leaves those out loses most of the noise with them (see `core.studies.attriguard.attackers`). `entries` are the
    places of those that carry noise, the most used first; `share` the share of all expected changes each carries; a
    record has `n_entries`.
    """

    entries: npt.NDArray[np.intp] = field(repr=False)
    share: Floats = field(repr=False)
    n_entries: int

    def without(self, share: float) -> npt.NDArray[np.intp]:
        """Return the entries left without the fewest that carry at least this share of all changes; one at least."""
        fewest = int(np.searchsorted(np.cumsum(self.share), share - 1e-12)) + 1
        carrying = self.entries[: min(fewest, self.n_entries - 1)]
        return np.setdiff1d(np.arange(self.n_entries), carrying)


def concentration(records: Any, noise: RepresentativeNoise, mechanism: Floats) -> Concentration:
    """Return how much of the expected noise of clean records (u, d) each entry carries under a mechanism (u, m)."""
    changes = changes_per_entry(records, noise, mechanism)
    order = np.argsort(-changes, kind="stable")
    order = order[changes[order] > 0]
    return Concentration(entries=order, share=changes[order] / changes[order].sum(), n_entries=changes.size)


def changes_per_entry(records: Any, noise: RepresentativeNoise, mechanism: Floats) -> Floats:
    """Return the expected number of changes of each entry, over people and draws, (d,)."""
    people, values = noise.size.shape
    total = np.zeros(records.shape[1])
    step = 50_000 // values  # people at a time, so that memory stays small
    for start in range(0, people, step):
        stop = min(start + step, people)
        rows = np.repeat(np.arange(start, stop), values)
        changed = noise.noisy[start * values : stop * values] != records[rows]
        total += np.asarray(changed.T.astype(np.float64) @ mechanism[start:stop].ravel()).ravel()
    return total
