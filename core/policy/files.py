"""Policy files: TOML in, a policy out, and back.

A file gives `schema = 1`, then the policy's name, version, author, date and rationale, and, if it is not 0.95, the
level. A table [[limit]] for each limit follows, with check, value (as a share: 0.02 is 2 points), author, date and
rationale; required, if_not_run and source may be left out. A limit without a source has none, and every table says so.
`core/policy/default.toml` is an example.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from core.errors import InputError
from core.policy.checks import CHECKS
from core.policy.limits import POLICY_SCHEMA, Limit, Policy
from core.policy.rules import check_policy
from core.toml_files import parsed, quoted, told

__all__ = ["policy_text", "read_policy"]

_OF_POLICY = ("schema", "name", "version", "author", "date", "rationale", "level", "limit")
_OF_LIMIT = ("check", "value", "required", "if_not_run", "author", "date", "rationale", "source")


def read_policy(text: str | bytes, *, name: str) -> Policy:
    """Return the policy a file holds.

    Parameters
    ----------
    text : str or bytes
        The file, whole; bytes are read as UTF-8.
    name : str
        The file's name, for messages.

    Raises
    ------
    InputError
        The file breaks a rule of the format; the one sentence begins with its name. A policy and each of its limits
        must say by whom, when and why; only the source may be left out.
    """
    content = parsed(text, name=name)
    try:
        policy = _policy(content)
        check_policy(policy)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return policy


def policy_text(policy: Policy) -> str:
    """Return a policy as a file that `read_policy` reads back equal.

    A policy built in Python may leave author, date or rationale empty; it is written all the same, and `read_policy`
    then asks for them.
    """
    check_policy(policy)
    lines = [f"schema = {policy.schema}"]
    lines += [f"{key} = {quoted(getattr(policy, key))}" for key in ("name", "version", "author", "date", "rationale")]
    lines.append(f"level = {float(policy.level)!r}")
    for limit in policy.limits:
        lines += ["", "[[limit]]", f"check = {quoted(limit.check)}", f"value = {float(limit.value)!r}"]
        lines.append(f"required = {'true' if limit.required else 'false'}")
        if limit.if_not_run != "blocks":
            lines.append(f"if_not_run = {quoted(limit.if_not_run)}")
        lines += [f"{key} = {quoted(getattr(limit, key))}" for key in ("author", "date", "rationale", "source")]
    return "\n".join(lines) + "\n"


def _policy(content: Mapping[str, Any]) -> Policy:
    if "schema" not in content:
        raise InputError(f"schema must be given, as in schema = {POLICY_SCHEMA}.")
    if content["schema"] != POLICY_SCHEMA or type(content["schema"]) is not int:  # before keys another one may have
        raise InputError(f"schema must be {POLICY_SCHEMA}, the one this FairLeak reads, got {told(content['schema'])}.")
    _only(content, _OF_POLICY, "the policy")
    tables = content.get("limit", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"limit must be tables that each begin with [[limit]], got {told(tables)}.")
    return Policy(
        schema=POLICY_SCHEMA,
        name=_text(content, "name", "the policy"),
        version=_text(content, "version", "the policy"),
        author=_text(content, "author", "the policy"),
        date=_date(content, "the policy"),
        rationale=_text(content, "rationale", "the policy"),
        level=content.get("level", 0.95),
        limits=tuple(_limit(table, item) for item, table in enumerate(tables, start=1)),
    )


def _limit(table: Mapping[str, Any], item: int) -> Limit:
    where = f"limit {item}"
    check = _text(table, "check", where)
    if check not in CHECKS:
        raise InputError(f"check of {where} must be one of {', '.join(CHECKS)}, got {told(check)}.")
    where = f"{where} ({check})"
    _only(table, _OF_LIMIT, where)
    if "value" not in table:
        raise InputError(f"value of {where} must be given.")
    value = table["value"]
    return Limit(
        check=check,
        value=float(value) if type(value) is int and abs(value) < 2**53 else value,
        required=table.get("required", True),
        if_not_run=table.get("if_not_run", "blocks"),
        author=_text(table, "author", where),
        date=_date(table, where),
        rationale=_text(table, "rationale", where),
        source=table.get("source", ""),
    )


def _only(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"A key of {where} must be one of {', '.join(known)}, got {told(key)}.")


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{key} of {where} must be text in quotation marks, got {told(value)}.")
    if not value.strip():
        raise InputError(f"{key} of {where} must be given.")
    return value


def _date(table: Mapping[str, Any], where: str) -> str:
    value = table.get("date")
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()  # written without quotation marks
    if value is not None and not isinstance(value, str):
        raise InputError(f"date of {where} must be a day written YYYY-MM-DD, got {told(value)}.")
    return _text(table, "date", where)
