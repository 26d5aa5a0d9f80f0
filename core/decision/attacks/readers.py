"""The test people as a reader of the report knows them, where they can be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.decision.audited import Audited
from core.errors import Cancelled

if TYPE_CHECKING:
    from core.report import AttackedPeople


def readers_of(audited: Audited) -> AttackedPeople | None:
    """Return the test people with the strong attacker's calibrated probabilities; None if it cannot be trained."""
    from core.report import attacked_people

    def make() -> AttackedPeople:
        return attacked_people(audited.dataset, audited.splits, audited.model, seed=audited.config.seed)

    try:
        return audited.once("readers", make)
    except Cancelled:
        raise
    except Exception:  # the report then says that it was not attacked
        return None
