"""What a report says, as one strict JSON document: what HTML and CSV are made of.

`internal_document` puts a `ReleaseAudit` into the form of the schema. Each check's title, unit and definition stand
in it, so that the document can be read without this version of FairLeak; a measurement stands once, verdicts name it by
check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from core.estimates import Estimate, interval
from core.policy import (
    CHECKS,
    CheckVerdict,
    Limit,
    Policy,
    Verdict,
    control_text,
    estimate_text,
    limit_text,
    source_text,
    value_text,
)
from core.policy.checks import check_title
from core.report.canonical import estimate_of, number_of, report_fingerprint, strict
from core.study import Measurement, Outcome

if TYPE_CHECKING:
    from core.release_audit import ReleaseAudit

KIND = "fairleak release audit"

OF_VERDICT = tuple(field.name for field in fields(CheckVerdict) if field.name != "measurement")
OF_CHECK = ("unit", "at_least", "definition")
"""What a check's row has of its verdict, and of the check itself."""

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

_ATTACKED = ("schema", "data", "groups", "model", "findings", "times")
_JUDGED = ("plan", "self_tests", "provenance")
"""Parts of an audit that stand in a document as they are; the second change with policy, title and self-test."""

Document = dict[str, Any]


def sealed(content: Document) -> Document:
    """Return the document with its fingerprint."""
    return {**content, "fingerprint": report_fingerprint(content)}


def internal_document(audit: ReleaseAudit) -> Document:
    """Return everything an audit found, neither metered nor with a fingerprint."""
    attacked = {
        **{name: getattr(audit, name) for name in _ATTACKED},
        "kind": KIND,
        "edition": "internal",
        "measurements": [{**m.to_dict(), "details": m.details or {}} for m in _measurements(audit)],
        "tables": [_table(title, rows) for title, rows in audit.tables.items()],
        "withheld": None,
        "edition_attack": None,
        "release_meter": None,
    }
    return {**strict(attacked), **judged_parts(audit)}


def judged_parts(audit: ReleaseAudit) -> Document:
    """Return what changes in a document when the same attacks are judged by another policy."""
    judged = {
        **{name: getattr(audit, name) for name in _JUDGED},
        "verdict": verdict_section(audit.verdict, audit.data.attribute),
        "policy": audit.verdict.policy,
    }
    return dict(strict(judged))


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


def _row(row: CheckVerdict, attribute: str) -> dict[str, Any]:
    check = CHECKS[row.check]
    return {
        **{name: getattr(row, name) for name in OF_VERDICT},
        "title": row.title or check_title(row.check, attribute or "the attribute"),
        **{name: getattr(check, name) for name in OF_CHECK},
    }


def rows_of(table: Mapping[str, Any]) -> Iterator[Document]:
    """Yield the rows of a table as column -> cell."""
    for cells in table["rows"]:
        yield dict(zip(table["columns"], cells, strict=True))


def _table(title: str, rows: Any) -> dict[str, Any]:
    columns = dict.fromkeys(str(name) for row in rows for name in row)
    cells = [{str(name): value for name, value in row.items()} for row in rows]
    return {"title": title, "columns": list(columns), "rows": [[row.get(name) for name in columns] for row in cells]}


