"""A family of natural models: what a developer trains on the way to one model.

None of them sees the attribute when it predicts. Trees, gradient boosting, logistic regressions and small forests take
turns; only fair models, over a sweep of tolerances, are told it while they learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits
from core.errors import InputError
from core.models import fit_model
from core.release.statistics import MOST_MODELS
from core.results import Result
from core.seeds import child_generator
from core.validation import choice

FAMILIES = ("mixed", "seeds", "depths", "features", "tolerances")
"""Resampled training records; tree depths; feature subsets; fair models over a sweep of tolerances; the first three
in turn ("mixed")."""

_DEPTHS = (4, 8, 12, 3, 6, 10, 14, 5, 7, 16)

_TOLERANCES = 0.2
"""The sweep runs from 0 to here."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NaturalModels(Result):
    """Predictions of a family.

    Attributes
    ----------
    predictions : ndarray of shape (k, n), uint8
        One row a model, over the released records.
    """

    predictions: npt.NDArray[np.uint8]
    names: tuple[str, ...]


def natural_models(
    dataset: AuditDataset,
    splits: Splits,
    rows: npt.NDArray[np.intp],
    *,
    count: int = 20,
    family: str = "mixed",
    metric: str = "statistical_parity",
    without: Sequence[str] = (),
    seed: int = 0,
    report: Callable[[int, int], None] | None = None,
) -> NaturalModels:
    """Train a family on the training records and return its predictions on the released ones.

    Parameters
    ----------
    rows : ndarray of int
        The released records.
    count : int in 1..200
    family : {"mixed", "seeds", "depths", "features", "tolerances"}
    metric : str
        What the fair models of "tolerances" are fair in.
    without : sequence of str
        Features none of the models sees.
    seed : int
        The first models of two counts are the same, but for "tolerances", whose sweep is as fine as the count.
    report : callable, optional
        Called with (done, count); may raise `core.errors.Cancelled` to stop.

    Raises
    ------
    InputError
        If the family or a feature is unknown, no feature is left, or the count is out of range.
    """
    choice(family, FAMILIES, name="family")
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 1 <= count <= MOST_MODELS:
        raise InputError(f"count must be a whole number from 1 to {MOST_MODELS}, got {count!r}.")
    columns = _columns(dataset, without)
    predictions, names = [], []
    for i in range(count):
        if report is not None:
            report(i, count)
        if family == "tolerances":
            name, answers = _fair(dataset, splits, rows, columns, metric, _TOLERANCES * i / max(count - 1, 1), seed)
        else:
            name, answers = _trained(dataset, splits, rows, columns, _recipe(family, i), seed)
        predictions.append(answers)
        names.append(f"{i + 1} {name}")
    if report is not None:
        report(count, count)
    return NaturalModels(predictions=np.array(predictions, dtype=np.uint8), names=tuple(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipe:
    """How one model is made: the learner, its depth, and whether records or features are drawn anew."""

    number: int
    learner: str
    depth: int
    resample: bool = False
    subset: bool = False


def _recipe(family: str, i: int) -> _Recipe:
    kind = ("seeds", "depths", "features")[i % 3] if family == "mixed" else family
    turn = i // 3 if family == "mixed" else i
    if kind == "depths":
        learner = ("tree", "boosting", "forest")[turn % 3]
        return _Recipe(number=i, learner=learner, depth=_DEPTHS[turn % len(_DEPTHS)])
    learner = ("tree", "boosting", "logistic", "forest")[turn % 4]
    return _Recipe(number=i, learner=learner, depth=8, resample=kind == "seeds", subset=kind == "features")


def _columns(dataset: AuditDataset, without: Sequence[str]) -> npt.NDArray[np.intp]:
    for name in without:
        choice(name, dataset.feature_names, name="without")
    columns = np.array([j for j, name in enumerate(dataset.feature_names) if name not in without], dtype=np.intp)
    if not columns.size:
        raise InputError("Natural models need at least one feature, got none.")
    return columns


def _trained(
    dataset: AuditDataset,
    splits: Splits,
    rows: npt.NDArray[np.intp],
    columns: npt.NDArray[np.intp],
    recipe: _Recipe,
    seed: int,
) -> tuple[str, npt.NDArray[np.uint8]]:
    """Return name and predictions of one model."""
    rng = child_generator(seed, f"natural model {recipe.number}")
    train, name = splits.train, recipe.learner
    if recipe.learner != "logistic":
        name += f", depth {recipe.depth}"
    if recipe.resample:
        train = _resampled(dataset.labels, train, rng)
        name += ", resampled"
    if recipe.subset:
        share = rng.uniform(0.5, 0.9)
        kept = rng.choice(columns, size=max(1, round(share * columns.size)), replace=False)
        name += f", {kept.size} of {columns.size} features"
        columns = np.sort(kept)
    x = dataset.features[:, columns]
    estimator = _estimator(recipe, dataset.categorical[columns], int(rng.integers(2**31)))
    return name, estimator.fit(x[train], dataset.labels[train]).predict(x[rows]).astype(np.uint8)


def _resampled(
    labels: npt.NDArray[np.uint8], train: npt.NDArray[np.intp], rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Return as many records drawn with replacement, within each label."""
    return np.concatenate([rng.choice(own, own.size) for own in (train[labels[train] == y] for y in (0, 1))])


def _estimator(recipe: _Recipe, categorical: npt.NDArray[np.bool_], seed: int) -> Any:
    if recipe.learner == "tree":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=recipe.depth, random_state=seed)
    if recipe.learner == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(n_estimators=20, max_depth=recipe.depth, random_state=seed)
    if recipe.learner == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            max_iter=40, max_depth=recipe.depth, early_stopping=False, random_state=seed
        )
    return _logistic(categorical)


def _logistic(categorical: npt.NDArray[np.bool_]) -> Any:
    """Return a logistic regression on standardised numbers and one column a category."""
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    coded, numbers = np.flatnonzero(categorical), np.flatnonzero(~categorical)
    prepared = ColumnTransformer(
        [
            ("numbers", StandardScaler(), numbers),
            ("categories", OneHotEncoder(handle_unknown="ignore", max_categories=30), coded),
        ]
    )
    return make_pipeline(prepared, LogisticRegression(max_iter=2000))


def _fair(
    dataset: AuditDataset,
    splits: Splits,
    rows: npt.NDArray[np.intp],
    columns: npt.NDArray[np.intp],
    metric: str,
    tolerance: float,
    seed: int,
) -> tuple[str, npt.NDArray[np.uint8]]:
    """Return name and one draw of the predictions of a fair model."""
    x, y, s = dataset.features[:, columns], dataset.labels, dataset.sensitive
    train = splits.train
    model = fit_model(
        "exponentiated_gradient", x[train], y[train], s[train], metric=metric, tolerance=tolerance, seed=seed
    )
    return f"fair, tolerance {tolerance:.3f}", model.predict(x[rows], s[rows], seed=seed)
