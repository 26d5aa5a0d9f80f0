"""What the numbers of one model card reveal: its people, the models' predictions of them, and the result.

The attacker's posterior before the release is that of the best attacker without it (`core.studies.subject.prior_of`).
One that is off by a little in the mean gains bits from the group sizes alone, so that calibration matters more here
than elsewhere.

Natural models are what a developer trains on the way to one model. None of them sees the attribute when it predicts.
Trees, gradient boosting, logistic regressions and small forests take turns; only fair models, over a sweep of
tolerances, have it while they learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.caveats import CaveatKind
from ...base.errors import InputError
from ...base.serialize import Result, fingerprint
from ...base.validation import Codes, Floats, Ints, Mask, child_generator, choice
from ...datasets.dataset import AuditDataset
from ...datasets.splits import Splits
from ...models import fit_model
from ..study import ReportProgress
from ..subject import Progress, Subject, prior_of
from .equations import project
from .meter import Measured, Meter, Prediction, ceiling, measured, meter, predict
from .pinned_people import (
    Advice,
    CommonValue,
    Pinned,
    Tried,
    advise,
    common_values,
    noise_generator,
    pinned,
    precisions_tried,
    worst_of_draws,
)
from .release import ModelCardSettings, Published, Release, counts_of

if TYPE_CHECKING:
    import pandas


EVERYBODY_ELSE = "everybody else"
"""What those are called who are not in the group, where there are more than two groups."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedPeople(Result):
    """Everything a release study starts from; slow to make, to be kept."""

    attribute: str
    group: str
    """The group that counts as s = 1."""
    group_names: tuple[str, ...]
    """All groups, by code."""
    rows: Ints = field(repr=False)
    """Row numbers in the dataset."""
    posteriors: Floats = field(repr=False)
    """(n, K): what the attacker knows without the release, the probability of each group."""
    codes: Codes = field(repr=False)
    """(n,): which group everybody is in."""
    predictions: Codes = field(repr=False)
    """(k, n)"""
    names: tuple[str, ...] = field(repr=False)
    labels: Codes = field(repr=False)
    """(n,)"""
    columns: pandas.DataFrame = field(repr=False)
    """Features as they read, to say what disclosed people have in common."""
    left_out: tuple[str, ...] = ()
    """One sentence for each reason why records of the table are not looked at, with their number."""
    rows_read: int = 0
    """Records of the table, those left out included."""

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.labels.size)

    @property
    def _code(self) -> int:
        return self.group_names.index(self.group)

    @property
    def other_group(self) -> str:
        """What to call everybody else."""
        if len(self.group_names) == 2:
            return self.group_names[1 - self._code]
        return EVERYBODY_ELSE

    @property
    def posterior(self) -> Floats:
        """(n,): the attacker's probability of the group without the release."""
        return np.ascontiguousarray(self.posteriors[:, self._code], dtype=np.float64)

    @property
    def sensitive(self) -> Codes:
        """(n,): 1 = the group, 0 = everybody else."""
        return (self.codes == self._code).astype(np.uint8)

    def some(self, most: int, *, seed: int) -> ReleasedPeople:
        """Return so many of the people, drawn with a seed; 0 is all."""
        drawn = drawn_people(self.n, most, seed=seed)
        return replace(
            self,
            rows=self.rows[drawn],
            posteriors=self.posteriors[drawn],
            codes=self.codes[drawn],
            predictions=self.predictions[:, drawn],
            labels=self.labels[drawn],
            columns=self.columns.iloc[drawn].reset_index(drop=True),
        )


def released_people(
    subject: Subject, settings: ModelCardSettings, report: ReportProgress | None = None
) -> ReleasedPeople:
    """People of a card, what the attacker knows of them, and the predictions of the audited model and its variants.

    What is published of them does not matter. `report` is called with (done, total); it may raise
    `core.base.errors.Cancelled` to stop. Raises `InputError` before anything is trained if there is no such group or
    feature.
    """
    config = subject.config
    dataset = subject.dataset
    groups = dataset.group_names
    group = choice(settings.group or groups[1], groups, name="group")
    kept_columns(dataset, settings.without)
    if settings.on == "test":
        rows = subject.splits.test
    else:
        rows = subject.splits.train
    steps = Progress(settings.n_models, report)
    posteriors = prior_of(dataset, subject.splits, rows, seed=config.seed)
    steps.tick()
    predictions, names = _models(subject, rows, settings, steps)
    people = ReleasedPeople(
        group=group,
        attribute=dataset.roles.attribute,
        group_names=groups,
        posteriors=posteriors,
        codes=dataset.sensitive[rows],
        rows=rows,
        predictions=predictions,
        names=names,
        labels=dataset.labels[rows],
        columns=_readable(dataset, rows),
        left_out=_left_out(dataset),
        rows_read=dataset.rows_read,
    )
    return people.some(settings.people, seed=config.seed)


