"""What a report says, as types: every part of the document that HTML, CSV and comparisons are made of.

Each check's title, unit and definition stand in it, so that a report can be read without this version of FairLeak; a
measurement stands once, verdicts name it by check. `core.report.codec` writes a report as JSON and reads it back.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from ..auditing.plan import AuditPlan
from ..auditing.policy import CheckVerdict, Policy, Status
from ..auditing.result import (
    DataSummary,
    GroupSummary,
    ModelSummary,
    Provenance,
    SelfTest,
    StudyFindings,
)
from ..base.caveats import Caveat
from ..base.errors import FORMAT
from ..base.fingerprint import short_fingerprint
from ..base.serialize import UNSAID, Result
from ..studies.study import Finding, Measurement
from .canonical import report_fingerprint, strict

KIND = "fairleak release audit"

Cell = str | float | int | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictSection(Result):
    """The verdict on a release: in a word, a headline and a sentence, and for every check, without its measurement."""

    overall: Status
    headline: str
    detail: str
    checks: tuple[CheckVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TitledTable(Result):
    """A table of an audit's own; every row has a cell for each column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAtRiskSection(Result):
    """What is about single people; it is there only where the plan asks for it."""

    findings: tuple[Finding, ...]
    tables: tuple[TitledTable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times(Result):
    """When an audit was begun (UTC, ISO 8601; or the day), and how many seconds it took."""

    seconds: float | None = field(default=None, metadata=UNSAID)
    started: str = field(default="", metadata=UNSAID)


@dataclass(frozen=True, kw_only=True)
class Report(Result):
    """Internal report of a release audit.

    `fingerprint` is the SHA-256 of everything else in it; see `core.report.canonical.report_fingerprint`.
    """

    schema: int = FORMAT
    data: DataSummary
    groups: tuple[GroupSummary, ...]
    model: ModelSummary
    times: Times
    plan: AuditPlan
    findings: tuple[StudyFindings, ...]
    self_tests: tuple[SelfTest, ...]
    provenance: Provenance
    kind: str = KIND
    measurements: tuple[Measurement, ...]
    tables: tuple[TitledTable, ...]
    verdict: VerdictSection
    caveats: tuple[Caveat, ...]
    policy: Policy
    fingerprint: str = ""
    people_at_risk: PeopleAtRiskSection | None = field(default=None, metadata=UNSAID)

    @property
    def content_fingerprint(self) -> str:
        """The fingerprint that its content has; `fingerprint` is the one that it states."""
        return report_fingerprint(strict(self))

    @cached_property
    def rows(self) -> tuple[CheckVerdict, ...]:
        """The checks in their order, each with its measurement."""
        measurements = {measurement.check: measurement for measurement in self.measurements}
        return tuple(
            replace(row, measurement=measurements.get(row.check)) for row in self.verdict.checks
        )

    @property
    def title(self) -> str:
        """What the plan calls the audit; else what the table is called."""
        return self.plan.title or self.data.title

    @property
    def started_on(self) -> str:
        """The day of the audit as YYYY-MM-DD; empty where the report does not tell it."""
        return self.times.started[:10]

    @property
    def day(self) -> str:
        """The day of the audit, such as "8 Nov 2026"; empty where the report does not tell it."""
        return day_text(self.times.started)

    @property
    def name(self) -> str:
        """What tells the audit from others, such as "8 Nov 2026 · 41c0 9e2a"."""
        return " · ".join(filter(None, (self.day, short_fingerprint(self.fingerprint))))


def day_text(moment: str) -> str:
    """Return the day of a moment in ISO 8601 as "8 Nov 2026"; empty where it is none."""
    try:
        day = date.fromisoformat(moment[:10])
    except ValueError:
        return ""
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[
        day.month - 1
    ]
    return f"{day.day} {month} {day.year}"
