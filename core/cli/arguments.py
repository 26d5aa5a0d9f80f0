"""Arguments that several commands share, and the tables, models, work and files that come of them."""

from __future__ import annotations

import argparse
import getpass
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ..auditing import AuditPlan, catalogue_plan, load_model, load_table, read_plan, suggested_plan
from ..auditing.inputs import terminal_line
from ..auditing.suggestion import SuggestedAudit
from ..base.errors import InputError, ReportProgress
from ..base.files import MEGABYTE, check_writable, content_of
from ..base.serialize import Result
from ..base.settings import params
from ..base.settings_text import flag_values
from ..base.validation import choice, seed_value
from ..datasets import CATALOG, Table, cautions, load, read_table
from ..datasets.catalog import default_cache_folder
from ..datasets.checked_table import REFUSED, Fact, Severity
from ..datasets.columns import quoted
from ..experiments.engine import FileStore, MemoryStore, TimeLeft, default_store
from ..models import PRIVATE_METHODS
from ..models.model_files import read_model
from ..report import FOLDERS, Report, verify_report
from ..report.codec import report_of
from ..report.verification import document_in, report_text
from ..studies.subject import TRAINED_TOLERANCE, AuditConfig
from .console import Console, visible

if TYPE_CHECKING:
    from ..models.model_files import ModelFile

_MOST_SEEDS = 10_000


UNUSABLE = 3
"""Exit code of unusable input."""


class Parser(argparse.ArgumentParser):
    """argparse, but a usage error is unusable input like any other: one sentence, under the name of its command."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse what is left over; argparse would leave that to the outermost command."""
        parsed, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return parsed, left

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is no choice, in our words; those of argparse differ between versions."""
        if action.choices is not None and value not in action.choices:
            name = action.option_strings[-1] if action.option_strings else action.metavar
            rule = f"must be one of {', '.join(map(str, action.choices))}"
            raise argparse.ArgumentError(None, f"{name} {rule}, got {value!r}")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one sentence and end."""
        self.exit(UNUSABLE, f"{visible(f'{self.prog}: {message}; --help lists what there is.')}\n")


@dataclass(frozen=True, slots=True)
class Action:
    """A command: what it is for, what adds its arguments, and what runs it; the word returned is its verdict.

    A group of commands, as in `fairleak report verify`, has them as arguments and is not run itself.
    """

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Console], str | None] | None = None


def add_dataset_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --dataset, --attribute and --data."""
    help_text = f"Dataset: {', '.join(CATALOG)} (default: demo)."
    parser.add_argument(
        "--dataset", default="demo", choices=tuple(CATALOG), metavar="NAME", help=help_text
    )
    help_text = (
        "Sensitive attribute, such as sex, race/each, age/ranges or 'sex × race' "
        "(default: the dataset's first)."
    )
    parser.add_argument("--attribute", metavar="NAME", help=help_text)
    add_data_argument(parser)


def add_path(
    parser: argparse._ActionsContainer, *flags: str, help: str, metavar: str = "FILE", **more: Any
) -> None:
    """Add an argument that names a file or folder."""
    parser.add_argument(*flags, type=Path, metavar=metavar, help=help, **more)


def add_data_argument(parser: argparse.ArgumentParser) -> None:
    """Add --data."""
    help_text = "Folder with local dataset files (default: $FAIRLEAK_DATA); datasets not in it are downloaded."
    add_path(parser, "--data", metavar="FOLDER", help=help_text)


def add_policy_argument(parser: argparse.ArgumentParser) -> None:
    """Add --policy."""
    help_text = "Release policy: a file, or default or predictions (default: the plan's, else what fits it)."
    parser.add_argument("--policy", metavar="FILE", help=help_text)


def add_seeds_argument(parser: argparse._ActionsContainer) -> None:
    """Add --seeds; where none is given, a plan's seed is taken."""
    help_text = "Seeds, such as 0,1,2 or 0-9 (default: the plan's, else 42)."
    parser.add_argument("--seeds", metavar="LIST", help=help_text)


def check_epsilon(epsilon: float, methods: Sequence[str]) -> None:
    """Refuse a finite budget of the private trees although none is trained."""
    if math.isfinite(epsilon) and not set(PRIVATE_METHODS) & set(methods):
        private = ", ".join(PRIVATE_METHODS)
        trained = ", ".join(methods)
        raise InputError(
            f"--train-epsilon is for the methods {private} alone, got {epsilon:g} with {trained}."
        )


