"""A report as JSON and back: the one place where a report is anything else than a `Report`.

`report_document` puts what an audit found into a report and seals it; `from_json` reads what `to_json` wrote. What is
read is checked by `schema_error` before a type is built of it.

The form, format 1. A report has the keys of the types whose values stand in it, and no others. Numbers are shares (0.05
for 5 points). null stands where nothing was measured; the texts inf and -inf stand for infinities.
The fingerprint is the SHA-256 over the report without the key fingerprint, as JSON with sorted keys, no blanks, in
UTF-8, every character written as itself but for quotation marks, backslashes, control characters and those that steer
how text is shown (U+007F-009F, 061C, 200B-200F, 2028-202E, 2060-206F, FEFF, FFF9-FFFB), which are escaped.

`json_schema` writes this as a JSON Schema, made from the types; by it `schema_error` checks what is read.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from ..auditing.plan import optional_tables
from ..auditing.policy import Verdict
from ..base.errors import FORMAT, FormatError, InputError, check_format
from ..base.settings import params, value_excerpt
from ..studies.study import Measurement
from .report import (
    KIND,
    PeopleAtRiskSection,
    Report,
    Times,
    TitledTable,
    VerdictSection,
    number_of,
    parse_json,
    strict,
)

if TYPE_CHECKING:
    from jsonschema import ValidationError

    from ..auditing import ReleaseAudit


def report_document(audit: ReleaseAudit) -> Report:
    """Report of everything an audit found, sealed with its fingerprint."""
    people = None
    if audit.people is not None:
        people = PeopleAtRiskSection(
            findings=audit.people.findings, tables=_tables(audit.people_tables)
        )
    report = Report(
        verdict=verdict_section(audit.verdict),
        caveats=audit.verdict.caveats,
        policy=audit.verdict.policy,
        measurements=_with_details(audit.measurements),
        alternatives=tuple(
            dataclasses.replace(alternative, measurements=_with_details(alternative.measurements))
            for alternative in audit.alternatives
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


def _with_details(measurements: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """Return measurements that all have details, if need be none."""
    return tuple(dataclasses.replace(m, details=m.details or {}) for m in measurements)


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
    cells = tuple(tuple(map(row.get, columns)) for row in rows)
    return TitledTable(title=title, columns=columns, rows=cells)


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


# Schema ---------------------------------------------------------------------------------------------------------------

Schema = dict[str, Any]


def _text(pattern: str) -> Schema:
    """Return the schema of a text that a pattern describes from its begin to its end."""
    return {
        "type": "string",
        "pattern": f"^{pattern}$(?!\\n)",
    }  # Python's $ would let a last line break through


_INFINITY = {"enum": ["inf", "-inf"]}

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"anyOf": [{"type": ["number", "null"]}, _INFINITY]},
}

_INTEGER: Schema = {"type": "integer"}
_CELL: Schema = {"type": ["string", "number", "boolean", "null"]}
_TEXT_OR_NUMBER: Schema = {"type": ["string", "number", "null"]}
_LEVEL: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_ABSENT: Schema = {"not": {}}
_TIMES: Schema = {
    "type": "object",
    "properties": {
        "seconds": {"type": ["number", "null"], "minimum": 0},
        "started": _text("[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+]00:00))?"),
    },
    "additionalProperties": False,
}


def is_number(value: Any) -> bool:
    """Whether a value is a number of JSON."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_report(document: Mapping[str, Any]) -> bool:
    """Whether an object calls itself a report of FairLeak."""
    return document.get("kind") == KIND


def schema_error(document: Mapping[str, Any]) -> str:
    """Return the first place where an object breaks the schema, in one sentence; empty if it does not."""
    from jsonschema import Draft202012Validator

    if not is_report(document):
        return f"A report must have the kind {KIND!r}, got {value_excerpt(document.get('kind'))}."
    try:
        check_format(document.get("schema"), thing="A report")
    except FormatError as error:
        return str(error)
    errors = Draft202012Validator(json_schema()).iter_errors(dict(document))
    first = min(map(_innermost, errors), key=_error_path, default=None)
    if first is None:
        return ""
    return f"A report must follow its schema; {_sentence(first)}."


def rehearse() -> None:
    """Load what a check needs, which a process that opens a stranger's report can no longer do."""
    schema_error({"kind": KIND, "schema": FORMAT, "verdict": {}})


def _innermost(error: ValidationError) -> ValidationError:
    """Return the error deepest in a value that fits none of several schemas."""
    while error.context:
        error = max(error.context, key=lambda inner: len(inner.absolute_path))
    return error


def _error_path(error: ValidationError) -> list[str]:
    return [str(key) for key in error.absolute_path]


