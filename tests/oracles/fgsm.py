"""FGSM, the fast gradient sign method (Goodfellow et al. 2015), to compare with: every entry moves, once and equally.

It keeps the largest change small and not their number, so almost every entry that helps at all is changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.classifiers import one_value_each, read_scores, read_values, verified
from core.attriguard.records import Changes, NoisyRecords, join, read_records

_NUMBERS = 4_000_000  # gradient entries held at a time


def fgsm(public: Any, classifier: Any, target: npt.ArrayLike) -> NoisyRecords:
    """Move every entry by 1 along the sign of the gradient of the wanted value's score, cut to [0, 1].

    Arguments as for `core.attriguard.panda`; the numbers of changed entries do not depend on the length of the step.
    """
    scores = read_scores(classifier)
    records = read_records(public, scores.n_columns)
    people = np.arange(records.shape[0])
    wanted, predicted = one_value_each(target, people.size), read_values(classifier, public)
    known = np.flatnonzero((wanted != predicted) & np.isin(wanted, scores.classes))
    rows, parts = max(1, _NUMBERS // scores.n_columns), []
    for some in np.split(known, range(rows, known.size, rows)):
        x = records[some].toarray()
        direction = np.eye(scores.classes.size)[np.searchsorted(scores.classes, wanted[some])]
        moved = np.clip(x + np.sign(scores.gradient(scores.enter(x), direction)), 0.0, 1.0)
        task, column = np.nonzero(moved != x)
        found = np.ones(some.size, dtype=bool)
        parts.append((some, Changes(found=found, task=task, column=column, value=moved[task, column])))
    changes = join(people.size, parts)
    noisy, changes = verified(public, records, classifier, people, wanted, predicted, changes)
    return NoisyRecords(noisy=noisy, size=changes.sizes(), found=changes.found)
