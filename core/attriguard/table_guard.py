"""AttriGuard set up on a table: columns, rules, classifier, noise, and one person's card."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.attriguard.allocation import allocate, target_distribution
from core.attriguard.records import Noise
from core.attriguard.settings import TableSettings
from core.attriguard.table_records import Column, TablePeople, table_columns
from core.attriguard.table_rules import PairRule, PairRules, Plausibility, find_rules, judge_plausibility, pair_rules
from core.attriguard.table_search import Defender, Moves, fit_defender, table_moves, table_representatives
from core.errors import InputError
from core.serialize import Result

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Version(Result):
    """One person's record with the noise for one value, her d cells as they read."""

    value: str  # what the defender's classifier reads off it
    target: float  # p, the value's share in the target distribution
    share: float  # M, how often this noise is used
    found: bool  # if there is no noise for the value, the record is as it was and never used for it
    size: int  # columns changed
    after: tuple[str, ...]
    changed: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Result):
    """One protected person: her record without noise and with the noise for each value."""

    row: int  # in the audit's table
    truth: str
    predicted: str  # what the defender's classifier reads off her record without noise
    budget: float  # β the shares are for
    columns: tuple[str, ...]
    before: tuple[str, ...]  # her cells
    versions: tuple[Version, ...]  # one a value, in their order

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a column: her cell, and the cell with each value's noise."""
        import pandas as pd

        cells = {"column": self.columns, "without noise": self.before}
        return pd.DataFrame(cells | {f"to be read as {version.value}": version.after for version in self.versions})


@dataclass(frozen=True, kw_only=True)
class TableGuard(Result):
    """Everything but the attackers.

    Attributes
    ----------
    columns : tuple of Column
    found_rules : tuple of PairRule
        Pairs that never occur together among the known people, in force or not.
    rules : PairRules
        The rules in force.
    noise : Noise
        Of the protected people.
    target : ndarray of shape (m,)
    """

    people: TablePeople
    settings: TableSettings
    columns: tuple[Column, ...]
    found_rules: tuple[PairRule, ...] = field(repr=False)
    rules: PairRules = field(repr=False)
    defender: Defender = field(repr=False)
    moves: Moves = field(repr=False)
    noise: Noise = field(repr=False)
    target: npt.NDArray[np.float64] = field(repr=False)

    def noise_of(self, records: npt.NDArray[np.float64]) -> Noise:
        """Return the noise of other people's records (n, d), such as those an attacker trains with."""
        return table_representatives(records, self.defender, self.moves, self.rules, margin=self.settings.margin)

    def mechanism(self, budget: float) -> npt.NDArray[np.float64]:
        """Return how often each noise is used at a budget, (u, m)."""
        return allocate(self.noise.size, self.target, budget, found=self.noise.found)

    @cached_property
    def plausibility(self) -> Plausibility:
        """How plausible the changed records are."""
        return judge_plausibility(self.people, self.noise, self.columns, self.rules)

    def card(self, person: int, budget: float) -> Card:
        """Return one protected person's record without noise and with the noise for each value."""
        u, m = self.noise.size.shape
        if isinstance(person, bool) or not isinstance(person, (int, np.integer)) or not 0 <= person < u:
            raise InputError(f"The person must be one of 0 to {u - 1}, got {person!r}.")
        own = slice(person, person + 1)
        used = allocate(self.noise.size[own], self.target, budget, found=self.noise.found[own])[0]
        before = self.people.public[person]
        versions = tuple(self._version(person, i, float(used[i])) for i in range(m))
        return Card(
            row=int(self.people.rows[person]),
            truth=self.people.values[self.people.truth[person]],
            predicted=self.people.values[self.noise.predicted[person]],
            budget=budget,
            columns=self.people.names,
            before=self._texts(before),
            versions=versions,
        )

    def _version(self, person: int, value: int, share: float) -> Version:
        m = len(self.people.values)
        after = self.noise.noisy[person * m + value]
        return Version(
            value=self.people.values[value],
            target=float(self.target[value]),
            share=share,
            found=bool(self.noise.found[person, value]),
            size=int(self.noise.size[person, value]),
            after=self._texts(after),
            changed=tuple((after != self.people.public[person]).tolist()),
        )

    def _texts(self, record: npt.NDArray[np.float64]) -> tuple[str, ...]:
        return tuple(column.text(value) for column, value in zip(self.columns, record, strict=True))


def guard_table(people: TablePeople, settings: TableSettings | None = None) -> TableGuard:
    """Set AttriGuard up: describe the columns, find the rules, fit the classifier, find the noise.

    Raises InputError if a setting names an unknown column or value, or nothing is left that may change.
    """
    chosen = TableSettings() if settings is None else settings
    target = target_distribution(chosen.target, people.shares, chosen.given)
    columns = table_columns(people, frozen=chosen.frozen, share=chosen.domain_share)
    found = find_rules(people.known, columns, least_expected=chosen.least_expected)
    rules = pair_rules(columns, found, added=chosen.added, removed=chosen.removed)
    rules = rules if chosen.rules else pair_rules(columns)
    defender = fit_defender(people.known, people.known_truth, columns, kind=chosen.defender)
    moves = table_moves(columns, defender, rules)
    noise = table_representatives(people.public, defender, moves, rules, margin=chosen.margin)
    return TableGuard(
        people=people,
        settings=chosen,
        columns=columns,
        found_rules=found,
        rules=rules,
        defender=defender,
        moves=moves,
        noise=noise,
        target=target,
    )
