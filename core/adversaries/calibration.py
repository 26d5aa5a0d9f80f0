"""Probabilities that mean what they say: Platt scaling on records the adversary did not learn from.

A forest with balanced class weights reports odds for a world where both groups are equally large. One logistic
regression on its log-odds brings them back; with a positive slope, as for any adversary better than a guess, the
order of people is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.validation import one_length

__all__ = ["PlattScale", "calibrate"]

_EDGE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class PlattScale:
    """Calibrated log-odds = slope · log-odds + intercept (Platt 1999)."""

    slope: float
    intercept: float

    def apply(self, probability: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return calibrated probabilities, shape (n,), in (0, 1)."""
        return np.asarray(1.0 / (1.0 + np.exp(-(self.slope * _log_odds(probability) + self.intercept))))


def calibrate(probability: npt.NDArray[np.float64], truth: npt.NDArray[np.uint8]) -> PlattScale:
    """Fit the scale on held-out records.

    Parameters
    ----------
    probability : ndarray of shape (n,), in [0, 1]
        What the adversary says of records it did not learn from.
    truth : ndarray of shape (n,), 0 or 1
        Their sensitive attribute; both values must occur.
    """
    from sklearn.linear_model import LogisticRegression

    one_length(probability=probability, truth=truth)
    fitted = LogisticRegression(C=1e6).fit(_log_odds(probability)[:, None], truth)
    return PlattScale(slope=float(fitted.coef_[0, 0]), intercept=float(fitted.intercept_[0]))


def _log_odds(probability: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    p = np.clip(probability, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(p / (1 - p)))