def _models(
    subject: Subject, rows: Ints, settings: ModelCardSettings, steps: Progress
) -> tuple[Codes, tuple[str, ...]]:
    """Predictions (models, rows) of the audited model and its variants, and their names.

    The dataset keeps those between one of `COUNTS` and the next, so that another card trains them no more.
    """
    config = subject.config
    dataset = subject.dataset
    splits = subject.splits
    predictions = [subject.model.predictions[rows][np.newaxis]]
    names = ["audited model"]
    for first, last in pairwise(counts_of(settings)):
        make = partial(
            natural_models,
            dataset,
            splits,
            rows,
            first=first - 1,
            count=last - 1,
            family=settings.family,
            metric=config.metric,
            without=settings.without,
            seed=config.seed,
            report=lambda done, _: steps.reach(1 + done),
        )
        variants = (settings.family, config.metric, settings.without, config.seed)
        key = fingerprint("variants on a card", splits.train, rows, variants, first, last)
        trained, trained_names = dataset.once(key, make)
        predictions.append(trained)
        names.extend(trained_names)
        steps.reach(last)
    return np.vstack(predictions), tuple(names)


def drawn_people(n: int, most: int, *, seed: int) -> Ints:
    """Return which of n people are looked at; 0 is all of them."""
    some = most if 0 < most < n else n
    return np.sort(child_generator(seed, "released people").choice(n, some, replace=False))


def _left_out(dataset: AuditDataset) -> tuple[str, ...]:
    """Return why records are left out: what was noted when the table was read, and who has no prediction."""
    sentences = [
        caveat.text for caveat in dataset.caveats if caveat.kind == CaveatKind.RECORDS_DROPPED
    ]
    lost = dataset.rows_read - dataset.n
    if lost and not sentences:
        sentences.append(f"Left out: {lost:,}.")
    if dataset.answered is not None:
        sentences.append(
            f"Left out without an answer of the model: {int((~dataset.answered).sum()):,}."
        )
    return tuple(sentences)


