"""The commands, an `Action` each; `commands` is their tree.

A command prints through the console it is handed. It returns None, or a word of `VERDICTS`: the exit code follows from
the word, which is the last line on stderr. An error of FairLeak is exit code 3, unusable input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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

__all__ = ["VERDICTS", "CommandGroup", "Console", "commands"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandGroup:
    """Commands under one name, as in `fairleak report verify`."""

    help: str
    commands: Mapping[str, Action]
    description: str = ""
    epilog: str = ""
    parser: type[Parser] = Parser


def _attacks() -> dict[str, Action]:
    """Return study -> its command."""
    return {name: study_command(study) for name, study in attack_studies().items()}


def commands() -> Mapping[str, Action | CommandGroup]:
    """Return the tree of commands: name -> a command or a group of them."""
    return {
        "dashboard": start.DASHBOARD,
        "init": start.INIT,
        "audit": audit.AUDIT,
        "compare": report.COMPARE,
        "report": CommandGroup(
            help="Verify, replay, sign or summarise a report.",
            commands=report.COMMANDS,
        ),
        "attack": CommandGroup(
            help="Run one study on any table.", commands=_attacks(), parser=StudyParser
        ),
        "choose": experiment.CHOOSE,
        "experiment": experiment.EXPERIMENT,
        "desk": CommandGroup(
            help="Answer fairness queries within a total privacy budget.",
            description=desk.DESCRIPTION,
            epilog=desk.EPILOG,
            commands=desk.COMMANDS,
        ),
        "history": CommandGroup(
            help="Register of models: audits, decisions, reviews.",
            description=history.DESCRIPTION,
            epilog=history.EPILOG,
            commands=history.COMMANDS,
        ),
        "datasets": start.DATASETS,
    }
