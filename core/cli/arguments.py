"""Arguments that several commands share, and the work and files that come of them."""

from __future__ import annotations

import argparse
import getpass
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from ..base.errors import InputError
from ..base.files import MEGABYTE, check_writable, content_of
from ..base.serialize import Result
from ..base.validation import choice, seed_value
from ..datasets import Roles, Table, load
from ..datasets.catalog import CATALOG, default_cache_folder
from ..datasets.columns import quoted
from ..experiments.engine import TimeLeft
from ..experiments.store import FileStore, MemoryStore, default_store
from ..models import PRIVATE_METHODS
from ..report import FOLDERS, Report, verify_report
from ..report.codec import report_of
from ..report.verification import document_in, report_text
from .console import Console, visible

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
    """A command that is no module of its own; of a module these three are names in it."""

    HELP: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Console], str | None]


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
    help_text = (
        "Release policy: a file, or default or predictions (default: the plan's, else default)."
    )
    parser.add_argument("--policy", metavar="FILE", help=help_text)


def add_quiet_argument(parser: argparse.ArgumentParser) -> None:
    """Add --quiet."""
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="No progress and no notes on stderr."
    )


def add_seeds_argument(parser: argparse._ActionsContainer, *, of_plan: bool = False) -> None:
    """Add --seeds; `of_plan` says that a plan's seed is taken where none is given."""
    default = "the plan's, else 42" if of_plan else "42"
    help_text = f"Seeds, such as 0,1,2 or 0-9 (default: {default})."
    parser.add_argument(
        "--seeds", default=None if of_plan else "42", metavar="LIST", help=help_text
    )


def check_epsilon(epsilon: float, methods: Sequence[str]) -> None:
    """Refuse a finite budget of the private trees although none is trained."""
    if math.isfinite(epsilon) and not set(PRIVATE_METHODS) & set(methods):
        private = ", ".join(PRIVATE_METHODS)
        trained = ", ".join(methods)
        raise InputError(
            f"--train-epsilon is for the methods {private} alone, got {epsilon:g} with {trained}."
        )


def table_and_roles(arguments: argparse.Namespace) -> tuple[Table, Roles]:
    """Return the table the arguments name, and the roles of its columns for the attribute they name."""
    entry = CATALOG[arguments.dataset]
    attribute = arguments.attribute
    if attribute is not None and not entry.offers(attribute):
        choice(attribute, entry.attributes, name="--attribute")
    table = catalogue_table(arguments.dataset, arguments)
    roles = table.roles_for(attribute or "")
    assert roles is not None  # what the entry offers
    return table, roles


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
        try:
            low = int(first)
            high = int(last if dash else first)
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
    noun: str,
    uploaded: bool = False,
) -> list[P]:
    """Return all points of an experiment that runs as the arguments say, with progress and a store to go on from.

    What follows from a table that the user `uploaded` is kept in memory; a file named for it is refused.
    """
    store = _store("none" if uploaded and arguments.store is None else arguments.store)
    report = _progress(console, noun)
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


def _progress(console: Console, noun: str) -> Callable[[int, int], None]:
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


def _store(name: str | None) -> FileStore | MemoryStore:
    if name == "none":
        return MemoryStore()
    return FileStore(default_store() if name is None else Path(name))


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
