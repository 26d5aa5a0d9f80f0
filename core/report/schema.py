"""The form of a report's JSON, format 1.

A report has the keys of the types whose values stand in it, and no others. Numbers are shares (0.05 for 5 points). null
stands where nothing was measured; the texts inf and -inf stand for infinities.
The fingerprint is the SHA-256 over the report without the key fingerprint, as JSON with sorted keys, no blanks, in
UTF-8, every character written as itself but for quotation marks, backslashes, control characters and those that steer
how text is shown (U+007F-009F, 061C, 200B-200F, 2028-202E, 2060-206F, FEFF, FFF9-FFFB), which are escaped.

A kind of values is a type; {key: kind} is an object, [kind] a list, a set of texts one of them, a pattern a text that
it fits, (kind, None) the same or null, and a `Rule` whatever it holds for. `json_schema` writes them as a JSON Schema.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from ..base.errors import FormatError, check_format
from ..base.settings import params, value_excerpt
from .report import KIND, PeopleAtRiskSection, Report

Kind = Any


class Rule(NamedTuple):
    """What a value must be: a function that says so, and the same as a JSON Schema."""

    fits: Callable[[Any], bool]
    schema: dict[str, Any]


_FINGERPRINT = re.compile("[0-9a-f]{64}")
_MOMENT = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+]00:00))?")


def is_number(value: Any) -> bool:
    """Whether a value is a number of JSON."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return is_number(value) and float(value).is_integer()


def _is_cell(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _is_text_or_number(value: Any) -> bool:
    return value is None or isinstance(value, str) or is_number(value)


_INFINITY = {"enum": ["inf", "-inf"]}

_PLAIN: dict[Any, Rule] = {
    str: Rule(lambda value: isinstance(value, str), {"type": "string"}),
    bool: Rule(lambda value: isinstance(value, bool), {"type": "boolean"}),
    int: Rule(lambda value: _is_integer(value) and value >= 0, {"type": "integer", "minimum": 0}),
    float: Rule(
        lambda value: value is None or is_number(value) or value in ("inf", "-inf"),
        {"anyOf": [{"type": ["number", "null"]}, _INFINITY]},
    ),
}

_INTEGER = Rule(_is_integer, {"type": "integer"})
_CELL = Rule(_is_cell, {"type": ["string", "number", "boolean", "null"]})
_TEXT_OR_NUMBER = Rule(_is_text_or_number, {"type": ["string", "number", "null"]})
_LEVEL = Rule(lambda value: is_number(value) and 0 < value < 1, {"exclusiveMinimum": 0, "exclusiveMaximum": 1})
_ABSENT = Rule(lambda _: False, {"not": {}})


def _is_times(value: Any) -> bool:
    """Whether a value says at most when the audit was begun (UTC; or the day), and how many seconds it took."""
    if not isinstance(value, dict) or not value.keys() <= {"started", "seconds"}:
        return False
    started, seconds = value.get("started", "2000-01-01"), value.get("seconds")
    timed = isinstance(started, str) and _MOMENT.fullmatch(started)
    return bool(timed) and (seconds is None or (is_number(seconds) and seconds >= 0))


_TIMES = Rule(
    _is_times,
    {
        "type": "object",
        "properties": {
            "seconds": {"type": ["number", "null"], "minimum": 0},
            "started": {"type": "string", "pattern": f"^{_MOMENT.pattern}$"},
        },
        "additionalProperties": False,
    },
)


@cache
def _fields(cls: type) -> dict[str, Kind]:
    """Return the fields of a dataclass: name -> kind."""
    hints, overrides = typing.get_type_hints(cls), _restricted_fields()
    return {
        field.name: overrides.get((cls.__name__, field.name), hints[field.name]) for field in dataclasses.fields(cls)
    }


def _restricted_fields() -> dict[tuple[str, str], Kind]:
    """Return the fields of which less is possible than their type says."""
    from ..auditing.plan import ModelPlan, own_tables
    from ..auditing.policy import CHECKS, UNITS, Limit

    def is_setting(value: Any) -> bool:
        return all(map(_is_cell, value if isinstance(value, list) else [value]))

    def is_study(value: Any) -> bool:
        """Whether a value is the name of a study with its settings; of one that is not installed, with any cells."""
        if not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)):
            return False
        name, settings = value
        if name in own_tables():
            return not _misfit(settings, own_tables()[name])
        return isinstance(settings, dict) and all(map(is_setting, settings.values()))

    check = Rule(lambda value: isinstance(value, str) and value in CHECKS, {"enum": sorted(CHECKS)})
    study = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "object"}], "minItems": 2, "maxItems": 2}
    return {
        ("Report", "kind"): {KIND},
        ("Report", "schema"): _INTEGER,
        ("Report", "fingerprint"): _FINGERPRINT,
        ("Report", "times"): _TIMES,
        ("Report", "people_at_risk"): PeopleAtRiskSection,
        ("VerdictSection", "overall"): {"pass", "fail", "inconclusive", "not_run"},
        ("TitledTable", "rows"): [[_CELL]],
        ("Estimate", "level"): _LEVEL,
        ("CheckRow", "unit"): set(UNITS),
        ("CheckRow", "check"): check,
        ("CheckRow", "measurement"): _ABSENT,
        ("Limit", "check"): check,
        ("Measurement", "check"): check,
        ("Measurement", "details"): dict[str, float],
        ("AuditPlan", "schema"): _INTEGER,
        ("AuditPlan", "studies"): [Rule(is_study, study)],
        ("Policy", "schema"): _INTEGER,
        ("Limit", "if_not_run"): set(params(Limit)["if_not_run"].param.options or ()),
        ("ModelPlan", "kind"): set(params(ModelPlan)["kind"].param.options or ()),
        ("DataSummary", "sets"): dict[str, int | None],
    }


