"""The commands, an `Action` each; `commands` is their tree.

A command prints through the console it is handed. It returns None, or a word of `VERDICTS`: the exit code follows from
the word, which is the last line on stderr. An error of FairLeak is exit code 3, unusable input.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from . import (
    audit,
    desk,
    experiment,
    history,
    report,
    start,
)
from .arguments import Action, Parser
from .attack import StudyParser, attack_studies, study_command
from .console import Console

__all__ = ["VERDICTS", "Console", "add_commands", "commands"]

VERDICTS = {
    "pass": 0,
    "better": 0,
    "not distinguishable": 0,
    "fail": 1,
    "refused": 1,
    "worse": 1,
    "inconclusive": 2,
    "not run": 2,
}
"""Verdict of a command -> its exit code."""


def add_commands(
    parser: argparse.ArgumentParser,
    commands: Mapping[str, Action],
    *,
    noun: str,
    parser_class: type[Parser] = Parser,
) -> None:
    """Add commands, by their names, to the parser of the program or of a group."""
    parsers = parser.add_subparsers(
        dest=noun, metavar=noun.upper(), required=True, parser_class=parser_class
    )
    for name, command in commands.items():
        subparser = parsers.add_parser(
            name, help=command.help, description=command.help, allow_abbrev=False
        )
        command.add_arguments(subparser)
        if command.run is not None:
            quiet_help = "No progress and no notes on stderr."
            subparser.add_argument("-q", "--quiet", action="store_true", help=quiet_help)
            subparser.set_defaults(run=command.run, program=subparser.prog)


def _group(
    help: str,
    commands: Mapping[str, Action],
    *,
    description: str = "",
    epilog: str = "",
    parser_class: type[Parser] = Parser,
) -> Action:
    """Return commands under one name, as in `fairleak report verify`."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.description = description or help
        if epilog:
            parser.epilog = epilog
            parser.formatter_class = argparse.RawDescriptionHelpFormatter
        add_commands(parser, commands, noun="action", parser_class=parser_class)

    return Action(help, add)


def _attacks() -> dict[str, Action]:
    """Return study -> its command."""
    return {name: study_command(study) for name, study in attack_studies().items()}


def commands() -> Mapping[str, Action]:
    """Return the tree of commands: name -> a command or a group of them."""
    return {
        "dashboard": start.DASHBOARD,
        "init": start.INIT,
        "audit": audit.AUDIT,
        "compare": report.COMPARE,
        "report": _group("Verify, replay, sign or summarise a report.", report.COMMANDS),
        "attack": _group("Run one study on any table.", _attacks(), parser_class=StudyParser),
        "choose": experiment.CHOOSE,
        "experiment": experiment.EXPERIMENT,
        "desk": _group(
            "Answer fairness queries within a total privacy budget.",
            desk.COMMANDS,
            description=desk.DESCRIPTION,
            epilog=desk.EPILOG,
        ),
        "history": _group(
            "Register of models: audits, decisions, reviews.",
            history.COMMANDS,
            description=history.DESCRIPTION,
            epilog=history.EPILOG,
        ),
        "datasets": start.DATASETS,
    }
