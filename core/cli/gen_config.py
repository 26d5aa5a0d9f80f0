"""``python -m core gen-config``: print a commented plan of a release audit to start from."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.cli.console import Block, Console
from core.datasets import CATALOG, cautions, read_table
from core.errors import InputError
from core.files import content_of
from core.models.model_files import read_model
from core.release_audit import AuditPlan, catalogue_plan, commented_plan, suggested_plan

NAME = "gen-config"
HELP = "print a commented plan of a release audit, for a dataset of the catalogue or for a file of your own"

_POLICY = (
    '"predictions" asks only for what given predictions can show; the default asks for more. To be judged by it:\n'
    'policy = "predictions"'
)
_POLICY_NOTE = (
    "The table brings a model's predictions: the default policy asks for checks they may not allow, and "
    'policy = "predictions" in the plan only for what they can show.'
)
_KEYS = {
    "group": ("data.group", "data.at_most", "data.each"),
    "tolerance": ("model.tolerance",),
    "answer": ("model.positive",),
    "released": ("outputs.released",),
    "decimals": ("outputs.decimals",),
}
"""What was guessed -> the keys that say it, where it is not the one of its name in [data]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--dataset", metavar="NAME", help=f"one of {', '.join(CATALOG)} (default demo)")
    parser.add_argument(
        "--attribute",
        metavar="NAME",
        help="of the dataset, such as sex, its first one when left out; of a file the column, guessed when left out",
    )
    parser.add_argument(
        "--file", type=Path, metavar="FILE", help="a CSV or Parquet file; its columns' roles are guessed"
    )
    parser.add_argument("--label", metavar="COLUMN", help="of the file: what the model predicts; guessed when left out")
    parser.add_argument(
        "--model", type=Path, metavar="FILE", help="an ONNX or skops file that is to be audited on --file"
    )


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Print a plan."""
    plan, notes = _of_file(arguments, console) if arguments.file is not None else (_of_catalogue(arguments), {})
    text = commented_plan(plan, notes=notes, instead={"policy": _POLICY} if plan.model.kind == "predictions" else {})
    console.result(Block.of(text.rstrip("\n").split("\n")))


def _of_catalogue(arguments: argparse.Namespace) -> AuditPlan:
    for name, value in (("model", arguments.model), ("label", arguments.label)):
        if value is not None:
            raise InputError(f"--{name} must come with --file, got {str(value)!r} alone.")
    return catalogue_plan(arguments.dataset or "demo", arguments.attribute or "")


def _of_file(arguments: argparse.Namespace, console: Console) -> tuple[AuditPlan, dict[str, str]]:
    """Return the plan, and what is to be said beside its keys."""
    if arguments.dataset is not None:
        raise InputError(f"--dataset must be left out with --file, got {arguments.dataset!r}.")
    table, name = read_table(content_of(arguments.file, what="--file"), arguments.file.name), arguments.file.name
    attribute, label = arguments.attribute or "", arguments.label or ""
    model_file, model = None, ""
    if arguments.model is not None:
        model = arguments.model.name
        model_file = read_model(content_of(arguments.model, what="--model"), model)
        if not model_file.feature_names:
            console.note(f"The model's file does not name its {model_file.width} columns: model.features is a guess.")
    plan, reasons = suggested_plan(table, name, model=model, model_file=model_file, attribute=attribute, label=label)
    guessed = [role for role, told in (("label", label), ("attribute", attribute)) if not told]
    console.note(f"{_listed([*guessed, 'groups'])} are guesses from the columns' names and values: check them.")
    notes = {
        key: f"Guessed: {reason}." for role, reason in reasons.items() for key in _KEYS.get(role, (f"data.{role}",))
    }
    assert plan.config.roles is not None  # those that were guessed
    if warnings := [f"Warning: {told}" for told in cautions(table.frame, plan.config.roles)]:
        notes["data"] = "\n".join(warnings)
        for warning in warnings:
            console.note(warning)
    if plan.model.kind == "predictions":
        console.note(_POLICY_NOTE)
    console.note(f"Keep the plan beside {arguments.file.name}, which it calls by its name.")
    return plan, notes


def _listed(roles: list[str]) -> str:
    """Write "Label, attribute and groups"."""
    *others, last = roles
    return (f"{', '.join(others)} and {last}" if others else last).capitalize()
