"""``fairleak dashboard``: start the dashboard's server, from any folder."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..base.errors import InputError
from ..base.files import MEGABYTE
from ..base.untrusted import ask_child
from ..base.untrusted.confinement import (
    ALLOW_UNCONFINED,
    PROTECTIONS,
    UNCONFINED,
    is_unconfined_allowed,
)
from ..store.prepared import default_folder
from .console import Block, Console

HELP = "Start the dashboard on localhost."

_SERVER = Path(__file__).resolve().parents[2] / "serve.py"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--port", type=int, default=8501, metavar="N", help="Port on localhost (default: 8501)."
    )
    parser.add_argument("--headless", action="store_true", help="No browser is opened.")
    parser.add_argument(
        "--check",
        action="store_true",
        help="Start no server: try what a process that opens an uploaded file can reach on this system, and say it; "
        "name the folder of the demo's prepared results.",
    )
    parser.add_argument(
        "--allow-unconfined",
        action="store_true",
        help="Open model files even where this system cannot keep the process that does from other files.",
    )


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Become the server; its settings are those of .streamlit/config.toml beside it."""
    if not 1 <= arguments.port <= 65_535:
        raise InputError(f"--port must be from 1 to 65,535, got {arguments.port}.")
    if arguments.allow_unconfined:
        os.environ[ALLOW_UNCONFINED] = "1"
    if arguments.check:
        console.result(_what_is_confined())
        return
    options = ["--server.port", str(arguments.port)]
    if arguments.headless:
        options += ["--server.headless", "true"]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(_SERVER), *options])


_TRIED = {
    "files": "opening a file",
    "network": "opening a connection",
    "processes": "starting a process",
}
"""Protection -> what is tried, to measure it."""


def _what_is_confined() -> Block:
    """Return what a process that opens a stranger's file was refused just now, a line each, and what follows."""
    refused, _ = ask_child("The check", "core.base.untrusted.confinement:probe", {}, seconds=30)
    lines = ["In a process that opens an uploaded file, on this system:"]
    for protection in PROTECTIONS:
        outcome = "refused" if refused[protection] else "possible"
        lines.append(f"  {_TRIED[protection]}: {outcome}")
    if all(refused.values()):
        lines.append("Tables and model files are opened there.")
    elif is_unconfined_allowed():
        lines.append("Tables are opened there; model files too, because that was allowed.")
    else:
        lines.append(f"Tables are opened there. {UNCONFINED}")
    return Block.of([*lines, _what_is_prepared()])


def _what_is_prepared() -> str:
    """Return where the demo's results lie from one start to the next, and how much room they take."""
    folder = default_folder()
    sizes = [path.lstat().st_size for path in folder.rglob("*") if path.is_file()]
    megabytes = sum(sizes) / MEGABYTE
    return f"Prepared results of the demo, which can be deleted: {folder} ({len(sizes)} files, {megabytes:.1f} MB)."
