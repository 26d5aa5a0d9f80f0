"""The strong adversary of the soft correction's reference: gradient boosting on all that an attacker knows."""

from __future__ import annotations

import math

import numpy as np

from core.adversaries.adversary import Adversary, check_groups, known_columns
from core.base.validation import Codes, Floats, Mask, seed_value


def train_strong_adversary(
    features: Floats,
    labels: Codes,
    sensitive: Codes,
    predictions: Codes | None = None,
    *,
    categorical: Mask | None = None,
    seed: int = 0,
) -> Adversary:
    """Train the strong adversary on records whose sensitive attribute the attacker knows.

    Raises `InputError` if the records lack a group.

    Parameters
    ----------
    features, labels, sensitive : ndarray of shape (n, d), (n,) and (n,)
        As for `train_adversary`.
    predictions : ndarray of shape (n,), 0 or 1, optional
        The audited model's answers, where the adversary knows them.
    categorical : ndarray of shape (d,), bool, optional
        Columns that hold codes of categories; only marked for the learner where they have at most 255 of them.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    check_groups(sensitive)
    coded = None
    counts = np.bincount(sensitive)
    if categorical is not None and categorical.any():
        few = np.array([np.unique(features[:, j]).size <= 255 for j in range(features.shape[1])])
        if predictions is None:
            n_outputs = 1
        else:
            n_outputs = 2
        coded = np.append(categorical & few, [False] * n_outputs)
    booster = HistGradientBoostingClassifier(
        categorical_features=coded,
        # a tenth of the records is set aside to stop on, and must be able to hold every group
        early_stopping=bool(math.ceil(0.1 * sensitive.size) >= counts.size and counts.min() >= 2),
        random_state=seed_value(seed),
    ).fit(known_columns(features, labels, predictions), sensitive)
    return Adversary(sees_predictions=predictions is not None, estimator=booster)