def _misfit(value: Any, kind: Kind, path: str = "", left_out: Collection[str] = ()) -> str:
    """Return the first place where a value is not of a kind, and what is wrong there; empty if it is."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if type(kind) is tuple:
        return "" if value is None else _misfit(value, kind[0], path)
    if origin in (typing.Union, types.UnionType):
        options = [option for option in inner if option is not types.NoneType]
        return _misfit(value, (options[0], None) if len(options) == 1 else _TEXT_OR_NUMBER, path)
    if origin is tuple:
        return _misfit(value, [inner[0]], path)
    if dataclasses.is_dataclass(kind):
        cls = typing.cast(type, kind)
        optional = [field.name for field in dataclasses.fields(cls) if "unsaid" in field.metadata]
        return _misfit(value, _fields(cls), path, optional)
    inside: Any = ()
    if isinstance(kind, dict) and isinstance(value, dict):
        where = f"at {value_excerpt(path[1:] or 'its top')} there must be"
        if more := sorted(value.keys() - kind.keys()):
            return f"{where} no key {value_excerpt(more[0])}"
        if missing := sorted(kind.keys() - value.keys() - set(left_out)):
            return f"{where} a key {value_excerpt(missing[0])}"
        inside = ((f"{path}/{name}", value[name], kind[name]) for name in sorted(value))
    elif origin is dict and isinstance(value, dict):
        inside = ((f"{path}/{name}", value[name], inner[1]) for name in sorted(value))
    elif isinstance(kind, list) and isinstance(value, list):
        inside = ((f"{path}/{number}", item, kind[0]) for number, item in enumerate(value))
    elif not _holds(value, kind):
        return f"at {value_excerpt(path[1:] or 'its top')} there must be another value than {value_excerpt(value)}"
    return next(filter(None, (_misfit(item, item_kind, where) for where, item, item_kind in inside)), "")


def _holds(value: Any, kind: Kind) -> bool:
    """Whether a value is of a kind that is neither object nor list."""
    if isinstance(kind, re.Pattern):
        return isinstance(value, str) and bool(kind.fullmatch(value))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return isinstance(value, str) and value in tuple(kind)
    if isinstance(kind, set):
        return isinstance(value, str) and value in kind
    if isinstance(kind, (dict, list)) or typing.get_origin(kind) is dict:
        return False
    rule = kind if isinstance(kind, Rule) else _PLAIN[kind]
    return bool(rule.fits(value))


def is_report(document: Mapping[str, Any]) -> bool:
    """Whether an object calls itself a report of FairLeak."""
    return document.get("kind") == KIND


def schema_error(document: Mapping[str, Any]) -> str:
    """Return the first place where an object breaks the schema, in one sentence; empty if it does not."""
    if not is_report(document):
        return f"A report must have the kind {KIND!r}, got {value_excerpt(document.get('kind'))}."
    try:
        check_format(document.get("schema"), thing="A report")
    except FormatError as error:
        return str(error)
    misfit = _misfit(dict(document), Report)
    return f"A report must follow its schema; {misfit}." if misfit else ""


def json_schema() -> dict[str, Any]:
    """Return the form of a report as a JSON Schema (draft 2020-12), from its types."""
    _fields.cache_clear()  # studies declare their checks at any time
    definitions: dict[str, Any] = {}
    report = _schema_of(Report, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "FairLeak release audit",
        **report,
        "$defs": definitions,
    }


def _schema_of(kind: Kind, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a kind of values as a JSON Schema; the types in it are added to the definitions."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, Rule):
        return kind.schema
    if isinstance(kind, re.Pattern):
        return {"type": "string", "pattern": f"^{kind.pattern}$"}
    if isinstance(kind, set):
        return {"enum": sorted(kind)}
    if isinstance(kind, list):
        return {"type": "array", "items": _schema_of(kind[0], definitions)}
    if origin in (typing.Union, types.UnionType):
        options = [option for option in inner if option is not types.NoneType]
        if len(options) > 1:
            return _TEXT_OR_NUMBER.schema
        return {"anyOf": [_schema_of(options[0], definitions), {"type": "null"}]}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(inner[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(inner[1], definitions)}
    if dataclasses.is_dataclass(kind):
        return _reference(typing.cast(type, kind), definitions)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"enum": sorted(kind)}
    return _PLAIN[kind].schema


def _reference(cls: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return where a dataclass stands among the definitions, which it is added to."""
    if cls.__name__ not in definitions:
        definitions[cls.__name__] = {}
        kinds = {name: kind for name, kind in _fields(cls).items() if kind is not _ABSENT}
        optional = [field.name for field in dataclasses.fields(cls) if "unsaid" in field.metadata]
        definitions[cls.__name__] = {
            "description": (inspect.getdoc(cls) or "").partition("\n")[0],
            "type": "object",
            "properties": {name: _schema_of(kind, definitions) for name, kind in kinds.items()},
            "required": sorted(kinds.keys() - set(optional)),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{cls.__name__}"}
