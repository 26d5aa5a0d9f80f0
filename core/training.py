"""The audited model: trained once and its predictions drawn once, or given as its predictions; then measured."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits
from core.errors import InputError
from core.estimates import Estimate, accuracy, proportion
from core.fairness import (
    METRIC_TITLES,
    GroupRate,
    difference_of_rates,
    group_rates,
    row_sets,
    unfairness,
    unfairness_estimate,
)
from core.models import GIVEN, fit_model
from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFindings(Result):
    """How accurate and how fair the audited model is.

    Attributes
    ----------
    accuracy_train, accuracy_test : Estimate
        Share of right predictions on the training and on unseen test records.
    majority_test : Estimate
        Control: accuracy of predicting the more frequent label for everybody.
    unfairness_train : float
        Largest deviation of a group's rate from the overall rate on the training records: a fact about them, no
        estimate.
    unfairness_test : Estimate
        The same on the test records, as an estimate for unseen people.
    rates_train, rates_test : tuple of GroupRate
        The rates behind these distances.
    needs_sensitive, randomised : bool
        See `core.models.FairModel`; False where it is not known because the predictions were given.
    predictions : ndarray of shape (n,), uint8
        The one draw of predictions for all records of the dataset, or those given.
    scores : ndarray of shape (n,), in [0, 1]
        What the model scores them with; see `core.models.FairModel.scores`. The predictions themselves where only
        labels were given.
    scores_given : bool
        Whether `scores` are the model's own; False where only labels were given.
    """

    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate
    unfairness_train: float
    unfairness_test: Estimate
    rates_train: tuple[GroupRate, ...]
    rates_test: tuple[GroupRate, ...]
    needs_sensitive: bool
    randomised: bool
    predictions: npt.NDArray[np.uint8] = field(repr=False)
    scores: npt.NDArray[np.float64] = field(repr=False)
    scores_given: bool = True

    @property
    def difference_train(self) -> float:
        """Difference between groups on the training records: a fact about them."""
        return difference_of_rates(self.rates_train).value

    @property
    def difference_test(self) -> Estimate:
        """The same on the test records, as an estimate for unseen people."""
        return difference_of_rates(self.rates_test)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """What a model says of everybody."""

    predictions: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.float64]
    scores_given: bool = True
    needs_sensitive: bool = False
    randomised: bool = False


def train_model(config: AuditConfig, dataset: AuditDataset, splits: Splits) -> ModelFindings:
    """Train the audited model and draw its predictions once, or take those that were given, and measure it.

    Raises
    ------
    InputError
        If the method is `core.models.GIVEN` and the data hold no predictions, or the data break a rule of the metric or
        the method.
    """
    y, s = dataset.labels, dataset.sensitive
    train, test = splits.train, splits.test
    check_cells(config.metric, dataset, splits)
    answers = _given(dataset) if config.method == GIVEN else _trained(config, dataset, splits)
    drawn = answers.predictions
    return ModelFindings(
        accuracy_train=accuracy(y[train], drawn[train]),
        accuracy_test=accuracy(y[test], drawn[test]),
        majority_test=proportion(int(np.bincount(y[test], minlength=2).max()), test.size),
        unfairness_train=unfairness(drawn[train], s[train], metric=config.metric, labels=y[train]),
        unfairness_test=unfairness_estimate(drawn[test], s[test], metric=config.metric, labels=y[test]),
        rates_train=group_rates(drawn[train], s[train], metric=config.metric, labels=y[train]),
        rates_test=group_rates(drawn[test], s[test], metric=config.metric, labels=y[test]),
        needs_sensitive=answers.needs_sensitive,
        randomised=answers.randomised,
        predictions=drawn,
        scores=answers.scores,
        scores_given=answers.scores_given,
    )


def _given(dataset: AuditDataset) -> _Answers:
    """Return the answers that came with the table."""
    labels = dataset.predictions
    if labels is None:
        raise InputError(
            "An audit of given predictions needs a column with the model's predictions or scores, the table's roles "
            "name none."
        )
    if dataset.scores is None:
        return _Answers(predictions=labels, scores=labels.astype(np.float64), scores_given=False)
    return _Answers(predictions=labels, scores=dataset.scores)


def _trained(config: AuditConfig, dataset: AuditDataset, splits: Splits) -> _Answers:
    """Return the answers of a model trained here."""
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    train = splits.train
    if config.method == "threshold_optimizer":
        _check_labels(dataset, splits)
    model = fit_model(
        config.method,
        x[train],
        y[train],
        s[train],
        metric=config.metric,
        tolerance=config.tolerance,
        seed=config.seed,
        epsilon=config.epsilon,
        domains=dataset.domains,
    )
    return _Answers(
        predictions=model.predict(x, s, seed=config.seed),
        scores=model.scores(x, s),
        needs_sensitive=model.needs_sensitive,
        randomised=model.randomised,
    )


def _check_labels(dataset: AuditDataset, splits: Splits) -> None:
    """Refuse training records of a group with one label only: a threshold of its own cannot be set for it."""
    for code, name in enumerate(dataset.group_names):
        labels = dataset.labels[splits.train][dataset.sensitive[splits.train] == code]
        if np.unique(labels).size < 2:
            raise InputError(
                "The threshold optimizer needs people with both labels in every group of the training records, got "
                f"only label {int(labels[0])} among {labels.size} of {name}; choose another method, other groups or "
                "another seed."
            )


def check_cells(metric: str, dataset: AuditDataset, splits: Splits) -> None:
    """Refuse data in which a set of records lacks a group among the labels the metric compares."""
    for name in ("train", "validation", "test"):
        rows = getattr(splits, name)
        for part, mask in row_sets(metric, dataset.labels[rows], rows.size):
            inside = dataset.sensitive[rows] if mask is None else dataset.sensitive[rows][mask]
            counts = np.bincount(inside, minlength=dataset.n_groups)
            if counts.min() < 3:
                group = dataset.group_names[int(counts.argmin())]
                raise InputError(
                    f"{METRIC_TITLES[metric]} needs at least 3 people of each group with {part} among the {name} "
                    f"records, got {int(counts.min())} of {group}; choose statistical parity, other groups or another "
                    "seed."
                )
