"""What a signature may say: its decisions, when a release can be signed, and what another document changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.estimates import in_words
from core.fingerprint import content_fingerprint

DECISIONS: Mapping[str, str] = {
    "release": "Release",
    "accept_risk": "Accept the risk",
    "do_not_release": "Do not release",
}
"""Decision -> its words."""

_NAMED = 3
"""Checks and limits that a sentence calls by their names."""


def not_releasable(document: Mapping[str, Any]) -> str:
    """Return why "Release" cannot be signed, naming what is missing; "" where it can."""
    verdict, limits = document["verdict"], document["policy"]["limits"]
    titles = {row["check"]: row["title"] for row in verdict["checks"]}
    blocking = [row["title"] for row in verdict["checks"] if row["blocks"]]
    unsourced = [titles.get(limit["check"], limit["check"]) for limit in limits if not limit["source"].strip()]
    return " ".join(_missing(verdict["overall"], blocking, unsourced))


def _missing(overall: str, blocking: Sequence[str], unsourced: Sequence[str]) -> Iterator[str]:
    if overall != "pass":
        yield (
            f"Required and not passed: {_listed(blocking)}." if blocking else "The self-test or a required check fails."
        )
    if unsourced:
        yield f"Limits without a source: {_listed(unsourced)}."


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return "; ".join(names) if more < 2 else f"{'; '.join(names[:_NAMED])}; and {in_words(more)} more"


def parts_of(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the fingerprints of what a report is made of, by what people call it."""
    origin = document["provenance"]
    return {
        "data": document["data"]["fingerprint"],
        "model": document["model"]["fingerprint"],
        "plan": origin["plan"],
        "policy": origin["policy"],
        "self-test": content_fingerprint(document["self_tests"]),
        "FairLeak": origin["code"],
    }


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return what differs between the parts of two reports, such as "data, policy"."""
    return ", ".join(name for name, mark in before.items() if mark != after.get(name)) or "results"
