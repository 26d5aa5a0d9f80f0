"""The published format of a report's JSON, and reading and writing in it.

The schema (JSON Schema 2020-12) is made from the types whose values stand in a report; it allows no key they do not
have. Its version is the report's "schema".
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from core.errors import InputError
from core.estimates import Estimate
from core.report.canonical import parse_json
from core.report.document import EDITIONS, KIND, OF_CHECK, OF_VERDICT, PEOPLE_AT_RISK, Document
from core.settings import params, told
from core.study import Outcome

Schema = dict[str, Any]

_DESCRIPTION = (
    "What FairLeak found about one model and what a policy says to it. Numbers are shares (0.05 for 5 points). null "
    "stands where nothing was measured or where an edition withholds a number; the texts inf and -inf stand for "
    "infinities. The fingerprint is the SHA-256 over this object without the keys fingerprint and times, as JSON with "
    "sorted keys, no blanks, in UTF-8, every character written as itself but for quotation marks, backslashes, control "
    "characters and those that steer how text is shown (U+007F-009F, 061C, 200B-200F, 2028-202E, 2060-206F, FEFF, "
    "FFF9-FFFB), which are escaped."
)

_TIMES = "When the audit was begun (UTC; the disclosure edition tells the day) and how many seconds it took."

_METER = "What the report's own fairness numbers reveal; reports of earlier versions have no such key."

_FINDINGS = "What each study found, in its own words; reports of earlier versions have no such key."

_PEOPLE = "Whom the attacks find, where the plan asks for it; the disclosure edition has no such key."

_EDITION_ATTACK: dict[str, Any] = {
    "outcome": Outcome,
    **dict.fromkeys(("reason", "told"), str),
    **dict.fromkeys(("people", "numbers", "equations", "exact", "pinned"), int),
    "pinned_right": int | None,
    **dict.fromkeys(("before", "after", "gain", "accuracy_before", "accuracy_after", "accuracy_gain"), Estimate),
    **dict.fromkeys(("bits", "prior_bits"), float),
}
"""What external reports of earlier versions said of their own leakage."""

_MOMENT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+]00:00))?$"

_LEFT_OUT = {
    "AuditConfig": ("depth",),
    "AuditPlan": ("outputs", "studies"),
    "DataPlan": ("attribute",),
    "Limit": ("if_not_run",),
    "Roles": ("prediction", "score", "sets", "threshold"),
}
"""Fields that reports from before them do not have."""

_WITHHELD = {
    "AuditConfig": ("seed",),
    "GroupSummary": ("count", "label_rate", "test_rate", "test_tpr", "test_fpr"),
    "ModelSummary": ("unfairness_test", "accuracy_train", "accuracy_test", "majority_test"),
}
"""Fields that an edition may leave null."""

_KINDS: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"$ref": "#/$defs/number"},
}

_CELL = {"type": ["string", "number", "boolean", "null"]}


def report_schema() -> Schema:
    """Return the schema."""
    from core.datasets.roles import Roles
    from core.policy import CHECKS, CheckVerdict, Limit, Policy
    from core.release_audit.plan import AuditPlan
    from core.release_audit.result import (
        DataSummary,
        GroupSummary,
        ModelSummary,
        Provenance,
        SelfTest,
        StudyFindings,
    )
    from core.report.metering import ReportMeter
    from core.study import Check, Finding, Measurement

    row = _fields(CheckVerdict, OF_VERDICT) | _fields(Check, OF_CHECK)
    verdict = {
        "overall": {"enum": ["pass", "fail", "inconclusive", "not_run"]},
        "headline": _of(str),
        "detail": _of(str),
        "checks": _array(_object(row)),
    }
    table = {"title": _of(str), "columns": _array(_of(str)), "rows": _array(_array(_CELL))}
    withheld = {"threshold": {"type": "integer", "minimum": 2}, "notes": _array(_of(str))}
    times = _object(
        {"started": {"type": "string", "pattern": _MOMENT}, "seconds": {"type": ["number", "null"], "minimum": 0}},
        ("started", "seconds"),
    )
    people = {"findings": _array(_of(Finding)), "tables": _array(_object(table))}
    content: dict[str, Schema] = {
        "kind": {"const": KIND},
        "schema": {"const": 1},
        "edition": {"enum": list(EDITIONS)},
        "fingerprint": {"$ref": "#/$defs/fingerprint"},
        "verdict": _object(verdict),
        "policy": _of(Policy),
        "measurements": _array(_of(Measurement)),
        "plan": _of(AuditPlan),
        "data": _of(DataSummary),
        "groups": _array(_of(GroupSummary)),
        "model": _of(ModelSummary),
        "tables": _array(_object(table)),
        "self_tests": _array(_of(SelfTest)),
        "provenance": _of(Provenance),
        "withheld": _or_null(_object(withheld)),
        "findings": _array(_of(StudyFindings)) | {"description": _FINDINGS},
        "edition_attack": _or_null(_object({name: _of(kind) for name, kind in _EDITION_ATTACK.items()})),
        "release_meter": _or_null(_of(ReportMeter)) | {"description": _METER},
        "times": times | {"description": _TIMES},
        PEOPLE_AT_RISK: _object(people) | {"description": _PEOPLE},
    }
    number = {"anyOf": [{"type": "number"}, {"type": "null"}, {"enum": ["inf", "-inf"]}]}
    described = "A value with its interval, its number of records, and the interval's level."
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fairleak:report:1",
        "title": "FairLeak release audit, report format 1",
        "description": _DESCRIPTION,
        **_object(content, ("release_meter", "findings", PEOPLE_AT_RISK)),
        "$defs": {
            "number": number | {"description": "A number; null for none, inf and -inf for infinities."},
            "estimate": _record(Estimate) | {"description": described},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "check": {"enum": list(CHECKS)},
            "limit": _record(Limit),
            "roles": _record(Roles),
        },
    }


def _of(kind: Any) -> Schema:
    """Return the schema of a type's values."""
    if kind in _KINDS:
        return dict(_KINDS[kind])
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        some = [one for one in inner if one is not types.NoneType]
        return _or_null(_of(some[0])) if len(some) == 1 else {"type": ["string", "number", "null"]}
    if origin is tuple and inner[-1] is not Ellipsis:
        return {"type": "array", "prefixItems": [_of(one) for one in inner], "minItems": len(inner), "items": False}
    if origin is tuple:
        return _array(_of(inner[0]))
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(inner[1])}
    if issubclass(kind, StrEnum):
        return {"enum": [str(one) for one in kind]}
    name = kind.__name__.lower()
    return {"$ref": f"#/$defs/{name}"} if name in ("estimate", "limit", "roles") else _record(kind)


