"""The people of a release: the attacker's posterior of them and the models' predictions.

The posterior before the release is gradient boosting on other people, cross-fitted and calibrated. One that is off by a
little in the mean gains bits from the group sizes alone, so calibration matters more here than elsewhere: five strong
adversaries each leave out a fifth of the records the attacker knows; what they say of the records they left out
calibrates their mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.adversaries import calibrate, train_strong
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits, split, taught
from core.errors import InputError
from core.model_card.natural_models import kept_columns, natural_models
from core.model_card.published_counts import Floats
from core.model_card.settings import FAMILIES, NATURAL, SETS, ReleaseSettings
from core.seeds import child_generator
from core.serialize import Result
from core.subject import train_model
from core.validation import binary_array, choice

if TYPE_CHECKING:
    import pandas

_FOLDS = 5


def attacker_posteriors(dataset: AuditDataset, splits: Splits, rows: npt.NDArray[np.intp], *, seed: int = 0) -> Floats:
    """Return P(s = g) of the released records, by their row numbers, for every group, shape (rows, K).

    The strong adversaries learn from the attack and validation records (features and label). Raises `InputError` if
    any of these is among the released ones.
    """
    chosen = np.asarray(rows, dtype=np.intp)
    if shared := np.intersect1d(chosen, splits.known).size:
        raise InputError(f"The attacker must not learn from released records, got {shared} that are in both.")
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    known = taught(splits.known, seed)
    fold = _folds(s[known], child_generator(seed, "attacker folds"))
    held_out = np.zeros((known.size, dataset.n_groups))
    said = np.zeros((chosen.size, dataset.n_groups))
    for i in range(_FOLDS):
        learn, left = known[fold != i], known[fold == i]
        adversary = train_strong(x[learn], y[learn], s[learn], categorical=dataset.categorical, seed=seed)
        said += adversary.probability(x[chosen], y[chosen]) / _FOLDS
        if left.size:
            held_out[fold == i] = adversary.probability(x[left], y[left])
    return calibrate(held_out, s[known]).apply(said)


def _folds(sensitive: npt.NDArray[np.uint8], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return a fold for each record, every group spread evenly over the folds."""
    order = rng.permutation(sensitive.size)
    ranked = order[np.argsort(sensitive[order], kind="stable")]
    fold = np.empty(sensitive.size, dtype=np.intp)
    fold[ranked] = np.arange(sensitive.size) % _FOLDS
    return fold


EVERYBODY_ELSE = "everybody else"
"""What those are called who are not in the group, where there are more than two groups."""

