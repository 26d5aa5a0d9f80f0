"""AttriGuard set up on ratings or on a table: the defender, its noise, and the attackers who read it.

Everybody learns from the people whose attribute is known; accuracy is measured on the others. On ratings the defender's
classifier is fitted once, and an attacker of the same kind uses the very same one, however strongly it is penalised,
which is the worst case for the person attacked. On a table gradient boosting is the best attacker. Adaptive attackers
run AttriGuard on the known people, with the defender's own classifier: they leave out the entries that carry most of
the noise, or learn from noisy records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.errors import DataUnavailableError, InputError
from ...base.serialize import Result
from ...base.validation import Floats, Ints, child_generator, child_seed, choice
from ...datasets.dataset import AuditDataset
from ...datasets.ratings import Ratings, demo_ratings, read_ratings
from ...stats.estimates import Estimate
from ..study import ReportProgress
from ..subject import AuditConfig
from .allocation import RepresentativeNoise, concentration, target_distribution
from .attackers import (
    ADAPTIVE,
    ADVERSARIAL,
    RATING_ATTACKERS,
    TABLE_ATTACKERS,
    Fitted,
    RegionBased,
    drawn,
    fit_adversarial,
    fit_distilled,
    fit_dropping,
    fit_low_rank,
    fit_on_table,
    fit_unaware,
)
from .panda import representatives
from .result import RATING_DEFENDERS, AttriGuardSettings, Exposure, Guesses
from .table import (
    TablePeople,
    audit_people,
    find_rules,
    pair_rules,
    plausible_share,
    table_columns,
)
from .table_search import TABLE_DEFENDERS, TableSearch, fit_defender

if TYPE_CHECKING:
    import pandas


class Defense:
    """A defender with the noise of the people to protect, and the attackers tried on it, on ratings or a table."""

    unit: ClassVar[str]
    entry: ClassVar[str]
    """What entries of a record are called when they change, and what one is."""
    surrogates: ClassVar[Collection[str]]
    """What the defender can look for noise with."""
    every_attacker: ClassVar[tuple[str, ...]]
    """Keys of `ATTACKER_TITLES`, in the order they are tried."""
    search_steps: ClassVar[int] = 0
    """Steps of `expose` each search for noise counts as."""

    people: Any
    """A `core.datasets.ratings.Ratings`, or a `core.studies.attriguard.table.TablePeople`."""
    sets: tuple[Any, Any, Ints]
    """Records of the known and of the protected people, (n, d) and (u, d), and the protected people's values."""
    names: tuple[str, ...]
    """Of the entries of a record."""
    target: Floats

    def __init__(self, settings: AttriGuardSettings, seed: int) -> None:
        choice(settings.defender, self.surrogates, name="defender")
        self.attackers = self.attackers_of(settings)
        for name in self.attackers:
            choice(name, self.every_attacker, name="attackers")
        self.settings = settings
        self.seed = seed

    @classmethod
    def attackers_of(cls, settings: AttriGuardSettings) -> tuple[str, ...]:
        """Return the attackers that the settings name: all where they name none."""
        return settings.attackers or cls.every_attacker

    @classmethod
    def steps(cls, settings: AttriGuardSettings) -> int:
        """Return the number of steps of `expose`: searches for noise, and attackers fitted at each of their budgets."""
        attackers = cls.attackers_of(settings)
        searches = 1 + bool(ADAPTIVE & set(attackers))
        adversarial = ADVERSARIAL.keys() & set(attackers)
        fitted = len(attackers) + len(adversarial) * (len(settings.trained_at) - 1)
        return cls.search_steps * searches + fitted

    def noise_of(self, records: Any, report: ReportProgress | None = None) -> RepresentativeNoise:
        """Return the defender's noise for some people's records (n, d); the report may raise `Cancelled`."""
        raise NotImplementedError

    def fitted(self, name: str) -> Iterator[tuple[float | None, Fitted]]:
        """Yield the fitted attackers of a name, with the budget each was trained against: one or several."""
        raise NotImplementedError

    def search(
        self, report: ReportProgress | None = None, *, training: bool = False
    ) -> RepresentativeNoise:
        """Return the noise of the people to protect, or of those attackers know (`training`), searched for once."""
        cached: dict[bool, RepresentativeNoise] = self.__dict__.setdefault("_noise", {})
        if training not in cached:
            known_records, protected_records, _ = self.sets
            if training:
                cached[training] = self.noise_of(known_records, report)
            else:
                cached[training] = self.noise_of(protected_records, report)
        return cached[training]

    @property
    def noise(self) -> RepresentativeNoise:
        """The representative noise of the people to protect."""
        return self.search()

    def mechanism(self, budget: float, *, training: bool = False) -> Floats:
        """Return how often each noise is used at a budget, (u, m): on the people to protect, or on those known."""
        return self.search(training=training).mechanism(self.target, budget)

    def guesses(self, name: str) -> Iterator[Guesses]:
        """Yield what the attackers of a name say about every person with every noise."""
        noise = self.noise
        public = self.sets[1]
        changed = np.flatnonzero(noise.size.ravel() > 0)
        for budget, attacker in self.fitted(name):
            clean = attacker.guess(public)
            noisy = np.repeat(clean, noise.size.shape[1])
            noisy[changed] = attacker.guess(noise.noisy[changed])
            yield Guesses(
                attacker=name, trained_at=budget, clean=clean, noisy=noisy.reshape(noise.size.shape)
            )

    def baseline_exposure(self) -> Exposure:
        """Return the exposure before anybody attacks."""
        noise = self.noise
        (known_records, _, truth) = self.sets
        return Exposure(
            attribute=self.people.attribute,
            unit=self.unit,
            values=self.people.values,
            truth=truth,
            predicted=noise.predicted,
            size=noise.size,
            reached=noise.reached,
            target=self.target,
            shares=self.people.shares,
            n_attacker_records=known_records.shape[0],
            n_entries=known_records.shape[1],
            defense=self,
        )

    def card(self, person: int) -> pandas.DataFrame:
        """Return what the noise changes in one protected person's record, a row an entry: as it is, and by value.

        What is changed for most values comes first; where a value's noise changes nothing, the cell is empty.
        """
        import pandas as pd

        u, m = self.noise.size.shape
        if (
            isinstance(person, bool)
            or not isinstance(person, (int, np.integer))
            or not 0 <= person < u
        ):
            raise InputError(f"The person must be one of 0 to {u - 1}, got {person!r}.")
        rows = self.sets[1][[person]], self.noise.noisy[person * m : (person + 1) * m]
        (before,), after = (part.toarray() if hasattr(part, "toarray") else part for part in rows)
        often = (after != before).sum(axis=0)
        changed = [int(j) for j in np.argsort(-often, kind="stable") if often[j]]
        cells = {self.entry: [self.names[j] for j in changed]}
        cells["without noise"] = [self.cell(j, before[j]) for j in changed]
        for value, record in zip(self.people.values, after, strict=True):
            cells[value] = [
                self.cell(j, record[j]) if record[j] != before[j] else "" for j in changed
            ]
        return pd.DataFrame(cells)

    def cell(self, column: int, value: float) -> str:
        """Return how an entry reads."""
        if value:
            return f"{value:g}"
        return "–"

    def expose(self, report: ReportProgress | None = None) -> Iterator[Exposure]:
        """Yield the exposure as it grows, with one more fitted attacker each time.

        The report is called with (steps done, steps in all) after each step; it may raise `core.base.errors.Cancelled`.
        """
        done = 0
        steps = self.steps(self.settings)
        tell = report or (lambda done, total: None)

        def search(*, training: bool) -> None:
            nonlocal done
            self.search(
                lambda searched, of: tell(done + self.search_steps * searched // (of + 1), steps),
                training=training,
            )
            done += self.search_steps
            if self.search_steps:
                tell(done, steps)

        if self.search_steps:
            tell(done, steps)
        search(training=False)
        exposure = self.baseline_exposure()
        first_adaptive = next((name for name in self.attackers if name in ADAPTIVE), "")
        for name in self.attackers:
            if name == first_adaptive:
                search(training=True)
            for guesses in self.guesses(name):
                exposure = replace(exposure, guesses=(*exposure.guesses, guesses))
                done += 1
                tell(done, steps)
                yield exposure


_QUIET = 0.9  # share of all changes in the entries of ratings that feature-dropping leaves out


class RatingsDefense(Defense):
    """One defender and the attackers on one set of ratings; everything is fitted when it is first asked for, once."""

    unit = "ratings"
    entry = "item"
    surrogates = RATING_DEFENDERS
    every_attacker = RATING_ATTACKERS
    search_steps = 10

    def __init__(self, ratings: Ratings, settings: AttriGuardSettings, *, seed: int = 42) -> None:
        super().__init__(settings, seed)
        self.people = self.ratings = ratings
        self.sets = ratings.people_train, ratings.people_test, ratings.values_test
        self.names = ratings.items
        self.known_people = ratings.people_train, ratings.values_train
        self.target = target_distribution(settings.target, ratings.shares)
        self._classifiers: dict[str, Any] = {}

    def classifier(self, kind: str) -> Any:
        """Return the fitted classifier of a kind: those of `RATING_DEFENDERS`, and "forest"."""
        if kind not in self._classifiers:
            self._classifiers[kind] = fit_unaware(*self.known_people, kind, seed=self._seed(kind))
        return self._classifiers[kind]

    def reader(self, name: str) -> Any:
        """Return the fitted classifier an attacker of a name asks: the defender's own where theirs is of the kind."""
        if name == "logistic" and self.settings.defender == "logistic_smooth":
            return self.classifier("logistic_smooth")
        return self.classifier(name)

    def noise_of(
        self, records: Any, report: ReportProgress | None = None, **changed: Any
    ) -> RepresentativeNoise:
        """Return the noise for some people's records (n, d), by the defender's settings or changed ones."""
        settings = replace(self.settings, **changed)
        return representatives(
            records,
            self.classifier(settings.defender),
            policy=settings.noise_policy,
            margin=settings.margin,
            n_values=len(self.ratings.values),
            report=report,
        )

    def fitted(self, name: str) -> Iterator[tuple[float | None, Fitted]]:
        """Yield the fitted attackers of a name, with the budget each was trained against: one or several."""
        seed = self._seed(name)
        if name == "adversarial":
            for budget in self.settings.trained_at:
                mechanism = self.mechanism(budget, training=True)
                yield (
                    budget,
                    Fitted(
                        fit_adversarial(
                            *self.known_people, self.search(training=True), mechanism, seed=seed
                        )
                    ),
                )
        elif name == "dropping":
            mechanism = self.mechanism(max(self.settings.trained_at), training=True)
            carried = concentration(
                self.ratings.people_train, self.search(training=True), mechanism
            )
            yield None, fit_dropping(*self.known_people, carried.without(_QUIET), seed=seed)
        elif name == "region":
            yield None, Fitted(RegionBased(self.classifier("network"), seed=seed))
        elif name == "distillation":
            teacher = self.classifier("network")
            yield (
                None,
                Fitted(fit_distilled(*self.known_people, teacher, seed=self._seed("network"))),
            )
        elif name == "low_rank":
            yield None, fit_low_rank(*self.known_people, seed=seed)
        else:
            yield None, Fitted(self.reader(name))

    def _seed(self, name: str) -> int:
        return child_seed(self.seed, f"guard {name}")


_DRAWS = 2  # noisy records of every known person to learn from
_DROPPED = 0.5  # share of all changes in the columns that feature-dropping leaves out


class TableDefense(Defense):
    """The defender and the attackers on one table; InputError if a setting names an unknown column or value.

    `found_rules` are the pairs that never occur together among the known people, in force or not; `rules` those in
    force; `columns` what may change.
    """

    unit = "columns"
    entry = "column"
    surrogates = TABLE_DEFENDERS
    every_attacker = TABLE_ATTACKERS

    def __init__(
        self, people: TablePeople, settings: AttriGuardSettings, *, seed: int = 42
    ) -> None:
        super().__init__(settings, seed)
        self.people = people
        self.sets = (people.attacker_records, people.public, people.truth)
        self.names = people.names
        self.target = target_distribution(settings.target, people.shares)
        self.columns = table_columns(people, frozen=settings.frozen)
        self.found_rules = find_rules(people.attacker_records, self.columns)
        rules = pair_rules(
            self.columns,
            self.found_rules,
            forbidden=settings.forbidden_pairs,
            allowed=settings.allowed_pairs,
        )
        self.rules = rules if settings.rules else {}
        self.defender = fit_defender(
            people.attacker_records, people.known_truth, self.columns, kind=settings.defender
        )

    def noise_of(
        self, records: Floats, report: ReportProgress | None = None
    ) -> RepresentativeNoise:
        """Return the noise of people's records (n, d)."""
        return TableSearch(
            self.columns, self.defender, self.rules, margin=self.settings.margin
        ).noise(records)

    def fitted(self, name: str) -> Iterator[tuple[float | None, Fitted]]:
        """Yield the fitted attackers of a name, with the budget each was trained against: one or several."""
        people = self.people
        seed = self.seed
        if name in ADVERSARIAL:
            for budget in self.settings.trained_at:
                yield budget, self._adversarial(ADVERSARIAL[name], budget)
            return
        learner = name
        selected = None
        if name == "dropping":
            noise = self.search(training=True)
            carried = concentration(
                people.attacker_records, noise, np.full(noise.size.shape, 1.0 / noise.size.shape[1])
            )
            learner = "boosting"
            selected = carried.without(_DROPPED)
        attacker_seed = child_seed(seed, f"attriguard {name}")
        yield (
            None,
            fit_on_table(
                learner,
                people.attacker_records,
                people.known_truth,
                self.columns,
                selected=selected,
                seed=attacker_seed,
            ),
        )

    def _adversarial(self, learner: str, budget: float) -> Fitted:
        """Train on noise drawn for the known people as the protected people draw theirs at a budget."""
        name = f"attriguard trained {learner} {budget:g}"
        noise = self.search(training=True)
        mechanism = self.mechanism(budget, training=True)
        rng = child_generator(self.seed, name)
        records = np.vstack([noise.chosen(drawn(mechanism, rng)) for _ in range(_DRAWS)])
        truth = np.tile(self.people.known_truth, _DRAWS)
        return fit_on_table(learner, records, truth, self.columns, seed=child_seed(self.seed, name))

    @cached_property
    def plausible(self) -> Estimate:
        """Share of the changed records that hold only pairs of values that somebody has."""
        return plausible_share(self.people, self.noise, self.columns)

    def cell(self, column: int, value: float) -> str:
        """Return how a value of a column reads."""
        return self.columns[column].text(value)


# Whose records are protected

RATINGS = "ratings"
"""What a command calls the Google Play ratings, and a configuration any ratings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedRecords(Result):
    """A table or ratings, with the configuration that divides them and sets the seed."""

    dataset: AuditDataset | Ratings = field(repr=False)
    config: AuditConfig

    @property
    def attribute(self) -> str:
        """What the sensitive attribute is called."""
        if isinstance(self.dataset, Ratings):
            return self.dataset.attribute
        return self.dataset.roles.attribute


def defense_of(
    dataset: AuditDataset | Ratings, config: AuditConfig, settings: AttriGuardSettings
) -> Defense:
    """Return AttriGuard set up on a table, where known are the records the audit's attacker knows, or on ratings."""
    if isinstance(dataset, Ratings):
        return RatingsDefense(dataset, settings, seed=config.seed)
    return TableDefense(audit_people(config, dataset), settings, seed=config.seed)


def google_play(folder: Path | None, seed: int) -> ProtectedRecords:
    """Return the Google Play ratings of a folder of data; DataUnavailableError where there is none."""
    if folder is None:
        raise DataUnavailableError(
            "The Google Play ratings cannot be downloaded; name their folder with --data or FAIRLEAK_DATA, or use "
            "--dataset demo_ratings."
        )
    return ratings_subject(read_ratings(folder), seed)


def synthetic(folder: Path | None, seed: int) -> ProtectedRecords:
    """Return the synthetic ratings."""
    return ratings_subject(demo_ratings(), seed)


def ratings_subject(ratings: Ratings, seed: int = 42) -> ProtectedRecords:
    """Return people's ratings, as the study takes them."""
    return ProtectedRecords(dataset=ratings, config=AuditConfig(dataset=RATINGS, seed=seed))
