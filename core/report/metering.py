"""Metering a whole audit while its people are at hand, and what an edition for others may say of its own meter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.decision.attacks.readers import AttackedPeople
from core.decision.result import MeterOutcome, ReportMeter
from core.errors import InputError
from core.report.disclosed import cut_edition
from core.report.document import THRESHOLD, Document, internal_document
from core.report.metered import meter_report, not_metered
from core.report.numbers import rounded_estimate

if TYPE_CHECKING:
    from core.decision import ReleaseAudit


def meter_of(audit: ReleaseAudit, people: AttackedPeople | None, *, threshold: int = THRESHOLD) -> ReportMeter:
    """Return what the reports of an audit give away by their fairness numbers; a meter that breaks is a result.

    Parameters
    ----------
    people : AttackedPeople or None
        The test people, None where the attacker that knows them beforehand could not be trained.
    threshold : int
        Of the disclosure edition.
    """
    if people is None:
        return meter_report({}, None, threshold=threshold)
    try:
        whole = internal_document(audit)
        forms = {"every_digit": whole, "page": _as_printed(whole), "disclosure": cut_edition(audit, threshold)[0]}
        return meter_report(forms, people, threshold=threshold)
    except InputError as error:
        return not_metered(str(error).rstrip("."), threshold, outcome=MeterOutcome.FAILED)
    except Exception as error:  # the report then says that it was not metered
        return not_metered(f"the meter broke ({type(error).__name__})", threshold, outcome=MeterOutcome.FAILED)


def _as_printed(document: Mapping[str, Any]) -> Document:
    """Return a document whose groups' rates, unfairness and ratio have the digits a page prints."""
    rates = ("test_rate", "test_tpr", "test_fpr")
    groups = [group | {name: rounded_estimate(group[name]) for name in rates} for group in document["groups"]]
    model = document["model"] | {"unfairness_test": rounded_estimate(document["model"]["unfairness_test"])}
    measurements = [m | {"estimate": rounded_estimate(m["estimate"])} for m in document["measurements"]]
    return {**document, "groups": groups, "model": model, "measurements": measurements}
