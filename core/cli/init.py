"""``fairleak init``: a commented plan of a release audit to start from."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from core.cli.arguments import add_path
from core.cli.console import Block, Console
from core.datasets import CATALOG, cautions, read_table
from core.datasets.input_check import Severity
from core.errors import InputError
from core.estimates import joined
from core.files import content_of, write_file
from core.models.model_files import read_model
from core.release_audit import AuditPlan, catalogue_plan, commented_plan, suggested_plan
from core.release_audit.answers import plan_comments, terminal_line
from core.release_audit.suggestion import SuggestedAudit, suggested_sizes

HELP = "Write a commented plan of a release audit, for a dataset or for a file of your own."

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
    "released": ("outputs.released",),
    "decimals": ("outputs.decimals",),
}
"""Guess -> the keys that hold it, where it is not the key of its name in [data]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    told = f"Dataset: {', '.join(CATALOG)} (default: demo)."
    parser.add_argument("--dataset", choices=tuple(CATALOG), metavar="NAME", help=told)
    told = "Sensitive attribute, such as sex; of a file its column (default: the dataset's first, or a guess)."
    parser.add_argument("--attribute", metavar="NAME", help=told)
    add_path(parser, "--file", help="CSV or Parquet file with your table; the roles of its columns are guessed.")
    told = "Column of the file that the model predicts (default: a guess)."
    parser.add_argument("--label", metavar="COLUMN", help=told)
    parser.add_argument(
        "--positive",
        metavar="VALUE",
        help="The label's value that scores and predictions are about (default: a guess).",
    )
    parser.add_argument(
        "--favourable",
        metavar="VALUE",
        help="The label's value that is good for the person; without it the plan leaves the key open.",
    )
    add_path(parser, "--model", help="ONNX or skops file with the model to audit on --file.")
    add_path(parser, "-o", "--output", help="File for the plan, which must be new (default: stdout).")


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Print a plan, or write it where --output says."""
    text = commented_plan(_of_catalogue(arguments)) if arguments.file is None else _of_file(arguments, console)
    if arguments.output is None:
        console.result(Block.of(text.rstrip("\n").split("\n")))
        return
    write_file(arguments.output, text.encode(), what="--output", new=True)
    console.note(f"The plan is in {arguments.output}: read it, correct it, and run fairleak audit on it.")


def _of_catalogue(arguments: argparse.Namespace) -> AuditPlan:
    for name in ("model", "label", "positive", "favourable"):
        value = getattr(arguments, name)
        if value is not None:
            raise InputError(f"--{name} must come with --file, got {str(value)!r} alone.")
    return catalogue_plan(arguments.dataset or "demo", arguments.attribute or "")


def _of_file(arguments: argparse.Namespace, console: Console) -> str:
    """Return the commented plan of a file, having printed what is guessed and what is asked."""
    if arguments.dataset is not None:
        raise InputError(f"--dataset must be left out with --file, got {arguments.dataset!r}.")
    name = _beside(arguments.file, arguments.output, "--file")
    table = read_table(content_of(arguments.file, what="--file"), arguments.file.name)
    roles = ("attribute", "label", "positive", "favourable")
    answers: dict[str, Any] = {role: getattr(arguments, role) or "" for role in roles}
    model_file, model = None, ""
    if arguments.model is not None:
        model = _beside(arguments.model, arguments.output if arguments.output else arguments.file, "--model")
        model_file = read_model(content_of(arguments.model, what="--model"), arguments.model.name)
        if not model_file.feature_names:
            console.note(f"The model's file does not name its {model_file.width} columns: model.features is a guess.")
    suggestion = suggested_plan(table, name, model=model, model_file=model_file, **answers)
    guessed = [role for role in ("label", "attribute") if not answers[role]]
    console.note(
        f"{joined([*guessed, 'groups']).capitalize()} are guesses from the columns' names and values: check them."
    )
    comments, open_keys = _comments(suggestion, console)
    if suggestion.plan.model.kind == "predictions":
        open_keys["policy"] = _POLICY
        console.note(_POLICY_NOTE)
    where = f"beside {name}" if "/" not in name else f"where {name} is found from its folder"
    console.note(f"Keep the plan {where}, which it refers to by name.")
    return commented_plan(suggestion.plan, notes=comments, instead=open_keys)


def _comments(suggestion: SuggestedAudit, console: Console) -> tuple[dict[str, str], dict[str, str]]:
    """Return the comments of a plan's keys, and those of keys that stand open; print what is to be looked at."""
    roles, source = suggestion.plan.config.roles, suggestion.source
    assert roles is not None  # those that were guessed
    comments: dict[str, list[str]] = {}
    for caution in cautions(source.table.frame, roles):
        comments.setdefault("data", []).append(f"Warning: {caution.text}")
        console.alert(f"Warning: {caution.text}")
    for role, reason in suggestion.reasons.items():
        for key in _KEYS.get(role, (f"data.{role}",)):
            comments.setdefault(key, []).append(f"Guessed: {reason}.")
    facts = suggestion.facts()
    for fact in facts:
        if fact.severity == Severity.BLOCKING:
            console.alert(terminal_line(fact))
        else:
            console.note(terminal_line(fact))
    questions = plan_comments(facts)
    for key, comment in questions.items():
        comments.setdefault(key, []).append(comment)
    for problem in suggested_sizes(suggestion):
        comments.setdefault("data", []).append(f"Warning: {problem.text}")
        console.alert(f"Warning: {problem.text}")
    texts = {key: "\n".join(lines) for key, lines in comments.items()}
    return texts, {key: texts[key] for key in questions}


def _beside(file: Path, plan: Path | None, option: str) -> str:
    """Return what a plan calls a file: its path from the plan's folder, or its name where the plan is printed.

    InputError if the file is outside that folder, where `fairleak audit` would refuse it.
    """
    if plan is None:
        return file.name
    path, folder = Path(os.path.realpath(file.parent), file.name), Path(os.path.realpath(plan.parent))
    if not path.is_relative_to(folder):
        raise InputError(
            f"{option} must be a file in the folder of the plan, or below it, got {str(file)!r} for a plan in "
            f"{str(plan.parent)!r}: write the plan beside the file."
        )
    return path.relative_to(folder).as_posix()
