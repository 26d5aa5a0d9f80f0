"""``fairleak experiment``: plans that differ in some keys, each measured by an audit's studies."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from ..auditing.plan import plan_setting
from ..base.errors import InputError
from ..base.files import csv_of_frame
from ..base.settings import Setting, value_excerpt
from ..experiments.experiment import (
    ExperimentRow,
    GridPoint,
    grid_of,
    measuring_studies,
    rows_frame,
    run_experiment,
)
from ..stats.estimates import Estimate
from .arguments import add_file_arguments, add_running_arguments, collected, parts_of
from .console import Console, interval_text, table, write_csv
from .subject import add_planned_table_arguments, planned_table

HELP = "Measure plans that differ in some keys: a row a measurement."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_planned_table_arguments(parser)
    help_text = "Key of a plan and its values, such as model.tolerance=0.01,0.05,0.1; repeatable, every combination."
    parser.add_argument("--vary", action="append", default=[], metavar="KEY=VALUES", help=help_text)
    help_text = f"Studies that measure: {', '.join(measuring_studies())} (default: all)."
    parser.add_argument("--studies", default="", metavar="LIST", help=help_text)
    add_running_arguments(parser)
    add_file_arguments(parser, "csv")


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print; what is stored already is not measured again."""
    planned = planned_table(arguments, console)
    varied = dict(map(_varied, arguments.vary))
    plan = planned.plan
    if "data.attribute" in varied and plan.data.dataset:
        plan = plan.without_roles
    points = grid_of([plan], varied)
    studies = parts_of(arguments.studies, name="--studies") if arguments.studies else ()
    measured = partial(_rows, points, planned.table, studies=studies, model_file=planned.model_file)
    uploaded = bool(plan.data.file)
    rows = collected(measured, arguments, console, noun="plans", uploaded=uploaded)
    console.results(_printed(rows))
    write_csv(csv_of_frame(rows_frame(rows)), arguments, console)


def _rows(points: Sequence[GridPoint], source: Any, **running: Any) -> Iterator[ExperimentRow]:
    with closing(run_experiment(points, source, **running)) as rows:
        yield from rows


def _varied(text: str) -> tuple[str, tuple[Any, ...]]:
    key, sign, values = text.partition("=")
    if not sign:
        raise InputError(f"--vary must be KEY=VALUES, such as model.tolerance=0.01,0.05, got {value_excerpt(text)}.")
    setting = plan_setting(key.strip())
    return key.strip(), tuple(_value(setting, part) for part in parts_of(values, name=f"--vary {key.strip()}"))


def _value(setting: Setting, text: str) -> Any:
    """Return a value as a plan has it; what cannot be read stays text, which breaks the setting's rule."""
    if text == "none":
        return None
    if setting.base is bool:
        return {"true": True, "false": False}.get(text, text)
    try:
        return setting.base(text)
    except ValueError:
        return text


def _printed(rows: Sequence[ExperimentRow]) -> Iterator[str]:
    """Yield the table: varied keys, check, value with interval, baseline."""
    yield "In brackets: 95% intervals over people. A row is a check of an audit of that plan."
    yield ""
    keys = list(rows[0].values) if rows else []
    yield table([_cells(row) for row in rows], left=len(keys) + 2)


def _cells(row: ExperimentRow) -> dict[str, str]:
    measurement = row.measurement
    cells = {key: "none" if value is None else f"{value}" for key, value in row.values.items()}
    return {
        **cells,
        "study": row.study,
        "check": measurement.check,
        "value": _number(measurement.estimate),
        "baseline": _number(measurement.control),
        "note": measurement.reason,
    }


def _number(estimate: Estimate | None) -> str:
    return "" if estimate is None else interval_text(estimate, percent=False)
