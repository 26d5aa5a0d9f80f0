"""What a history says is as it was: decisions, what ends them, and what keeps "Release" from being signed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from core.report.report import DECISIONS
from core.store.events import (
    Retraction,
    Signature,
    changed_parts,
    is_banned,
    needs_reason,
    not_releasable,
)
from core.store.history import check_line
from tests.golden.numbers import NamedValues, compare_numbers, refused


def signature(decision: str = "release", **more: Any) -> Signature:
    defaults = {
        "number": 4,
        "entry": 2,
        "model": "Loans",
        "version": "1.0",
        "outputs": "labels",
        "fingerprint": "0123456789",
        "parts": {"data": "1", "policy": "2"},
        "name": "A",
        "role": "Officer",
        "reason": "",
        "condition": "",
        "until": "",
        "proven": True,
        "when": "2026-11-27T09:00:00Z",
        "fairleak": "0.1",
    }
    return Signature(decision=decision, **{**defaults, **more})


def in_events() -> NamedValues:
    """Decisions, what ends them and what keeps "Release" from being signed."""
    ended = {"superseded": "2026-11-28T09:00:00Z"}
    taken_back = Retraction(who="B, CRO", when="2026-11-28T09:00:00Z", reason="Why.")
    for event in (
        signature(until="2026-12-01", condition="None."),
        signature("accept_risk", reason="Why.", proven=False),
        signature("do_not_release", revoked=taken_back),
        signature(**ended),
    ):
        states = [event.state(day) for day in ("2026-11-28", "2026-12-02")]
        yield event.sentence, [event.short, event.title, event.stands, event.end, event.signer, *states]
    yield (
        "changed",
        [changed_parts({"a": "1", "b": "2"}, after) for after in ({}, {"a": "1"}, {"a": "1", "b": "2", "c": "3"})],
    )
    signatures = [signature(), signature("do_not_release", name="B"), signature("accept_risk", name="C", **ended)]
    for decision in DECISIONS:
        several = ([], signatures, signatures[:1], signatures[2:])
        yield f"reason, {decision}", [needs_reason(decision, signed) for signed in several]
        yield f"banned, {decision}", [is_banned(decision, signed) for signed in several]
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
