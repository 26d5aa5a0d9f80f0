"""Probabilities that mean what they say: Platt scaling on records the adversary did not learn from.

A forest with balanced class weights reports odds for a world where all groups are equally large. One logistic
regression on its log-odds brings them back; with two groups and a positive slope, as for any adversary better than a
guess, the order of people is kept. With more groups the regression is multinomial, on the log-odds of every group
against group 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import Codes, Floats
from core.errors import InputError
from core.validation import one_length

_EDGE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlattScale:
    """Calibrated log-odds against group 0 = slope · log-odds + intercept (Platt 1999).

    The slope has the shape (K - 1, K - 1), the intercept (K - 1,).
    """

    slope: Floats
    intercept: Floats

    def apply(self, probability: Floats) -> Floats:
        """Return calibrated probabilities, shape (n, K), rows adding up to 1."""
        shifted = _log_odds(probability) @ self.slope.T + self.intercept
        logits = np.column_stack([np.zeros(len(shifted)), shifted])
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def calibrate(probability: Floats, truth: Codes) -> PlattScale:
    """Fit the scale on held-out records.

    `probability`, of shape (n, K), is what the adversary says of records it did not learn from; every group must occur
    in their truth.
    """
    from sklearn.linear_model import LogisticRegression

    one_length(probability=probability, truth=truth)
    k = probability.shape[1]
    if np.unique(truth).size < k:
        raise InputError(f"Calibration needs held-out records of all {k} groups, got {np.unique(truth).size}.")
    # Weak regularisation: with many groups of few people the unregularised fit may not exist.
    fitted = LogisticRegression(C=1e6 if k == 2 else 10.0, max_iter=1000).fit(_log_odds(probability), truth)
    slope, intercept = fitted.coef_, fitted.intercept_
    if k > 2:
        slope, intercept = slope[1:] - slope[0], intercept[1:] - intercept[0]
    return PlattScale(slope=slope, intercept=intercept)


def _log_odds(probability: Floats) -> Floats:
    """Return the log-odds of groups 1 to K - 1 against group 0, shape (n, K - 1)."""
    logs = np.log(np.clip(probability, _EDGE, 1 - _EDGE))
    return np.asarray(logs[:, 1:] - logs[:, :1])