_RECORDS = re.compile(r"[\d,]+ records (without|with) .* are left out\.$")
"""Notes on records that the table holds and nobody can be told of."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedPeople(Result):
    """Everything a release study starts from; slow to make, to be kept."""

    title: str
    attribute: str
    group: str
    """The group that counts as s = 1."""
    other: str
    """What to call everybody else."""
    rows: npt.NDArray[np.intp] = field(repr=False)
    """Row numbers in the dataset."""
    posterior: Floats = field(repr=False)
    """(n,): what the attacker knows without the release."""
    predictions: npt.NDArray[np.uint8] = field(repr=False)
    """(k, n)"""
    names: tuple[str, ...] = field(repr=False)
    labels: npt.NDArray[np.uint8] = field(repr=False)
    """(n,)"""
    sensitive: npt.NDArray[np.uint8] = field(repr=False)
    """(n,): 1 = the group, 0 = everybody else."""
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

    def some(self, most: int, *, seed: int) -> ReleasedPeople:
        """Return so many of the people, drawn with a seed; 0 is all."""
        if not 0 < most < self.n:
            return self
        drawn = drawn_people(self.n, most, seed=seed)
        return replace(
            self,
            rows=self.rows[drawn],
            posterior=self.posterior[drawn],
            predictions=self.predictions[:, drawn],
            labels=self.labels[drawn],
            sensitive=self.sensitive[drawn],
            columns=self.columns.iloc[drawn].reset_index(drop=True),
        )


def released_people(
    config: AuditConfig,
    dataset: AuditDataset,
    settings: ReleaseSettings,
    *,
    audited: npt.NDArray[np.uint8] | None = None,
    given: npt.NDArray[np.uint8] | None = None,
    names: Sequence[str] = (),
    report: Callable[[int, int], None] | None = None,
) -> ReleasedPeople:
    """Train attacker and models with the splits and seed of the config; what is published of them does not matter.

    The predictions of the audited model, shape (dataset.n,), may be handed in where they are at hand
    (`ModelFindings.predictions`); else it is trained. Prediction columns, shape (k, dataset.n), with their names are
    for the family "given". `report` is called with (done, total); it may raise `core.errors.Cancelled` to stop. Raises
    `InputError` before anything is trained if there is no such family, group or feature.
    """
    family, count = choice(settings.family, FAMILIES, name="family"), settings.count
    groups = dataset.group_names
    group = groups.index(choice(settings.group or groups[1], groups, name="group"))
    kept_columns(dataset, settings.without)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    rows = released_rows(config, dataset, on=settings.on)
    total = 2 + (count if family in NATURAL else 0)

    def tick(done: int) -> None:
        if report is not None:
            report(done, total)

    tick(0)
    posterior = np.ascontiguousarray(attacker_posteriors(dataset, splits, rows, seed=config.seed)[:, group])
    tick(1)
    if family == "given":
        predictions, called = _given(given, names, rows, dataset)
    else:
        own = audited if audited is not None else train_model(config, dataset, splits).predictions
        predictions, called = np.asarray(own)[None, rows], ("audited model",)
    tick(2)
    if family in NATURAL and count > 1:
        more, more_names = natural_models(
            dataset,
            splits,
            rows,
            count=count - 1,
            family=family,
            metric=config.metric,
            without=settings.without,
            seed=config.seed,
            report=lambda done, _: tick(2 + done),
        )
        predictions, called = np.vstack([predictions, more]), (*called, *more_names)
    tick(total)
    people = ReleasedPeople(
        title=dataset.title,
        attribute=dataset.roles.attribute,
        group=groups[group],
        other=groups[1 - group] if dataset.n_groups == 2 else EVERYBODY_ELSE,
        rows=rows,
        posterior=posterior,
        predictions=predictions,
        names=called,
        labels=dataset.labels[rows],
        sensitive=(dataset.sensitive[rows] == group).astype(np.uint8),
        columns=_readable(dataset, rows),
        left_out=_left_out(dataset),
        rows_read=dataset.rows_read,
    )
    return people.some(settings.people, seed=config.seed)


def released_rows(config: AuditConfig, dataset: AuditDataset, *, on: str = "test") -> npt.NDArray[np.intp]:
    """Return the row numbers of the people whose numbers are published."""
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    return splits.test if choice(on, SETS, name="on") == "test" else splits.train


def drawn_people(n: int, most: int, *, seed: int) -> npt.NDArray[np.intp]:
    """Return which of n people are looked at; 0 is all of them."""
    if not 0 < most < n:
        return np.arange(n)
    return np.sort(child_generator(seed, "released people").choice(n, most, replace=False))


def _left_out(dataset: AuditDataset) -> tuple[str, ...]:
    """Return why records are left out, of everything that was noted when the table was read."""
    if dataset.n == dataset.rows_read:
        return ()
    told = tuple(note for note in dataset.notes if _RECORDS.match(note))
    return told or (f"{dataset.rows_read - dataset.n:,} records are left out.",)


def _given(
    given: npt.NDArray[np.uint8] | None,
    names: Sequence[str],
    rows: npt.NDArray[np.intp],
    dataset: AuditDataset,
) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    """Return the prediction columns that were handed in, for the released records."""
    columns = [] if given is None else list(given)
    if not columns:
        raise InputError("A release of given models needs at least one column of predictions, got none.")
    for i, column in enumerate(columns):
        if len(column) != dataset.n:
            raise InputError(
                f"Each model must predict for all {dataset.n} records, got {len(column)} predictions of model {i + 1}."
            )
    called = tuple(names) or tuple(f"model {i + 1}" for i in range(len(columns)))
    return np.stack([binary_array(np.asarray(column), name="predictions")[rows] for column in columns]), called


def _readable(dataset: AuditDataset, rows: npt.NDArray[np.intp]) -> pandas.DataFrame:
    """Return the features of some records as they read: categories by name, a missing one as "missing"."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for j, name in enumerate(dataset.feature_names):
        values = dataset.features[rows, j]
        if dataset.categorical[j] and dataset.categories:
            values = np.array([*dataset.categories[j], "missing"], dtype=object)[values.astype(np.intp)]
        columns[name] = values
    columns[dataset.roles.label] = np.where(
        dataset.labels[rows] == 1, dataset.roles.positive, "not " + dataset.roles.positive
    )
    return pd.DataFrame(columns)
