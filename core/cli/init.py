"""``fairleak init``: a commented plan of a release audit to start from."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..auditing import commented_plan
from ..auditing.inputs import plan_comments
from ..auditing.suggestion import SuggestedAudit, suggested_sizes
from ..base.errors import InputError
from ..base.files import write_file
from ..datasets import cautions
from .arguments import add_path
from .console import Block, Console
from .subject import (
    add_table_arguments,
    check_table_arguments,
    file_suggestion,
    files_of,
    plan_of_dataset,
    print_facts,
)

HELP = "Write a commented plan of an audit, of a dataset or of a file."

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
    add_table_arguments(parser)
    add_path(
        parser, "-o", "--output", help="File for the plan, which must be new (default: stdout)."
    )


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Print a plan, or write it where --output says."""
    check_table_arguments(arguments)
    if arguments.file is None:
        text = commented_plan(plan_of_dataset(arguments))
    else:
        text = _of_file(arguments, console)
    if arguments.output is None:
        console.result(Block.of(text.rstrip("\n").split("\n")))
        return
    write_file(arguments.output, text.encode(), what="--output", new=True)
    console.note(
        f"The plan is in {arguments.output}: read it, correct it, and run fairleak audit on it."
    )


def _of_file(arguments: argparse.Namespace, console: Console) -> str:
    """Return the commented plan of a file, having printed what is guessed and what is asked."""
    name = _beside(arguments.file, arguments.output, "--file")
    model = ""
    if arguments.model is not None:
        model = _beside(
            arguments.model, arguments.output if arguments.output else arguments.file, "--model"
        )
    table, model_file = files_of(arguments, console)
    suggestion = file_suggestion(arguments, console, table, model_file, file=name, model=model)
    comments, open_keys = _comments(suggestion, console)
    if suggestion.plan.model.kind == "predictions":
        open_keys["policy"] = _POLICY
        console.note(_POLICY_NOTE)
    if "/" not in name:
        where = f"beside {name}"
    else:
        where = f"where {name} is found from its folder"
    console.note(f"Keep the plan {where}, which it refers to by name.")
    return commented_plan(suggestion.plan, notes=comments, instead=open_keys)


def _comments(
    suggestion: SuggestedAudit, console: Console
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the comments of a plan's keys, and those of keys that stand open; print what is to be looked at."""
    roles = suggestion.plan.config.roles
    source = suggestion.source
    assert roles is not None  # those that were guessed
    comments: dict[str, list[str]] = {}
    for caution in cautions(source.table.frame, roles):
        comments.setdefault("data", []).append(f"Warning: {caution.text}")
    for role, reason in suggestion.reasons.items():
        for key in _KEYS.get(role, (f"data.{role}",)):
            comments.setdefault(key, []).append(f"Guessed: {reason}.")
    facts = suggestion.facts()
    print_facts(suggestion, facts, console)
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
    path = Path(os.path.realpath(file.parent), file.name)
    folder = Path(os.path.realpath(plan.parent))
    if not path.is_relative_to(folder):
        raise InputError(
            f"{option} must be a file in the folder of the plan, or below it, got {str(file)!r} for a plan in "
            f"{str(plan.parent)!r}: write the plan beside the file."
        )
    return path.relative_to(folder).as_posix()
