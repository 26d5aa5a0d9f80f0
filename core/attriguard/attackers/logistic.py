"""Logistic regression: one softmax over all values, or one yes-or-no question a value (LR-A)."""

from __future__ import annotations

from typing import Any

from core.attriguard.attackers.known import Known


def fit_logistic(known: Known, *, strength: float = 1.0) -> Any:
    """Return a fitted logistic regression with one softmax over all values.

    Parameters
    ----------
    strength : float, above 0
        Inverse of the penalty on the weights (scikit-learn's C).
    """
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=1000).fit(known.records, known.values)


def fit_one_vs_rest(known: Known) -> Any:
    """Return one fitted logistic regression a value, each against all others; the most confident one is the guess."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    one = LogisticRegression(C=0.3, solver="liblinear")
    return OneVsRestClassifier(one).fit(known.records, known.values)
