"""What a report says, as types: every part of the document that HTML, CSV and comparisons are made of.

Each check's title, unit and definition stand in it, so that a report can be read without this version of FairLeak; a
measurement stands once, verdicts name it by check. `core.report.codec` makes a report of an audit and reads it back.

It is written as strict JSON: one text for one content. Python writes nan and infinity into JSON, which no standard
knows. Here

- nan, "nothing was measured", becomes null;
- infinity becomes the text "inf" or "-inf" (a privacy budget without noise is infinite, and that is a number to state);
- a whole float is written as a whole number and −0 as 0, so that equal numbers look equal (as in RFC 8785);
- half of a surrogate pair, which is no character, becomes U+FFFD;
- characters that steer how text is shown (RFC 9839's problematic ones, bidirectional marks) are escaped.

Keys are sorted. Lists, and so the rows and columns of tables, keep their order, which is content.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Any

from ..auditing.plan import AuditPlan
from ..auditing.policy import (
    Alternative,
    CheckVerdict,
    JudgedAlternatives,
    Policy,
    Status,
    judged_alternatives,
)
from ..auditing.result import (
    DataSummary,
    GroupSummary,
    ModelSummary,
    Provenance,
    SelfTest,
    StudyFindings,
    failed_tests,
)
from ..base.caveats import Caveat
from ..base.errors import FORMAT, InputError
from ..base.serialize import UNSAID, Result, plain, short_fingerprint
from ..studies.study import Finding, Measurement

# Strict JSON ----------------------------------------------------------------------------------------------------------

OUTSIDE = ("fingerprint",)
"""What the fingerprint leaves out: itself."""

_LARGEST_EXACT = 2**53

_HALF = re.compile("[\ud800-\udfff]")

_STEERING = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def strict(value: Any) -> Any:
    """Turn results, arrays, lists and dicts into what strict JSON can say; see the module's docstring."""
    return _strict(plain(value))


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {_HALF.sub("\ufffd", key): _strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return _number(value)
    return _HALF.sub("\ufffd", str(value))


def _number(value: float) -> float | int | str | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        if value > 0:
            return "inf"
        return "-inf"
    if value.is_integer() and abs(value) < _LARGEST_EXACT:
        return int(value)
    return value


def to_json(document: Any) -> str:
    """Return a report or a summary as JSON with sorted keys, a line an entry; equal ones differ in two keys alone."""
    if isinstance(document, dict):
        content = document
    else:
        content = strict(document)
    return f"{_dumped(content, indent=1)}\n"


def report_fingerprint(document: dict[str, Any]) -> str:
    """Return the SHA-256 (64 hex digits) over a document without `OUTSIDE`, in compact JSON with sorted keys.

    It shows a report that was altered by accident or by somebody who left the fingerprint as it was. Somebody who
    can write a report can also write its fingerprint: only one kept elsewhere, such as on a signed page, shows that.
    """
    inside = {key: value for key, value in document.items() if key not in OUTSIDE}
    return hashlib.sha256(_dumped(inside, indent=None).encode("utf-8")).hexdigest()


def _dumped(document: dict[str, Any], *, indent: int | None) -> str:
    compact = None if indent else (",", ":")
    text = json.dumps(
        document,
        sort_keys=True,
        ensure_ascii=False,
        allow_nan=False,
        indent=indent,
        separators=compact,
    )
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def parse_json(text: str) -> dict[str, Any]:
    """Read strict JSON of one object; InputError if it holds nan, infinity or a key twice, or is nested too deeply."""
    try:
        document = json.loads(
            text,
            object_pairs_hook=_once,
            parse_constant=_finite,
            parse_float=_finite,
            parse_int=_integer,
        )
    except RecursionError:
        raise InputError("A report must not be nested as deeply as this one.") from None
    except InputError:
        raise
    except ValueError:
        raise InputError("A report must be JSON, got something else.") from None
    if not isinstance(document, dict):
        raise InputError(f"A report must be a JSON object, got {type(document).__name__}.")
    return document


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"A report must hold finite numbers, got {text[:20]}.")
    return number


def _integer(text: str) -> int:
    _finite(text)
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(f"A report must hold each key once, got {key[:80]!r} twice.")
    return content


def number_of(value: float | str | None) -> float:
    """Return a number as JSON has it: null is nan, "inf" is infinity."""
    if value is None:
        return math.nan
    return float(value)


# Report ---------------------------------------------------------------------------------------------------------------

KIND = "fairleak release audit"

Cell = str | float | int | bool | None

DECISIONS: Mapping[str, str] = {
    "release": "Release",
    "accept_risk": "Accept the risk",
    "do_not_release": "Do not release",
}
"""Decision on a report -> its words: on the brief, in the annex, where it is signed, and in the register."""


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

    `fingerprint` is the SHA-256 of everything else in it; see `report_fingerprint`.
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
    alternatives: tuple[Alternative, ...] = field(default=(), metadata=UNSAID)
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

    @cached_property
    def candidates(self) -> JudgedAlternatives:
        """Narrower releases that were tried, each with its verdict; none where the release passes."""
        if self.verdict.overall == Status.PASS:
            return ()
        return judged_alternatives(
            self.policy,
            self.measurements,
            self.alternatives,
            attribute=self.data.attribute,
            failed_tests=failed_tests(self.self_tests),
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