def _readable(dataset: AuditDataset, rows: Ints) -> pandas.DataFrame:
    """Return the features of some records as they read: categories by name, a missing one as "missing"."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for j, name in enumerate(dataset.feature_names):
        values = dataset.features[rows, j]
        if dataset.categorical[j] and dataset.categories:
            values = np.array([*dataset.categories[j], "missing"], dtype=object)[
                values.astype(np.intp)
            ]
        columns[name] = values
    columns[dataset.roles.label] = np.array(dataset.label_names, dtype=object)[dataset.labels[rows]]
    return pd.DataFrame(columns)


# Natural models

_DEPTHS = (4, 8, 12, 3, 6, 10, 14, 5, 7, 16)

_WIDEST_TOLERANCE = 0.2


def _tolerance(i: int) -> float:
    """Tolerance of a fair model: 0 and the widest, then the middles of what is between those before, from the left."""
    if i < 2:
        return i * _WIDEST_TOLERANCE
    halvings = (i - 1).bit_length()
    position = i - 1 - 2 ** (halvings - 1)
    return _WIDEST_TOLERANCE * (2 * position + 1) / 2**halvings


def natural_models(
    dataset: AuditDataset,
    splits: Splits,
    rows: Ints,
    *,
    first: int = 0,
    count: int = 20,
    family: str = "mixed",
    metric: str = "statistical_parity",
    without: Sequence[str] = (),
    seed: int = 0,
    report: ReportProgress | None = None,
) -> tuple[Codes, tuple[str, ...]]:
    """Train the models from number `first` to before `count`; return predictions (models, rows) and names.

    The fair models of "tolerances" are fair in the metric; no model sees the features `without`. The first models of
    two counts are the same. `report` is called with (models up to here, count) and may raise
    `core.base.errors.Cancelled` to stop.
    """
    columns = kept_columns(dataset, without)
    train = splits.train
    x = dataset.features[:, columns]
    y = dataset.labels
    s = dataset.sensitive
    predictions = []
    names = []
    steps = Progress(count, report)
    for i in range(first, count):
        if family == "tolerances":
            tolerance = _tolerance(i)
            model = fit_model(
                "exponentiated_gradient",
                x[train],
                y[train],
                s[train],
                metric=metric,
                tolerance=tolerance,
                seed=seed,
            )
            name = f"fair, tolerance {tolerance:.3f}"
            answers = model.predict(x[rows], s[rows], seed=seed)
        else:
            name, answers = _trained(dataset, train, rows, columns, family, i, seed)
        predictions.append(answers)
        names.append(f"{i + 1} {name}")
        steps.reach(i + 1)
    return np.array(predictions, dtype=np.uint8), tuple(names)


def kept_columns(dataset: AuditDataset, without: Sequence[str]) -> Ints:
    """Return the columns of all features but some."""
    for name in without:
        choice(name, dataset.feature_names, name="without")
    columns = np.array(
        [j for j, name in enumerate(dataset.feature_names) if name not in without], dtype=np.intp
    )
    if not columns.size:
        raise InputError("Natural models need at least one feature, got none.")
    return columns


def _recipe(family: str, i: int) -> tuple[str, str, int]:
    """Return how one model is made: what is varied ("seeds", "depths" or "features"), the learner and its depth."""
    if family == "mixed":
        kind = ("seeds", "depths", "features")[i % 3]
    else:
        kind = family
    turn = i // 3 if family == "mixed" else i
    if kind == "depths":
        return kind, ("tree", "boosting", "forest")[turn % 3], _DEPTHS[turn % len(_DEPTHS)]
    return kind, ("tree", "boosting", "logistic", "forest")[turn % 4], 8


def _trained(
    dataset: AuditDataset, train: Ints, rows: Ints, columns: Ints, family: str, i: int, seed: int
) -> tuple[str, Codes]:
    """Return name and predictions of one model."""
    kind, learner, depth = _recipe(family, i)
    rng = child_generator(seed, f"natural model {i}")
    y = dataset.labels
    name = learner
    if learner != "logistic":
        name += f", depth {depth}"
    if kind == "seeds":  # as many records drawn with replacement, within each label
        resampled = []
        for label in (0, 1):
            indices = train[y[train] == label]
            resampled.append(rng.choice(indices, indices.size))
        train = np.concatenate(resampled)
        name += ", resampled"
    if kind == "features":
        share = rng.uniform(0.5, 0.9)
        subset = rng.choice(columns, size=max(1, round(share * columns.size)), replace=False)
        name += f", {subset.size} of {columns.size} features"
        columns = np.sort(subset)
    x = dataset.features[:, columns]
    estimator = _estimator(learner, depth, dataset.categorical[columns], int(rng.integers(2**31)))
    return name, estimator.fit(x[train], y[train]).predict(x[rows]).astype(np.uint8)


def _estimator(learner: str, depth: int, categorical: Mask, seed: int) -> Any:
    if learner == "tree":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=depth, random_state=seed)
    if learner == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(n_estimators=20, max_depth=depth, random_state=seed)
    if learner == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            max_iter=40, max_depth=depth, early_stopping=False, random_state=seed
        )
    # Logistic regression on standardised numbers and one column a category.
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    coded = np.flatnonzero(categorical)
    numbers = np.flatnonzero(~categorical)
    prepared = ColumnTransformer(
        [
            ("numbers", StandardScaler(), numbers),
            ("categories", OneHotEncoder(handle_unknown="ignore", max_categories=30), coded),
        ]
    )
    return make_pipeline(prepared, LogisticRegression(max_iter=2000))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelCardResult(Result):
    """What the numbers of a model card reveal, estimated and measured."""

    settings: ModelCardSettings
    people: ReleasedPeople = field(repr=False)
    published: Published = field(repr=False)
    status: str
    reason: str
    """Of the projection: "converged", "not_converged", "infeasible", and one sentence on the latter two."""
    meter: Meter
    prediction: Prediction
    """The expected gain, without anybody's true attribute."""
    measured: Measured
    pinned: Pinned = field(repr=False)
    common: tuple[CommonValue, ...]
    """What the disclosed have clearly more often than the rest."""
    probability: Floats = field(repr=False)
    """(n,): the posterior after the release."""
    worst: Tried | None = None
    """The worst of several draws of the noise, this one among them, where there is noise."""
    ceiling: float | None = None
    """Share of people that no attacker with the prior can expect to exceed, where that can be computed."""
    fewer: tuple[ModelCardResult, ...] = field(default=(), repr=False)
    """The cards of the first few of these models, at the `COUNTS` below all of them."""
    advice: Advice | None = None
    """The finest precision that discloses nobody, once it is known."""

    @property
    def n(self) -> int:
        """Number of people."""
        return self.people.n

    @property
    def n_models(self) -> int:
        """Number of models."""
        return self.published.release.n_models

    @property
    def n_numbers(self) -> int:
        """Number of published numbers."""
        return len(self.published.numbers)

    @property
    def most_pinned(self) -> int:
        """People disclosed, in the worst of the random draws of the noise where there are several."""
        if self.worst is None:
            return self.pinned.count
        return max(self.pinned.count, self.worst.pinned)

    @property
    def unpredicted(self) -> int:
        """Whether more (1) or less (−1) is measured than 95% of samples from the posterior give, or neither (0).

        The same as the interval of the measured bits lying above the predicted ones, below, or holding them.
        """
        bits = self.measured.bits
        predicted = self.prediction.bits.value
        return int(predicted < bits.low) - int(predicted > bits.high)


