"""A report judged again: its own numbers by its own policy must give its verdict words and its checks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..auditing import failed_tests
from ..auditing.policy import judge
from .canonical import strict
from .codec import verdict_section
from .report import CheckRow, Report

_ACROSS_MACHINES = 1e-9
"""Numbers no farther apart than this differ by the last digits of another machine."""

_PROSE = ("title", "definition", "why")
"""Entries of a check's row that are sentences: they are not judged."""


def contradictions(report: Report) -> list[str]:
    """Verdict words, limits, intervals and p-values that do not follow from a report's own numbers, a clause each.

    InputError if its policy or a measurement breaks a rule.
    """
    failed = failed_tests(report.self_tests)
    verdict = judge(report.policy, report.measurements, attribute=report.data.attribute, failed_tests=failed)
    computed, stated = verdict_section(verdict), report.verdict
    clauses = []
    if stated.overall != computed.overall:
        clauses.append(f"the release is “{stated.overall}”, judged again it is “{computed.overall}”")
    rows = {row.check: row for row in stated.checks}
    if len(rows) != len(stated.checks):
        clauses.append("a check has more than one verdict")
    for row in computed.checks:
        if row.check in rows:
            clauses += _first_difference(rows[row.check], row)
        elif row.limit:
            clauses.append(f"{row.check} has no verdict, judged again it is “{row.verdict}”")
    return clauses


def _first_difference(stated: CheckRow, computed: CheckRow) -> list[str]:
    """First entry of a check's row that came out otherwise, its verdict before others, in one clause; [] if none."""
    old_entries, new_entries = strict(stated), strict(computed)
    names = sorted((name for name in new_entries if name not in _PROSE), key=lambda name: name != "verdict")
    for name in names:
        for path, old, new in _differences(name, old_entries[name], new_entries[name]):
            return [f"{computed.check}: {path} is {_quoted(old)}, judged again it is {_quoted(new)}"]
    return []


def _differences(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _differences(f"{path}/{name}", old.get(name), new.get(name))
    elif not _equal(old, new):
        yield path, old, new


def _equal(old: Any, new: Any) -> bool:
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (old, new))
    if not numbers:
        return type(old) is type(new) and bool(old == new)
    return math.isclose(old, new, rel_tol=1e-6, abs_tol=_ACROSS_MACHINES)


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"“{text[:120]}…”" if len(text) > 120 else f"“{text}”"
