"""``fairleak dashboard``: start the dashboard's server, from any folder."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import core
from core.cli.console import Console
from core.errors import InputError

HELP = "Start the dashboard on localhost."

_SERVER = Path(core.__file__).resolve().parents[1] / "serve.py"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--port", type=int, default=8501, metavar="N", help="Port on localhost (default: 8501).")
    parser.add_argument("--headless", action="store_true", help="No browser is opened.")


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Become the server; its settings are those of .streamlit/config.toml beside it."""
    if not 1 <= arguments.port <= 65_535:
        raise InputError(f"--port must be from 1 to 65,535, got {arguments.port}.")
    options = ["--server.port", str(arguments.port)]
    if arguments.headless:
        options += ["--server.headless", "true"]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(_SERVER), *options])
