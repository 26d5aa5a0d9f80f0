"""``python -m core gen-config``: print a commented plan of a release audit to start from."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.console import Console
from core.commands.terminal import Block
from core.datasets import CATALOG, read_table
from core.decision import AuditPlan, catalogue_plan, commented_plan, suggested_plan
from core.decision.plan_file import MECHANISMS
from core.errors import InputError
from core.fairness import METRICS
from core.models import METHODS

__all__ = ["HELP", "NAME", "add_arguments", "run"]

NAME = "gen-config"
HELP = "print a commented plan of a release audit, for a dataset of the catalogue or for a file of your own"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--dataset", metavar="NAME", help=f"one of {', '.join(CATALOG)} (default demo)")
    parser.add_argument("--attribute", metavar="NAME", help="of the dataset, such as sex; its first one when left out")
    parser.add_argument(
        "--file", type=Path, metavar="FILE", help="a CSV or Parquet file; its columns' roles are guessed"
    )
    parser.add_argument(
        "--model", type=Path, metavar="FILE", help="an ONNX or skops file that is to be audited on --file"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Print a plan."""
    plan = _of_file(arguments, console) if arguments.file is not None else _of_catalogue(arguments)
    console.result(Block.of(commented_plan(plan, options=_options(plan)).rstrip("\n").split("\n")))
    return 0


def _of_catalogue(arguments: argparse.Namespace) -> AuditPlan:
    if arguments.model is not None:
        raise InputError(f"--model must come with --file, got {str(arguments.model)!r} alone.")
    return catalogue_plan(arguments.dataset or "demo", arguments.attribute or "")


def _of_file(arguments: argparse.Namespace, console: Console) -> AuditPlan:
    for name in ("dataset", "attribute"):
        if (value := getattr(arguments, name)) is not None:
            raise InputError(f"--{name} must be left out with --file, got {value!r}.")
    table, name = read_table(_content(arguments.file, "--file"), arguments.file.name), arguments.file.name
    if arguments.model is None:
        plan = suggested_plan(table, name)
    else:
        from core.models.files import read_model

        model = read_model(_content(arguments.model, "--model"), arguments.model.name)
        unnamed = None if model.feature_names else model.width
        plan = suggested_plan(table, name, model=arguments.model.name, features=unnamed)
        if unnamed:
            console.note(f"The model's file does not name its {unnamed} columns: model.features is a guess.")
    console.note("Label, attribute and groups are guesses from the columns' names and values: check them.")
    console.note(f"Keep the plan beside {arguments.file.name}, which it calls by its name.")
    return plan


def _content(path: Path, flag: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise InputError(f"{flag} must be a file that can be read, got {str(path)!r}.") from None


def _options(plan: AuditPlan) -> dict[str, str]:
    entry = CATALOG.get(plan.data.dataset)
    return {
        "datasets": ", ".join(CATALOG),
        "attributes": ", ".join(entry.attributes) if entry else "",
        "methods": ", ".join(METHODS),
        "metrics": ", ".join(METRICS),
        "mechanisms": ", ".join(MECHANISMS),
    }
