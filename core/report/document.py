"""What a report says, as one strict JSON document: the only thing HTML, CSV and JSON are made from.

`internal_document` puts a `ReleaseAudit` into the form of the schema. Each check's title, unit and definition stand
in it, so that the document can be read without this version of FairLeak; a measurement stands once, verdicts name it by
check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.policy import CHECKS, Verdict
from core.report.canonical import report_fingerprint, strict

if TYPE_CHECKING:
    from core.decision import ReleaseAudit

KIND = "fairleak release audit"

EDITIONS = ("internal", "disclosure")
"""Everything the audit found; and what can be given to others, small counts withheld."""

THRESHOLD = 10
"""Counts below this are withheld from the disclosure edition."""

GROUP_RATES = ("label_rate", "test_rate", "test_tpr", "test_fpr")
"""Rates in a group's summary."""

METRIC_RATES = {
    "statistical_parity": ("test_rate",),
    "predictive_equality": ("test_fpr",),
    "equal_opportunity": ("test_tpr",),
    "equalized_odds": ("test_fpr", "test_tpr"),
}
"""Metric -> the rates of the groups it compares."""

Document = dict[str, Any]


def sealed(content: Document) -> Document:
    """Return the document with its fingerprint."""
    return {**content, "fingerprint": report_fingerprint(content)}


def internal_document(audit: ReleaseAudit) -> Document:
    """Return everything an audit found, without a fingerprint."""
    verdict = audit.verdict
    return dict(
        strict(
            {
                "kind": KIND,
                "schema": audit.schema,
                "edition": "internal",
                "verdict": verdict_section(verdict, audit.data.attribute),
                "policy": verdict.policy,
                "measurements": [{**m.to_dict(), "details": m.details or {}} for m in _measurements(audit)],
                "plan": audit.plan,
                "data": audit.data,
                "groups": audit.groups,
                "model": audit.model,
                "tables": [_table(title, rows) for title, rows in audit.tables.items()],
                "self_tests": audit.self_tests,
                "provenance": audit.provenance,
                "withheld": None,
                "edition_attack": None,
                "release_meter": audit.release_meter,
                "times": audit.times,
            }
        )
    )


def verdict_section(verdict: Verdict, attribute: str) -> Document:
    """Return what a document says of a verdict; `strict` makes it JSON."""
    return {
        "overall": verdict.overall,
        "headline": verdict.headline,
        "detail": verdict.detail,
        "checks": [_row(row, attribute) for row in verdict.rows],
    }


def _measurements(audit: ReleaseAudit) -> list[Any]:
    """Return every measurement once, also one that only a verdict holds."""
    found = {m.check: m for m in audit.measurements}
    for row in audit.verdict.rows:
        if row.measurement is not None:
            found.setdefault(row.check, row.measurement)
    return list(found.values())


def _row(row: Any, attribute: str) -> dict[str, Any]:
    check = CHECKS[row.check]
    return {
        "check": row.check,
        "title": row.title or title_of(row.check, attribute),
        "unit": check.unit,
        "at_least": check.at_least,
        "definition": check.definition,
        "verdict": row.verdict,
        "item": row.item,
        "limit": row.limit,
        "decided": row.decided,
        "p_value": row.p_value,
        "p_adjusted": row.p_adjusted,
        "why": row.why,
        "blocks": row.blocks,
    }


def title_of(check: str, attribute: str) -> str:
    """Return a check's title for this attribute, its first letter large."""
    title = CHECKS[check].title.replace("{attribute}", attribute or "the attribute")
    return title[:1].upper() + title[1:]


def _table(title: str, rows: Any) -> dict[str, Any]:
    columns: dict[str, None] = {}
    for row in rows:
        columns.update(dict.fromkeys(map(str, row)))
    cells = [{str(name): value for name, value in row.items()} for row in rows]
    return {"title": title, "columns": list(columns), "rows": [[row.get(name) for name in columns] for row in cells]}
