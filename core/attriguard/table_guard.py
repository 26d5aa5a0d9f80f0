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
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.allocation import target_distribution
from core.attriguard.attackers import Fitted
from core.attriguard.exposure import Guard
from core.attriguard.records import Floats, Ints, Noise, Report, concentration
from core.attriguard.settings import TableSettings
from core.attriguard.table_people import (
    Column,
    Plausibility,
    TablePeople,
    audit_people,
    find_rules,
    fit_encoder,
    judge_plausibility,
    pair_rules,
    table_columns,
)
from core.attriguard.table_search import fit_defender, table_moves, table_representatives
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.seeds import child_generator, child_seed
from core.validation import choice

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


class TableGuard(Guard):
    """The defender and the attackers on one table; InputError if a setting names an unknown column or value.

    `found_rules` are the pairs that never occur together among the known people, in force or not; `rules` those in
    force; `noise` is that of the protected people.
    """

    unit, entry = "columns", "column"

    def __init__(self, people: TablePeople, settings: TableSettings | None = None) -> None:
        chosen = TableSettings() if settings is None else settings
        self.people, self.settings = people, chosen
        self.attackers, self.trained_at = TABLE_ATTACKERS, chosen.trained_budgets
        self.sets, self.names = (people.known, people.public, people.truth), people.names
        self.target = target_distribution(chosen.target, people.shares, chosen.given)
        self.columns = table_columns(people, frozen=chosen.frozen, share=chosen.domain_share)
        self.found_rules = find_rules(people.known, self.columns, least_expected=chosen.least_expected)
        rules = pair_rules(self.columns, self.found_rules, added=chosen.added, removed=chosen.removed)
        self.rules = rules if chosen.rules else pair_rules(self.columns)
        self.defender = fit_defender(people.known, people.known_truth, self.columns, kind=chosen.defender)
        self.moves = table_moves(self.columns, self.defender, self.rules)
        self.noise = self.noise_of(people.public)

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

    def cell(self, column: int, value: float) -> str:
        """Return how a value of a column reads."""
        return self.columns[column].text(value)


def table_guard(dataset: AuditDataset, config: AuditConfig, settings: TableSettings | None = None) -> TableGuard:
    """Set AttriGuard up for an audit: known are the records its adversary knows, protected the test records."""
    return TableGuard(audit_people(config, dataset), settings)