def catalogue_table(name: str, arguments: argparse.Namespace) -> Table:
    """Return a table of the catalogue, read from where the arguments say."""
    return load(name, data_folder=data_folder_of(arguments), cache_folder=default_cache_folder())


def data_folder_of(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of local data files that --data or the environment names; None where neither does."""
    local = arguments.data or os.environ.get("FAIRLEAK_DATA")
    if local is not None and not os.path.isdir(local):
        raise InputError(f"--data (or FAIRLEAK_DATA) must be a folder, got {quoted(local, 200)}.")
    if local:
        return Path(local)
    return None


def add_history_argument(parser: argparse.ArgumentParser) -> None:
    """Add --history."""
    help_text = "File of the history, or postgresql://user@host/database"
    help_text += " (default: $FAIRLEAK_HISTORY, or else a file in your data folder)."
    parser.add_argument("--history", default="", metavar="PLACE", help=help_text)


def login_name() -> str:
    """Return the name of who runs this, as the machine knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without an entry, as in a container
        return "unknown user"


def seeds_in(text: str) -> tuple[int, ...]:
    """Return the whole numbers in a list such as "0,1,5-9"."""
    seeds: dict[int, None] = {}
    name = "--seeds"
    for part in parts_of(text, name=name):
        first, dash, last = part.partition("-")
        if not dash:
            last = first
        try:
            low = int(first)
            high = int(last)
        except ValueError:
            raise InputError(
                f"{name} must be whole numbers such as 0,1,2 or 0-9, got {part!r}."
            ) from None
        if not 0 <= high - low < _MOST_SEEDS:
            raise InputError(
                f"{name} must run upwards over at most {_MOST_SEEDS:,} numbers, got {part!r}."
            )
        seeds |= dict.fromkeys(seed_value(seed, name=name) for seed in range(low, high + 1))
    return tuple(seeds)


def parts_of(text: str, *, name: str) -> list[str]:
    """Return what stands between a text's commas."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise InputError(f"{name} must be values with a comma between them, got {text!r}.")
    return parts


P = TypeVar("P", bound=Result)


def add_running_arguments(parser: argparse._ActionsContainer) -> None:
    """Add --jobs, --scheduler and --store."""
    help_text = "Worker processes on this machine (default: 1)."
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help=help_text)
    help_text = "Address of a Dask scheduler, such as tcp://127.0.0.1:8786."
    parser.add_argument("--scheduler", metavar="ADDRESS", help=help_text)
    help_text = "File for finished configurations, or 'none' (default: a file in the user's cache)."
    parser.add_argument("--store", metavar="FILE", help=help_text)


_FILES = {
    "csv": "File for every number.",
    "html": "File for the comparison as a page.",
    "json": "File for every number and setting.",
}


def add_file_arguments(parser: argparse._ActionsContainer, *names: str) -> None:
    """Add --csv and --json, or those named; `check_files` is called before the work."""
    for name in names or ("csv", "json"):
        add_path(parser, f"--{name}", help=_FILES[name])


def check_files(arguments: argparse.Namespace) -> None:
    """Refuse a file that cannot be written, before the work rather than after."""
    for name in (*_FILES, "output"):
        check_writable(getattr(arguments, name, None), what=f"--{name}")


def collected(
    measured: Callable[..., Iterator[P]],
    arguments: argparse.Namespace,
    console: Console,
    *,
    uploaded: bool,
) -> list[P]:
    """Return all models of an experiment that runs as the arguments say, with progress and a store to go on from.

    What follows from a table that the user `uploaded` is kept in memory; a file named for it is refused.
    """
    store = _store(arguments.store, uploaded=uploaded)
    report = _progress(console, "models")
    points = measured(
        n_jobs=arguments.jobs, scheduler=arguments.scheduler, store=store, report=report
    )
    try:
        with closing(points):  # type: ignore[type-var]
            return list(points)
    except KeyboardInterrupt:
        if isinstance(store, FileStore):
            console.note(f"Stopped; what is finished is in {store.path}.")
            console.note("The same command goes on from there.")
        raise
    finally:
        for note in store.notes:
            console.note(note)


def _progress(console: Console, noun: str) -> ReportProgress:
    """Return what writes how far an experiment is; points that come several at once were stored and tell no pace."""
    time_left = TimeLeft()
    before = 0

    def report(done: int, total: int) -> None:
        nonlocal before
        if done == before + 1:
            time_left.add()
        before = done
        console.count(done, total, noun, time_left.seconds(total - done))

    return report


def _store(name: str | None, *, uploaded: bool) -> FileStore | MemoryStore:
    if name == "none" or (name is None and uploaded):
        return MemoryStore()
    if name is None:
        return FileStore(default_store())
    return FileStore(Path(name))


def report_in(path: Path, *, what: str = "REPORT") -> Path:
    """Path of the internal report that a file, a report's folder or an audit's folder is or holds."""
    if not path.is_dir():
        return path
    for folder in (path, path / FOLDERS[0]):
        if (folder / "report.json").is_file():
            return folder / "report.json"
    raise InputError(
        f"{what} must be a report or a folder that holds one, got the folder {str(path)!r}."
    )


def report_that_holds(path: Path, *, what: str) -> tuple[bytes, Report]:
    """Return the bytes of a report that was not altered, and the report; others are refused, for `what` is done."""
    content, text = read_report(path)
    if broken := verify_report(text, name=repr(path.name)).broken:
        raise InputError(f"Only a report that holds {what}: {broken.sentence}")
    return content, report_of(document_in(text))


def read_report(path: Path, *, what: str = "REPORT") -> tuple[bytes, str]:
    """Return a report's bytes, and the text they are."""
    content = content_of(path, what=what, most=64 * MEGABYTE)
    return content, report_text(content, name=repr(path.name))


def check_brief(path: Path, *, what: str) -> None:
    """Refuse a file that no brief can be written to: it ends in .html or .pdf and can be written."""
    if path.suffix not in (".html", ".pdf"):
        raise InputError(f"{what} must end in .html or .pdf, got {str(path)!r}.")
    check_writable(path, what=what)


# Table and model ------------------------------------------------------------------------------------------------------

_CONFIG = AuditConfig(tolerance=TRAINED_TOLERANCE)

_ROLES = ("attribute", "label", "positive", "favourable", "prediction_positive")
"""Options that say what the columns of a file are."""

_OF_FILE = ("model", "label", "positive", "favourable", "prediction_positive")
"""Options that are about a file alone."""

TABLE_OPTIONS = ("file", "attribute", *_OF_FILE)
"""Options that are about a table, beside --dataset."""


def flag_of(name: str) -> str:
    """Return an option as it is written."""
    return f"--{name.replace('_', '-')}"


_OF_TRAINING = ("method", "epsilon", "depth")
"""Settings of a model that is trained here."""

_ANSWERS = (
    "--label, --attribute, --positive, --favourable and --prediction-positive answer here; other keys need a "
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
    text = "The prediction's value that stands for --positive, where it is not written as the label is."
    parser.add_argument("--prediction-positive", metavar="VALUE", help=text)
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


PlannedTable = tuple[AuditPlan, Table, "ModelFile | None", tuple[str, ...]]
"""A plan, its table, its model file where it has one, and the roles that nobody has confirmed."""


def planned_table(arguments: argparse.Namespace, console: Console) -> PlannedTable:
    """Return the table that --plan, --file or --dataset plans, with the settings of the model that have flags.

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
    return _with_settings(plan, arguments), table, None, ()


def check_table_arguments(arguments: argparse.Namespace) -> None:
    """Refuse a dataset beside a file, and what is about a file without one."""
    if arguments.file is not None:
        if arguments.dataset is not None:
            raise InputError(f"--dataset must be left out with --file, got {arguments.dataset!r}.")
        return
    for name in _OF_FILE:
        value = getattr(arguments, name)
        if value is not None:
            raise InputError(f"{flag_of(name)} must come with --file, got {str(value)!r} alone.")


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
    assert roles is not None  # those that were guessed
    for caution in cautions(suggestion.table.frame, roles):
        console.alert(terminal_line(caution))
    for fact in facts:
        if fact.severity in (*REFUSED, Severity.CAUTION):
            console.alert(terminal_line(fact))
        else:
            console.note(terminal_line(fact))


def _of_plan(arguments: argparse.Namespace) -> PlannedTable:
    for name in ("dataset", *TABLE_OPTIONS):
        value = getattr(arguments, name)
        if value is not None:
            raise InputError(f"{flag_of(name)} must be left out with --plan, got {str(value)!r}.")
    plan = read_plan(content_of(arguments.plan, what="--plan"), name=arguments.plan.name)
    folder = arguments.plan.absolute().parent
    table = load_table(plan, folder=folder, data_folder=data_folder_of(arguments))
    return _with_settings(plan, arguments), table, load_model(plan, folder=folder), ()


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
    blocking = [fact for fact in facts if fact.severity in REFUSED]
    print_facts(audit, (fact for fact in facts if fact not in blocking), console)
    if blocking:
        console.note(_ANSWERS)
    return _with_settings(audit.plan, arguments), table, model_file, audit.questions


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
