"""What the commands that sweep have in common: workers, store, the file of numbers, and how a stopped sweep says so."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.commands.arguments import dataset_of
from core.commands.console import Console
from core.config import AuditConfig
from core.csv_table import csv_of_frame
from core.datasets import AuditDataset
from core.datasets.catalog import default_cache_folder
from core.estimates import Estimate
from core.files import check_place, write_file
from core.results import Result
from core.sweep import FolderStore, MemoryStore, sweep

if TYPE_CHECKING:
    import pandas

P = TypeVar("P", bound=Result)


def add_running_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --jobs, --scheduler, --store and --csv."""
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="worker processes on this machine (default 1)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="Dask scheduler, such as tcp://127.0.0.1:8786")
    parser.add_argument(
        "--store", metavar="FOLDER", help="where finished configurations are kept; 'none' keeps nothing"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write every number to this file")


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --csv and --json."""
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write every number to this file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number and setting to this file")


def check_files(arguments: argparse.Namespace) -> None:
    """Refuse a place for --csv or --json that cannot be written, before the work rather than after."""
    check_place(arguments.csv, what="--csv")
    check_place(arguments.json, what="--json")


def interval_cells(name: str, estimate: Estimate | None) -> dict[str, Any]:
    """Return the cells of an estimate in a file of numbers: "name", "name low" and "name high"."""
    ends: tuple[float | None, ...] = (None,) * 3
    if estimate is not None:
        ends = (estimate.value, estimate.low, estimate.high)
    return dict(zip((name, f"{name} low", f"{name} high"), ends, strict=True))


def write_csv(frame: pandas.DataFrame, path: Path | None, console: Console) -> None:
    """Write a table where it was asked for."""
    if path is None:
        return
    write_file(path, csv_of_frame(frame), what="--csv")
    console.note(f"Every number is in {path}.")


def write_json(content: dict[str, Any], path: Path | None, console: Console) -> None:
    """Write results and settings where they were asked for; null stands for what is no finite number."""
    if path is None:
        return
    told = json.dumps(_without_nan(content), indent=1, ensure_ascii=False, allow_nan=False)
    write_file(path, f"{told}\n".encode(), what="--json")
    console.note(f"Everything is in {path}.")


def _without_nan(value: Any) -> Any:
    """Return nested dicts, lists and numbers with None for nan and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def finished(
    configs: Sequence[AuditConfig],
    arguments: argparse.Namespace,
    console: Console,
    *,
    measure: Callable[[AuditConfig, AuditDataset], P],
    result: type[P],
) -> list[P]:
    """Measure configurations on the dataset the arguments name, with progress; what is stored is not measured again."""
    store = _store(arguments.store)
    dataset = dataset_of(arguments)
    points: Iterator[P] = sweep(
        [replace(config, roles=dataset.roles) for config in configs],
        dataset,
        n_jobs=arguments.jobs,
        scheduler=arguments.scheduler,
        store=store,
        report=console.counting("configurations"),
        measure=measure,
        result=result,
    )
    try:
        with closing(points):  # type: ignore[type-var]
            return list(points)
    except KeyboardInterrupt:
        if store.on_disk:
            console.note(f"Stopped; what is finished is in {arguments.store or _default_store()}.")
            console.note("The same command goes on from there.")
        raise
    finally:
        for note in store.notes:
            console.note(note)


def _default_store() -> Path:
    return default_cache_folder().parent / "sweeps"


def _store(folder: str | None) -> FolderStore | MemoryStore:
    if folder == "none":
        return MemoryStore()
    return FolderStore(_default_store() if folder is None else Path(folder))
