"""The defender's own attacker: logistic regression on the public record, whose scores add up over the columns.

Its decision scores (Jia and Gong 2018 take them before the softmax) are sums of one term a column, so what a change
of one column does to every value's score is known beforehand, without asking the classifier.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.changes import Floats
from core.attriguard.table.columns import Column
from core.attriguard.table.encoding import Encoder, fit_encoder
from core.validation import choice

TABLE_DEFENDERS = ("logistic", "ranges")

_ROUNDS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Defender:
    """A fitted linear classifier of the private attribute.

    Attributes
    ----------
    classifier : object
        Scikit-learn's, on the encoder's inputs, classes 0 to m - 1.
    weights : ndarray of shape (m, k)
        Weight of every input for every value; of two values half the difference each.
    offsets : ndarray of shape (m,)
    starts : ndarray of shape (d + 1,)
        Where each column's inputs begin.
    """

    encoder: Encoder
    classifier: Any = field(repr=False)
    weights: Floats = field(repr=False)
    offsets: Floats = field(repr=False)
    starts: npt.NDArray[np.intp] = field(repr=False)

    @property
    def m(self) -> int:
        """Number of values of the private attribute."""
        return int(self.offsets.size)

    def terms(self, column: int, values: Floats) -> Floats:
        """Return what values (n,) of a column add to every score, (m, n)."""
        own = self.weights[:, self.starts[column] : self.starts[column + 1]]
        return np.ascontiguousarray((self.encoder.block(column, values) @ own.T).T)

    def all_terms(self, records: Floats) -> Floats:
        """Return what each cell adds to every score, (m, n, d)."""
        return np.stack([self.terms(j, records[:, j]) for j in range(records.shape[1])], axis=2)

    def predict(self, records: Floats) -> npt.NDArray[np.int64]:
        """Return what the classifier reads off records (n, d)."""
        if not len(records):
            return np.zeros(0, dtype=np.int64)
        return np.asarray(self.classifier.predict(self.encoder.transform(records)), dtype=np.int64)


def fit_defender(
    known: Floats, truth: npt.NDArray[np.int64], columns: tuple[Column, ...], *, kind: str = "logistic"
) -> Defender:
    """Fit the defender's classifier on the known people.

    Parameters
    ----------
    known : ndarray of shape (n, d)
    truth : ndarray of shape (n,)
        Their private values, 0 to m - 1, each of them there.
    columns : tuple of Column
    kind : {"logistic", "ranges"}
        With numbers as they are, standardised, or in ten ranges with an indicator each.
    """
    from sklearn.linear_model import LogisticRegression

    encoder = fit_encoder(known, columns, ranges=choice(kind, TABLE_DEFENDERS, name="defender") == "ranges")
    classifier = LogisticRegression(max_iter=_ROUNDS).fit(encoder.transform(known), truth)
    weights, offsets = classifier.coef_, classifier.intercept_
    if len(offsets) == 1:
        weights, offsets = np.vstack([-weights, weights]) / 2, np.array([-offsets[0], offsets[0]]) / 2
    return Defender(
        encoder=encoder,
        classifier=classifier,
        weights=np.asarray(weights, dtype=np.float64),
        offsets=np.asarray(offsets, dtype=np.float64),
        starts=np.cumsum([0, *encoder.widths()]),
    )
