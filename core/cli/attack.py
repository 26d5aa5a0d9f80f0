"""``python -m core attack NAME --set key=value``: any study by its name, its settings by theirs.

Of the studies with a command of their own it is that command, whose flags are made from the keys: what that prints,
this prints, and ends with its exit code. Any other is run on a trained model, and prints its findings and tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from core.cli import attribution, attriguard, membership, model_card, reveal
from core.cli.arguments import (
    Parser,
    add_dataset_arguments,
    add_file_arguments,
    check_files,
    dataset_of,
)
from core.cli.console import Console
from core.cli.outcome import Outcome, present
from core.config import AuditConfig
from core.errors import InputError
from core.quantities import Quantity
from core.serialize import plain
from core.settings import add_arguments as add_settings
from core.settings import from_arguments
from core.studies import STUDIES
from core.study import Measurement, Study
from core.subject import subject_of

NAME = "attack"
HELP = "run a study by its name: correction, queries, membership, attriguard or model_card"

COMMANDS = {
    "correction": attribution,
    "queries": reveal,
    "membership": membership,
    "attriguard": attriguard,
    "model_card": model_card,
}
"""Studies with a command of their own."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    names = tuple(dict.fromkeys((*COMMANDS, *STUDIES)))
    parser.epilog = "keys and values are those of the flags of " + ", ".join(
        f"{command.NAME} ({name})" for name, command in COMMANDS.items()
    )
    parser.add_argument("action", metavar="NAME", choices=names, help=f"one of {', '.join(names)}")
    parser.add_argument(
        "--set",
        dest="told",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting, such as dataset=adult, seed=1 or csv=out.csv; may be given several times",
    )


def run(arguments: argparse.Namespace, console: Console) -> int | None:
    """Run the study's command, or the study itself."""
    name = arguments.action
    parser = Parser(prog=f"python -m core {NAME} {name}", add_help=False, allow_abbrev=False)
    if name in COMMANDS:
        COMMANDS[name].add_arguments(parser)
    else:
        _add_arguments(parser, STUDIES[name])
    keys = {_key(action): action for action in parser._actions}
    own = parser.parse_args([word for told in arguments.told for word in _words(told, keys)])
    check_files(own)
    if name not in COMMANDS:
        _run(STUDIES[name], own, console)
        return None
    code: int | None = COMMANDS[name].run(own, console)
    return code


def _add_arguments(parser: argparse.ArgumentParser, study: Study[Any, Any]) -> None:
    """Add the arguments of a study: the dataset's, the model's and its own settings."""
    add_dataset_arguments(parser)
    own = {field.name for field in fields(study.settings)}
    add_settings(parser, AuditConfig, *(name for name in _MODEL if name not in own))
    add_settings(parser, study.settings)
    add_file_arguments(parser)


_MODEL = ("method", "metric", "tolerance", "epsilon", "train_share", "seed")


def _run(study: Study[Any, Any], own: argparse.Namespace, console: Console) -> None:
    """Run a study on a model that is trained as the arguments say; print and write what it found."""
    config = from_arguments(own, AuditConfig, dataset=own.dataset)
    settings = from_arguments(own, study.settings)
    subject = subject_of(config, dataset_of(own))
    if reason := study.unavailable(subject, settings):
        raise InputError(reason)
    *_, result = study.run(subject, settings, console.counting("steps"))
    checks = list(map(_check_row, study.checks(result, settings).values()))
    found = Outcome(
        about=(f"{subject.dataset.title}: {study.title.lower()}, model {config.method}, seed {config.seed}",),
        findings=study.findings(result, settings),
        tables={"Checks": checks, **study.tables(result, settings)},
        settings={"study": study.name, "model": plain(config), "settings": plain(settings)},
    )
    present(found, own, console)


def _check_row(own: Measurement) -> dict[str, Any]:
    value, control = Quantity(own.estimate), Quantity(own.control)
    control_name = own.control_name if own.control is not None else ""
    return {"check": own.check, "value": value, "control": control, "control is": control_name, "note": own.reason}


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
