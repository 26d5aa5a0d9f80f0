"""``fairleak report``: verify a report, sign it, make its one-page summary, or its public summary for a model card."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from types import ModuleType

from ..base.errors import FairLeakError, InputError
from ..base.files import check_writable, content_of, write_file
from ..report import public_summary, summary_markdown, verify_report
from ..report.one_page import NAME, one_page
from ..report.verification import (
    ENDING,
    VerificationIssue,
    new_key,
    private_key,
    signature_finding,
    signature_of,
)
from . import replay
from .arguments import Action, add_path, read_report, report_in, report_that_holds
from .console import Console


def _add_report(parser: argparse.ArgumentParser, help_text: str, nargs: str | None = None) -> None:
    add_path(parser, "report", nargs=nargs, metavar="REPORT", help=help_text)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    _add_report(parser, "JSON or HTML file of a report; its signature is in REPORT.sig.")
    help_text = "First 8 or more digits of the signed fingerprint."
    parser.add_argument("--fingerprint", default="", metavar="DIGITS", help=help_text)
    add_path(parser, "--signer", metavar="PUBLIC.pem", help="Public key of the required signer.")


def _verify(arguments: argparse.Namespace, console: Console) -> str:
    """Verify and print each finding."""
    path = arguments.report
    content, text = read_report(path)
    signer = None if arguments.signer is None else content_of(arguments.signer, what="--signer")
    verification = verify_report(text, signed=arguments.fingerprint, name=repr(path.name))
    findings = [*verification.findings, _signature(path, content, signer, str(arguments.signer))]
    if verification.fingerprint:
        console.result(f"Fingerprint {verification.fingerprint[:64]}")
    for finding in findings:
        label = "BROKEN " if not finding.holds else "NOTE   " if finding.note else "holds  "
        console.result(f"{label} {finding.sentence}")
    return "pass" if all(finding.holds for finding in findings) else "fail"


def _signature(path: Path, content: bytes, signer: bytes | None, name: str) -> VerificationIssue:
    beside = path.with_name(f"{path.name}{ENDING}")
    signature = content_of(beside, what="The signature") if os.path.lexists(beside) else None
    try:
        return signature_finding(content, signature, signer=signer, name=name)
    except InputError:
        raise
    except FairLeakError as error:
        return VerificationIssue("signature", False, f"Signature cannot be checked: {error}")


def _add_sign(parser: argparse.ArgumentParser) -> None:
    _add_report(parser, "JSON or HTML file of a report.", "?")
    how = parser.add_mutually_exclusive_group(required=True)
    add_path(how, "--key", metavar="KEY.pem", help="Private key; the signature goes beside the report, in REPORT.sig.")
    help_text = "New private key, without a password and readable by you alone; KEY.public.pem is for others."
    add_path(how, "--new-key", metavar="KEY.pem", help=help_text)


def _sign(arguments: argparse.Namespace, console: Console) -> None:
    """Sign, or make a key."""
    if arguments.new_key is not None:
        if arguments.report is not None:
            raise InputError("REPORT must be left out with --new-key; sign it with --key afterwards.")
        private = arguments.new_key
        _check_new(private, "--new-key")
        public = private.with_name(f"{private.name.removesuffix('.pem')}.public.pem")
        _check_new(public, "The public key of --new-key")
        private_content, public_content = new_key()
        write_file(private, private_content, what="--new-key", new=True, mode=0o600)
        write_file(public, public_content, what="The public key of --new-key", new=True, mode=0o644)
        console.result(f"{private} is the private key: it has no password, so keep it where nobody else can read it.")
        console.result(f"{public} is the public key: give it to those who verify, by a way they trust.")
        return
    if arguments.report is None:
        raise InputError("REPORT must be given with --key, got none.")
    key = private_key(content_of(arguments.key, what="--key"), name="--key")
    content, _ = report_that_holds(arguments.report, what="is signed")
    signature = arguments.report.with_name(f"{arguments.report.name}{ENDING}")
    _check_new(signature, "The signature")
    write_file(signature, signature_of(content, key).encode("ascii"), what="The signature", new=True, mode=0o644)
    console.result(f"{signature} is the signature; keep it beside the report, and change nothing in either.")


def _check_new(path: Path, what: str) -> None:
    if os.path.lexists(path):
        raise InputError(f"{what} must be a file that does not exist yet, got {str(path)!r}.")
    check_writable(path, what=what)


def _add_page(parser: argparse.ArgumentParser) -> None:
    _add_report(parser, "JSON or HTML file of a report, its folder, or an audit's folder.")
    add_path(parser, "-o", "--output", help=f"File for the page (default: {NAME} beside the report).")


def _page(arguments: argparse.Namespace, console: Console) -> None:
    """Write the page of a report."""
    report = report_in(arguments.report)
    output = arguments.output or report.with_name(NAME)
    check_writable(output, what="--output")
    _, document = report_that_holds(report, what="gets a summary")
    write_file(output, one_page(document), what="--output")
    console.result(f"{output} is the one-page summary of the internal report.")


def _add_card(parser: argparse.ArgumentParser) -> None:
    _add_report(parser, "JSON or HTML file of an internal report, its folder, or an audit's folder.")
    add_path(parser, "-o", "--output", help="File for the summary (default: it is printed).")


def _card(arguments: argparse.Namespace, console: Console) -> None:
    """Print the public summary as Markdown, or write it."""
    _, document = report_that_holds(report_in(arguments.report), what="gets a public summary")
    section = summary_markdown(public_summary(document))
    if arguments.output is None:
        console.results(section.splitlines())
    else:
        write_file(arguments.output, section.encode("utf-8"), what="--output")
        console.note(f"{arguments.output} is the public summary for a model card.")
    console.note("It holds no rates. The Model card page says with which decimals rates of groups expose nobody.")


_VERIFY = "Check that a report is unaltered, that its numbers give its verdict, and who signed it."
_SIGN = "Sign a report (JSON or HTML) with an Ed25519 key, or make the key; needs requirements-signing.txt."
_PAGE = "Write the one-page summary (PDF) of a report; needs requirements-pdf.txt."

COMMANDS: dict[str, Action | ModuleType] = {
    "verify": Action(_VERIFY, _add_verify, _verify),
    "replay": replay,
    "sign": Action(_SIGN, _add_sign, _sign),
    "page": Action(_PAGE, _add_page, _page),
    "card": Action("Write the public summary of a report as Markdown for a model card.", _add_card, _card),
}
"""Name -> command of reports."""
