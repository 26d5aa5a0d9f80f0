"""The command line: ``fairleak COMMAND``, or ``python -m core COMMAND`` in a clone.

Exit codes: 0 pass, 1 fail, 2 inconclusive or not run, 3 unusable input (usage errors too), 130 stopped by Ctrl-C.
Unusable input is answered with one sentence, never with a traceback. A verdict is the last line on stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import __version__
from .base.errors import FairLeakError
from .base.files import is_full

STOPPED = 130
PROGRAM = "fairleak"

_EPILOG = (
    "exit codes: 0 pass or done, 1 fail, 2 inconclusive or not run, 3 input that cannot be used."
)

# The commands are imported where they are used: a spawned worker imports this file and needs none of them.


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    from .cli import add_commands, commands
    from .cli.arguments import Parser

    command_parser = Parser(
        prog=PROGRAM,
        description="What a fair model reveals about people.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    command_parser.add_argument("--version", action="version", version=f"FairLeak {__version__}")
    add_commands(command_parser, commands(), noun="command")
    return command_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        return _run(parser().parse_args(argv))
    except KeyboardInterrupt:
        return STOPPED


def _run(arguments: argparse.Namespace) -> int:
    from .cli import VERDICTS, Console
    from .cli.arguments import UNUSABLE, check_files

    console = Console(out=sys.stdout, err=sys.stderr, quiet=arguments.quiet)
    try:
        check_files(arguments)
        verdict: str | None = arguments.run(arguments, console)
        sys.stdout.flush()
        if verdict is not None:
            console.alert(verdict)
        if verdict is None:
            return 0
        return VERDICTS[verdict]
    except FairLeakError as error:
        if error.details:
            headline = str(error).split("\n")[0]
        else:
            headline = str(error)
        console.alert(f"{arguments.program}: {headline}")
        for line in error.details:
            console.alert(f"- {line}")
        return UNUSABLE
    except MemoryError:
        console.alert(f"{arguments.program}: This needs more memory than there is.")
        return UNUSABLE
    except BrokenPipeError:  # the reader of the tables has seen enough
        _close_output()
        return 0
    except OSError as error:
        if not is_full(error):
            raise
        try:
            sys.stdout.flush()
        except OSError:
            _close_output()
        console.alert(f"{arguments.program}: The disk is full; make room and start again.")
        return UNUSABLE


def _close_output() -> None:
    """Let what is still to be written to the results go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
