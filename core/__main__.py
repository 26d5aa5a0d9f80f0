"""The command line: ``fairleak COMMAND`` where it is installed, ``python -m core COMMAND`` in a clone.

Exit codes: 0 pass, 1 fail, 2 inconclusive or not run, 3 unusable input (usage errors too), 130 stopped by Ctrl-C.
Unusable input is answered with one sentence, never with a traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from core import __version__
from core.errors import FairLeakError
from core.files import is_full

STOPPED = 130
PROGRAM = "fairleak" if Path(sys.argv[0]).stem == "fairleak" else "python -m core"
"""What the user typed to get here."""

# The commands are imported where they are used: a spawned worker imports this file and needs none of them.


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    from core.cli import COMMANDS
    from core.cli.arguments import Parser

    made = Parser(prog=PROGRAM, description="FairLeak: what a fair model gives away.", allow_abbrev=False)
    made.add_argument("--version", action="version", version=f"FairLeak {__version__}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        own = commands.add_parser(command.NAME, help=command.HELP, description=command.HELP, allow_abbrev=False)
        command.add_arguments(own)
        own.set_defaults(run=command.run)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        return _run(parser().parse_args(argv))
    except KeyboardInterrupt:
        return STOPPED


def _run(arguments: argparse.Namespace) -> int:
    from core.cli import Console
    from core.cli.arguments import UNUSABLE, check_files

    console = Console(out=sys.stdout, err=sys.stderr)
    try:
        check_files(arguments)
        code: int = arguments.run(arguments, console) or 0
        sys.stdout.flush()
        return code
    except FairLeakError as error:
        action = getattr(arguments, "action", None)
        name = " ".join([PROGRAM, arguments.command, *([action] if action else [])])
        console.note(f"{name}: {error}")
        return UNUSABLE
    except MemoryError:
        console.note(f"{PROGRAM} {arguments.command}: This needs more memory than there is.")
        return UNUSABLE
    except BrokenPipeError:  # whoever read the tables has seen enough
        _close_output()
        return 0
    except OSError as error:
        if not is_full(error):
            raise
        try:
            sys.stdout.flush()
        except OSError:
            _close_output()
        console.note(f"{PROGRAM} {arguments.command}: The disk is full; make room and start again.")
        return UNUSABLE


def _close_output() -> None:
    """Let what is still to be written to the results go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
