"""A comparison as JUnit XML: what is worse, or no longer shown not to be, has failed."""

from __future__ import annotations

from core.compare.changes import CheckChange, Comparison, Turn, change_range, change_text
from core.policy import VERDICT_TITLES, estimate_text
from core.report.junit import Case, junit_xml


def comparison_junit(found: Comparison) -> bytes:
    """Return the checks as test cases; failures are required ones, so that there is one wherever a check stops a gate.

    Skipped is what cannot be compared and was not measured before either, and what is worse but not required.
    """
    return junit_xml(
        f"FairLeak comparison: {found.before.name} → {found.after.name}",
        [_case(one) for one in found.checks],
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
        kind, message = "worse", f"Worse by {change_text(found).lstrip('+−')}, {change_range(found)}."
    elif not found.compared:
        kind, message = "inconclusive", f"{found.turn.capitalize()}. {found.why}"
    elif found.within is False:
        kind, message = "inconclusive", f"Not shown to be within the margin: {change_range(found, decided=True)}."
    stops = found.required and (found.compared or found.before is not None)
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
