"""The test people of an audit, for the attack on its disclosure edition and the release meter."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits
from core.questions import reader_prior
from core.release import attacker_posteriors
from core.report.attacked import AttackedPeople
from core.training import ModelFindings

FEWEST_KNOWN = 10
"""People of each group the release meter's attacker learns from at least: two in each of its five folds."""


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
