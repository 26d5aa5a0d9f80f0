"""The defender's classifier: its decision scores, and what it reads off records.

A search moves one entry at a time, so it keeps a state and adds to that; records are never multiplied again, and may be
sparse. A softmax does not notice what all scores share, and neither may the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.arrays import Floats, Ints, Mask
from core.errors import InputError

TIE = 1e-9
"""Leads of less than this share of the largest weight are ties: they may be rounding."""


def _logistic(z: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(z))


_ACTIVATIONS: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
    "identity": (lambda z: z, np.ones_like),
    "relu": (lambda z: np.maximum(z, 0.0), lambda h: (h > 0).astype(np.float64)),
    "tanh": (np.tanh, lambda h: 1.0 - h**2),
    "logistic": (_logistic, lambda h: h * (1.0 - h)),
}
"""Each activation h of z, and its slope, written in h."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """Scores of k classes on d columns: of a linear classifier, one layer, C(x) = W x + b, or of an MLPClassifier.

    The state is what the first layer gets, z = W x + b. Two classes have one decision value f, split into −f/2 and f/2,
    so that a value's lead over the other is f for them as it is for more classes. The weights of multinomial linear
    models are centred over the classes. One-versus-rest scores mean something one by one and are never centred.
    """

    classes: Ints  # the private value each class stands for, (k,)
    weights: tuple[Floats, ...] = field(repr=False)  # of each layer, (inputs, outputs)
    offsets: tuple[Floats, ...] = field(repr=False)  # of each layer, (outputs,)
    activation: str = "identity"  # between the layers

    @property
    def tie(self) -> float:
        """Largest lead that counts as none."""
        return TIE * float(np.abs(self.weights[-1]).max(initial=0.0))

    @property
    def linear(self) -> bool:
        """Whether the scores are linear in the columns."""
        return len(self.weights) == 1

    @property
    def n_columns(self) -> int:
        """Number of columns d."""
        return int(self.weights[0].shape[0])

    def enter(self, records: Any) -> Floats:
        """Return the state a search starts from, (u, h): what the first layer gets."""
        return np.asarray(records @ self.weights[0]) + self.offsets[0]

    def scores(self, state: Floats) -> Floats:
        """Return the scores (q, k) in some states (q, h)."""
        return self._layers(state)[1]

    def leading(self, state: Floats, wanted: Ints, lead: float) -> Mask:
        """Return in which states (q, ..., h) the wanted class (q,) leads every other by more than `lead`, (q, ...)."""
        told = self.scores(state).copy()
        place = wanted.reshape(-1, *[1] * (told.ndim - 1))
        own = np.take_along_axis(told, place, axis=-1)[..., 0]
        np.put_along_axis(told, place, -np.inf, axis=-1)
        return np.asarray(own - told.max(axis=-1) > lead)

    def gradient(self, state: Floats, wanted: Ints) -> Floats:
        """Return the gradient (q, d) of the wanted class's score (q,) in some states (q, h)."""
        hidden, _ = self._layers(state)
        direction, slope = np.eye(self.classes.size)[wanted], _ACTIVATIONS[self.activation][1]
        for h, weights in zip(hidden[::-1], self.weights[:0:-1], strict=True):
            direction = (direction @ weights.T) * slope(h)
        return direction @ self.weights[0].T

    def _layers(self, z: Floats) -> tuple[list[Floats], Floats]:
        """Return what the hidden layers give, and the scores."""
        hidden, activate = [], _ACTIVATIONS[self.activation][0]
        for weights, offsets in zip(self.weights[1:], self.offsets[1:], strict=True):
            hidden.append(activate(z))
            z = hidden[-1] @ weights + offsets
        return hidden, z


def read_scores(classifier: Any) -> Scores:
    """Return the decision scores of a fitted classifier, linear or an MLPClassifier.

    Raises InputError if it is neither, names values by anything but numbers from 0, or its decision values are not one
    linear score a class (or one for two classes).
    """
    network = hasattr(classifier, "coefs_")
    parts = getattr(classifier, "estimators_", [classifier])
    if not network and not all(hasattr(part, "coef_") for part in parts):
        raise InputError(
            f"The classifier must be a fitted linear one or a fitted MLPClassifier, got {type(classifier).__name__}."
        )
    classes = np.asarray(classifier.classes_)
    if classes.dtype.kind not in "biu" or classes.min() < 0:
        raise InputError(f"The classifier must name values by their numbers, 0 and up, got {classes[0]!r}.")
    weights, offsets = _network(classifier) if network else _linear(classifier, parts)
    return Scores(
        classes=classes.astype(np.int64),
        weights=tuple(weights),
        offsets=tuple(offsets),
        activation=classifier.activation if network else "identity",
    )


def _linear(classifier: Any, parts: list[Any]) -> tuple[list[Floats], list[Floats]]:
    """Return the weights and offsets of a linear classifier, or of one that has a part for each class."""
    rows = np.vstack([np.atleast_2d(part.coef_) for part in parts]).astype(np.float64)
    offsets = np.broadcast_to(np.ravel([part.intercept_ for part in parts]), rows.shape[:1]).astype(np.float64)
    if len(rows) == 1:
        rows, offsets = np.vstack([-0.5 * rows, 0.5 * rows]), np.append(-0.5 * offsets, 0.5 * offsets)
    elif _shares_a_softmax(classifier):
        rows, offsets = rows - rows.mean(axis=0), offsets - offsets.mean()
    _check_against(classifier, rows, offsets)
    return [np.ascontiguousarray(rows.T)], [offsets]


def _shares_a_softmax(classifier: Any) -> bool:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression

    one_versus_rest = getattr(classifier, "solver", None) == "liblinear"
    return isinstance(classifier, (LogisticRegression, LinearDiscriminantAnalysis)) and not one_versus_rest


def _check_against(classifier: Any, rows: Floats, offsets: Floats) -> None:
    """Compare the leads with the classifier's own decision values on two records."""
    probe = np.vstack([np.zeros(rows.shape[1]), np.linspace(0.0, 1.0, rows.shape[1])])
    told, own = np.asarray(classifier.decision_function(probe)), probe @ rows.T + offsets
    lead = told[:, 1:] - told[:, :1] if told.ndim == 2 else told[:, None]
    if lead.shape[1] != len(rows) - 1 or not np.allclose(lead, own[:, 1:] - own[:, :1], rtol=1e-6, atol=1e-6):
        raise InputError(
            f"The classifier must decide by one linear score a value, {type(classifier).__name__} does otherwise."
        )


def _network(classifier: Any) -> tuple[list[Floats], list[Floats]]:
    """Return the layers of an MLPClassifier; of its one output for two classes, half to each."""
    weights = [np.asarray(part, dtype=np.float64) for part in classifier.coefs_]
    offsets = [np.asarray(part, dtype=np.float64) for part in classifier.intercepts_]
    if classifier.out_activation_ == "logistic":
        if weights[-1].shape[1] != 1:
            raise InputError(f"The network must name one value a record, it has {weights[-1].shape[1]} yes-no outputs.")
        weights[-1], offsets[-1] = weights[-1] * [-0.5, 0.5], offsets[-1] * [-0.5, 0.5]
    return weights, offsets


_ROWS = 8_000


def in_batches(read: Callable[[Any], Any], rows: Any) -> Ints:
    """Return what a function reads off rows (q, d), a few thousand at a time, so that memory stays small."""
    parts = [np.asarray(read(rows[first : first + _ROWS])) for first in range(0, rows.shape[0], _ROWS)]
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)
