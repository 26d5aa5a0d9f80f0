"""Records that are equal in everything an audit uses: how many there are, and how many stand on both sides of a split.

A record of the test set that also stands in the training set is not unseen: accuracy on it says how well it is
remembered, and an attacker who holds an equal record knows the answer. Equal records may be the same person entered
twice, or two people whom the columns do not tell apart; the table cannot say which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from core.datasets.dataset import AuditDataset
    from core.datasets.splits import Splits


def kinds_of_records(
    features: npt.NDArray[np.float64], labels: npt.NDArray[np.uint8], sensitive: npt.NDArray[np.uint8]
) -> npt.NDArray[np.intp]:
    """Return a number for each record that equal records, and only they, have in common, of shape (n,).

    Parameters
    ----------
    features : ndarray of shape (n, d)
    labels, sensitive : ndarray of shape (n,)
    """
    import pandas as pd

    kinds = labels.astype(np.intp) * (int(sensitive.max(initial=0)) + 1) + sensitive
    for column in features.T:
        codes, found = pd.factorize(column + 0.0)  # -0 is 0
        kinds = pd.factorize(kinds * len(found) + codes)[0]
    return np.asarray(kinds, dtype=np.intp)


def repeated_note(kinds: npt.NDArray[np.intp]) -> str:
    """Return a sentence on the records that stand twice or more, "" if none does."""
    sizes = np.bincount(kinds)
    if not (repeated := int(sizes[sizes > 1].sum())):
        return ""
    return (
        f"{repeated:,} of {kinds.size:,} records are equal to another one in every column used "
        f"({int((sizes > 1).sum()):,} different ones), so that some may be both trained on and tested."
    )


def shared_records(dataset: AuditDataset, splits: Splits) -> dict[str, int]:
    """Return how many records of each other set equal a training record in every column used.

    Returns
    -------
    dict of str to int
        By set: attack, validation, test.
    """
    kinds = kinds_of_records(dataset.features, dataset.labels, dataset.sensitive)
    trained = np.zeros(kinds.max(initial=0) + 1, dtype=bool)
    trained[kinds[splits.train]] = True
    return {name: int(trained[kinds[getattr(splits, name)]].sum()) for name in ("attack", "validation", "test")}


def shared_note(dataset: AuditDataset, splits: Splits) -> str:
    """Return a sentence on the test and attack records that equal a training record, "" if none does."""
    shared = shared_records(dataset, splits)
    known = shared["attack"] + shared["validation"]
    if not (known or shared["test"]):
        return ""
    return (
        f"{shared['test']:,} of {splits.test.size:,} test records and {known:,} of {splits.known.size:,} records "
        "the attacker knows equal a training record in every column used."
    )
