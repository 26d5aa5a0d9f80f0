"""A comparison as one HTML file in the look of the report, and as JUnit XML."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from core.compare.changes import NO_PROOF, CheckChange, Comparison, Turn, change_range, change_text
from core.policy import VERDICT_TITLES, estimate_text
from core.policy.verdict import on_scale
from core.report.charts import bar
from core.report.junit import Case, junit_xml, stopping
from core.report.page import environment, logo

COLOURS = {"worse": "fail", "better": "pass", "inconclusive": "inconclusive"}
"""Verdict of a comparison, or of a check in it -> the verdict whose colour and mark it has; others have none."""


def comparison_html(found: Comparison) -> str:
    """Return a comparison as a page."""
    from importlib.resources import files

    from jinja2 import ChoiceLoader, DictLoader

    source = (files("core.compare") / "compare.html").read_text(encoding="utf-8")
    own = environment()
    made = own.overlay(loader=ChoiceLoader([DictLoader({"compare.html": source}), own.loader]))  # type: ignore[list-item]
    return made.get_template("compare.html").render(
        found=found,
        checks=[_row(one) for one in found.checks],
        verdict=COLOURS.get(found.verdict, "not_run"),
        running="FairLeak comparison of two audits, internal",
        fingerprint=found.after.fingerprint,
        logo=logo(),
        no_proof=NO_PROOF,
        margin="" if found.margin is None else f"{found.margin:g}",
    )


def _row(found: CheckChange) -> dict[str, Any]:
    words = [_words(found.check, one) for one in (found.before, found.after)]
    verdicts = [VERDICT_TITLES[status] if status else "none" for status in (found.was, found.now)]
    return {
        "title": found.title,
        "turn": found.turn,
        "colour": COLOURS.get(found.turn, "not_run"),
        "required": found.required,
        "before": words[0],
        "after": words[1],
        "verdicts": " → ".join(verdicts),
        "change": change_text(found),
        "range": change_range(found),
        "decided": change_range(found, decided=True),
        "within": found.within,
        "why": found.why,
        "bar": _bar(found),
    }


def _words(check: str, estimate: Any) -> tuple[str, str]:
    if estimate is None:
        return "no number", ""
    value, interval = estimate_text(check, estimate)
    return value, "" if interval == "no interval" else interval


def _bar(found: CheckChange) -> Markup:
    """Return the change with its adjusted interval; the stroke is no change, the ends are the limit to either side."""
    if found.change is None:
        return Markup("")
    shown = found.decided or found.change
    span = abs(found.limit or 0.0) or max(abs(found.change.value), 0.05)
    places = on_scale(found.change.value, shown, middle=0.0, span=span)
    told = f"Change {change_text(found)}, {found.turn}. The middle is no change."
    return bar(found.check, places, told, COLOURS.get(found.turn, "not_run"))


def since(found: CheckChange) -> tuple[str, str, str]:
    """Return what the column "Since" says of a check: number, word, and the verdict whose colour the word has."""
    number = change_text(found, unit=False) if found.turn != Turn.UNCHANGED else ""
    return number, str(found.turn), COLOURS.get(found.turn, "")


def comparison_junit(found: Comparison) -> bytes:
    """Return the checks as test cases; failures are required ones, so that there is one wherever a check stops a gate.

    Skipped is what cannot be compared and is not `lost`, and what is worse but not required. A case of its own says
    what stops a gate where no check does: a self-test that failed, or that nothing can be compared.
    """
    return junit_xml(
        f"FairLeak comparison: {found.before.name} → {found.after.name}",
        stopping(
            [_case(one) for one in found.checks],
            found.verdict in ("worse", "inconclusive"),
            Case(name="Comparison", outcome="failure", kind=found.verdict, message=found.headline),
        ),
        classname="fairleak.compare",
        properties={
            "verdict": found.verdict,
            "before": found.before.fingerprint,
            "after": found.after.fingerprint,
            "margin": "none" if found.margin is None else f"{found.margin:g}",
        },
    )


def _case(found: CheckChange) -> Case:
    kind, message = "", ""
    if found.turn == Turn.WORSE:
        kind, message = "worse", f"Worse by {change_text(found).lstrip('+−')}, {change_range(found) or 'no interval'}."
    elif not found.compared:
        kind, message = "inconclusive", f"{found.turn.capitalize()}. {found.why}"
    elif found.within is False:
        interval = change_range(found, decided=True) or "no interval"
        kind, message = "inconclusive", f"Not shown to be within the margin: {interval}."
    stops = found.required and (found.compared or found.lost)
    return Case(
        name=found.title,
        outcome="passed" if not kind else "failure" if stops else "skipped",
        kind=kind,
        message=message + ("" if found.required or not kind else " It is not required."),
        evidence="\n".join(_evidence(found)),
    )


def _evidence(found: CheckChange) -> list[str]:
    told = [f"Check: {found.check}"]
    sides = (("Before", found.before, found.was), ("After", found.after, found.now))
    for name, estimate, status in sides:
        number = "no number" if estimate is None else ", ".join(filter(None, estimate_text(found.check, estimate)))
        told.append(f"{name}: {number} ({VERDICT_TITLES[status].lower() if status else 'not there'})")
    if found.compared:
        told.append(f"Change: {change_text(found)}, 95% CI {change_range(found) or 'none'}")
        told.append(f"Interval adjusted for several checks: {change_range(found, decided=True) or 'none'}")
    return [*told, f"Verdict: {found.turn}", *([found.why] if found.why else [])]
