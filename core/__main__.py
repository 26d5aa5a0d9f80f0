"""The command line: ``fairleak COMMAND``, or ``python -m core COMMAND`` in a clone.

Exit codes: 0 pass, 1 fail, 2 inconclusive or not run, 3 unusable input (usage errors too), 130 stopped by Ctrl-C.
Unusable input is answered with one sentence, never with a traceback. A verdict is the last line on stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import __version__
from .base.errors import FairLeakError
from .base.files import is_full

if TYPE_CHECKING:
    from .cli import CommandGroup
    from .cli.arguments import Action

STOPPED = 130
PROGRAM = "fairleak"

_EPILOG = (
    "exit codes: 0 pass or done, 1 fail, 2 inconclusive or not run, 3 input that cannot be used."
)

# The commands are imported where they are used: a spawned worker imports this file and needs none of them.


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    from .cli import commands
    from .cli.arguments import Parser

    command_parser = Parser(
        prog=PROGRAM,
        description="What a fair model reveals about people.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    command_parser.add_argument("--version", action="version", version=f"FairLeak {__version__}")
    inner = command_parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in commands().items():
        _add(inner, name, command)
    return command_parser


def _add(
    parsers: argparse._SubParsersAction[Any], name: str, command: Action | CommandGroup
) -> None:
    """Add a command, or a group with its commands."""
    from .cli import CommandGroup
    from .cli.arguments import add_quiet_argument

    if isinstance(command, CommandGroup):
        subparser = parsers.add_parser(
            name, help=command.help, description=command.description or command.help
        )
        subparser.epilog = command.epilog
        subparser.allow_abbrev = False
        if command.epilog:
            subparser.formatter_class = argparse.RawDescriptionHelpFormatter
        inner = subparser.add_subparsers(
            dest="action", metavar="ACTION", required=True, parser_class=command.parser
        )
        for part, subcommand in command.commands.items():
            _add(inner, part, subcommand)
        return
    subparser = parsers.add_parser(
        name, help=command.help, description=command.help, allow_abbrev=False
    )
    command.add_arguments(subparser)
    add_quiet_argument(subparser)
    subparser.set_defaults(run=command.run, program=subparser.prog)


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
