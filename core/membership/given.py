"""A target that cannot be trained: a model somebody else trained, known by its scores alone.

Its members are the records that the table says it was trained on, its outsiders the test records. Attacks that only
look at its scores run as on any target; LiRA, which trains such models on other people, cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import Codes, Floats, Ints
from core.datasets.dataset import AuditDataset
from core.errors import InputError

NO_SHADOWS = "LiRA needs a model that can be trained again on other people, not given predictions."
"""Why LiRA is not run on such a target."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenTarget:
    """The model behind given scores.

    The dataset holds scores and sets.
    """

    dataset: AuditDataset

    def __call__(self, rows: Ints, seed: int) -> Floats:
        """Return the scores of everybody, shape (n,); `rows` must be those the model was trained on.

        Raises `InputError` if they are others, such as after deletions: the model was not trained on these.
        """
        assert self.dataset.scores is not None and self.dataset.sets is not None
        trained = np.flatnonzero(self.dataset.sets == "train")
        if not np.array_equal(np.sort(rows), trained):
            raise InputError(
                f"Given predictions come from a model trained on {trained.size:,} records and none can be trained on "
                f"{rows.size:,} others."
            )
        return self.dataset.scores

    @property
    def predicted(self) -> Codes:
        """Return the predicted labels of everybody, shape (n,)."""
        assert self.dataset.predictions is not None
        return self.dataset.predictions


def given_target(dataset: AuditDataset) -> GivenTarget:
    """Return the model behind a table's scores as a target.

    Make the split with `core.membership.split_between` from the audit's training and test rows. Raises `InputError` if
    the table gives no scores, or does not say which records the model was trained on.
    """
    if dataset.scores is None:
        raise InputError("Membership attacks on given predictions need the model's scores, the table gives none.")
    if dataset.sets is None:
        raise InputError(
            "Membership attacks on given predictions need a column that says which records the model was trained on, "
            "the table's roles name none."
        )
    return GivenTarget(dataset=dataset)
