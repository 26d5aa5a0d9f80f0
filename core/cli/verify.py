"""``fairleak report verify``: whether a report is unaltered, follows from its own numbers, and who signed it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from core.cli.console import Console
from core.errors import FairLeakError, InputError
from core.files import MEGABYTE, content_of
from core.report import EDITIONS, verify_report
from core.report.document import Document
from core.report.verification import ENDING, NOT_SIGNED, OF_THIS_CODE, Finding, document_in, signature_finding

HELP = "Check that a report is unaltered and follows from its own numbers, and who signed it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "report", metavar="REPORT", help="JSON or HTML file of a report; its signature is in REPORT.sig."
    )
    parser.add_argument(
        "--fingerprint", default="", metavar="DIGITS", help="First 8 or more digits of the signed fingerprint."
    )
    parser.add_argument("--signer", type=Path, metavar="PUBLIC.pem", help="Public key of the required signer.")
    parser.add_argument(
        "--any-code",
        action="store_true",
        help="A report of another version of FairLeak: its code, look and words are not compared.",
    )


def run(arguments: argparse.Namespace, console: Console) -> str:
    """Verify and print each finding."""
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
    return "pass" if all(finding.holds for finding in asked) else "fail"


def _signature(path: Path, content: bytes, signer: bytes | None, name: str) -> Finding:
    beside = path.with_name(f"{path.name}{ENDING}")
    signature = content_of(beside, what="The signature") if os.path.lexists(beside) else None
    try:
        return signature_finding(content, signature, signer=signer, name=name)
    except InputError:
        raise
    except FairLeakError as error:
        return Finding("signature", False, f"Signature cannot be checked: {error}")


def reports_in(path: Path) -> tuple[Path, ...]:
    """Return the reports that a file, a report's folder or an audit's folder is or holds, the internal one first."""
    if not path.is_dir():
        return (path,)
    folders = (path, *(path / edition for edition in EDITIONS))
    found = tuple(folder / "report.json" for folder in folders if (folder / "report.json").is_file())
    if not found:
        raise InputError(f"REPORT must be a report or a folder that holds one, got the folder {str(path)!r}.")
    return found


def report_that_holds(path: Path, *, what: str) -> tuple[bytes, Document]:
    """Return the bytes and the document of a report that was not altered; others are refused, for `what` is done."""
    content, text = read_report(path)
    found = verify_report(text, name=repr(path.name))
    if broken := next((f for f in found.findings if not f.holds and f.name not in OF_THIS_CODE), None):
        raise InputError(f"Only a report that holds {what}: {broken.told}")
    return content, document_in(text)


def read_report(path: Path, *, what: str = "REPORT") -> tuple[bytes, str]:
    """Return a report's bytes, and the text they are."""
    content = content_of(path, what=what, most=64 * MEGABYTE)
    try:
        return content, content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{path.name!r} must be a report of FairLeak, report.json or report.html, got no text."
        ) from None
