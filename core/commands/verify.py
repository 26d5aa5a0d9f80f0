"""``python -m core verify``: whether a report is as it was written, and whether this FairLeak wrote it.

Exit codes: 0 everything holds, 1 something does not, 3 the file is no report.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.console import Console
from core.errors import InputError

__all__ = ["HELP", "NAME", "add_arguments", "run"]

NAME = "verify"
HELP = "tell whether a report (JSON or HTML) was altered, and whether this FairLeak wrote it"

_LARGEST = 64 * 1024**2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("report", metavar="REPORT", help="JSON or HTML file of a report")
    parser.add_argument(
        "--fingerprint", default="", metavar="DIGITS", help="as signed: the first 8 or more digits of its fingerprint"
    )
    parser.add_argument(
        "--any-code", action="store_true", help="do not ask for the code, and the page's look, of this FairLeak"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Verify and say so."""
    from core.report import verify_report

    path = Path(arguments.report)
    found = verify_report(_text(path), signed=arguments.fingerprint, name=repr(path.name))
    if found.fingerprint:
        console.result(f"Fingerprint {found.fingerprint[:64]}")
    asked = [f for f in found.findings if not (arguments.any_code and f.name in ("code", "page"))]
    for finding in asked:
        console.result(f"{'holds  ' if finding.holds else 'BROKEN '} {finding.told}")
    return 0 if all(finding.holds for finding in asked) else 1


def _text(path: Path) -> str:
    """Return a file's text.

    Raises
    ------
    InputError
        If it cannot be read, is too large or is no text.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"A report must not be larger than {_LARGEST // 1024**2} MB, got {path.name!r}.")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{path.name!r} must be a report of FairLeak, report.json or report.html, got no text."
        ) from None
    except OSError as error:
        raise InputError(f"The report {path.name!r} cannot be read: {error.strerror}.") from None