_LONGEST_BRIEF = 64
"""Characters of a source that stand beside a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """One check of a report, with everything a reader is shown of it in words.

    `value` and `interval` are such as "+7.0 points" and "95%: 6.5 to 7.4", "no value" and "" where there is none; other
    texts are empty then.
    """

    verdict: CheckVerdict
    definition: str
    value: str
    interval: str
    control: str
    limit: str
    source: str
    decided: str

    @property
    def found(self) -> Measurement:
        """The measurement; one that was not run where the audit has none."""
        return self.verdict.measurement or Measurement(
            check=self.verdict.check, outcome=Outcome.NOT_RUN, reason="This audit did not try it."
        )

    @property
    def brief(self) -> str:
        """The beginning of the source, cut between words."""
        if len(self.source) <= _LONGEST_BRIEF:
            return self.source
        return f"{self.source[:_LONGEST_BRIEF].rsplit(' ', 1)[0]}…"

    @property
    def p_value(self) -> str:
        """The p-value after Holm's correction in words; empty where there is none."""
        adjusted = self.verdict.p_adjusted
        small = "below 0.001" if adjusted < 0.001 else f"{adjusted:.3f}"
        return "" if adjusted != adjusted else f"p {small} after Holm's correction"

    @property
    def details(self) -> str:
        """The further numbers: "LiRA, AUC: 0.589; LiRA, advantage: 0.042"; counts whole, the rest to three decimals."""
        told = sorted((self.found.details or {}).items())
        return "; ".join(f"{name}: {_number(value)}" for name, value in told)


def _number(value: float) -> str:
    whole = value == round(value) and abs(value) > 1
    return (f"{value:,.0f}" if whole else f"{value:.3f}").replace("-", "−")


def check_rows(document: Mapping[str, Any]) -> tuple[CheckRow, ...]:
    """Return a document's checks in their order."""
    measurements = {m["check"]: measurement_of(m) for m in document["measurements"]}
    return tuple(_check_row(row, measurements.get(row["check"])) for row in document["verdict"]["checks"])


def _check_row(row: Mapping[str, Any], measurement: Measurement | None) -> CheckRow:
    limit = None if row["limit"] is None else _limit(row["limit"])
    told = {name: row[name] for name in OF_VERDICT}
    numbers = {name: number_of(row[name]) for name in ("p_value", "p_adjusted")}
    more = {"limit": limit, "measurement": measurement, "decided": estimate_of(row["decided"])}
    verdict = CheckVerdict(**{**told, **numbers, **more})
    beside = None if limit is None else limit.value
    value, interval = _words(row["check"], measurement.estimate if measurement else None, measurement, beside)
    control = measurement.control if measurement else None
    return CheckRow(
        verdict=verdict,
        definition=row["definition"],
        value=value,
        interval=interval,
        control=_control(row["check"], control),
        limit="" if limit is None else limit_text(row["check"], limit.value),
        source="" if limit is None else source_text(limit),
        decided=", ".join(part for part in _words(row["check"], verdict.decided, measurement, beside)[1:] if part),
    )


def _words(
    check: str, estimate: Estimate | None, measurement: Measurement | None, limit: float | None
) -> tuple[str, str]:
    """Write an estimate; a number that is computed, not estimated, has no interval to miss."""
    if estimate is None or estimate.value != estimate.value:
        return "no value", ""
    if estimate.low == estimate.high:
        computed = measurement is not None and measurement.basis == "declared"
        return value_text(check, estimate.value, limit=limit), "computed" if computed else ""
    return estimate_text(check, estimate, limit=limit)


def _control(check: str, control: Estimate | None) -> str:
    """Write a control, a rate with its interval."""
    if control is None or control.value != control.value:
        return ""
    told = control_text(check, control)
    wide = control.low < control.high and told.endswith("%")
    return f"{told}, {100 * control.level:.4g}%: {interval(control)}" if wide else told


def measurement_of(found: Mapping[str, Any]) -> Measurement:
    """Return a measurement as it was judged."""
    return Measurement(
        **{
            **found,
            "estimate": estimate_of(found["estimate"]),
            "control": estimate_of(found["control"]),
            "assumptions": tuple(found["assumptions"]),
            "details": {name: number_of(value) for name, value in found["details"].items()},
        }
    )


def _limit(found: Mapping[str, Any]) -> Limit:
    return Limit(**{**found, "value": number_of(found["value"])})


def policy_of(document: Mapping[str, Any]) -> Policy:
    """Return the policy as it was, so that its fingerprint can be computed again."""
    policy = document["policy"]
    limits = tuple(_limit(limit) for limit in policy["limits"])
    return Policy(**{**policy, "level": number_of(policy["level"]), "limits": limits})
