"""``python -m core landscape``: the map of fair and private models, printed and kept."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from core.cli.arguments import (
    add_dataset_arguments,
    add_file_arguments,
    add_seeds_argument,
    dataset_of,
    seeds_in,
)
from core.cli.console import Console, picked
from core.cli.runner import sentences, show
from core.estimates import percent
from core.files import check_place
from core.settings import add_arguments as add_settings
from core.settings import from_arguments
from core.sweep.findings import tension
from core.sweep.landscape import MEMBER_ATTACKER, Landscape, LandscapePlan, MapCell, landscape, write_landscape

NAME = "landscape"
HELP = "train models by tolerance and privacy budget, and print what attackers get out of each"


_COLUMNS = "tolerance, epsilon, after, +gain, accuracy, =unfairness_train, =difference_train, =members, told_true"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, LandscapePlan, "metric", "train_share", "tolerances", "epsilons", "tree_share")
    add_seeds_argument(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the map as JSON, as the Start page reads it")
    add_file_arguments(parser, "csv")


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Make a map and print it."""
    check_place(arguments.out, what="--out")
    plan = from_arguments(arguments, LandscapePlan, seeds=seeds_in(arguments.seeds))
    made = landscape(dataset_of(arguments), plan, report=console.counting("steps"))
    if arguments.out is not None:
        write_landscape(made, arguments.out)
        console.note(f"The map is in {arguments.out}.")
    show(_sections(made), arguments, console, rows=made.to_frame())


def _sections(made: Landscape) -> Iterator[Iterable[str]]:
    controls, finding = made.controls(), tension(made)
    before, strong, majority = (percent(controls[name], decimals=1) for name in ("before", "strong", "majority_label"))
    several = len(made.plan.seeds) > 1
    yield [
        f"{made.title}: {made.plan.metric}",
        *sentences(replace(finding, caveats=finding.caveats[:-1])),  # the last is of the page's other numbers
        f"Before disclosure {before}, imputation without the model {strong}; majority-class model {majority}.",
        "In brackets: 95% intervals over seeds." if several else "One seed says nothing of others.",
    ]
    yield [
        picked(made.cells, _COLUMNS, tolerance=_tolerance, told_true=_told_true),
        "After: people recovered after correction; gain: against before. Accuracy: of the model, of unseen people.",
        "Unfairness: largest deviation of a group from the overall rate. Difference: between groups (Fairlearn's).",
        f"Members: AUC of the {MEMBER_ATTACKER}.",
    ]


def _tolerance(cell: MapCell) -> str:
    return "none" if cell.tolerance is None else f"{cell.tolerance:g}"


def _told_true(cell: MapCell) -> str:
    return "" if cell.tolerance is None else f"{cell.n_true} of {cell.n_seeds}"
