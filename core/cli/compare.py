"""``fairleak compare``: two audits side by side, for people and as a gate."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from ..auditing.policy import estimate_text
from ..base.errors import InputError
from ..base.files import write_file
from ..report import Report, to_json
from ..report.comparison import (
    NO_PROOF,
    CheckChange,
    Comparison,
    change_range,
    change_text,
    compare,
    comparison_html,
)
from ..report.verification import readable
from ..stats.estimates import Estimate
from ..store.events import Entry
from ..store.history import History
from .arguments import add_file_arguments, add_history_argument, read_report, report_in
from .console import Console, aligned, write_json

HELP = "Compare two audits check by check."

_AUDIT = "a folder of fairleak audit, or a report.json or report.html"

_PROJECT_AUDIT = (
    "released (the last one whose last decision releases it), latest, or a number "
    "or fingerprint of its list"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "exit codes: 0 better or not distinguishable; 1 worse (a required check); 2 inconclusive: a required check "
        "cannot be compared though it had a number or fails now, no required check can be compared, or one may be "
        "worse by --margin; 3 input that cannot be used. Without --margin, exit code 0 says that nothing was shown to "
        "be worse, not that nothing is."
    )
    parser.add_argument(
        "before",
        metavar="BEFORE",
        help=f"The earlier audit: {_AUDIT}; with --project also {_PROJECT_AUDIT}.",
    )
    parser.add_argument("after", metavar="AFTER", help="The later audit, named in the same way.")
    parser.add_argument(
        "--project", metavar="NAME", help="Project of the history with an audit that is no file."
    )
    add_history_argument(parser)
    help_text = (
        "Ask for proof that no required check is worse by so much, in its unit (0.01: one point)."
    )
    parser.add_argument("--margin", type=float, metavar="SHARE", help=help_text)
    add_file_arguments(parser, "html", "json")


def run(arguments: argparse.Namespace, console: Console) -> str:
    """Compare, write and print."""
    before, after = (_document(arguments, name, console) for name in ("before", "after"))
    comparison = compare(before, after, margin=arguments.margin)
    console.results(_printed(comparison))
    if arguments.html is not None:
        write_file(arguments.html, comparison_html(comparison).encode(), what="--html")
        console.note(f"The comparison is in {arguments.html}.")
    write_json(comparison, arguments, console)
    return comparison.verdict


def _document(arguments: argparse.Namespace, argument: str, console: Console) -> Report:
    """Return the report of the audit that an argument names: a path, or else an audit of the project."""
    path = Path(getattr(arguments, argument))
    name = argument.upper()
    if arguments.project is not None and not os.path.lexists(path):
        history = History.open(arguments.history, create=False)
        entry = _entry(history, str(path), arguments.project)
        signed = history.signatures(entry)
        console.note(
            f"{name} is audit {entry.id}. {signed[-1].sentence if signed else 'It is not signed.'}"
        )
        return readable(to_json(history.document(entry)), name=name)
    path = report_in(path, what=name)
    _, text = read_report(path, what=name)
    return readable(text, name=f"{name} ({path})")


def _entry(history: History, audit: str, project: str) -> Entry:
    """Return an audit of a project."""
    if audit == "latest" and (entries := history.entries(project)):
        return entries[0]
    if audit == "released":
        last = {
            signature.fingerprint: signature for signature in history.signatures(project=project)
        }  # a later one overrules
        signed = [
            signature
            for signature in last.values()
            if signature.decision in ("release", "accept_risk")
        ]
        if not signed:
            raise InputError(
                f"No audit of the project {project!r} is signed for release in {history.location}."
            )
        latest = max(signed, key=lambda signature: signature.number)
        return next(
            entry for entry in history.entries(project, deleted=True) if latest.covers(entry)
        )
    return history.find(audit, project=project)


def _printed(comparison: Comparison) -> Iterator[str]:
    """Yield the verdict, the checks, and what changed."""
    yield comparison.headline
    if comparison.detail:
        yield comparison.detail
    yield ""
    yield f"Before: {comparison.before.title}, {comparison.before.name}: {comparison.before.headline}"
    yield f"After:  {comparison.after.title}, {comparison.after.name}: {comparison.after.headline}"
    yield ""
    header = ["verdict", "check", "before", "after", "change", "95% CI", "adjusted"]
    yield aligned(header, [_row(check) for check in comparison.checks], left=range(2))
    reasons = [
        f"{check.title}: {check.turn}. {check.why}" for check in comparison.checks if check.why
    ]
    if reasons:
        yield ""
        yield from reasons
    yield ""
    yield NO_PROOF
    yield comparison.people
    yield ""
    if not comparison.changed:
        yield comparison.nothing_changed
        return
    cells = [
        [change.part, change.what, change.before, change.after] for change in comparison.changed
    ]
    yield aligned(["changed", "what", "before", "after"], cells, left=range(4))


def _row(change: CheckChange) -> list[str]:
    verdict = str(change.turn)
    if change.within is not None:
        verdict += " (within the margin)" if change.within else " (may exceed the margin)"
    if not change.required:
        verdict += " (not required)"
    adjusted = ""
    if change.decided:
        adjusted = change_range(change, decided=True)
    return [
        verdict,
        change.title,
        _number(change.check, change.before),
        _number(change.check, change.after),
        change_text(change),
        change_range(change),
        adjusted,
    ]


def _number(check: str, estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return estimate_text(check, estimate)[0]
