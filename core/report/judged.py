"""A report judged again: the verdict its own numbers give under its own policy, beside the verdict it states.

The internal edition holds every number, so it is judged as it was. The disclosure edition rounds its numbers and
withholds some: there `core.report.judged_rounded` tells which verdicts the rounded numbers allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.policy import judge
from core.report.canonical import strict
from core.report.consistent import same_value
from core.report.document import Document, verdict_section
from core.report.judged_rounded import rounded_section, withheld_checks
from core.report.rows import measurement_of, policy_of
from core.wording import in_words

_WORDS = ("title", "definition", "why")
"""Of a check's row: what another version of FairLeak may word in another way."""

_NEAR_ZERO = 1e-9
"""Distance of numbers near 0 that differ by the last digits of another machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What came out otherwise than it is stated, a sentence each, and what was judged.

    Attributes
    ----------
    facts : tuple of str
        Of verdicts, limits, intervals, p-values, and the release's headline and detail.
    words : tuple of str
        Of titles, definitions and reasons.
    told : str
        What was judged again, and what could not be, where nothing came out otherwise.
    """

    facts: tuple[str, ...]
    words: tuple[str, ...]
    told: str


def judged_again(found: Document) -> Judged:
    """Judge a report again.

    Parameters
    ----------
    found : dict
        A report's document that keeps to the schema.

    Raises
    ------
    InputError
        If its policy or a measurement breaks a rule, so that nothing can be judged by it.
    """
    attribute = found["data"]["attribute"]
    failed = [test["attack"] for test in found["self_tests"] if not test["passed"]]
    verdict = judge(
        policy_of(found), [measurement_of(m) for m in found["measurements"]], attribute=attribute, failed_tests=failed
    )
    section = strict(verdict_section(verdict, attribute))
    if found["edition"] != "internal":
        section = rounded_section(found, section, failed)
    facts, words = _differences(found, section)
    return Judged(facts=tuple(facts), words=tuple(words), told=_judged_sentence(found))


def _judged_sentence(found: Document) -> str:
    if found["edition"] == "internal":
        return "judged again, the numbers in the report give the same verdicts under the policy in it."
    gone = withheld_checks(found)
    asked = {limit["check"] for limit in found["policy"]["limits"]}
    judged = in_words(len(asked - set(gone)))
    told = f"{judged} limits judged again allow the verdicts stated; the numbers are rounded and p-values withheld"
    named = [check for check in gone if check in asked]
    return f"{told}." if not named else f"{told}. Not judged, for the number itself is withheld: {', '.join(named)}."


def _differences(found: Document, judged: Document) -> tuple[list[str], list[str]]:
    stated = found["verdict"]
    there = {row["check"]: row for row in stated["checks"]}
    facts, words = [], []
    if len(there) != len(stated["checks"]):
        facts.append("a check has more than one verdict")
    measured = {m["check"] for m in found["measurements"]}
    for row in judged["checks"]:
        check = row["check"]
        own = there.get(check)
        if own is None:  # an earlier FairLeak did not know every check of this one
            if row["limit"] or check in measured:
                facts.append(f"{check} has no verdict, judged again it is {_short(row['verdict'])}")
            continue
        facts += _first(check, own, row, [name for name in row if name not in _WORDS])
        words += _first(check, own, row, _WORDS)
    order = [row["check"] for row in judged["checks"] if row["check"] in there]
    if order != [row["check"] for row in stated["checks"]] and not facts:
        facts.append("the checks stand in another order than their verdicts give")
    for name in ("overall", "headline", "detail"):
        facts += _first("the release", stated, judged, [name])
    return facts, words


def _first(place: str, stated: Document, judged: Document, names: Any) -> list[str]:
    """Return the first of these entries that came out otherwise, and how many more did; [] if none did."""
    found = [
        (path, old, new)
        for name in sorted(names, key=lambda name: name != "verdict")
        for path, old, new in _apart(name, stated.get(name), judged.get(name))
    ]
    if not found:
        return []
    path, old, new = found[0]
    more = f" ({len(found) - 1} more like it)" if len(found) > 1 else ""
    return [f"{place}: {path} is {_short(old)}, judged again it is {_short(new)}{more}"]


def _apart(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _apart(f"{path}/{name}", old.get(name), new.get(name))
    elif not same_value(old, new, _NEAR_ZERO):
        yield path, old, new


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"“{text[:120]}…”" if len(text) > 120 else f"“{text}”"
