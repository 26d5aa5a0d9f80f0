"""What a report says, as one strict JSON document: what HTML and CSV are made of.

`report_document` puts a `ReleaseAudit` into the form of the schema. Each check's title, unit and definition stand
in it, so that the document can be read without this version of FairLeak; a measurement stands once, verdicts name it by
check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from ..auditing.policy import CHECKS, CheckVerdict, Policy, Verdict
from ..base.caveats import Caveat
from ..base.errors import check_format
from ..studies.study import Measurement
from .canonical import read, report_fingerprint, strict

if TYPE_CHECKING:
    from ..auditing import ReleaseAudit

KIND = "fairleak release audit"

OF_VERDICT = tuple(field.name for field in fields(CheckVerdict) if field.name != "measurement")
OF_CHECK = ("unit", "at_least")
"""What a check's row has of its verdict, and of the check itself."""

GROUP_RATES = ("label_rate", "test_rate", "test_tpr", "test_fpr")
"""Rates in a group's summary."""

METRIC_RATES = {
    "statistical_parity": ("test_rate",),
    "predictive_equality": ("test_fpr",),
    "equal_opportunity": ("test_tpr",),
    "equalized_odds": ("test_fpr", "test_tpr"),
}
"""Metric -> the rates of the groups it compares."""

PEOPLE_AT_RISK = "people_at_risk"
"""Part of a document that is about single people; it is there only where the plan asks for it."""

_PARTS = ("schema", "data", "groups", "model", "times", "plan", "findings", "self_tests", "provenance")
"""Parts of an audit that stand in a document as they are."""

Document = dict[str, Any]


def sealed(content: Document) -> Document:
    """Return the document with its fingerprint."""
    return {**content, "fingerprint": report_fingerprint(content)}


def report_document(audit: ReleaseAudit) -> Document:
    """Document of everything an audit found, sealed with its fingerprint."""
    content = {
        **{name: getattr(audit, name) for name in _PARTS},
        "kind": KIND,
        "measurements": [{**m.to_dict(), "details": m.details or {}} for m in audit.measurements],
        "tables": [_table(title, rows) for title, rows in audit.tables.items()],
        "verdict": verdict_section(audit.verdict),
        "caveats": audit.verdict.caveats,
        "policy": audit.verdict.policy,
    }
    if audit.people is not None:
        tables = [_table(title, rows) for title, rows in audit.people.tables.items()]
        content[PEOPLE_AT_RISK] = {"findings": audit.people.findings, "tables": tables}
    return sealed(dict(strict(content)))


def verdict_section(verdict: Verdict) -> Document:
    """Return what a document says of a verdict; `strict` makes it JSON."""
    return {
        "overall": verdict.overall,
        "headline": verdict.headline,
        "detail": verdict.detail,
        "checks": [_row(row) for row in verdict.rows],
    }


def _row(row: CheckVerdict) -> dict[str, Any]:
    check = CHECKS[row.check]
    return {name: getattr(row, name) for name in OF_VERDICT} | {name: getattr(check, name) for name in OF_CHECK}


def _table(title: str, rows: Any) -> dict[str, Any]:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {"title": title, "columns": columns, "rows": [[row.get(name) for name in columns] for row in rows]}


def audit_name(document: Mapping[str, Any]) -> str:
    """Return what tells an audit from others, such as "8 Nov 2026 · 41c0 9e2a"."""
    digits = str(document["fingerprint"])
    return " · ".join(filter(None, (audit_day(document), f"{digits[:4]} {digits[4:8]}")))


def audit_day(document: Mapping[str, Any]) -> str:
    """Return the day of an audit; empty where the report does not tell it."""
    return day_text(str(document["times"].get("started", "")))


def day_text(moment: str) -> str:
    """Return the day of a moment in ISO 8601 as "8 Nov 2026"; empty where it is none."""
    try:
        day = date.fromisoformat(moment[:10])
    except ValueError:
        return ""
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[day.month - 1]
    return f"{day.day} {month} {day.year}"


def check_rows(document: Mapping[str, Any]) -> tuple[CheckVerdict, ...]:
    """Return a document's checks in their order."""
    measurements = {measurement.check: measurement for measurement in measurements_of(document)}
    rows = document["verdict"]["checks"]
    return tuple(replace(read(row, CheckVerdict), measurement=measurements.get(row["check"])) for row in rows)


def caveats_of(document: Mapping[str, Any]) -> tuple[Caveat, ...]:
    """Caveats of a document's verdict."""
    return tuple(read(caveat, Caveat) for caveat in document["caveats"])


def measurements_of(document: Mapping[str, Any]) -> tuple[Measurement, ...]:
    """Return the measurements as they were judged."""
    return tuple(read(measurement, Measurement) for measurement in document["measurements"])


def policy_of(document: Mapping[str, Any]) -> Policy:
    """Return the policy as it was, so that its fingerprint can be computed again."""
    check_format(document["policy"].get("schema"), thing="The report's policy")
    policy: Policy = read(document["policy"], Policy)
    return policy
