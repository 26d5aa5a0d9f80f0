"""The checks of a release audit, one module each: what was attacked, by whom, the number, its interval, its control."""

from __future__ import annotations

from collections.abc import Callable

from core.decision.audited import Audited
from core.decision.measures.answers_excess import answers_excess
from core.decision.measures.attribute_gains import attribute_balanced, attribute_bits, attribute_excess
from core.decision.measures.attriguard_cost import attriguard_cost
from core.decision.measures.attriguard_exposure import attriguard_exposure
from core.decision.measures.correction_gain import correction_gain, false_promise
from core.decision.measures.four_fifths import four_fifths, rate_ratio
from core.decision.measures.membership_auc import membership_advantage, membership_auc
from core.decision.measures.membership_caught import membership_caught
from core.decision.measures.membership_gap import membership_gap
from core.decision.measures.reasons import missing, not_run
from core.decision.measures.targeted_leakage import targeted_leakage
from core.decision.measures.unfairness import unfairness
from core.errors import Cancelled, DataUnavailableError, FairLeakError, InputError
from core.policy import CHECKS, Measurement
from core.strongest import least, strongest

__all__ = ["MEASURES", "false_promise", "least", "measured", "rate_ratio", "strongest"]


def _later(audited: Audited) -> Measurement:
    raise InputError("Being built.")


MEASURES: dict[str, Callable[[Audited], Measurement]] = {
    "attribute_excess": attribute_excess,
    "attribute_balanced": attribute_balanced,
    "attribute_bits": attribute_bits,
    "correction_gain": correction_gain,
    "answers_excess": answers_excess,
    "targeted_leakage": targeted_leakage,
    "membership_caught": membership_caught,
    "membership_auc": membership_auc,
    "membership_advantage": membership_advantage,
    "membership_gap": membership_gap,
    "unfairness": unfairness,
    "four_fifths": four_fifths,
    "attriguard_exposure": attriguard_exposure,
    "attriguard_cost": attriguard_cost,
}
"""Check -> what measures it."""

_DECLARED = ("targeted_leakage",)


def measured(check: str, audited: Audited) -> Measurement:
    """Return a check's number, or why there is none; nothing that breaks here stops the audit, but `Cancelled` does."""
    basis = "declared" if check in _DECLARED else "measured"
    if reason := missing(check, audited):
        return not_run(check, reason, basis=basis)
    try:
        return MEASURES[check](audited)
    except Cancelled:
        raise
    except (InputError, DataUnavailableError) as error:
        return not_run(check, str(error), basis=basis)
    except FairLeakError as error:
        return not_run(check, str(error), outcome="failed", basis=basis)
    except Exception as error:  # whatever it was, it must not vanish: a check that broke blocks a release
        return not_run(check, f"It broke: {type(error).__name__}.", outcome="failed", basis=basis)


assert tuple(MEASURES) == tuple(CHECKS)
