"""What a report says, as one strict JSON document: what HTML and CSV are made of.

`internal_document` puts a `ReleaseAudit` into the form of the schema. Each check's title, unit and definition stand
in it, so that the document can be read without this version of FairLeak; a measurement stands once, verdicts name it by
check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from core.estimates import Estimate, interval
from core.policy import (
    CHECKS,
    CheckVerdict,
    Policy,
    Verdict,
    control_text,
    estimate_text,
    is_placeholder,
    limit_text,
    source_text,
    value_text,
    what_would_settle,
)
from core.policy.checks import check_title
from core.report.canonical import read, report_fingerprint, strict
from core.study import Measurement, Outcome

if TYPE_CHECKING:
    from core.release_audit import ReleaseAudit

KIND = "fairleak release audit"

OF_VERDICT = tuple(field.name for field in fields(CheckVerdict) if field.name != "measurement")
OF_CHECK = ("unit", "at_least", "definition")
"""What a check's row has of its verdict, and of the check itself."""

EDITIONS = ("internal", "disclosure")
"""Everything the audit found; and what can be given to others, small counts withheld."""

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
"""Part of an internal document that is about single people, and that no external one has."""

_ATTACKED = ("schema", "data", "groups", "model", "findings", "times")
_JUDGED = ("plan", "self_tests", "provenance")
"""Parts of an audit that stand in a document as they are; the second change with policy, title and self-test."""

Document = dict[str, Any]


def sealed(content: Document) -> Document:
    """Return the document with its fingerprint."""
    return {**content, "fingerprint": report_fingerprint(content)}


def internal_document(audit: ReleaseAudit) -> Document:
    """Return everything an audit found, without leakage estimate and fingerprint."""
    attacked = {
        **{name: getattr(audit, name) for name in _ATTACKED},
        "kind": KIND,
        "edition": "internal",
        "measurements": [{**m.to_dict(), "details": m.details or {}} for m in audit.measurements],
        "tables": [_table(title, rows) for title, rows in audit.tables.items()],
        "withheld": None,
        "edition_attack": None,
        "release_meter": None,
    }
    if audit.people is not None:
        tables = [_table(title, rows) for title, rows in audit.people.tables.items()]
        attacked[PEOPLE_AT_RISK] = {"findings": audit.people.findings, "tables": tables}
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
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {"title": title, "columns": columns, "rows": [[row.get(name) for name in columns] for row in rows]}


BASIS_WORDS = {
    "measured": ("Measured", "an attack was run, or the model's answers were counted"),
    "combined": ("Combined", "follows from measurements and from declared settings"),
    "declared": ("Declared", "calculated from declared settings; nothing was attacked"),
}
"""Basis -> its word, and what it means."""

