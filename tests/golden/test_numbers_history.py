"""What a history says is as it was: what is kept, signed, void, deleted and expired, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.history import DECISIONS, Entry, History, Signature, check_line, needs_reason, not_releasable, parts_of
from core.history import history as module
from core.history.events import changed_parts
from tests.golden.numbers import Named, compare_numbers, refused
from tests.history_work import report


def signature(decision: str = "release", *, void: str = "", **more: Any) -> Signature:
    given = {
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
    return Signature(decision=decision, void=void, **{**given, **more})


def in_events() -> Named:
    """Signatures, what voids them and what keeps "Release" from being signed."""
    for one in (
        signature(),
        signature("accept_risk", reason="Why.", proven=False),
        signature("do_not_release", void="x"),
    ):
        yield one.words, [one.short, one.title]
        for mark, parts in (
            ("0123456789", {}),
            ("9", {"data": "1", "policy": "3"}),
            ("9", {"data": "1", "policy": "2"}),
        ):
            yield f"beside {mark} {parts}", one.beside(mark, parts).void
    yield (
        "changed",
        [changed_parts({"a": "1", "b": "2"}, after) for after in ({}, {"a": "1"}, {"a": "1", "b": "2", "c": "3"})],
    )
    others = [signature(), signature("do_not_release", name="B"), signature("accept_risk", name="C", void="x")]
    for decision in DECISIONS:
        yield f"reason, {decision}", [needs_reason(decision, signed) for signed in ([], others, others[:1], others[2:])]
    for blocking in range(7):
        rows = [{"check": f"c{i}", "title": f"T{i}", "blocks": i < blocking} for i in range(6)]
        limits = [{"check": f"c{i}", "source": " " if i + blocking > 5 else "Law"} for i in range(7)]
        verdict = {"checks": rows, "overall": "pass" if blocking % 2 else "not_run", "headline": "H."}
        yield f"releasable, {blocking}", not_releasable({"verdict": verdict, "policy": {"limits": limits}})
    for line in ("  a   b ", "", "x" * 80, "x" * 81, "a\x00b"):
        yield f"line {line!r}", refused(check_line, line, "name")


def in_history(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Named:
    """A project of three audits, signed and deleted over some days."""
    days = iter(range(1, 60))
    monkeypatch.setattr(module, "now", lambda: f"2020-01-{next(days):02d}T00:00:00Z")
    history = History.open(folder / "history.sqlite")
    documents = [report("one"), report("two"), report("one", policy="4")]
    entries = [history.keep(document, project="Loans", who="A") for document in documents]
    other = history.keep(documents[0], project="Cards", who=" B  C ")
    yield "again", history.keep(documents[0], project="Loans", who="B").id == entries[0].id
    yield (
        "entries",
        [[one.id, one.project, one.who, one.when, one.verdict, one.dataset, one.policy] for one in history.entries()],
    )
    yield "projects", [*history.projects(), len(history.entries("Loans")), len(history.entries("None"))]

    def sign(entry: Entry, decision: str, **more: Any) -> Any:
        made = refused(history.sign, entry, decision=decision, name="N", role="R", **more)
        return (
            made if isinstance(made, str) else [made.number, made.entry, made.when, made.void, made.reason, made.proven]
        )

    yield "release", sign(entries[0], "release")
    yield "no reason", sign(entries[0], "accept_risk")
    yield "accept", sign(entries[0], "accept_risk", reason=" As  said. ")
    yield "accept again", sign(entries[0], "accept_risk", reason="As said.")
    yield "dissent", sign(entries[0], "do_not_release")
    yield "dissent, why", sign(entries[0], "do_not_release", reason="No.", proven=True)
    yield "another", sign(entries[1], "do_not_release")
    yield "other project", sign(other, "do_not_release")
    void = [[one.entry, one.decision, one.void] for one in history.signatures()]
    yield "void", [void, len(history.signatures(entries[0])), len(history.signatures(project="Cards"))]
    for wanted in (
        "2",
        entries[0].fingerprint[:8],
        entries[1].fingerprint[:8].upper(),
        entries[1].fingerprint[:7],
        "99",
    ):
        found = refused(history.find, wanted)
        yield "found", "refused" if isinstance(found, str) else found.id
    yield "of a project", history.find(entries[0].fingerprint[:8], project="Cards").id == other.id
    yield "document", history.document(entries[2]) == documents[2]
    yield "expired", [one.id for one in history.expire(days=0, who="D")]
    yield "expired of a project", [one.id for one in history.expire(days=36_500, who="D", project="Cards")]
    gone = history.delete(entries[1], entries[1], who="E", reason="Asked for.")
    yield "deleted", [[one.id, one.deleted.who, one.deleted.when, one.deleted.reason] for one in gone]
    yield "gone", [refused(history.document, entries[1]), refused(history.delete, entries[1], who="E")]
    yield "gone, signed", sign(entries[1], "do_not_release")
    yield "left", [len(history.entries()), len(history.entries(deleted=True)), len(history.entries("Loans"))]
    yield "kept again", history.keep(documents[0], project="Loans", who="F").id
    yield "void again", [[one.entry, one.void] for one in history.signatures()]
    yield (
        "parts",
        [[name for name, mark in parts_of(one).items() if mark != parts_of(documents[0])[name]] for one in documents],
    )


def test_numbers_of_events() -> None:
    compare_numbers("history_events", in_events())


def test_numbers_of_a_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_numbers("history", in_history(tmp_path, monkeypatch))
