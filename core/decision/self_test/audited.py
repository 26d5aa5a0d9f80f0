"""Invented people and answers in the form in which an audit measures them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.config import AuditConfig
from core.datasets import AuditDataset, Roles
from core.datasets.splits import Splits
from core.decision.audited import Audited, Progress
from core.decision.plan import AuditPlan, ModelPlan, PlannedAnswers
from core.decision.self_test.people import Drawn
from core.models import GIVEN
from core.training import train_model

TOLERANCE = 0.02
"""What is promised of every model here, whether it keeps it or not."""

_VALIDATION_SHARE = 0.3
"""Of the attacker's records, as in an audit."""


def audit_of(
    people: Drawn,
    predictions: npt.NDArray[np.uint8],
    sizes: tuple[int, int, int],
    *,
    seed: int,
    scores: npt.NDArray[np.float64] | None = None,
    answers: PlannedAnswers | None = None,
) -> Audited:
    """Return an audit of given predictions.

    Parameters
    ----------
    predictions : ndarray of shape (n,)
    sizes : tuple of int
        Training, attack and test records, in this order; together n.
    scores : ndarray of shape (n,), optional
    """
    names = tuple(f"feature {j}" for j in range(people.features.shape[1]))
    roles = Roles(label="label", positive="1", sensitive="group", group=("1",), prediction="prediction", sets="set")
    dataset = AuditDataset(
        title="People of FairLeak's test of itself",
        source="Synthetic.",
        features=people.features.astype(np.float64),
        feature_names=names,
        categorical=np.zeros(len(names), dtype=np.bool_),
        labels=people.labels,
        sensitive=people.sensitive,
        group_names=("group 0", "group 1"),
        roles=roles,
        rows_read=people.labels.size,
        predictions=predictions,
        scores=scores,
        sets=np.repeat(["train", "attack", "test"], sizes),
    )
    config = AuditConfig(method=GIVEN, roles=roles, tolerance=TOLERANCE, seed=seed)
    planned = PlannedAnswers() if answers is None else answers
    plan = AuditPlan(model=ModelPlan(kind="predictions"), config=config, answers=planned)
    train, known, test = np.split(np.arange(people.labels.size), np.cumsum(sizes)[:-1])
    attack, validation = np.split(known, [known.size - round(_VALIDATION_SHARE * known.size)])
    splits = Splits(train=train, attack=attack, validation=validation, test=test)  # they come in no order
    return Audited(plan, config, dataset, splits, train_model(config, dataset, splits), Progress(1))


def same_model(audited: Audited) -> Audited:
    """Return an audit of the same people and model of which nothing is found yet."""
    return Audited(audited.plan, audited.config, audited.dataset, audited.splits, audited.model, Progress(1))
