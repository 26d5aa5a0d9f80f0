"""What a history says is as it was: signatures, what voids them, and what keeps "Release" from being signed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from core.store.events import DECISIONS, Signature, changed_parts, needs_reason, not_releasable
from core.store.history import check_line
from tests.golden.numbers import NamedValues, compare_numbers, refused


def signature(decision: str = "release", *, void: str = "", **more: Any) -> Signature:
    defaults = {
        "number": 4,
        "entry": 2,
        "project": "Loans",
        "fingerprint": "0123456789",
        "parts": {"data": "1", "policy": "2"},
        "name": "A",
        "role": "Officer",
        "reason": "",
        "proven": True,
        "when": "2026-11-27T09:00:00Z",
        "fairleak": "0.1",
    }
    return Signature(decision=decision, void=void, **{**defaults, **more})


def in_events() -> NamedValues:
    """Signatures, what voids them and what keeps "Release" from being signed."""
    for event in (
        signature(),
        signature("accept_risk", reason="Why.", proven=False),
        signature("do_not_release", void="x"),
    ):
        yield event.sentence, [event.short, event.title]
        for mark, parts in (
            ("0123456789", {}),
            ("9", {"data": "1", "policy": "3"}),
            ("9", {"data": "1", "policy": "2"}),
        ):
            yield f"beside {mark} {parts}", event.beside(mark, parts).void
    yield (
        "changed",
        [changed_parts({"a": "1", "b": "2"}, after) for after in ({}, {"a": "1"}, {"a": "1", "b": "2", "c": "3"})],
    )
    signatures = [signature(), signature("do_not_release", name="B"), signature("accept_risk", name="C", void="x")]
    for decision in DECISIONS:
        yield (
            f"reason, {decision}",
            [needs_reason(decision, signed) for signed in ([], signatures, signatures[:1], signatures[2:])],
        )
    for blocking in range(7):
        rows = [SimpleNamespace(check=f"c{i}", title=f"T{i}", blocks=i < blocking) for i in range(6)]
        limits = [SimpleNamespace(check=f"c{i}", source=" " if i + blocking > 5 else "Law") for i in range(7)]
        verdict = SimpleNamespace(checks=rows, overall="pass" if blocking % 2 else "not_run", headline="H.")
        report: Any = SimpleNamespace(verdict=verdict, policy=SimpleNamespace(limits=limits))
        yield f"releasable, {blocking}", not_releasable(report)
    for line in ("  a   b ", "", "x" * 80, "x" * 81, "a\x00b"):
        yield f"line {line!r}", refused(check_line, line, "name")


def test_numbers_of_events() -> None:
    compare_numbers("history_events", in_events())
