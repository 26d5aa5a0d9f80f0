"""What a user starts with: ``fairleak dashboard``, ``init`` (a commented plan of an audit), and ``datasets``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..auditing import commented_plan, fitting_policy
from ..auditing.inputs import plan_comments
from ..auditing.policy import default_policy
from ..auditing.suggestion import SuggestedAudit, suggested_sizes
from ..base.errors import InputError
from ..base.files import MEGABYTE, write_file
from ..base.untrusted import ask_child
from ..base.untrusted.confinement import (
    ALLOW_UNCONFINED,
    PROTECTIONS,
    UNCONFINED,
    is_unconfined_allowed,
)
from ..datasets import CATALOG, cautions
from ..store.prepared import default_folder
from .arguments import (
    Action,
    add_path,
    add_table_arguments,
    check_table_arguments,
    file_suggestion,
    files_of,
    plan_of_dataset,
    print_facts,
)
from .console import Block, Console, table

# Datasets -------------------------------------------------------------------------------------------------------------


def _add_datasets(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "name",
        nargs="?",
        choices=tuple(CATALOG),
        metavar="NAME",
        help="One dataset (default: all).",
    )


def _datasets(arguments: argparse.Namespace, console: Console) -> None:
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


# Dashboard ------------------------------------------------------------------------------------------------------------

_SERVER = Path(__file__).resolve().parents[2] / "serve.py"


def _add_dashboard(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--port", type=int, default=8501, metavar="N", help="Port on localhost (default: 8501)."
    )
    parser.add_argument("--headless", action="store_true", help="No browser is opened.")
    parser.add_argument(
        "--check",
        action="store_true",
        help="Start no server: try what a process that opens an uploaded file can reach on this system, and say it; "
        "name the folder of the demo's prepared results.",
    )
    parser.add_argument(
        "--allow-unconfined",
        action="store_true",
        help="Open model files even where this system cannot keep the process that does from other files.",
    )


def _dashboard(arguments: argparse.Namespace, console: Console) -> None:
    """Become the server; its settings are those of .streamlit/config.toml beside it."""
    if not 1 <= arguments.port <= 65_535:
        raise InputError(f"--port must be from 1 to 65,535, got {arguments.port}.")
    if arguments.allow_unconfined:
        os.environ[ALLOW_UNCONFINED] = "1"
    if arguments.check:
        console.result(_what_is_confined())
        return
    options = ["--server.port", str(arguments.port)]
    if arguments.headless:
        options += ["--server.headless", "true"]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(_SERVER), *options])


_TRIED = {
    "files": "opening a file",
    "network": "opening a connection",
    "processes": "starting a process",
}
"""Protection -> what is tried, to measure it."""


def _what_is_confined() -> Block:
    """Return what a process that opens a stranger's file was refused just now, a line each, and what follows."""
    refused, _ = ask_child("The check", "core.base.untrusted.confinement:probe", {}, seconds=30)
    lines = ["In a process that opens an uploaded file, on this system:"]
    for protection in PROTECTIONS:
        outcome = "refused" if refused[protection] else "possible"
        lines.append(f"  {_TRIED[protection]}: {outcome}")
    if all(refused.values()):
        lines.append("Tables and model files are opened there.")
    elif is_unconfined_allowed():
        lines.append("Tables are opened there; model files too, because that was allowed.")
    else:
        lines.append(f"Tables are opened there. {UNCONFINED}")
    return Block.of([*lines, _what_is_prepared()])


def _what_is_prepared() -> str:
    """Return where the demo's results lie from one start to the next, and how much room they take."""
    folder = default_folder()
    sizes = [path.lstat().st_size for path in folder.rglob("*") if path.is_file()]
    megabytes = sum(sizes) / MEGABYTE
    return f"Prepared results of the demo, which can be deleted: {folder} ({len(sizes)} files, {megabytes:.1f} MB)."


# Plan -----------------------------------------------------------------------------------------------------------------

_POLICY = (
    "Left out, FairLeak's policy that fits what the plan brings judges. To choose one, or a file of yours:\n"
    'policy = "{name}"'
)
_POLICY_NOTE = (
    "Judged by {policy}, version {version}, which fits what the table brings; policy in the plan, or --policy, "
    "chooses another."
)
_KEYS = {
    "group": ("data.group", "data.at_most", "data.each"),
    "tolerance": ("model.tolerance",),
    "released": ("outputs.released",),
    "decimals": ("outputs.decimals",),
}
"""Guess -> the keys that hold it, where it is not the key of its name in [data]."""


def _add_init(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_table_arguments(parser)
    add_path(
        parser, "-o", "--output", help="File for the plan, which must be new (default: stdout)."
    )


def _init(arguments: argparse.Namespace, console: Console) -> None:
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
        model = _beside(arguments.model, arguments.output or arguments.file, "--model")
    table, model_file = files_of(arguments, console)
    suggestion = file_suggestion(arguments, console, table, model_file, file=name, model=model)
    comments, open_keys = _comments(suggestion, console)
    if suggestion.plan.model.kind == "predictions":
        policy = fitting_policy(suggestion.plan)
        name_of_policy = "predictions"
        if policy == default_policy():
            name_of_policy = "default"
        open_keys["policy"] = _POLICY.format(name=name_of_policy)
        console.note(_POLICY_NOTE.format(policy=policy.name, version=policy.version))
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
    assert roles is not None  # those that were guessed
    comments: dict[str, list[str]] = {}
    for caution in cautions(suggestion.table.frame, roles):
        comments.setdefault("data", []).append(f"Warning: {caution.text}")
    for role, reason in suggestion.reasons.items():
        for key in _KEYS.get(role, (f"data.{role}",)):
            comments.setdefault(key, []).append(f"Guessed: {reason}.")
    facts = (*suggestion.facts(), *suggestion.policy_facts())
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


INIT = Action("Write a commented plan of an audit, of a dataset or of a file.", _add_init, _init)
DATASETS = Action(
    "List the datasets of --dataset, with sensitive attributes.", _add_datasets, _datasets
)
DASHBOARD = Action("Start the dashboard on localhost.", _add_dashboard, _dashboard)
