"""The audited model as what is attacked: trained again on other records, asked about changed ones, bounded by its ε.

A target is trained on some rows with a seed and says everybody's P(label = 1), see
`core.studies.membership.evidence.Train`, so that an attack with shadow models can train it again.

The guarantee of a privacy budget is about one record more or less. A membership experiment trains on as many people
either way: where a person is out, somebody else is in. Such tables differ by a record replaced, which is one record
less and then one more, so that the guarantee for them is twice epsilon (Dwork and Roth 2014, theorem 2.2). Assumed: the
attacker does not know the seed of the noise.
"""

from __future__ import annotations

import math

from ...datasets.dataset import AuditDataset
from ...models.model_answers import QueryAccess, fair_access
from ..config import AuditConfig
from ..subject import Subject, fit_rows, fitted
from .evidence import Train


def audited_target(config: AuditConfig, dataset: AuditDataset) -> Train:
    """Return the audit's learning method as a target; it answers with `core.models.FairModel.scores`.

    Its members are the audit's training rows and its non-members the test rows. The first training, of the target
    itself, takes the audit's seed.
    """
    return lambda rows, seed: fit_rows(config, dataset, rows, seed=seed).scores(dataset.features, dataset.sensitive)


def audited_access(subject: Subject) -> QueryAccess | None:
    """Return query access to the audited model, trained here or in a file; None where only predictions are given."""
    if not subject.trainable:
        return subject.access
    config, dataset = subject.config, subject.dataset
    return fair_access(
        lambda: fitted(config, dataset, subject.splits), dataset.features, dataset.sensitive, seed=config.seed
    )


_LARGEST = 350.0
"""Epsilon beyond which exp(2 epsilon) is too large to be written."""


def most_caught(false_alarms: float, epsilon: float) -> float:
    """Return the largest share of members that an attack with so many false positives can be expected to flag.

    A member can be flagged at most exp(2 epsilon) times as often as a non-member; the bound holds for who is flagged
    and for who is not (Kairouz, Oh and Viswanath 2015, theorem 2.1). `false_alarms`, in [0, 1], is the share of
    non-members flagged.
    """
    if epsilon > _LARGEST:
        return 1.0
    times = math.exp(2.0 * epsilon)
    return min(times * false_alarms, 1.0 - (1.0 - false_alarms) / times)