def _sentence(error: ValidationError) -> str:
    where = f"at {value_excerpt('/'.join(_error_path(error)) or 'its top')} there must be"
    if error.validator == "additionalProperties":
        more = sorted(error.instance.keys() - error.schema["properties"].keys())
        return f"{where} no key {value_excerpt(more[0])}"
    if error.validator == "required":
        missing = sorted(set(error.validator_value) - error.instance.keys())
        return f"{where} a key {value_excerpt(missing[0])}"
    return f"{where} another value than {value_excerpt(error.instance)}"


def json_schema() -> Schema:
    """Return the form of a report as a JSON Schema (draft 2020-12), from its types."""
    schemas = _Schemas()
    report = schemas.of(Report)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "FairLeak release audit",
        **report,
        "$defs": schemas.definitions,
    }


class _Schemas:
    """Schemas of types, with the definitions of the dataclasses among them."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self.restricted = self._restricted_fields()  # studies declare their checks at any time

    def of(self, kind: Any) -> Schema:
        """Return a kind of values as a schema: a type, a schema itself, [kind] for a list, or a set of texts."""
        origin = typing.get_origin(kind)
        inner = typing.get_args(kind)
        if isinstance(kind, dict):
            return kind
        if isinstance(kind, set):
            return {"enum": sorted(kind)}
        if isinstance(kind, list):
            return {"type": "array", "items": self.of(kind[0])}
        if origin in (typing.Union, types.UnionType):
            options = [option for option in inner if option is not types.NoneType]
            if len(options) > 1:
                return _TEXT_OR_NUMBER
            return {"anyOf": [self.of(options[0]), {"type": "null"}]}
        if origin is tuple:
            return {"type": "array", "items": self.of(inner[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if dataclasses.is_dataclass(kind):
            return self._reference(typing.cast(type, kind))
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return {"enum": sorted(kind)}
        return _PLAIN[kind]

    def _reference(self, cls: type) -> Schema:
        """Return where a dataclass stands among the definitions, which it is added to."""
        name = cls.__name__
        if name not in self.definitions:
            self.definitions[name] = {}  # a type may hold itself
            hints = typing.get_type_hints(cls)
            kinds = {
                field.name: self.restricted.get((name, field.name), hints[field.name])
                for field in dataclasses.fields(cls)
            }
            present = {key: kind for key, kind in kinds.items() if kind is not _ABSENT}
            optional = {
                field.name for field in dataclasses.fields(cls) if "unsaid" in field.metadata
            }
            self.definitions[name] = {
                "description": (inspect.getdoc(cls) or "").partition("\n")[0],
                "type": "object",
                "properties": {key: self.of(kind) for key, kind in present.items()},
                "required": sorted(present.keys() - optional),
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{name}"}

    def _restricted_fields(self) -> dict[tuple[str, str], Any]:
        """Return the fields of which less is possible than their type says."""
        from ..auditing.plan import ModelPlan
        from ..auditing.policy import CHECKS, UNITS, Limit

        check = set(CHECKS)
        return {
            ("Report", "kind"): {KIND},
            ("Report", "schema"): _INTEGER,
            ("Report", "fingerprint"): _text("[0-9a-f]{64}"),
            ("Report", "times"): _TIMES,
            ("Report", "people_at_risk"): PeopleAtRiskSection,
            ("VerdictSection", "overall"): {"pass", "fail", "inconclusive", "not_run"},
            ("TitledTable", "rows"): [[_CELL]],
            ("Estimate", "level"): _LEVEL,
            ("CheckVerdict", "unit"): set(UNITS),
            ("CheckVerdict", "check"): check,
            ("CheckVerdict", "measurement"): _ABSENT,
            ("Alternative", "tries"): {"type": "integer", "minimum": 1},
            ("Limit", "check"): check,
            ("Measurement", "check"): check,
            ("Measurement", "details"): dict[str, float],
            ("AuditPlan", "schema"): _INTEGER,
            ("AuditPlan", "studies"): [self._study()],
            ("Policy", "schema"): _INTEGER,
            ("Limit", "if_not_run"): set(params(Limit)["if_not_run"].param.options or ()),
            ("ModelPlan", "kind"): set(params(ModelPlan)["kind"].param.options or ()),
            ("DataSummary", "sets"): dict[str, int | None],
        }

    def _study(self) -> Schema:
        """Return the schema of a study's name with its settings; of one that is not installed, with any cells."""
        from ..auditing.plan import optional_tables

        self.restricted = {}  # settings of studies have the types they say
        tables = optional_tables()
        installed = [
            {"prefixItems": [{"const": name}, self.of(settings)]}
            for name, settings in tables.items()
        ]
        setting = {"anyOf": [_CELL, {"type": "array", "items": _CELL}]}
        unknown = {
            "prefixItems": [
                {"type": "string", "not": {"enum": sorted(tables)}},
                {"type": "object", "additionalProperties": setting},
            ]
        }
        return {"type": "array", "minItems": 2, "maxItems": 2, "anyOf": [*installed, unknown]}