_LONGEST_BRIEF = 64
"""Characters of a source that stand beside a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """One check of a report, with everything a reader is shown of it in words, empty where there is nothing."""

    verdict: CheckVerdict
    definition: str

    @property
    def found(self) -> Measurement:
        """The measurement; one that was not run where the audit has none."""
        return self.verdict.measurement or Measurement(
            check=self.verdict.check, outcome=Outcome.NOT_RUN, reason="This audit did not try it."
        )

    @property
    def measured(self) -> bool:
        """Whether there is a number."""
        return self.found.outcome == Outcome.DONE and self.value != "no value"

    @property
    def basis(self) -> str:
        """How the number came about, in a word."""
        return BASIS_WORDS[self.found.basis][0].lower() if self.found.outcome == Outcome.DONE else "not measured"

    @property
    def value(self) -> str:
        """The number, such as "+7.0 points"; "no value" where there is none."""
        return self._words(self.found.estimate)[0]

    @property
    def interval(self) -> str:
        """Its interval, such as "95%: 6.5 to 7.4"."""
        return self._words(self.found.estimate)[1]

    @property
    def number(self) -> str:
        """Value and interval."""
        return ", ".join(filter(None, self._words(self.found.estimate)))

    @property
    def limit(self) -> str:
        """The limit, such as "at most 5.0 points"."""
        limit = self.verdict.limit
        return "" if limit is None else limit_text(self.verdict.check, limit.value)

    @property
    def source(self) -> str:
        """The limit's source."""
        return "" if self.verdict.limit is None else source_text(self.verdict.limit)

    @property
    def placeholder(self) -> bool:
        """Whether the limit is a starting value of FairLeak's, without a source."""
        return self.verdict.limit is not None and is_placeholder(self.verdict.limit)

    @property
    def settling(self) -> str:
        """What would settle it."""
        return what_would_settle(self.verdict)

    @property
    def brief(self) -> str:
        """The beginning of the source, cut between words."""
        if self.placeholder:
            return "placeholder"
        if len(self.source) <= _LONGEST_BRIEF:
            return self.source
        return f"{self.source[:_LONGEST_BRIEF].rsplit(' ', 1)[0]}…"

    @property
    def lines(self) -> Iterator[tuple[str, str | tuple[str, ...] | dict[str, str]]]:
        """All that a reader is shown of it: a term, and a text, several sentences or numbers by name."""
        found, limit = self.found, self.verdict.limit
        yield "Why this verdict", " ".join(filter(None, (self.verdict.why, self._p_value)))
        yield "Quantity", self.definition
        broken = "The attack stopped with an error." if found.outcome == Outcome.FAILED else "No number."
        yield "Result", self.number if self.measured else f"{broken} {found.reason}".strip()
        yield "Check", found.attacked
        yield "The attacker knows", found.knows
        yield "Control", self.control
        yield "Assumptions", found.assumptions
        if found.estimate is not None:
            yield "Evidence", "{}: {}.".format(*BASIS_WORDS[found.basis])
        yield "Further numbers", {name: _number(value) for name, value in sorted((found.details or {}).items())}
        if limit is not None:
            where = "where it can be run" if limit.if_not_run == "allowed" else "for release"
            needed = f"required {where}" if limit.required else "shown, not required"
            who = ", ".join(filter(None, (limit.author, limit.date))) or "no author"
            yield "Limit", f"{self.limit}, item {self.verdict.item} of the policy, {needed}; set by {who}."
            yield "Why this limit", limit.rationale.strip() or "No reason given."
            yield "Source", self.source

    @property
    def _p_value(self) -> str:
        adjusted = self.verdict.p_adjusted
        small = "p < 0.001" if adjusted < 0.001 else f"p = {adjusted:.3f}"
        return "" if adjusted != adjusted else f"{small} (Holm-adjusted)."

    def _words(self, estimate: Estimate | None) -> tuple[str, str]:
        """Write an estimate; a number that is computed, not estimated, has no interval to miss."""
        check, limit = self.verdict.check, self.verdict.limit
        if estimate is None or estimate.value != estimate.value:
            return "no value", ""
        beside = None if limit is None else limit.value
        if estimate.low == estimate.high:
            computed = self.found.basis == "declared"
            return value_text(check, estimate.value, limit=beside), "calculated" if computed else ""
        return estimate_text(check, estimate, limit=beside)

    @property
    def control(self) -> str:
        """What is reached without the leak, a rate with its interval."""
        control = self.found.control
        if control is None or control.value != control.value:
            return ""
        told = control_text(self.verdict.check, control)
        wide = control.low < control.high and told.endswith("%")
        told = f"{told}, {100 * control.level:.4g}%: {interval(control)}" if wide else told
        return f"{self.found.control_name or 'control'}: {told}"


def _number(value: float) -> str:
    """Write a further number: a count whole, the rest to three decimals."""
    if abs(value) < 0.0005:
        return "0.0"
    whole = value == round(value) and abs(value) > 1
    return (f"{value:,.0f}" if whole else f"{value:.3f}").replace("-", "−")


def check_rows(document: Mapping[str, Any]) -> tuple[CheckRow, ...]:
    """Return a document's checks in their order."""
    measurements = {found.check: found for found in measurements_of(document)}
    rows = []
    for row in document["verdict"]["checks"]:
        verdict: CheckVerdict = read(row, CheckVerdict)
        verdict = replace(verdict, measurement=measurements.get(verdict.check))
        rows.append(CheckRow(verdict=verdict, definition=row["definition"]))
    return tuple(rows)


def measurements_of(document: Mapping[str, Any]) -> tuple[Measurement, ...]:
    """Return the measurements as they were judged."""
    return tuple(read(found, Measurement) for found in document["measurements"])


def policy_of(document: Mapping[str, Any]) -> Policy:
    """Return the policy as it was, so that its fingerprint can be computed again."""
    made: Policy = read(document["policy"], Policy)
    return made
