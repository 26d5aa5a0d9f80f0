"""``fairleak people``: whom the attacks find of the same training records, and what would free each. Internal use."""

from __future__ import annotations

import argparse

from core.cli.arguments import add_file_arguments, dataset_of
from core.cli.attack import add_study_arguments, config_of
from core.cli.console import Console, Outcome, present
from core.people import ATTACKS, PEOPLE, PeopleSettings
from core.people.findings import PEOPLE_TABLE, people_rows
from core.serialize import plain
from core.settings import from_arguments
from core.subject import subject_of
from core.validation import whole_number

HELP = "List the people whom several attacks find, and what would free each (internal use only)."

_EPILOG = (
    "Found: attribute inferred correctly with a probability of at least 99.5%, or flagged as a member at 1% FPR. ● is "
    "found, ○ found by imputation too, which is no leak. A record is its row number among the records used, from 0. "
    "What is printed and written is about single people: for internal use only."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = _EPILOG
    add_study_arguments(parser, PEOPLE)
    shown = parser.add_argument_group("what is printed")
    told = "People found by at least so many attacks, 1 to 4 (default: 2); files hold everybody found."
    shown.add_argument("--at-least", type=int, default=2, metavar="K", help=told)
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Attack, print and write."""
    at_least = whole_number(arguments.at_least, name="--at-least", least=1, most=len(ATTACKS))
    config, settings = config_of(arguments), from_arguments(arguments, PeopleSettings)
    subject = subject_of(config, dataset_of(arguments))
    *_, result = PEOPLE.run(subject, settings, console.counting("steps", every=10))
    shown = people_rows(result, result.chosen(at_least=at_least))
    found = Outcome(
        about=(f"{result.title}: {result.n:,} training records, model {config.method}, seed {config.seed}",),
        findings=PEOPLE.findings(result, settings),
        tables={**PEOPLE.tables(result, settings), f"People found by at least {at_least} attacks": shown},
        details=(PEOPLE_TABLE,),
        notes=("Internal only: these rows are about single people.",),
        settings={"model": plain(config), "settings": plain(settings)},
    )
    present(found, arguments, console)
