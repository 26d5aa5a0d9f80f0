"""``fairleak compare``: two audits side by side, for people and as a gate."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from core.cli.arguments import add_file_arguments, write_json
from core.cli.console import Console, aligned
from core.cli.verify import read_report
from core.compare import CheckChange, Comparison, change_text, compare, comparison_html, comparison_junit, readable
from core.compare.changes import NO_PROOF, change_range
from core.errors import InputError
from core.files import write_file
from core.policy import estimate_text
from core.report.document import EDITIONS, Document

HELP = "Compare two audits check by check: better, worse, or not distinguishable."

_AUDIT = "a folder of fairleak audit, or a report.json or report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "exit codes: 0 better or not distinguishable; 1 worse (a required check); 2 inconclusive: a required check had "
        "a number and has none now, no required check can be compared, or one may be worse by --margin; 3 input that "
        "cannot be used. Without --margin, exit code 0 says that nothing was shown to be worse, not that nothing is."
    )
    parser.add_argument("before", type=Path, metavar="BEFORE", help=f"The earlier audit: {_AUDIT}.")
    parser.add_argument("after", type=Path, metavar="AFTER", help="The later audit, named in the same way.")
    parser.add_argument(
        "--margin",
        type=float,
        metavar="SHARE",
        help="Ask for proof that no required check is worse by so much, in its unit (0.01: one point).",
    )
    add_file_arguments(parser, "html", "junit", "json")


def run(arguments: argparse.Namespace, console: Console) -> str:
    """Compare, write and print."""
    before, after = (_document(path, name) for path, name in ((arguments.before, "BEFORE"), (arguments.after, "AFTER")))
    found = compare(before, after, margin=arguments.margin)
    console.results(_printed(found))
    if arguments.html is not None:
        write_file(arguments.html, comparison_html(found).encode(), what="--html")
        console.note(f"The comparison is in {arguments.html}.")
    if arguments.junit is not None:
        write_file(arguments.junit, comparison_junit(found), what="--junit")
    write_json(found.to_dict(), arguments, console)
    return found.verdict


def _document(path: Path, name: str) -> Document:
    """Return the report of an audit that an argument names."""
    if path.is_dir():
        places = [path / part / "report.json" for part in (*EDITIONS, "")]
        file = next((place for place in places if place.is_file()), None)
        if file is None:
            raise InputError(f"{name} must be {_AUDIT}, got a folder without a report: {str(path)!r}.")
        path = file
    _, text = read_report(path, what=name)
    return readable(text, name=f"{name} ({path})")


def _printed(found: Comparison) -> Iterator[str]:
    """Yield the verdict, the checks, and what changed."""
    yield found.headline
    if found.detail:
        yield found.detail
    yield ""
    yield f"Before: {found.before.title}, {found.before.name}: {found.before.headline}"
    yield f"After:  {found.after.title}, {found.after.name}: {found.after.headline}"
    yield ""
    header = ["verdict", "check", "before", "after", "change", "95% CI", "adjusted"]
    yield aligned(header, [_row(one) for one in found.checks], left=range(2))
    reasons = [f"{one.title}: {one.turn}. {one.why}" for one in found.checks if one.why]
    yield from ("", *reasons) if reasons else ()
    yield ""
    yield NO_PROOF
    yield found.people
    yield ""
    if not found.changed:
        yield "Data, model, plan, policy, code and seeds are the same."
        return
    cells = [[one.part, one.what, one.before, one.after] for one in found.changed]
    yield aligned(["changed", "what", "before", "after"], cells, left=range(4))


def _row(found: CheckChange) -> list[str]:
    numbers = [
        "" if estimate is None else estimate_text(found.check, estimate)[0] for estimate in (found.before, found.after)
    ]
    within = "" if found.within is None else " (within margin)" if found.within else " (beyond margin not ruled out)"
    return [
        f"{found.turn}{within}{'' if found.required else ' (not required)'}",
        found.title,
        *numbers,
        change_text(found),
        change_range(found),
        change_range(found, decided=True) if found.decided else "",
    ]
