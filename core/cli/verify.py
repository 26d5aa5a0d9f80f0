"""``python -m core verify``: whether a report is as written, holds, and who signed it.

Exit codes: 0 everything holds, 1 something does not, 3 the file is no report.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from core.cli.console import Console
from core.errors import FairLeakError, InputError
from core.files import MEGABYTE, content_of
from core.report import verify_report
from core.report.verification import ENDING, NOT_SIGNED, OF_THIS_CODE, Finding, signature_finding

NAME = "verify"
HELP = "judge a report (JSON or HTML) again by its own numbers, and tell whether it was altered and who signed it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("report", metavar="REPORT", help="JSON or HTML file of a report; its signature is REPORT.sig")
    parser.add_argument(
        "--fingerprint", default="", metavar="DIGITS", help="as signed: the first 8 or more digits of its fingerprint"
    )
    parser.add_argument("--signer", type=Path, metavar="PUBLIC.pem", help="public key of who must have signed it")
    parser.add_argument(
        "--any-code",
        action="store_true",
        help="do not ask for the code of this FairLeak, its page's look and the words of its checks",
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Verify and say so."""
    path = Path(arguments.report)
    content, text = read_report(path)
    signer = None if arguments.signer is None else content_of(arguments.signer, what="--signer")
    found = verify_report(text, signed=arguments.fingerprint, name=repr(path.name))
    asked = [f for f in found.findings if not (arguments.any_code and f.name in OF_THIS_CODE)]
    asked.append(_signature(path, content, signer, str(arguments.signer)))
    if found.fingerprint:
        console.result(f"Fingerprint {found.fingerprint[:64]}")
    for finding in asked:
        label = "NOTE   " if finding.told == NOT_SIGNED else "holds  "
        console.result(f"{label if finding.holds else 'BROKEN '} {finding.told}")
    return 0 if all(finding.holds for finding in asked) else 1


def _signature(path: Path, content: bytes, signer: bytes | None, name: str) -> Finding:
    beside = path.with_name(f"{path.name}{ENDING}")
    signature = content_of(beside, what="The signature") if os.path.lexists(beside) else None
    try:
        return signature_finding(content, signature, signer=signer, name=name)
    except InputError:
        raise
    except FairLeakError as error:
        return Finding(name="signature", holds=False, told=f"Signature cannot be checked: {error}")


def read_report(path: Path) -> tuple[bytes, str]:
    """Return a report's bytes, and the text they are."""
    content = content_of(path, what="REPORT", most=64 * MEGABYTE)
    try:
        return content, content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{path.name!r} must be a report of FairLeak, report.json or report.html, got no text."
        ) from None
