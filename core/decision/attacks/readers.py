"""The test people as a reader of the report knows them: for the release meter and the attack on what others get."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits
from core.decision.audited import Audited
from core.errors import Cancelled, InputError
from core.questions import reader_prior
from core.release import attacker_posteriors
from core.training import ModelFindings
from core.validation import binary_array, group_array, one_length

Floats = npt.NDArray[np.float64]

FEWEST_KNOWN = 10
"""People of each group the release meter's attacker learns from at least: two in each of its five folds."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackedPeople:
    """The test people, with what the reader knows of them and the truth to judge the attack by.

    Attributes
    ----------
    predictions, labels : ndarray of shape (n,), 0 or 1
    sensitive : ndarray of shape (n,), 0 to K - 1
    prior : ndarray of shape (n, K), rows adding up to 1
        The reader's probability of each group from features and label.
    group_names : tuple of K str
        As the report names them.
    posterior : ndarray of shape (n, K), rows adding up to 1, or None
        What the release meter's attacker makes of each; None where it was not trained, and `reason` says why.
    """

    predictions: npt.NDArray[np.uint8] = field(repr=False)
    labels: npt.NDArray[np.uint8] = field(repr=False)
    sensitive: npt.NDArray[np.uint8] = field(repr=False)
    prior: Floats = field(repr=False)
    group_names: tuple[str, ...]
    posterior: Floats | None = field(default=None, repr=False)
    reason: str = "the attacker of the release meter was not trained"

    def __post_init__(self) -> None:
        n, k = len(self.predictions), len(self.group_names)
        if k < 2:
            raise InputError(f"The attacked people must be in at least 2 groups, got {k}.")
        one_length(predictions=self.predictions, labels=self.labels, sensitive=self.sensitive, prior=self.prior)
        binary_array(self.predictions, name="predictions")
        binary_array(self.labels, name="labels")
        group_array(self.sensitive, k, name="sensitive")
        if np.shape(self.prior) != (n, k):
            raise InputError(f"prior must have shape ({n}, {k}), got {np.shape(self.prior)}.")
        if self.posterior is not None and np.shape(self.posterior) != (n, k):
            raise InputError(f"posterior must have shape ({n}, {k}), got {np.shape(self.posterior)}.")
        if np.unique(self.sensitive).size < 2:
            raise InputError("The attacked people must be of at least 2 groups, got one.")


def attacked_people(dataset: AuditDataset, splits: Splits, model: ModelFindings, *, seed: int) -> AttackedPeople:
    """Return the test people with the audited model's predictions, and what features and label tell of each.

    Raises
    ------
    InputError
        If the attack or validation records do not hold every group.
    """
    rows = splits.test
    posterior, reason = _posterior(dataset, splits, seed)
    return AttackedPeople(
        predictions=model.predictions[rows],
        labels=dataset.labels[rows],
        sensitive=dataset.sensitive[rows],
        prior=reader_prior(dataset, splits, rows, seed=seed),
        group_names=tuple(dataset.group_names),
        posterior=posterior,
        reason=reason,
    )


def _posterior(dataset: AuditDataset, splits: Splits, seed: int) -> tuple[npt.NDArray[np.float64] | None, str]:
    """Return what the release meter's attacker makes of the test people, or why it could not be trained."""
    known = np.bincount(dataset.sensitive[splits.known], minlength=dataset.n_groups)
    if known.min() < FEWEST_KNOWN:
        return None, (
            f"its attacker learns from at least {FEWEST_KNOWN} people of each group, and of one it knows {known.min()}"
        )
    try:
        return attacker_posteriors(dataset, splits, splits.test, seed=seed), ""
    except ValueError as error:
        return None, f"its attacker could not be trained ({str(error).rstrip('.')})"


def readers_of(audited: Audited) -> AttackedPeople | None:
    """Return the test people with the strong attacker's calibrated probabilities; None if it cannot be trained."""

    def make() -> AttackedPeople:
        return attacked_people(audited.dataset, audited.splits, audited.model, seed=audited.config.seed)

    try:
        return audited.once("readers", make)
    except Cancelled:
        raise
    except Exception:  # the report then says that it was not attacked
        return None
