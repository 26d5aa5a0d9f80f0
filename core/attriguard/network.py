"""The decision scores of scikit-learn's MLPClassifier, before softmax or logistic, and their gradients.

A search moves one entry at a time, so it keeps what the first layer gets, z = W x + b (its state), and adds to that;
records are never multiplied again, and may be sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.linear import TIE, class_values
from core.errors import InputError

_Floats = npt.NDArray[np.float64]


def _logistic(z: _Floats) -> _Floats:
    from scipy.special import expit

    return np.asarray(expit(z))


_ACTIVATIONS: dict[str, tuple[Callable[[_Floats], _Floats], Callable[[_Floats], _Floats]]] = {
    "identity": (lambda z: z, np.ones_like),
    "relu": (lambda z: np.maximum(z, 0.0), lambda h: (h > 0).astype(np.float64)),
    "tanh": (np.tanh, lambda h: 1.0 - h**2),
    "logistic": (_logistic, lambda h: h * (1.0 - h)),
}
"""Each activation h of z, and its slope, written in h."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetworkScores:
    """Scores of k classes on d columns.

    Attributes
    ----------
    classes : ndarray of shape (k,), int64
        The private value each class stands for.
    weights, offsets : tuple of ndarray
        Of each layer, (inputs, outputs) and (outputs,).
    activation : str
        Between the layers.
    tie : float
        Largest lead that counts as none.
    """

    classes: npt.NDArray[np.int64]
    weights: tuple[_Floats, ...] = field(repr=False)
    offsets: tuple[_Floats, ...] = field(repr=False)
    activation: str
    tie: float

    @property
    def n_columns(self) -> int:
        """Number of columns d."""
        return int(self.weights[0].shape[0])

    def enter(self, records: Any) -> _Floats:
        """Return the state a search starts from, (u, h): what the first layer gets."""
        return np.asarray(records @ self.weights[0]) + self.offsets[0]

    def entering(self, column: npt.NDArray[np.int64]) -> _Floats:
        """Return what one unit of these columns (c,) adds to the state, (c, h)."""
        return self.weights[0][column]

    def scores(self, state: _Floats) -> _Floats:
        """Return the scores (q, k) in some states (q, h)."""
        return self._layers(state)[1]

    def gradient(self, state: _Floats, direction: _Floats) -> _Floats:
        """Return the gradient (q, d) of the scores' sums weighted by `direction` (q, k)."""
        hidden, _ = self._layers(state)
        slope = _ACTIVATIONS[self.activation][1]
        for h, weights in zip(hidden[::-1], self.weights[:0:-1], strict=True):
            direction = (direction @ weights.T) * slope(h)
        return direction @ self.weights[0].T

    def _layers(self, z: _Floats) -> tuple[list[_Floats], _Floats]:
        """Return what the hidden layers give, and the scores."""
        hidden, activate = [], _ACTIVATIONS[self.activation][0]
        for weights, offsets in zip(self.weights[1:], self.offsets[1:], strict=True):
            hidden.append(activate(z))
            z = hidden[-1] @ weights + offsets
        return hidden, z


def is_network(classifier: Any) -> bool:
    """Return whether a classifier is scikit-learn's MLPClassifier, fitted."""
    return type(classifier).__name__ == "MLPClassifier" and hasattr(classifier, "coefs_")


def network_scores(classifier: Any) -> NetworkScores:
    """Return the decision scores of a fitted MLPClassifier; of its one output for two classes, half to each."""
    classes = class_values(classifier)
    weights = [np.asarray(part, dtype=np.float64) for part in classifier.coefs_]
    offsets = [np.asarray(part, dtype=np.float64) for part in classifier.intercepts_]
    if classifier.out_activation_ == "logistic":
        if weights[-1].shape[1] != 1:
            raise InputError(f"The network must name one value a record, it has {weights[-1].shape[1]} yes-no outputs.")
        weights[-1], offsets[-1] = weights[-1] * [-0.5, 0.5], offsets[-1] * [-0.5, 0.5]
    return NetworkScores(
        classes=classes,
        weights=tuple(weights),
        offsets=tuple(offsets),
        activation=classifier.activation,
        tie=TIE * float(np.abs(weights[-1]).max(initial=0.0)),
    )
