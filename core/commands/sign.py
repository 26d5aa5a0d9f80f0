"""``python -m core sign``: sign a report that holds, or make the key to sign with.

Exit codes: 0 signed or made, 3 unusable input.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from core.commands.console import Console
from core.commands.verify import content_of, text_of
from core.errors import InputError

__all__ = ["HELP", "NAME", "add_arguments", "run"]

NAME = "sign"
HELP = "sign a report (JSON or HTML) with an Ed25519 key, or make the key; needs requirements-signing.txt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("report", nargs="?", type=Path, metavar="REPORT", help="JSON or HTML file of a report")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument(
        "--key",
        type=Path,
        metavar="KEY.pem",
        help="the private key; the signature goes beside the report, in REPORT.sig",
    )
    how.add_argument(
        "--new-key",
        type=Path,
        metavar="KEY.pem",
        help="make a private key, without a password and readable by you alone, and KEY.public.pem for others",
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Sign, or make a key."""
    from core.report import verify_report
    from core.report.signing import ENDING, new_key, private_key, signature_of
    from core.report.verification import OF_THIS_CODE

    if arguments.new_key is not None:
        if arguments.report is not None:
            raise InputError("REPORT must be left out with --new-key; sign it with --key afterwards.")
        private = arguments.new_key
        public = private.with_name(f"{private.name.removesuffix('.pem')}.public.pem")
        _refuse([private, public], "--new-key")
        made, told = new_key()
        _write(private, made, 0o600)
        _write(public, told, 0o644)
        console.result(f"{private} is the private key: it has no password, so keep it where nobody else can read it.")
        console.result(f"{public} is the public key: give it to whoever verifies, by a way they trust.")
        return 0
    if arguments.report is None:
        raise InputError("REPORT must be given with --key, got none.")
    signature = arguments.report.with_name(f"{arguments.report.name}{ENDING}")
    _refuse([signature], "The signature")
    key = private_key(content_of(arguments.key, "--key"), name="--key")
    content = content_of(arguments.report, "REPORT")
    found = verify_report(text_of(content, arguments.report), name=repr(arguments.report.name))
    if broken := next((f for f in found.findings if not f.holds and f.name not in OF_THIS_CODE), None):
        raise InputError(f"Only a report that holds is signed: {broken.told}")
    _write(signature, signature_of(content, key).encode("ascii"), 0o644)
    console.result(f"{signature} is the signature; keep it beside the report, and change nothing in either.")
    return 0


def _refuse(paths: list[Path], what: str) -> None:
    for path in paths:
        if os.path.lexists(path):
            raise InputError(f"{what} must be a file that does not exist yet, got {str(path)!r}.")


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a new file; one that is there, or a link, is left alone."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
