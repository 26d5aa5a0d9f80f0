"""AttriGuard on a table: columns, rules, classifier, noise, and its attackers.

All attackers learn the private attribute on the known people's records, gradient boosting being the strong one. Two
kinds of input: indicators and standardised numbers for logistic regression and the network, the columns as they are for
the forest and gradient boosting. Three attackers are adaptive: one does without the columns that carry half of the
noise, and logistic regression and gradient boosting are trained adversarially: they run AttriGuard on the known people,
with the defender's own classifier, and learn from the noisy records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.attriguard.allocation import target_distribution
from core.attriguard.attackers import Fitted
from core.attriguard.exposure import Guard
from core.attriguard.records import Floats, Ints, Noise, Report, concentration
from core.attriguard.settings import TableSettings
from core.attriguard.table_people import (
    Column,
    PairRule,
    PairRules,
    Plausibility,
    TablePeople,
    audit_people,
    find_rules,
    fit_encoder,
    judge_plausibility,
    pair_rules,
    table_columns,
)
from core.attriguard.table_search import Defender, Moves, fit_defender, table_moves, table_representatives
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.errors import InputError
from core.seeds import child_generator, child_seed
from core.serialize import Result
from core.validation import choice

if TYPE_CHECKING:
    import pandas

LEARNERS = ("logistic", "forest", "boosting", "network")
"""Defense-unaware attackers."""

_TREES = 100
_LEAF = 5
_HIDDEN = 100
_EPOCHS = 8
_MOST_CODES = 255  # categories the booster can tell apart


def fit_attacker(
    learner: str,
    records: Floats,
    truth: Ints,
    columns: tuple[Column, ...],
    *,
    kept: npt.NDArray[np.intp] | None = None,
    seed: int = 0,
) -> Fitted:
    """Train an attacker, one of `LEARNERS`, on records (n, d) and the columns `kept`, all by default."""
    choice(learner, LEARNERS, name="attacker")
    looked = np.arange(len(columns)) if kept is None else kept
    seen, own = records[:, looked], tuple(columns[j] for j in looked)
    encoder = fit_encoder(seen, own) if learner in ("logistic", "network") else None

    def see(rows: Floats) -> Any:
        return rows[:, looked] if encoder is None else encoder.transform(rows[:, looked])

    fit = {"logistic": _logistic, "forest": _forest, "boosting": _boosting, "network": _network}[learner]
    return Fitted(fit(see(records), truth, own, seed), see)


def _logistic(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000).fit(inputs, truth)


def _forest(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(_TREES, min_samples_leaf=_LEAF, random_state=seed).fit(inputs, truth)


def _boosting(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    coded = [column.kind == "category" and column.listed.size <= _MOST_CODES for column in columns]
    # it stops on a tenth of the records, which must be able to hold every value
    counts = np.unique(truth, return_counts=True)[1]
    stops = math.ceil(truth.size / 10) >= counts.size and counts.min() >= 2
    return HistGradientBoostingClassifier(
        categorical_features=coded, early_stopping=bool(stops), random_state=seed
    ).fit(inputs, truth)


def _network(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    """Train for a few epochs: more of them overfit to the known people."""
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((_HIDDEN,), random_state=seed)
    for _ in range(_EPOCHS):
        network.partial_fit(inputs, truth, classes=np.unique(truth))
    return network


_ADVERSARIAL = {"adversarial_logistic": "logistic", "adversarial": "boosting"}
_DRAWS = 2  # noisy records of every known person to learn from
_DROPPED = 0.5

TABLE_ATTACKERS = (*LEARNERS, "dropping", *_ADVERSARIAL)
"""Who attacks a table, in this order."""


@dataclass(frozen=True, kw_only=True)
class TableGuard(Guard, Result):
    """The defender and the attackers on one table."""

    people: TablePeople
    settings: TableSettings
    columns: tuple[Column, ...]
    found_rules: tuple[PairRule, ...] = field(repr=False)
    """Pairs that never occur together among the known people, in force or not."""
    rules: PairRules = field(repr=False)
    """The rules in force."""
    defender: Defender = field(repr=False)
    moves: Moves = field(repr=False)
    noise: Noise = field(repr=False)
    """Of the protected people."""
    target: Floats

    unit = "columns"

    @property
    def attackers(self) -> tuple[str, ...]:
        """All there are on tables."""
        return TABLE_ATTACKERS

    @property
    def trained_at(self) -> tuple[float, ...]:
        """Those of the settings."""
        return self.settings.trained_budgets

    @property
    def sets(self) -> tuple[Floats, Floats, Ints]:
        """Records of the known and of the protected people, and the protected people's values."""
        return self.people.known, self.people.public, self.people.truth

    def search(self, report: Report | None = None, *, known: bool = False) -> Noise:
        """Return the noise of the protected people, or of those an attacker trains with."""
        return self._known_noise if known else self.noise

    @cached_property
    def _known_noise(self) -> Noise:
        return self.noise_of(self.people.known)

    def noise_of(self, records: Floats) -> Noise:
        """Return the noise of other people's records (n, d)."""
        return table_representatives(records, self.defender, self.moves, self.rules, margin=self.settings.margin)

    def fitted(self, name: str) -> Iterator[tuple[float | None, Fitted]]:
        """Yield the fitted attackers of a name, with the budget each was trained against: one or several."""
        people, seed = self.people, self.settings.seed
        if name in _ADVERSARIAL:
            for budget in self.trained_at:
                yield budget, self._adversarial(_ADVERSARIAL[name], budget)
            return
        learner, kept = name, None
        if name == "dropping":
            noise = self.search(known=True)
            carried = concentration(people.known, noise, np.full(noise.size.shape, 1.0 / noise.size.shape[1]))
            learner, kept = "boosting", np.setdiff1d(np.arange(carried.n_entries), carried.carrying(_DROPPED))
        own = child_seed(seed, f"attriguard {name}")
        yield None, fit_attacker(learner, people.known, people.known_truth, self.columns, kept=kept, seed=own)

    def _adversarial(self, learner: str, budget: float) -> Fitted:
        """Train on noise drawn for the known people as the protected people draw theirs at a budget."""
        name = f"attriguard trained {learner} {budget:g}"
        mechanism, rng = self.seen.mechanism(budget), child_generator(self.settings.seed, name)
        records = np.vstack([self.seen.draw(mechanism, rng) for _ in range(_DRAWS)])
        truth = np.tile(self.people.known_truth, _DRAWS)
        return fit_attacker(learner, records, truth, self.columns, seed=child_seed(self.settings.seed, name))

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

        def cells(record: Floats) -> list[str]:
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


def table_guard(dataset: AuditDataset, config: AuditConfig, settings: TableSettings | None = None) -> TableGuard:
    """Set AttriGuard up for an audit: known are the records its adversary knows, protected the test records."""
    return guard_table(audit_people(config, dataset), settings)
