"""People × attacks: whom each attack finds of the same people, who is found by several, and the fix of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Codes, Ints, Mask
from ...base.errors import InputError
from ...base.serialize import Result
from ...stats.estimates import Estimate, difference, proportion
from ..model_card.pinned_people import CommonValue, common_values
from .people_attacks import IdentifiedRecords
from .remedies import Effect, Plan

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleAtRisk(Result):
    """Whom each attack finds of the same n people."""

    attribute: str
    group_names: tuple[str, ...]
    rows: Ints = field(repr=False)
    """(n,): row numbers among the records used, from 0."""
    groups: Codes = field(repr=False)
    """(n,): codes of their groups."""
    columns: pandas.DataFrame = field(repr=False)
    """Features as they read."""
    attacks: tuple[IdentifiedRecords, ...]
    """In the order of `ATTACKS`."""
    imputed: Mask = field(repr=False)
    """(n,): whose attribute imputation finds, without the model."""
    fixes: tuple[Plan, ...] = field(repr=False)
    """One a person; empty for those whom nothing finds, and those whom nothing on the list frees."""
    effects: tuple[Effect, ...]
    """What single remedies do, and at last the strictest of each kind together."""

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.rows.size)

    @cached_property
    def identified(self) -> Mask:
        """(n, 4): who finds whom, also whom imputation finds too."""
        return np.column_stack([attack.identified for attack in self.attacks])

    @cached_property
    def leaks(self) -> Mask:
        """(n, 4): who finds whom that imputation does not find."""
        return np.column_stack([attack.leak for attack in self.attacks])

    @property
    def number(self) -> Ints:
        """(n,): by how many attacks each is found, imputation left aside."""
        return self.leaks.sum(axis=1)

    def at_least(self, k: int) -> int:
        """Return how many people are found by at least k attacks."""
        return int(np.count_nonzero(self.number >= k))

    def expected(self, k: int) -> float:
        """Return how many people k attacks or more would find if each found its number independently of the others."""
        chances = np.array([1.0])
        for rate in self.leaks.mean(axis=0):
            chances = np.convolve(chances, (1.0 - rate, rate))
        return float(self.n * chances[k:].sum())

    @property
    def beyond_chance(self) -> bool:
        """Whether any attack finds more people than chance alone."""
        return any(attack.beyond_chance for attack in self.attacks)

    @property
    def by_chance(self) -> float:
        """How many finds of all attacks are by chance alone."""
        return sum(attack.chance for attack in self.attacks)

    @property
    def rates(self) -> tuple[Estimate, ...]:
        """The share of each group that at least one attack finds, in the order of `group_names`."""
        return tuple(self._share(self.groups == code) for code in range(len(self.group_names)))

    def _share(self, who: Mask, *, level: float = 0.95) -> Estimate:
        return proportion(int(((self.number > 0) & who).sum()), int(who.sum()), level=level)

    def gap(self, code: int) -> Estimate:
        """Return the share of a group that is found minus that of everybody else.

        Of more than two groups the intervals hold for all of them together (Bonferroni), whichever is picked.
        """
        inside = self.groups == code
        k = len(self.group_names)
        level = 0.95 if k == 2 else 1.0 - 0.05 / k
        return difference(self._share(inside, level=level), self._share(~inside, level=level))

    @cached_property
    def common(self) -> tuple[CommonValue, ...]:
        """What those found have clearly more often than the rest."""
        risk = self.number > 0
        if 0 < risk.sum() < self.n:
            return common_values(self.columns, risk)
        return ()

    @property
    def sets(self) -> tuple[tuple[tuple[bool, ...], int], ...]:
        """Attacks -> how many people exactly these find; by the number of attacks, then the largest set first."""
        patterns, counts = np.unique(self.leaks, axis=0, return_counts=True)
        patterns_and_counts = [
            (tuple(map(bool, pattern)), int(n)) for pattern, n in zip(patterns, counts, strict=True)
        ]
        return tuple(
            sorted(
                (item for item in patterns_and_counts if any(item[0])),
                key=lambda item: (sum(item[0]), -item[1], item[0]),
            )
        )

    def chosen(
        self, *, at_least: int = 1, group: str = "", record: str = "", hide_imputed: bool = True
    ) -> Ints:
        """Return places of the people found by at least so many attacks: most attacks first, then by record.

        Whom imputation finds too counts only where that is not hidden. `record` is a row number, or "" for all.
        InputError if it is no whole number, or that of nobody here.
        """
        counts = (self.leaks if hide_imputed else self.identified).sum(axis=1)
        keep = counts >= at_least
        if record.strip():
            who = np.flatnonzero(self.rows == _row(record))
            if not who.size:
                raise InputError(
                    f"Record must be of one of the {self.n:,} people drawn, got {record.strip()[:40]}."
                )
            return who
        if group:
            keep &= self.groups == self.group_names.index(group)
        places = np.flatnonzero(keep)
        order = np.lexsort(
            (self.rows[places], -self.identified[places].sum(axis=1), -self.number[places])
        )
        return places[order]


def _row(record: str) -> int:
    text = record.strip()
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise InputError(f"Record must be a whole number, got {text[:40]!r}.")
    return int(text)
