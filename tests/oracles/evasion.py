"""FGSM and JSMA, evasion attacks to compare PANDA with (Goodfellow et al. 2015, Papernot et al. 2016).

FGSM moves every entry that helps, once and equally: it keeps the largest change small and not their number. JSMA, which
PANDA comes from, moves one entry at a time by saliency: towards class i an entry has a |b| where raising it raises the
score of i, a = ∂C_i > 0, and lowers the sum of the others, b = Σ_{k ≠ i} ∂C_k < 0. Entries are raised only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.classifiers import Scores, one_value_each, read_scores, read_values, verified
from core.attriguard.panda import Walk
from core.attriguard.records import Changes, NoisyRecords, join, read_records

_NUMBERS = 4_000_000  # gradient entries held at a time

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
_Parts = list[tuple[_Ints, Changes]]


def fgsm(public: Any, classifier: Any, target: npt.ArrayLike) -> NoisyRecords:
    """Move every entry to 0 or 1, along the sign of the gradient of the wanted value's score."""

    def search(records: Any, scores: Scores, known: _Ints, wanted: _Ints) -> _Parts:
        rows, parts = max(1, _NUMBERS // scores.n_columns), []
        for some in np.split(np.arange(known.size), range(rows, known.size, rows)):
            x = records[known[some]].toarray()
            direction = np.eye(scores.classes.size)[wanted[some]]
            moved = np.clip(x + np.sign(scores.gradient(scores.enter(x), direction)), 0.0, 1.0)
            task, column = np.nonzero(moved != x)
            found = np.ones(some.size, dtype=bool)
            parts.append((known[some], Changes(found=found, task=task, column=column, value=moved[task, column])))
        return parts

    return _evaded(public, classifier, target, search)


def jsma(public: Any, classifier: Any, target: npt.ArrayLike) -> NoisyRecords:
    """Raise entries to 1 by saliency until the classifier reads a wanted value."""

    def search(records: Any, scores: Scores, known: _Ints, wanted: _Ints) -> _Parts:
        walk = _Raised(records, scores, known, wanted, "modify_add")
        for _ in range(scores.n_columns):
            if not walk.left.size:
                break
            walk.advance(1.0, "scores")
            walk.settle(scores.tie)
        return [(known, walk.changes())]

    return _evaded(public, classifier, target, search)


def _evaded(public: Any, classifier: Any, target: npt.ArrayLike, search: Any) -> NoisyRecords:
    scores = read_scores(classifier)
    records = read_records(public, scores.n_columns)
    people = np.arange(records.shape[0])
    wanted, predicted = one_value_each(target, people.size), read_values(classifier, public)
    known = np.flatnonzero((wanted != predicted) & np.isin(wanted, scores.classes))
    changes = join(people.size, search(records, scores, known, np.searchsorted(scores.classes, wanted[known])))
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
