"""The decision scores C_i of linear classifiers of scikit-learn: C(x) = W x + b, before any softmax.

Two classes have one decision value f, split into −f/2 and f/2, so that a value's lead over the other is f for them as
it is for more classes. A softmax does not notice what all scores share, and neither may the search: the weights of
multinomial models are centred over the classes. One-versus-rest scores mean something one by one and are never centred.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError

TIE = 1e-9
"""Leads of less than this share of the largest weight are ties: they may be rounding."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearScores:
    """Scores of k classes on d columns.

    Attributes
    ----------
    classes : ndarray of shape (k,), int64
        The private value each class stands for.
    weights : ndarray of shape (d, k), float64
        What one unit of a column adds to each score.
    offsets : ndarray of shape (k,), float64
    tie : float
        Largest lead that counts as none.
    """

    classes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64] = field(repr=False)
    offsets: npt.NDArray[np.float64] = field(repr=False)
    tie: float

    @property
    def n_columns(self) -> int:
        """Number of columns d."""
        return int(self.weights.shape[0])

    def enter(self, records: Any) -> npt.NDArray[np.float64]:
        """Return the state a search starts from, (u, k): the scores."""
        return np.asarray(records @ self.weights) + self.offsets

    def entering(self, column: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return what one unit of these columns (c,) adds to the state, (c, k)."""
        return self.weights[column]

    def scores(self, state: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the scores (q, k) in some states (q, k)."""
        return state

    def gradient(self, state: npt.NDArray[np.float64], direction: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the gradient (q, d) of the scores' sums weighted by `direction` (q, k)."""
        return direction @ self.weights.T


def is_linear(classifier: Any) -> bool:
    """Return whether a classifier of scikit-learn shows linear decision scores."""
    parts = getattr(classifier, "estimators_", None)
    if type(classifier).__name__ == "OneVsRestClassifier":
        return all(hasattr(part, "coef_") or type(part).__name__ == "_ConstantPredictor" for part in parts or [None])
    return hasattr(classifier, "coef_") and hasattr(classifier, "intercept_")


def linear_scores(classifier: Any) -> LinearScores:
    """Return the decision scores of a fitted linear classifier.

    Raises
    ------
    InputError
        If its decision values are not linear in the columns, one a class (or one for two classes), or it has none.
    """
    classes = class_values(classifier)
    if not is_linear(classifier):
        raise InputError(f"The classifier must be a fitted linear one, got {type(classifier).__name__}.")
    rows, offsets = _parts(classifier)
    if rows.shape[0] == 1 and classes.size == 2:
        rows, offsets = np.vstack([-0.5 * rows, 0.5 * rows]), np.append(-0.5 * offsets, 0.5 * offsets)
    elif _shares_a_softmax(classifier):
        rows, offsets = rows - rows.mean(axis=0), offsets - offsets.mean()
    _check_against(classifier, rows, offsets)
    tie = TIE * float(np.abs(rows).max(initial=0.0))
    return LinearScores(classes=classes, weights=np.ascontiguousarray(rows.T), offsets=offsets, tie=tie)


def class_values(classifier: Any) -> npt.NDArray[np.int64]:
    """Return the private values a classifier names, as numbers from 0."""
    classes = np.asarray(getattr(classifier, "classes_", []))
    if classes.ndim != 1 or classes.size < 2:
        raise InputError(f"The classifier must be fitted to two or more values, got {classifier!r}.")
    if classes.dtype.kind not in "biu" or classes.min() < 0:
        raise InputError(f"The classifier must name values by their numbers, 0 and up, got {classes[0]!r}.")
    return classes.astype(np.int64)


def _parts(classifier: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the rows of weights and the offsets as they are."""
    if type(classifier).__name__ == "OneVsRestClassifier":
        width = classifier.n_features_in_
        parts = [_parts(part) if hasattr(part, "coef_") else _constant(part, width) for part in classifier.estimators_]
        return np.vstack([rows for rows, _ in parts]), np.concatenate([offsets for _, offsets in parts])
    coefficients = classifier.coef_
    rows = np.atleast_2d(coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients).astype(float)
    return rows, np.broadcast_to(np.ravel(classifier.intercept_), rows.shape[:1]).astype(float)


def _constant(part: Any, width: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the score of a class that all or none of the records had."""
    return np.zeros((1, width)), part.decision_function(np.zeros((1, width))).astype(float)


def _shares_a_softmax(classifier: Any) -> bool:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression

    one_versus_rest = getattr(classifier, "solver", None) == "liblinear"
    return isinstance(classifier, (LogisticRegression, LinearDiscriminantAnalysis)) and not one_versus_rest


def _check_against(classifier: Any, rows: npt.NDArray[np.float64], offsets: npt.NDArray[np.float64]) -> None:
    """Compare the leads with the classifier's own decision values on two records."""
    probe = np.vstack([np.zeros(rows.shape[1]), np.linspace(0.0, 1.0, rows.shape[1])])
    told, own = np.asarray(classifier.decision_function(probe)), probe @ rows.T + offsets
    same = told.shape == own.shape or (told.ndim == 1 and own.shape[1] == 2)
    if same:
        lead = told[:, 1:] - told[:, :1] if told.ndim == 2 else told[:, None]
        same = np.allclose(lead, own[:, 1:] - own[:, :1], rtol=1e-6, atol=1e-6)
    if not same:
        raise InputError(
            f"The classifier must decide by one linear score a value, {type(classifier).__name__} does otherwise."
        )
