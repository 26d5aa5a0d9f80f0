"""``fairleak tradeoff``: models over fairness tolerance and privacy budget, with attack accuracy for each."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..base.files import csv_of_frame
from ..base.settings import add_arguments as add_settings
from ..base.settings import from_arguments
from ..experiments.sweep.findings import tension
from ..experiments.sweep.landscape import (
    MEMBER_ATTACKER,
    Landscape,
    LandscapePlan,
    MapCell,
    landscape,
    write_landscape,
)
from ..stats.estimates import percent
from .arguments import (
    add_dataset_arguments,
    add_file_arguments,
    add_path,
    add_seeds_argument,
    dataset_of,
    seeds_in,
)
from .console import Console, interval_text, table, write_csv

HELP = "Measure models and attacks over tolerance and privacy budget."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, LandscapePlan, "metric", "train_share", "tolerances", "epsilons", "tree_share")
    add_seeds_argument(parser)
    add_path(parser, "-o", "--output", help="File for the map, as JSON.")
    add_file_arguments(parser, "csv")


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Make a map and print it."""
    plan = from_arguments(arguments, LandscapePlan, seeds=seeds_in(arguments.seeds))
    tradeoff_map = landscape(dataset_of(arguments), plan, report=console.counting("steps"))
    console.results(_printed(tradeoff_map))
    if arguments.output is not None:
        write_landscape(tradeoff_map, arguments.output)
        console.note(f"The map is in {arguments.output}.")
    write_csv(csv_of_frame(tradeoff_map.to_frame()), arguments, console)


def _printed(tradeoff_map: Landscape) -> Iterator[str]:
    controls, finding = tradeoff_map.controls(), tension(tradeoff_map)
    yield f"{tradeoff_map.title}: {tradeoff_map.plan.metric}. {finding.point}."
    yield finding.evidence
    yield from finding.caveats[:-1]
    before, strong, majority = (percent(controls[name], decimals=1) for name in ("before", "strong", "majority_label"))
    yield f"Before disclosure {before}, imputation without the model {strong}."
    several = len(tradeoff_map.plan.seeds) > 1
    yield "In brackets: 95% intervals over seeds." if several else "One seed is no evidence for others."
    yield ""
    yield table([_cells(cell) for cell in tradeoff_map.cells])
    yield f"Change: against before correction. Model accuracy: on the test set; majority class of the label {majority}."
    yield "Unfairness: largest deviation of a group from the overall rate. Difference: between groups (Fairlearn's)."
    yield f"Both on the training set. Members: {MEMBER_ATTACKER}."


def _cells(cell: MapCell) -> dict[str, str]:
    return {
        "tolerance": "none" if cell.tolerance is None else f"{cell.tolerance:g}",
        "epsilon": f"{cell.epsilon:g}",
        "recovered": interval_text(cell.after),
        "change": "" if cell.tolerance is None else interval_text(cell.gain, signed=True),
        "model accuracy": interval_text(cell.accuracy),
        "unfairness": interval_text(cell.unfairness_train, percent=False),
        "difference": interval_text(cell.difference_train, percent=False),
        "members, AUC": interval_text(cell.members, percent=False),
        "constraint satisfied": "" if cell.tolerance is None else f"{cell.n_true} of {cell.n_seeds}",
    }