def measure_card(people: ReleasedPeople, settings: ModelCardSettings) -> ModelCardResult:
    """Meter, predict, project, measure (15,000 people and 50 models in under 2 seconds of processor time).

    Raises `InputError` if a setting breaks its rule.
    """
    release = release_of(people, settings)
    published = release.publish(people.sensitive, rng=noise_generator(settings.seed))
    projected = project(people.posterior, published)
    prediction = predict(people.posterior, release, seed=settings.seed)
    if projected.status == "infeasible":
        chance = None
    else:
        chance = prediction
    disclosed = pinned(people.posterior, projected.probability, sensitive=people.sensitive)
    return ModelCardResult(
        settings=settings,
        people=people,
        published=published,
        status=projected.status,
        reason=projected.reason,
        meter=meter(people.posterior, release),
        prediction=prediction,
        measured=measured(people.posterior, projected.probability, people.sensitive, chance=chance),
        pinned=disclosed,
        common=common_values(people.columns, disclosed.among(people.n)),
        probability=projected.probability,
        ceiling=ceiling(people.posterior, published),
    )


def measure_cards(people: ReleasedPeople, settings: ModelCardSettings) -> ModelCardResult:
    """Card of all models, with the cards of the first few of them, and the worst of several draws of its noise."""
    *fewer, card = (
        measure_card(people, replace(settings, count=count)) for count in counts_of(settings)
    )
    worst = None
    if card.published.noise is not None:
        worst = worst_of_draws(
            people.posterior, card.published.release, sensitive=people.sensitive, seed=settings.seed
        )
    return replace(card, fewer=tuple(fewer), worst=worst)


def release_of(people: ReleasedPeople, settings: ModelCardSettings) -> Release:
    """Release that these settings mean."""
    count = settings.n_models
    if count > len(people.predictions):
        raise InputError(f"count must be at most {len(people.predictions)} models, got {count}.")
    return Release(
        people.predictions[:count],
        labels=people.labels,
        statistics=settings.statistics,
        sizes=settings.sizes,
        decimals=settings.decimals,
        epsilon=settings.epsilon,
        names=people.names[:count],
    )


def advice_on(
    card: ModelCardResult, dataset: AuditDataset, report: ReportProgress | None = None
) -> Advice:
    """Finest precision at which the numbers of a card disclose nobody; the dataset keeps it for other precisions."""
    people = card.people
    release = card.published.release
    seed = card.settings.seed
    precisions = precisions_tried(release.decimals, release.epsilon)
    about = (release.statistics, release.sizes, seed, precisions)
    key = fingerprint(
        "advice on a card",
        people.rows,
        people.posterior,
        people.sensitive,
        release.predictions,
        about,
    )
    make = partial(
        advise, people.posterior, release, sensitive=people.sensitive, seed=seed, report=report
    )
    return dataset.once(key, make)
