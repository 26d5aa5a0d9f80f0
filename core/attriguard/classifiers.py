"""The defender's classifier: its scores for the search, and what it says itself about the records that come of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.changes import Changes, Ints, with_changes
from core.attriguard.linear import LinearScores, is_linear, linear_scores
from core.attriguard.network import NetworkScores, is_network, network_scores
from core.errors import InputError

_ROWS = 8192  # records shown to the classifier at a time


def read_scores(classifier: Any) -> LinearScores | NetworkScores:
    """Return the decision scores of a fitted classifier, linear or an MLPClassifier."""
    if is_linear(classifier):
        return linear_scores(classifier)
    if is_network(classifier):
        return network_scores(classifier)
    raise InputError(
        f"The classifier must be a fitted linear one or a fitted MLPClassifier, got {type(classifier).__name__}."
    )


def read_values(classifier: Any, rows: Any) -> Ints:
    """Return what the classifier reads off each row (q, d), a few thousand at a time."""
    rows = rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows)
    if not rows.shape[0]:
        return np.zeros(0, dtype=np.int64)
    parts = [classifier.predict(rows[first : first + _ROWS]) for first in range(0, rows.shape[0], _ROWS)]
    return np.concatenate(parts).astype(np.int64)


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

    Parameters
    ----------
    public, records : matrices of shape (u, d)
        The clean records as they came, and as `read_records` returns them.
    classifier : fitted classifier
    people, wanted, predicted : ndarray of shape (q,)
        Of each task: the person, the value wanted, and the value read off her clean record.
    changes : Changes
        What was changed, in q tasks.

    Returns
    -------
    noisy : matrix of shape (q, d)
        Like `public`.
    changes : Changes
        Found where the classifier reads the wanted value, off the clean record too.
    """
    noisy = with_changes(public, records, people, changes)
    misled = changes.found & (read_values(classifier, noisy) != wanted)
    if misled.any():
        changes = changes.only(~misled)
        noisy = with_changes(public, records, people, changes)
    found = changes.found | (wanted == predicted)
    return noisy, Changes(found=found, task=changes.task, column=changes.column, value=changes.value)
