"""``fairleak datasets``: the datasets by name, with their sensitive attributes."""

from __future__ import annotations

import argparse

from ..datasets import CATALOG
from .console import Console, table

HELP = "List the datasets of --dataset, with sensitive attributes."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "name",
        nargs="?",
        choices=tuple(CATALOG),
        metavar="NAME",
        help="One dataset (default: all).",
    )


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Print the list, or everything about one dataset."""
    if arguments.name is None:
        console.result(
            table(
                [
                    {
                        "name": name,
                        "records": entry.people,
                        "attributes": ", ".join(entry.attributes),
                    }
                    for name, entry in CATALOG.items()
                ],
                left=3,
            )
        )
        return
    entry = CATALOG[arguments.name]
    console.results([entry.title, entry.about, f"Records: {entry.people}"])
    console.results(f"Attribute {key}: {title}" for key, title in entry.attributes.items())
    console.result(f"Source: {entry.citation}")
