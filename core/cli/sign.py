"""``fairleak report sign``: sign a report that passes verification, or make the key to sign with."""

from __future__ import annotations

import argparse
import os.path
from pathlib import Path

from core.cli.console import Console
from core.cli.verify import report_that_holds
from core.errors import InputError
from core.files import check_place, content_of, write_file
from core.report.verification import ENDING, new_key, private_key, signature_of

HELP = "Sign a report (JSON or HTML) with an Ed25519 key, or make the key; needs requirements-signing.txt."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("report", nargs="?", type=Path, metavar="REPORT", help="JSON or HTML file of a report.")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument(
        "--key",
        type=Path,
        metavar="KEY.pem",
        help="Private key; the signature goes beside the report, in REPORT.sig.",
    )
    how.add_argument(
        "--new-key",
        type=Path,
        metavar="KEY.pem",
        help="New private key, without a password and readable by you alone; KEY.public.pem is for others.",
    )


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Sign, or make a key."""
    if arguments.new_key is not None:
        if arguments.report is not None:
            raise InputError("REPORT must be left out with --new-key; sign it with --key afterwards.")
        private = arguments.new_key
        _check_new(private, "--new-key")
        public = private.with_name(f"{private.name.removesuffix('.pem')}.public.pem")
        _check_new(public, "The public key of --new-key")
        own, shared = new_key()
        write_file(private, own, what="--new-key", new=True, mode=0o600)
        write_file(public, shared, what="The public key of --new-key", new=True, mode=0o644)
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
    check_place(path, what=what)
