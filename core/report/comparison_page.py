"""A comparison as one HTML file in the look of the report, and what the board of checks says of it."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..auditing.policy import VERDICT_TITLES, estimate_text
from ..auditing.policy.verdict import on_scale
from .charts import bar
from .comparison import NO_PROOF, CheckChange, Comparison, Turn, change_range, change_text
from .page import environment, logo

COLOURS = {"worse": "fail", "better": "pass", "inconclusive": "inconclusive"}
"""Verdict of a comparison, or of a check in it -> the verdict whose colour and mark it has; others have none."""


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as a page."""
    return (
        environment()
        .get_template("compare.html")
        .render(
            found=comparison,
            checks=[_row(check) for check in comparison.checks],
            verdict=COLOURS.get(comparison.verdict, "not_run"),
            running="FairLeak comparison of two audits, internal",
            fingerprint=comparison.after.fingerprint,
            logo=logo(),
            no_proof=NO_PROOF,
            margin="" if comparison.margin is None else f"{comparison.margin:g}",
        )
    )


def _row(check_change: CheckChange) -> dict[str, Any]:
    numbers = [
        _number_and_interval(check_change.check, estimate)
        for estimate in (check_change.before, check_change.after)
    ]
    verdicts = [
        VERDICT_TITLES[status] if status else "none"
        for status in (check_change.was, check_change.now)
    ]
    return {
        "title": check_change.title,
        "turn": check_change.turn,
        "colour": COLOURS.get(check_change.turn, "not_run"),
        "required": check_change.required,
        "before": numbers[0],
        "after": numbers[1],
        "verdicts": " → ".join(verdicts),
        "change": change_text(check_change),
        "range": change_range(check_change),
        "decided": change_range(check_change, decided=True),
        "within": check_change.within,
        "why": check_change.why,
        "bar": _bar(check_change),
    }


def _number_and_interval(check: str, estimate: Any) -> tuple[str, str]:
    if estimate is None:
        return "no number", ""
    value, interval = estimate_text(check, estimate)
    return value, "" if interval == "no interval" else interval


def _bar(check_change: CheckChange) -> Markup:
    """Return the change with its adjusted interval; the stroke is no change, the ends are the limit to either side."""
    if check_change.change is None:
        return Markup("")
    interval = check_change.decided or check_change.change
    span = abs(check_change.limit or 0.0) or max(abs(check_change.change.value), 0.05)
    places = on_scale(check_change.change.value, interval, middle=0.0, span=span)
    description = (
        f"Change {change_text(check_change)}, {check_change.turn}. The middle is no change."
    )
    return bar(check_change.check, places, description, COLOURS.get(check_change.turn, "not_run"))


def since(check_change: CheckChange) -> tuple[str, str, str]:
    """Return what the column "Since" says of a check: number, word, and the verdict whose colour the word has."""
    if check_change.turn != Turn.UNCHANGED:
        number = change_text(check_change, unit=False)
    else:
        number = ""
    return number, str(check_change.turn), COLOURS.get(check_change.turn, "")
