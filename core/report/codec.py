"""A report as JSON and back: the one place where a report is anything else than a `Report`.

`report_document` puts what an audit found into a report and seals it; `from_json` reads what `to_json` wrote. What is
read is checked by `core.report.schema` before a type is built of it.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from ..auditing.plan import optional_tables
from ..auditing.policy import Verdict
from ..base.errors import InputError, check_format
from .canonical import number_of, parse_json, strict
from .report import PeopleAtRiskSection, Report, Times, TitledTable, VerdictSection
from .schema import schema_error

if TYPE_CHECKING:
    from ..auditing import ReleaseAudit


def report_document(audit: ReleaseAudit) -> Report:
    """Report of everything an audit found, sealed with its fingerprint."""
    people = None
    if audit.people is not None:
        people = PeopleAtRiskSection(
            findings=audit.people.findings, tables=_tables(audit.people.tables)
        )
    report = Report(
        verdict=verdict_section(audit.verdict),
        caveats=audit.verdict.caveats,
        policy=audit.verdict.policy,
        measurements=tuple(
            dataclasses.replace(m, details=m.details or {}) for m in audit.measurements
        ),
        plan=audit.plan,
        data=audit.data,
        groups=audit.groups,
        model=audit.model,
        tables=_tables(audit.tables),
        self_tests=audit.self_tests,
        provenance=audit.provenance,
        findings=audit.findings,
        times=read(audit.times, Times),
        people_at_risk=people,
    )
    return report_of(strict(dataclasses.replace(report, fingerprint=report.content_fingerprint)))


def verdict_section(verdict: Verdict) -> VerdictSection:
    """Return what a report says of a verdict."""
    return VerdictSection(
        overall=verdict.overall,
        headline=verdict.headline,
        detail=verdict.detail,
        checks=tuple(dataclasses.replace(row, measurement=None) for row in verdict.rows),
    )


def _tables(tables: Mapping[str, Any]) -> tuple[TitledTable, ...]:
    return tuple(_table(title, rows) for title, rows in tables.items())


def _table(title: str, rows: Any) -> TitledTable:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return TitledTable(
        title=title,
        columns=columns,
        rows=tuple(tuple(row.get(name) for name in columns) for row in rows),
    )


def from_json(text: str) -> Report:
    """Read a report's JSON and check its form; whether its fingerprint holds is for `verify_report`.

    InputError if it is no strict JSON, no report, of another format, or does not keep to it; the message says where.
    """
    return checked(parse_json(text))


def checked(document: Mapping[str, Any]) -> Report:
    """Return a parsed report; InputError with the first place where it breaks the schema or a rule of its plan."""
    error = schema_error(document)
    if error:
        raise InputError(error)
    return report_of(document)


def report_of(document: Mapping[str, Any]) -> Report:
    """Return a parsed report whose form was checked.

    InputError if its plan or its policy is of another format, or the plan has settings that there cannot be.
    """
    for part in ("plan", "policy"):
        check_format(document[part].get("schema"), thing=f"The report's {part}")
    try:
        report: Report = read(document, Report)
        return dataclasses.replace(
            report, plan=dataclasses.replace(report.plan, studies=_studies(report))
        )
    except InputError as error:
        raise InputError(f"The report's plan: {error}") from None


def _studies(report: Report) -> tuple[tuple[str, Any], ...]:
    """Return the settings of the plan's studies; of a study that is not installed as they are written."""
    tables = optional_tables()
    return tuple(
        (name, read(values, tables.get(name, dict))) for name, values in report.plan.studies
    )


def read(value: Any, kind: Any) -> Any:
    """Return a part of a document as what it was made from: null is nan or None, a missing field has its default."""
    origin = typing.get_origin(kind)
    inner = typing.get_args(kind)
    if kind is float:
        return number_of(value)
    if value is None:
        return None
    if origin in (typing.Union, types.UnionType):
        return read(value, inner[0])
    if origin is tuple:
        return tuple(read(item, inner[0]) for item in value)
    if origin is dict:
        return {key: read(item, inner[1]) for key, item in value.items()}
    if dataclasses.is_dataclass(kind):
        hints = _hints(typing.cast(type, kind))
        values = {name: read(value[name], hint) for name, hint in hints.items() if name in value}
        return typing.cast(type, kind)(**values)
    if issubclass(kind, StrEnum):
        return kind(value)
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)
