"""JSMA, the saliency maps PANDA comes from (Papernot et al. 2016), to compare with: one entry at a time, one direction.

Towards class i an entry has the saliency a |b| where raising it raises the score of i, a = ∂C_i > 0, and lowers the sum
of the others, b = Σ_{k ≠ i} ∂C_k < 0. All entries are raised, and what is left of an entry to move does not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.classifiers import one_value_each, read_scores, read_values, verified
from core.attriguard.panda import Walk
from core.attriguard.records import NoisyRecords, join, read_records

_Floats = npt.NDArray[np.float64]


def jsma(public: Any, classifier: Any, target: npt.ArrayLike) -> NoisyRecords:
    """Raise entries to 1 by saliency until the classifier reads a value; arguments as `core.attriguard.panda`."""
    scores = read_scores(classifier)
    records = read_records(public, scores.n_columns)
    people = np.arange(records.shape[0])
    wanted, predicted = one_value_each(target, people.size), read_values(classifier, public)
    known = np.flatnonzero((wanted != predicted) & np.isin(wanted, scores.classes))
    walk = _Raised(records, scores, known, np.searchsorted(scores.classes, wanted[known]), "modify_add")
    for _ in range(scores.n_columns):
        if not walk.left.size:
            break
        walk.advance(1.0, "scores")
        walk.settle(scores.tie)
    changes = join(people.size, [(known, walk.changes())])
    noisy, changes = verified(public, records, classifier, people, wanted, predicted, changes)
    return NoisyRecords(noisy=noisy, size=changes.sizes(), found=changes.found)


class _Raised(Walk):
    """Searches that raise entries."""

    def gradient(self, order: str) -> _Floats:
        """Return every entry's saliency; minus infinity where the signs are wrong."""
        state, rows = self.state[self.left], np.arange(self.left.size)
        own = np.zeros((self.left.size, self.scores.classes.size))
        own[rows, self.wanted[self.left]] = 1.0
        raised, others = self.scores.gradient(state, own), self.scores.gradient(state, 1.0 - own)
        return np.where((raised > 0) & (others < 0), raised * -others, -np.inf)

    def gains(self, gradient: _Floats, value: _Floats, free: npt.NDArray[np.bool_]) -> tuple[_Floats, _Floats]:
        """Return the saliency of entries that are not at 1 yet."""
        return np.where(free & (value < 1), gradient, -np.inf), np.full(gradient.shape, -np.inf)
