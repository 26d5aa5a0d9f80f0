"""The test people as a reader of the report knows them: everything but the sensitive attribute, and a prior of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.adversaries import calibrate, train_strong
from core.decision.audited import Audited
from core.errors import Cancelled

if TYPE_CHECKING:
    from core.report import AttackedPeople

__all__ = ["attacked_people"]


def attacked_people(audited: Audited) -> AttackedPeople | None:
    """Return the test people with the strong attacker's calibrated probabilities; None if it cannot be trained."""
    try:
        return audited.once("readers", lambda: _made(audited))
    except Cancelled:
        raise
    except Exception:  # the report then says that it was not attacked
        return None


def _made(audited: Audited) -> AttackedPeople:
    from core.report import AttackedPeople

    dataset, splits = audited.dataset, audited.splits
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    learn, held_out, test = splits.attack, splits.validation, splits.test
    adversary = train_strong(x[learn], y[learn], s[learn], categorical=dataset.categorical, seed=audited.config.seed)
    scale = calibrate(adversary.probability(x[held_out], y[held_out], None), s[held_out])
    return AttackedPeople(
        predictions=audited.model.predictions[test],
        labels=y[test],
        sensitive=s[test],
        prior=scale.apply(adversary.probability(x[test], y[test], None)),
        group_names=dataset.group_names,
    )
