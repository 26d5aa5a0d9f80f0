"""The defender's classifier: its decision scores, and what it reads off records.

A search moves one entry at a time, so it keeps a state and adds to that; records are never multiplied again, and may be
sparse. A softmax does not notice what all scores share, and neither may the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.records import Changes, Floats, Ints, with_changes
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

    classes: npt.NDArray[np.int64]  # the private value each class stands for, (k,)
    weights: tuple[Floats, ...] = field(repr=False)  # of each layer, (inputs, outputs)
    offsets: tuple[Floats, ...] = field(repr=False)  # of each layer, (outputs,)
    activation: str = "identity"  # between the layers
    tie: float  # largest lead that counts as none

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

    def entering(self, column: Ints) -> Floats:
        """Return what one unit of these columns (c,) adds to the state, (c, h)."""
        return self.weights[0][column]

    def scores(self, state: Floats) -> Floats:
        """Return the scores (q, k) in some states (q, h)."""
        return self._layers(state)[1]

    def gradient(self, state: Floats, direction: Floats) -> Floats:
        """Return the gradient (q, d) of the scores' sums weighted by `direction` (q, k)."""
        hidden, _ = self._layers(state)
        slope = _ACTIVATIONS[self.activation][1]
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


def is_linear(classifier: Any) -> bool:
    """Return whether a classifier of scikit-learn shows linear decision scores."""
    parts = getattr(classifier, "estimators_", None)
    if type(classifier).__name__ == "OneVsRestClassifier":
        return all(hasattr(part, "coef_") or type(part).__name__ == "_ConstantPredictor" for part in parts or [None])
    return hasattr(classifier, "coef_") and hasattr(classifier, "intercept_")


def linear_scores(classifier: Any) -> Scores:
    """Return the decision scores of a fitted linear classifier.

    Raises InputError if its decision values are not linear in the columns, one a class (or one for two), or it has
    none.
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
    return Scores(classes=classes, weights=(np.ascontiguousarray(rows.T),), offsets=(offsets,), tie=tie)


def class_values(classifier: Any) -> npt.NDArray[np.int64]:
    """Return the private values a classifier names, as numbers from 0."""
    classes = np.asarray(getattr(classifier, "classes_", []))
    if classes.ndim != 1 or classes.size < 2:
        raise InputError(f"The classifier must be fitted to two or more values, got {classifier!r}.")
    if classes.dtype.kind not in "biu" or classes.min() < 0:
        raise InputError(f"The classifier must name values by their numbers, 0 and up, got {classes[0]!r}.")
    return classes.astype(np.int64)


def _parts(classifier: Any) -> tuple[Floats, Floats]:
    """Return the rows of weights and the offsets as they are."""
    if type(classifier).__name__ == "OneVsRestClassifier":
        width = classifier.n_features_in_
        parts = [_parts(part) if hasattr(part, "coef_") else _constant(part, width) for part in classifier.estimators_]
        return np.vstack([rows for rows, _ in parts]), np.concatenate([offsets for _, offsets in parts])
    coefficients = classifier.coef_
    rows = np.atleast_2d(coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients).astype(float)
    return rows, np.broadcast_to(np.ravel(classifier.intercept_), rows.shape[:1]).astype(float)


def _constant(part: Any, width: int) -> tuple[Floats, Floats]:
    """Return the score of a class that all or none of the records had."""
    return np.zeros((1, width)), part.decision_function(np.zeros((1, width))).astype(float)


def _shares_a_softmax(classifier: Any) -> bool:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression

    one_versus_rest = getattr(classifier, "solver", None) == "liblinear"
    return isinstance(classifier, (LogisticRegression, LinearDiscriminantAnalysis)) and not one_versus_rest


def _check_against(classifier: Any, rows: Floats, offsets: Floats) -> None:
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


def is_network(classifier: Any) -> bool:
    """Return whether a classifier is scikit-learn's MLPClassifier, fitted."""
    return type(classifier).__name__ == "MLPClassifier" and hasattr(classifier, "coefs_")


def network_scores(classifier: Any) -> Scores:
    """Return the decision scores of a fitted MLPClassifier; of its one output for two classes, half to each."""
    classes = class_values(classifier)
    weights = [np.asarray(part, dtype=np.float64) for part in classifier.coefs_]
    offsets = [np.asarray(part, dtype=np.float64) for part in classifier.intercepts_]
    if classifier.out_activation_ == "logistic":
        if weights[-1].shape[1] != 1:
            raise InputError(f"The network must name one value a record, it has {weights[-1].shape[1]} yes-no outputs.")
        weights[-1], offsets[-1] = weights[-1] * [-0.5, 0.5], offsets[-1] * [-0.5, 0.5]
    return Scores(
        classes=classes,
        weights=tuple(weights),
        offsets=tuple(offsets),
        activation=classifier.activation,
        tie=TIE * float(np.abs(weights[-1]).max(initial=0.0)),
    )


_ROWS = 8_000


def read_scores(classifier: Any) -> Scores:
    """Return the decision scores of a fitted classifier, linear or an MLPClassifier."""
    if is_linear(classifier):
        return linear_scores(classifier)
    if is_network(classifier):
        return network_scores(classifier)
    raise InputError(
        f"The classifier must be a fitted linear one or a fitted MLPClassifier, got {type(classifier).__name__}."
    )


def in_batches(read: Callable[[Any], Any], rows: Any) -> Ints:
    """Return what a function reads off rows (q, d), a few thousand at a time, so that memory stays small."""
    parts = [np.asarray(read(rows[first : first + _ROWS])) for first in range(0, rows.shape[0], _ROWS)]
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)


def read_values(classifier: Any, rows: Any) -> Ints:
    """Return what the classifier reads off each row (q, d)."""
    return in_batches(classifier.predict, rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows))


def one_value_each(target: npt.ArrayLike, people: int) -> Ints:
    """Return the wanted value of each person, whether one is given for all or one each."""
    wanted = np.asarray(target)
    if wanted.dtype.kind not in "iu" or wanted.shape not in ((), (people,)):
        raise InputError(f"target must be the number of a value, or one for each of {people} people, got {target!r}.")
    return np.broadcast_to(wanted, (people,)).astype(np.int64)


def verified(
    public: Any, records: Any, classifier: Any, people: Ints, wanted: Ints, predicted: Ints, changes: Changes
) -> tuple[Any, Changes]:
    """Show the noisy records to the classifier, and undo the changes where it does not read what was wanted.

    `public` are the clean records (u, d) as they came, `records` as `read_records` returns them; `people`, `wanted` and
    `predicted` (q,) are each task's person, the value wanted, and the value read off her clean record. Returns the
    records (q, d), like `public`, and the changes, found where the classifier reads the wanted value, off the clean
    record too.
    """
    noisy = with_changes(public, records, people, changes)
    misled = changes.found & (read_values(classifier, noisy) != wanted)
    if misled.any():
        changes = changes.only(~misled)
        noisy = with_changes(public, records, people, changes)
    found = changes.found | (wanted == predicted)
    return noisy, Changes(found=found, task=changes.task, column=changes.column, value=changes.value)
