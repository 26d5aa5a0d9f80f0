"""Options that name a table and its model, for every command that takes one, and the planned table they describe."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..auditing import AuditPlan, catalogue_plan, load_model, load_table, read_plan, suggested_plan
from ..auditing.inputs import terminal_line
from ..auditing.suggestion import SuggestedAudit
from ..base.errors import InputError
from ..base.files import content_of
from ..base.settings import flag_values, params
from ..base.validation import choice
from ..datasets import CATALOG, Table, cautions, read_table
from ..datasets.catalog import default_cache_folder
from ..datasets.checked_table import Fact, Severity
from ..models.model_files import read_model
from ..studies.subject import TRAINED_TOLERANCE, AuditConfig
from .arguments import add_data_argument, add_path, catalogue_table, data_folder_of
from .console import Console

if TYPE_CHECKING:
    from ..models.model_files import ModelFile

_CONFIG = AuditConfig(tolerance=TRAINED_TOLERANCE)

_ROLES = ("attribute", "label", "positive", "favourable")
"""Options that say what the columns of a file are."""

_OF_FILE = ("model", "label", "positive", "favourable")
"""Options that are about a file alone."""

TABLE_OPTIONS = ("file", "attribute", *_OF_FILE)
"""Options that are about a table, beside --dataset."""

_OF_TRAINING = ("method", "epsilon", "depth")
"""Settings of a model that is trained here."""

_ANSWERS = (
    "--label, --attribute, --positive and --favourable answer here; other keys need a "
    "plan, which fairleak init writes."
)


def add_table_arguments(parser: argparse.ArgumentParser, *, other_data: Iterable[str] = ()) -> None:
    """Add the options that name a dataset, or a file with its columns and its model; `other_data` are no tables."""
    names = (*CATALOG, *other_data)
    text = f"Dataset: {', '.join(names)} (default: demo)."
    parser.add_argument("--dataset", choices=names, metavar="NAME", help=text)
    text = "Sensitive attribute, such as sex, race/each, age/ranges or 'sex × race'; of a file its column"
    text += " (default: the dataset's first, or a guess)."
    parser.add_argument("--attribute", metavar="NAME", help=text)
    add_path(
        parser,
        "--file",
        help="CSV or Parquet file with your table; the roles of its columns are guessed.",
    )
    text = "Column of the file that the model predicts (default: a guess)."
    parser.add_argument("--label", metavar="COLUMN", help=text)
    text = "The label's value that scores and predictions are about (default: a guess)."
    parser.add_argument("--positive", metavar="VALUE", help=text)
    text = "The label's value that is good for the person; no file is audited without an answer."
    parser.add_argument("--favourable", metavar="VALUE", help=text)
    add_path(parser, "--model", help="ONNX or skops file with the model to audit on --file.")


def add_planned_table_arguments(
    parser: argparse.ArgumentParser, *, other_data: Iterable[str] = ()
) -> None:
    """Add the options of `add_table_arguments`, --plan in their place, and --data."""
    add_table_arguments(parser, other_data=other_data)
    add_path(
        parser, "--plan", help="Plan of an audit, in place of the options about table and model."
    )
    add_data_argument(parser)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTable:
    """A plan with its table and, where it has one, its model file; `guesses` are the roles that nobody confirmed."""

    plan: AuditPlan
    table: Table
    model_file: ModelFile | None = None
    guesses: tuple[str, ...] = ()


def planned_table(arguments: argparse.Namespace, console: Console) -> PlannedTable:
    """Return the plan that --plan, --file or --dataset describes, with the settings of the model that have flags.

    Guesses, questions and cautions about a file are printed. Raises `InputError` where options do not go together.
    """
    if arguments.plan is not None:
        return _of_plan(arguments)
    check_table_arguments(arguments)
    if arguments.file is not None:
        return _of_file(arguments, console)
    plan = plan_of_dataset(arguments)
    table = catalogue_table(plan.data.dataset, arguments)
    roles = table.roles_for(arguments.attribute or "")
    plan = replace(plan, config=replace(plan.config, roles=roles))
    return PlannedTable(plan=_with_settings(plan, arguments), table=table)


def check_table_arguments(arguments: argparse.Namespace) -> None:
    """Refuse a dataset beside a file, and what is about a file without one."""
    if arguments.file is not None:
        if arguments.dataset is not None:
            raise InputError(f"--dataset must be left out with --file, got {arguments.dataset!r}.")
        return
    for name in _OF_FILE:
        value = getattr(arguments, name)
        if value is not None:
            raise InputError(f"--{name} must come with --file, got {str(value)!r} alone.")


def plan_of_dataset(arguments: argparse.Namespace) -> AuditPlan:
    """Return the plan of the dataset and attribute that the options name."""
    dataset = arguments.dataset or "demo"
    entry = CATALOG[dataset]
    if arguments.attribute is not None and not entry.offers(arguments.attribute):
        choice(arguments.attribute, entry.attributes, name="--attribute")
    return catalogue_plan(dataset, arguments.attribute or "")


def files_of(arguments: argparse.Namespace, console: Console) -> tuple[Table, ModelFile | None]:
    """Return the table of --file and the model of --model, where there is one."""
    table = read_table(content_of(arguments.file, what="--file"), arguments.file.name)
    if arguments.model is None:
        return table, None
    model_file = read_model(content_of(arguments.model, what="--model"), arguments.model.name)
    if not model_file.feature_names:
        console.note(
            f"The model's file does not name its {model_file.width} columns: model.features is a guess."
        )
    return table, model_file


def file_suggestion(
    arguments: argparse.Namespace,
    console: Console,
    table: Table,
    model_file: ModelFile | None,
    *,
    file: str,
    model: str,
    config: AuditConfig = _CONFIG,
) -> SuggestedAudit:
    """Return the audit that is suggested for these files, and print what is guessed.

    `file` and `model` are what a plan calls them. The tolerance that predictions keep to is that of the metric,
    training share and seed of `config`.
    """
    answers: dict[str, Any] = {role: getattr(arguments, role) or "" for role in _ROLES}
    audit = suggested_plan(
        table, file, model=model, model_file=model_file, config=config, **answers
    )
    guessed = [role for role in ("label", "attribute") if not answers[role]]
    console.note(
        f"Guesses from the columns' names and values, to be checked: {', '.join([*guessed, 'groups'])}."
    )
    return audit


def print_facts(suggestion: SuggestedAudit, facts: Iterable[Fact], console: Console) -> None:
    """Print the cautions about the columns of a suggested audit, then the facts."""
    roles = suggestion.plan.config.roles
    source = suggestion.source
    assert roles is not None  # those that were guessed
    for caution in cautions(source.table.frame, roles):
        console.alert(f"Warning: {caution.text}")
    for fact in facts:
        if fact.severity == Severity.BLOCKING:
            console.alert(terminal_line(fact))
        else:
            console.note(terminal_line(fact))


def _of_plan(arguments: argparse.Namespace) -> PlannedTable:
    for name in ("dataset", *TABLE_OPTIONS):
        value = getattr(arguments, name)
        if value is not None:
            raise InputError(f"--{name} must be left out with --plan, got {str(value)!r}.")
    plan = read_plan(content_of(arguments.plan, what="--plan"), name=arguments.plan.name)
    folder = arguments.plan.absolute().parent
    cache = default_cache_folder()
    table = load_table(
        plan, folder=folder, data_folder=data_folder_of(arguments), cache_folder=cache
    )
    return PlannedTable(
        plan=_with_settings(plan, arguments),
        table=table,
        model_file=load_model(plan, folder=folder),
    )


def _of_file(arguments: argparse.Namespace, console: Console) -> PlannedTable:
    settings = {"tolerance": TRAINED_TOLERANCE, **flag_values(arguments, AuditConfig)}
    table, model_file = files_of(arguments, console)
    model = "" if model_file is None else arguments.model.name
    audit = file_suggestion(
        arguments,
        console,
        table,
        model_file,
        file=arguments.file.name,
        model=model,
        config=AuditConfig(**settings),
    )
    facts = audit.facts()
    blocking = [fact for fact in facts if fact.severity == Severity.BLOCKING]
    print_facts(audit, (fact for fact in facts if fact not in blocking), console)
    if blocking:
        console.note(_ANSWERS)
    return PlannedTable(
        plan=_with_settings(audit.plan, arguments),
        table=table,
        model_file=model_file,
        guesses=audit.questions,
    )


def _with_settings(plan: AuditPlan, arguments: argparse.Namespace) -> AuditPlan:
    """Return a plan with the settings of the model that were given as flags."""
    settings = flag_values(arguments, AuditConfig)
    if plan.model.kind != "train":
        for name in _OF_TRAINING:
            if name in settings:
                flag = params(AuditConfig)[name].flag
                raise InputError(
                    f"{flag} must be left out where the model is given, got {settings[name]}."
                )
    return replace(plan, config=replace(plan.config, **settings))
