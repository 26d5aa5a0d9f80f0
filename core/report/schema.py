"""The published format of a report's JSON, and reading and writing in it.

The schema (`schema.json`, JSON Schema 2020-12) allows no key it does not know. Its version is the report's "schema".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.report.canonical import json_text, parse_json
from core.report.disclosed import document
from core.report.document import KIND, THRESHOLD, Document

if TYPE_CHECKING:
    from core.decision import ReleaseAudit
    from core.report.attacked import AttackedPeople

__all__ = ["REPORT_JSON_SCHEMA", "from_json", "schema_error", "to_json"]


@cache
def _schema_text() -> str:
    from importlib.resources import files

    return (files("core.report") / "schema.json").read_text(encoding="utf-8")


REPORT_JSON_SCHEMA: dict[str, Any] = json.loads(_schema_text())
"""The schema."""


def to_json(
    audit: ReleaseAudit | Mapping[str, Any],
    *,
    edition: str = "internal",
    people: AttackedPeople | None = None,
    threshold: int = THRESHOLD,
) -> str:
    """Return the report of an audit as JSON; the arguments are those of `core.report.document`.

    Equal audits give the same text but for the key "times".
    """
    return json_text(document(audit, edition=edition, people=people, threshold=threshold))


def from_json(text: str) -> Document:
    """Read a report's JSON and check it against the schema; whether its fingerprint holds is for `verify_report`.

    Raises
    ------
    InputError
        If it is no strict JSON, no report, of another version, or breaks the schema; the message says where.
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
    if not is_report(found):
        return f"A report must have the kind {KIND!r}, got {_told(found.get('kind'))}."
    known = REPORT_JSON_SCHEMA["properties"]["schema"]["const"]
    if found.get("schema") != known:
        return f"A report must have the schema version {known}, got {_told(found.get('schema'))}."
    error = next(iter(sorted(_validator().iter_errors(found), key=lambda e: list(map(str, e.absolute_path)))), None)
    if error is None:
        return ""
    place = "/".join(str(part) for part in error.absolute_path) or "its top"
    return f"A report must follow its schema; at {_told(place)} {_rule(error)}."


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(REPORT_JSON_SCHEMA)


def _rule(error: Any) -> str:
    """Return what is wrong, in words: the validator's own quote whole objects."""
    if error.validator == "additionalProperties":
        more = sorted(set(error.instance) - set(error.schema.get("properties", ())))
        return f"there must be no key {_told(more[0] if more else '')}"
    if error.validator == "required":
        missing = sorted(set(error.validator_value) - set(error.instance))
        return f"there must be a key {_told(missing[0] if missing else '')}"
    return f"{error.validator} does not hold for {_told(error.instance)}"


def _told(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
