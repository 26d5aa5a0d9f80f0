"""How plausible the changed records are, judged on all pairs of values in the table, not on the rules alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from core.attriguard.noise import Noise
from core.attriguard.table.columns import Column
from core.attriguard.table.people import TablePeople
from core.attriguard.table.rules import PairRules, places_of
from core.estimates import Estimate, proportion
from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Plausibility(Result):
    """What is odd about the records with noise.

    Attributes
    ----------
    changed : int
        Records with noise, one for each person and value that needs some and has some.
    without_solution : int
        Pairs of person and value for which no noise was found; these records are left as they are.
    unseen : Estimate
        Share of the changed records with a pair of values, of two columns of categories or few whole numbers, that
        nobody in the table has.
    broken : Estimate
        Share with a pair that the rules forbid; all of them held it before.
    """

    changed: int
    without_solution: int
    unseen: Estimate
    broken: Estimate

    @property
    def plausible(self) -> Estimate:
        """Share of the changed records in which every pair of values has been seen."""
        u = self.unseen
        return Estimate(value=1 - u.value, low=1 - u.high, high=1 - u.low, n=u.n, level=u.level)


def judge_plausibility(
    people: TablePeople, noise: Noise, columns: tuple[Column, ...], rules: PairRules
) -> Plausibility:
    """Return how plausible the records with noise are; seen is what known or protected people have without noise."""
    changed = noise.noisy[(noise.size > 0).ravel()]
    everybody = np.vstack([people.known, people.public])
    odd = _unseen(changed, everybody, [j for j, column in enumerate(columns) if column.listed.size])
    return Plausibility(
        changed=len(changed),
        without_solution=int((~noise.found).sum()),
        unseen=proportion(int(odd.sum()), len(changed)),
        broken=proportion(int((rules.broken(changed) > 0).sum()), len(changed)),
    )


def _unseen(
    records: npt.NDArray[np.float64], everybody: npt.NDArray[np.float64], listed: list[int]
) -> npt.NDArray[np.bool_]:
    """Return which records hold a pair of values of two of these columns that nobody has."""
    values = [np.unique(everybody[:, j]) for j in listed]
    place, own = places_of(values, everybody[:, listed]), places_of(values, records[:, listed])
    odd = np.zeros(len(records), dtype=bool)
    for a, b in combinations(range(len(listed)), 2):
        width = place[:, b].max() + 1
        odd |= ~np.isin(own[:, a] * width + own[:, b], np.unique(place[:, a] * width + place[:, b]))
    return odd
