"""Attackers on a table: classifiers of the private attribute that learn on the known people's records.

Two kinds of input: indicators and standardised numbers for logistic regression and the network, the columns as they
are for the forest and gradient boosting (the strong one).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.table.columns import Column
from core.attriguard.table.encoding import Encoder, fit_encoder
from core.validation import choice

LEARNERS = ("logistic", "forest", "boosting", "network")

TABLE_ATTACKER_TITLES = {
    "logistic": "Logistic regression",
    "forest": "Random forest",
    "boosting": "Gradient boosting",
    "network": "Neural network",
    "dropping": "Gradient boosting without the columns that carry the noise",
    "adversarial_logistic": "Logistic regression trained against the noise",
    "adversarial": "Gradient boosting trained against the noise",
}

_TREES = 100
_LEAF = 5
_HIDDEN = 100
_EPOCHS = 8
_MOST_CODES = 255  # categories the booster can tell apart

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacker:
    """A trained attacker.

    Attributes
    ----------
    learner : str
        One of `LEARNERS`.
    classifier : object
        Scikit-learn's.
    encoder : Encoder or None
        How records become inputs; None for the columns as they are.
    columns : ndarray of int
        The columns it looks at.
    """

    learner: str
    classifier: Any = field(repr=False)
    encoder: Encoder | None = field(repr=False)
    columns: npt.NDArray[np.intp] = field(repr=False)

    def guess(self, records: Floats) -> Ints:
        """Return the value named for each record (n, d)."""
        seen = records[:, self.columns]
        inputs = seen if self.encoder is None else self.encoder.transform(seen)
        return np.asarray(self.classifier.predict(inputs), dtype=np.int64)


def fit_attacker(
    learner: str,
    records: Floats,
    truth: Ints,
    columns: tuple[Column, ...],
    *,
    kept: npt.NDArray[np.intp] | None = None,
    seed: int = 0,
) -> Attacker:
    """Train an attacker.

    Parameters
    ----------
    learner : {"logistic", "forest", "boosting", "network"}
    records : ndarray of shape (n, d)
    truth : ndarray of shape (n,)
    columns : tuple of Column
    kept : ndarray of int, optional
        Columns it looks at; all by default.
    """
    choice(learner, LEARNERS, name="attacker")
    looked = np.arange(len(columns)) if kept is None else kept
    seen, own = records[:, looked], tuple(columns[j] for j in looked)
    encoder = fit_encoder(seen, own) if learner in ("logistic", "network") else None
    inputs = seen if encoder is None else encoder.transform(seen)
    fit = {"logistic": _logistic, "forest": _forest, "boosting": _boosting, "network": _network}[learner]
    return Attacker(learner=learner, classifier=fit(inputs, truth, own, seed), encoder=encoder, columns=looked)


def _logistic(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000).fit(inputs, truth)


def _forest(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(_TREES, min_samples_leaf=_LEAF, random_state=seed).fit(inputs, truth)


def _boosting(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    coded = [column.kind == "category" and column.listed.size <= _MOST_CODES for column in columns]
    # it stops on a tenth of the records, which must be able to hold every value
    counts = np.unique(truth, return_counts=True)[1]
    stops = math.ceil(truth.size / 10) >= counts.size and counts.min() >= 2
    return HistGradientBoostingClassifier(
        categorical_features=coded, early_stopping=bool(stops), random_state=seed
    ).fit(inputs, truth)


def _network(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    """Train for a few epochs: more of them overfit to the known people."""
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((_HIDDEN,), random_state=seed)
    for _ in range(_EPOCHS):
        network.partial_fit(inputs, truth, classes=np.unique(truth))
    return network
