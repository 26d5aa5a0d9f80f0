"""``python -m core landscape``: the map of fair and private models, printed and kept."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from core.cli.arguments import (
    add_dataset_arguments,
    add_file_arguments,
    add_seeds_argument,
    dataset_of,
    seeds_in,
    write_csv,
)
from core.cli.console import Console, estimate_words, table
from core.estimates import percent
from core.files import check_place
from core.settings import add_arguments as add_settings
from core.settings import from_arguments
from core.sweep.findings import tension
from core.sweep.landscape import MEMBER_ATTACKER, Landscape, LandscapePlan, MapCell, landscape, write_landscape

NAME = "landscape"
HELP = "train models by tolerance and privacy budget, and print what attackers get out of each"


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
    console.results(_printed(made))
    if arguments.out is not None:
        write_landscape(made, arguments.out)
        console.note(f"The map is in {arguments.out}.")
    write_csv(made.to_frame(), arguments, console)


def _printed(made: Landscape) -> Iterator[str]:
    controls, finding = made.controls(), tension(made)
    yield f"{made.title}: {made.plan.metric}. {finding.point}."
    yield finding.evidence
    yield from finding.caveats[:-1]
    before, strong, majority = (percent(controls[name], decimals=1) for name in ("before", "strong", "majority_label"))
    yield f"Before disclosure {before}, imputation without the model {strong}; majority-class model {majority}."
    several = len(made.plan.seeds) > 1
    yield "In brackets: 95% intervals over seeds." if several else "One seed says nothing of others."
    yield ""
    yield table([_cells(cell) for cell in made.cells])
    yield "Change: against before correction. Model accuracy: of unseen people."
    yield "Unfairness: largest deviation of a group from the overall rate. Difference: between groups (Fairlearn's)."
    yield f"Both on training people. Members: {MEMBER_ATTACKER}."


def _cells(cell: MapCell) -> dict[str, str]:
    return {
        "tolerance": "none" if cell.tolerance is None else f"{cell.tolerance:g}",
        "epsilon": f"{cell.epsilon:g}",
        "recovered": estimate_words(cell.after),
        "change": "" if cell.tolerance is None else estimate_words(cell.gain, signed=True),
        "model accuracy": estimate_words(cell.accuracy),
        "unfairness": estimate_words(cell.unfairness_train, percent=False),
        "difference": estimate_words(cell.difference_train, percent=False),
        "members, AUC": estimate_words(cell.members, percent=False),
        "told true": "" if cell.tolerance is None else f"{cell.n_true} of {cell.n_seeds}",
    }