def _record(cls: type) -> Schema:
    """Return the schema of a dataclass."""
    found = _fields(cls, [field.name for field in dataclasses.fields(cls)])
    return _object(found, _LEFT_OUT.get(cls.__name__, ()))


def _fields(cls: type, names: Sequence[str]) -> dict[str, Schema]:
    """Return the schemas of some fields of a dataclass."""
    hints, known = typing.get_type_hints(cls), _known()
    found = {name: known.get((cls.__name__, name)) or _of(hints[name]) for name in names}
    return found | {name: _or_null(found[name]) for name in _WITHHELD.get(cls.__name__, ())}


def _known() -> dict[tuple[str, str], Schema]:
    """Return the fields of which less is possible than their type says."""
    from core.policy import UNITS, Limit
    from core.release_audit.plan import ModelPlan

    check, version = {"$ref": "#/$defs/check"}, {"type": "integer"}
    settings = {"type": "object", "additionalProperties": {"anyOf": [_CELL, _array(_CELL)]}}  # of any study
    return {
        ("Estimate", "level"): {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        ("Check", "unit"): {"enum": list(UNITS)},
        ("CheckVerdict", "check"): check,
        ("Limit", "check"): check,
        ("Measurement", "check"): check,
        ("Measurement", "details"): _of(dict[str, float]),
        ("AuditPlan", "schema"): version,
        ("AuditPlan", "studies"): _array(
            {"type": "array", "prefixItems": [_of(str), settings], "minItems": 2, "items": False}
        ),
        ("Policy", "schema"): version,
        ("Limit", "if_not_run"): {"enum": list(params(Limit)["if_not_run"].param.options or ())},
        ("ModelPlan", "kind"): {"enum": list(params(ModelPlan)["kind"].param.options or ())},
        ("DataSummary", "sets"): _of(dict[str, int | None]),
        ("MeteredForm", "form"): {"enum": ["every_digit", "page", "disclosure"]},
        ("MeteredForm", "status"): {"enum": ["converged", "not_converged", "infeasible", "nothing"]},
        ("ReportMeter", "threshold"): {"type": "integer", "minimum": 2},
    }


def _or_null(schema: Schema) -> Schema:
    if schema == _KINDS[float]:  # which may be null
        return schema
    if schema.get("type") == "integer":
        return {**schema, "type": ["integer", "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(properties: dict[str, Schema], left_out: tuple[str, ...] = ()) -> Schema:
    required = {"required": sorted(properties.keys() - set(left_out))}
    return {
        "type": "object",
        "properties": properties,
        **(required if required["required"] else {}),
        "additionalProperties": False,
    }


def from_json(text: str) -> Document:
    """Read a report's JSON and check it against the schema; whether its fingerprint holds is for `verify_report`.

    InputError if it is no strict JSON, no report, of another version, or breaks the schema; the message says where.
    """
    found = parse_json(text)
    error = schema_error(found)
    if error:
        raise InputError(error)
    return found


def is_report(found: Mapping[str, Any]) -> bool:
    """Whether an object calls itself a report of FairLeak."""
    return found.get("kind") == KIND


def schema_error(found: Mapping[str, Any]) -> str:
    """Return the first place where an object breaks the schema, in one sentence; empty if it does not."""
    from jsonschema import Draft202012Validator

    if not is_report(found):
        return f"A report must have the kind {KIND!r}, got {told(found.get('kind'))}."
    known = report_schema()["properties"]["schema"]["const"]
    if found.get("schema") != known:
        return f"A report must have the schema version {known}, got {told(found.get('schema'))}."
    errors = Draft202012Validator(report_schema()).iter_errors(found)
    error: Any = min(errors, key=lambda one: list(map(str, one.absolute_path)), default=None)
    if error is None:
        return ""
    place = "/".join(str(part) for part in error.absolute_path) or "its top"
    return f"A report must follow its schema; at {told(place)} {_rule(error)}."


def _rule(error: Any) -> str:
    """Return what is wrong, in words: the validator's own quote whole objects."""
    if error.validator == "additionalProperties":
        more = sorted(set(error.instance) - set(error.schema.get("properties", ())))
        return f"there must be no key {told(more[0] if more else '')}"
    if error.validator == "required":
        missing = sorted(set(error.validator_value) - set(error.instance))
        return f"there must be a key {told(missing[0] if missing else '')}"
    return f"{error.validator} does not hold for {told(error.instance)}"
