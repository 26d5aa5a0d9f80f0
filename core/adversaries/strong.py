"""The strong adversary: gradient boosting without class weights, on features and label, or also on the predictions.

Told nothing about the model, neither predictions nor fairness, it marks what an attacker gets from features alone.
Without it, the weakness of the paper's forest would pass for a leak of the fairness constraint.
"""

from __future__ import annotations

import math

import numpy as np

from core.adversaries.forest import Adversary, check_groups, known_columns
from core.arrays import Codes, Floats, Mask
from core.validation import seed_value

STRONG = ("strong", "strong_predictions")
"""The strong adversary on features and label, and with the audited model's predictions besides."""


def _stops_early(sensitive: Codes) -> bool:
    """Tell whether a tenth of the records, set aside to stop on, can hold every group."""
    counts = np.bincount(sensitive)
    return bool(math.ceil(0.1 * sensitive.size) >= counts.size and counts.min() >= 2)


def train_strong(
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
    features : ndarray of shape (n, d)
    labels : ndarray of shape (n,), 0 or 1
    sensitive : ndarray of shape (n,), int
        Groups 0 to K - 1, each of them there.
    predictions : ndarray of shape (n,), 0 or 1, optional
        The audited model's answers, where the adversary knows them.
    categorical : ndarray of shape (d,), bool, optional
        Columns that hold codes of categories; only told to the learner where they have at most 255 of them.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    check_groups(sensitive)
    coded = None
    if categorical is not None and categorical.any():
        few = np.array([np.unique(features[:, j]).size <= 255 for j in range(features.shape[1])])
        coded = np.append(categorical & few, [False] * (1 if predictions is None else 2))
    booster = HistGradientBoostingClassifier(
        categorical_features=coded,
        early_stopping=_stops_early(sensitive),
        random_state=seed_value(seed),
    ).fit(known_columns(features, labels, predictions), sensitive)
    return Adversary(sees_predictions=predictions is not None, estimator=booster)
