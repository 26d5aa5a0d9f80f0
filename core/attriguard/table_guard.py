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
        return judge_plausibility(self.people, self.noise, self.columns)

    def card(self, person: int) -> pandas.DataFrame:
        """Return what the noise changes in one protected person's record, a row a column: as it is, and by value."""
        import pandas as pd

        u, m = self.noise.size.shape
        if isinstance(person, bool) or not isinstance(person, (int, np.integer)) or not 0 <= person < u:
            raise InputError(f"The person must be one of 0 to {u - 1}, got {person!r}.")
        before, after = self.people.public[person], self.noise.noisy[person * m : (person + 1) * m]
        changed = np.flatnonzero((after != before).any(axis=0))

        def cells(record: npt.NDArray[np.float64]) -> list[str]:
            return [self.columns[j].text(record[j]) for j in changed]

        named = {"column": [self.people.names[j] for j in changed], "without noise": cells(before)}
        values = zip(self.people.values, after, strict=True)
        return pd.DataFrame(named | {f"to be read as {value}": cells(record) for value, record in values})


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
