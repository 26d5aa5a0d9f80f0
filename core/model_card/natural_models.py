"""A family of natural models: what a developer trains on the way to one model.

None of them sees the attribute when it predicts. Trees, gradient boosting, logistic regressions and small forests take
turns; only fair models, over a sweep of tolerances, are told it while they learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits
from core.errors import InputError
from core.model_card.release import MOST_MODELS
from core.model_card.settings import NATURAL
from core.models import fit_model
from core.seeds import child_generator
from core.validation import choice

_DEPTHS = (4, 8, 12, 3, 6, 10, 14, 5, 7, 16)

_TOLERANCES = 0.2
"""The sweep runs from 0 to here."""


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
) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    """Train 1 to 200 models on the training records; return their predictions (count, rows) and their names.

    The fair models of "tolerances" are fair in the metric; no model sees the features `without`. The first models of
    two counts are the same, but for "tolerances", whose sweep is as fine as the count. `report` is called with (done,
    count) and may raise `core.errors.Cancelled` to stop.
    """
    choice(family, NATURAL, name="family")
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 1 <= count <= MOST_MODELS:
        raise InputError(f"count must be a whole number from 1 to {MOST_MODELS}, got {count!r}.")
    columns, train = kept_columns(dataset, without), splits.train
    x, y, s = dataset.features[:, columns], dataset.labels, dataset.sensitive
    predictions, names = [], []
    for i in range(count):
        if report is not None:
            report(i, count)
        if family == "tolerances":
            tolerance = _TOLERANCES * i / max(count - 1, 1)
            model = fit_model(
                "exponentiated_gradient", x[train], y[train], s[train], metric=metric, tolerance=tolerance, seed=seed
            )
            name, answers = f"fair, tolerance {tolerance:.3f}", model.predict(x[rows], s[rows], seed=seed)
        else:
            name, answers = _trained(dataset, train, rows, columns, family, i, seed)
        predictions.append(answers)
        names.append(f"{i + 1} {name}")
    if report is not None:
        report(count, count)
    return np.array(predictions, dtype=np.uint8), tuple(names)


def kept_columns(dataset: AuditDataset, without: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return the columns of all features but some."""
    for name in without:
        choice(name, dataset.feature_names, name="without")
    columns = np.array([j for j, name in enumerate(dataset.feature_names) if name not in without], dtype=np.intp)
    if not columns.size:
        raise InputError("Natural models need at least one feature, got none.")
    return columns


def _recipe(family: str, i: int) -> tuple[str, str, int]:
    """Return how one model is made: what is varied ("seeds", "depths" or "features"), the learner and its depth."""
    kind = ("seeds", "depths", "features")[i % 3] if family == "mixed" else family
    turn = i // 3 if family == "mixed" else i
    if kind == "depths":
        return kind, ("tree", "boosting", "forest")[turn % 3], _DEPTHS[turn % len(_DEPTHS)]
    return kind, ("tree", "boosting", "logistic", "forest")[turn % 4], 8


def _trained(
    dataset: AuditDataset,
    train: npt.NDArray[np.intp],
    rows: npt.NDArray[np.intp],
    columns: npt.NDArray[np.intp],
    family: str,
    i: int,
    seed: int,
) -> tuple[str, npt.NDArray[np.uint8]]:
    """Return name and predictions of one model."""
    kind, learner, depth = _recipe(family, i)
    rng = child_generator(seed, f"natural model {i}")
    y, name = dataset.labels, learner
    if learner != "logistic":
        name += f", depth {depth}"
    if kind == "seeds":  # as many records drawn with replacement, within each label
        train = np.concatenate([rng.choice(own, own.size) for own in (train[y[train] == label] for label in (0, 1))])
        name += ", resampled"
    if kind == "features":
        share = rng.uniform(0.5, 0.9)
        kept = rng.choice(columns, size=max(1, round(share * columns.size)), replace=False)
        name += f", {kept.size} of {columns.size} features"
        columns = np.sort(kept)
    x = dataset.features[:, columns]
    estimator = _estimator(learner, depth, dataset.categorical[columns], int(rng.integers(2**31)))
    return name, estimator.fit(x[train], y[train]).predict(x[rows]).astype(np.uint8)


def _estimator(learner: str, depth: int, categorical: npt.NDArray[np.bool_], seed: int) -> Any:
    if learner == "tree":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=depth, random_state=seed)
    if learner == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(n_estimators=20, max_depth=depth, random_state=seed)
    if learner == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(max_iter=40, max_depth=depth, early_stopping=False, random_state=seed)
    # Logistic regression on standardised numbers and one column a category.
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
