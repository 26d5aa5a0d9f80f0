"""``python -m core attack NAME --set key=value``: any study by its name, its settings by theirs.

It is the study's own command, whose flags are made from the keys: what that prints, this prints, and ends with its
exit code.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from core.cli import attribution, attriguard, membership, model_card, reveal
from core.cli.arguments import Parser, check_files
from core.cli.console import Console
from core.errors import InputError

NAME = "attack"
HELP = "run a study by its name: correction, queries, membership, attriguard or model_card"

STUDIES = {
    "correction": attribution,
    "queries": reveal,
    "membership": membership,
    "attriguard": attriguard,
    "model_card": model_card,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = "keys and values are those of the flags of " + ", ".join(
        f"{command.NAME} ({name})" for name, command in STUDIES.items()
    )
    parser.add_argument("action", metavar="NAME", choices=STUDIES, help=f"one of {', '.join(STUDIES)}")
    parser.add_argument(
        "--set",
        dest="told",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting, such as dataset=adult, seed=1 or csv=out.csv; may be given several times",
    )


def run(arguments: argparse.Namespace, console: Console) -> int | None:
    """Run the study's command."""
    command = STUDIES[arguments.action]
    parser = Parser(prog=f"python -m core {NAME} {arguments.action}", add_help=False, allow_abbrev=False)
    command.add_arguments(parser)
    keys = {_key(action): action for action in parser._actions}
    own = parser.parse_args([word for told in arguments.told for word in _words(told, keys)])
    check_files(own)
    code: int | None = command.run(own, console)
    return code


def _key(action: argparse.Action) -> str:
    return action.option_strings[0].strip("-").replace("-", "_") if action.option_strings else action.dest


def _words(told: str, keys: Mapping[str, argparse.Action]) -> Iterator[str]:
    """Yield what stands on the command's own line for a setting."""
    key, sign, value = told.partition("=")
    if not sign or key not in keys:
        raise InputError(f"--set must be KEY=VALUE with a key among {', '.join(keys)}, got {told!r}.")
    flags = keys[key].option_strings
    if not flags:  # a file that the command is about
        yield value
    elif keys[key].nargs != 0:
        yield f"{flags[0]}={value}"
    elif value == "true" or (value == "false" and len(flags) > 1):
        yield flags[value == "false"]
    elif value != "false":
        raise InputError(f"--set {key} must be true or false, got {value!r}.")
