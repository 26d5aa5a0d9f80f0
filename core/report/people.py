"""The test people of an audit, for the attack on its disclosure edition."""

from __future__ import annotations

from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits
from core.questions import reader_prior
from core.report.attacked import AttackedPeople
from core.training import ModelFindings

__all__ = ["attacked_people"]


def attacked_people(dataset: AuditDataset, splits: Splits, model: ModelFindings, *, seed: int) -> AttackedPeople:
    """Return the test people with the audited model's predictions, and what features and label tell of each.

    Raises
    ------
    InputError
        If the attack or validation records do not hold every group.
    """
    rows = splits.test
    return AttackedPeople(
        predictions=model.predictions[rows],
        labels=dataset.labels[rows],
        sensitive=dataset.sensitive[rows],
        prior=reader_prior(dataset, splits, rows, seed=seed),
        group_names=tuple(dataset.group_names),
    )
