"""The control of attacks that use predictions: the same on predictions dealt out to others.

Permuting the audited model's answers within each label keeps what the label already tells about them (the model's
accuracy, its true and false positive rates, their number) and cuts every tie to the person: features, group, and
whatever the training left in them. A′, which knows features and labels anyway, can learn nothing new from such
answers, so what it reaches with the real ones beyond this control is what the predictions carry beyond features and
label. The permuted column must replace the real one both where the adversary learns and where it attacks.

Without labels the answers are permuted among everybody; nothing but their number is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from core.arrays import Codes
from core.errors import InputError
from core.seeds import child_generator
from core.validation import binary_array, one_length


def permuted_predictions(
    predictions: npt.ArrayLike, labels: npt.ArrayLike | None = None, *, seed: int, records: str = "everybody"
) -> Codes:
    """Return the predictions dealt out anew among the people of the same label, or among everybody without labels.

    `records` says which set of records this is; another name under the same seed permutes independently.
    """
    answers = binary_array(predictions, name="predictions")
    known = None if labels is None else binary_array(labels, name="labels")
    one_length(predictions=answers, labels=known)
    rng = child_generator(seed, f"permuted predictions of {records}")
    dealt = answers.copy()
    for inside in [slice(None)] if known is None else [known == 0, known == 1]:
        dealt[inside] = rng.permutation(answers[inside])
    return dealt


def permuted_by_set(
    predictions: npt.ArrayLike, labels: npt.ArrayLike | None, sets: Mapping[str, npt.NDArray[np.intp]], *, seed: int
) -> Codes:
    """Return everybody's predictions with each set of records permuted within itself and its labels.

    An adversary trained and asked with these in place of the real ones is the control of an attack; nobody's answer
    crosses from the records she learns from to those she attacks, so that a model's higher accuracy on its training
    records stays theirs. Raises `InputError` if an argument breaks its rule or two sets share a row.

    Predictions and labels, 0 or 1, have the shape (n,); `sets` are disjoint row numbers by name. Every set is permuted
    independently, by its name; rows in none of them keep their prediction.
    """
    dealt = binary_array(predictions, name="predictions").copy()
    known = None if labels is None else binary_array(labels, name="labels")
    one_length(predictions=dealt, labels=known)
    rows = np.concatenate([np.asarray(inside, dtype=np.intp) for inside in sets.values()] or [np.empty(0, np.intp)])
    if np.unique(rows).size < rows.size:
        raise InputError(f"The sets to permute within must be disjoint, got {rows.size} rows for fewer records.")
    for name, inside in sets.items():
        within = None if known is None else known[inside]
        dealt[inside] = permuted_predictions(dealt[inside], within, seed=seed, records=name)
    return dealt
