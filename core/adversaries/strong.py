"""The strong adversary: gradient boosting on features and label, without class weights.

It is told nothing about the model, neither predictions nor fairness, and marks what an attacker gets from features
alone. Without it, the weakness of the paper's forest would pass for a leak of the fairness constraint.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.adversaries.forest import Adversary, known_columns
from core.errors import InputError
from core.validation import seed_value

__all__ = ["train_strong"]


def train_strong(
    features: npt.NDArray[np.float64],
    labels: npt.NDArray[np.uint8],
    sensitive: npt.NDArray[np.uint8],
    *,
    categorical: npt.NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> Adversary:
    """Train the strong adversary on records whose sensitive attribute the attacker knows.

    Parameters
    ----------
    features : ndarray of shape (n, d)
    labels, sensitive : ndarray of shape (n,), 0 or 1
    categorical : ndarray of shape (d,), bool, optional
        Columns that hold codes of categories; only told to the learner where they have at most 255 of them.
    seed : int

    Raises
    ------
    InputError
        If the records hold only one group.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    if np.unique(sensitive).size < 2:
        raise InputError("The attack records must hold both groups, got only one.")
    coded = None
    if categorical is not None and categorical.any():
        few = np.array([np.unique(features[:, j]).size <= 255 for j in range(features.shape[1])])
        coded = np.append(categorical & few, False)
    booster = HistGradientBoostingClassifier(
        categorical_features=coded, early_stopping=True, random_state=seed_value(seed)
    ).fit(known_columns(features, labels), sensitive)
    return Adversary(sees_predictions=False, estimator=booster)
