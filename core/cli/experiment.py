"""``fairleak experiment``: plans that differ in some keys, each measured by an audit's studies; means over seeds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from ..auditing.plan import plan_setting
from ..base.errors import InputError
from ..base.files import csv_of_frame
from ..base.settings import Setting, value_excerpt
from ..experiments.experiment import (
    SEED,
    ExperimentRow,
    GridPoint,
    SeedSummary,
    grid_of,
    in_grid_order,
    measurable,
    measuring_studies,
    rows_frame,
    run_experiment,
    summarise,
)
from ..stats.estimates import Estimate, number_text
from .arguments import (
    add_file_arguments,
    add_planned_table_arguments,
    add_running_arguments,
    add_seeds_argument,
    collected,
    parts_of,
    planned_table,
    seeds_in,
)
from .console import Console, interval_text, table, write_csv

HELP = "Measure plans that differ in some keys: a row a measurement, over seeds a mean with its interval."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_planned_table_arguments(parser)
    help_text = "Key of a plan and its values, such as model.tolerance=0.01,0.05,0.1; repeatable, every combination."
    parser.add_argument("--vary", action="append", default=[], metavar="KEY=VALUES", help=help_text)
    help_text = (
        f"Studies whose checks are measured: {', '.join(measuring_studies())} (default: all)."
    )
    parser.add_argument("--studies", default="", metavar="LIST", help=help_text)
    help_text = "Checks, and numbers beside them, that are measured instead, such as attack_before,attack_gain."
    parser.add_argument("--measures", default="", metavar="LIST", help=help_text)
    add_seeds_argument(parser)
    add_running_arguments(parser)
    add_file_arguments(parser, "csv")


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print; what is stored already is not measured again."""
    planned = planned_table(arguments, console)
    varied = dict(map(_varied, arguments.vary))
    if arguments.seeds is not None:
        if SEED in varied:
            raise InputError(
                f"--seeds must be left out where --vary names {SEED}, got {arguments.seeds!r}."
            )
        varied[SEED] = seeds_in(arguments.seeds)
    plan = planned.plan
    if "data.attribute" in varied and plan.data.dataset:
        plan = plan.without_roles
    points = grid_of([plan], varied)
    measured = partial(
        _rows,
        points,
        planned.table,
        studies=_listed(arguments.studies, "--studies"),
        measures=_listed(arguments.measures, "--measures"),
        model_file=planned.model_file,
    )
    uploaded = bool(plan.data.file)
    rows = in_grid_order(collected(measured, arguments, console, uploaded=uploaded), points)
    summaries = summarise(rows)
    if any(len(summary.seeds) > 1 for summary in summaries):
        console.results(_printed_summary(summaries))
    else:
        console.results(_printed(rows))
    write_csv(csv_of_frame(rows_frame(rows)), arguments, console)


def _listed(text: str, name: str) -> tuple[str, ...]:
    """Return the names of a list; none of an empty one."""
    if text:
        return tuple(parts_of(text, name=name))
    return ()


def _rows(points: Sequence[GridPoint], source: Any, **running: Any) -> Iterator[ExperimentRow]:
    with closing(run_experiment(points, source, **running)) as rows:
        yield from rows


def _varied(text: str) -> tuple[str, tuple[Any, ...]]:
    key, sign, values = text.partition("=")
    if not sign:
        raise InputError(
            f"--vary must be KEY=VALUES, such as model.tolerance=0.01,0.05, got {value_excerpt(text)}."
        )
    setting = plan_setting(key.strip())
    return key.strip(), tuple(
        _value(setting, part) for part in parts_of(values, name=f"--vary {key.strip()}")
    )


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
    yield "In brackets: 95% intervals over people. A row is a measurement under that plan."
    yield ""
    keys = list(rows[0].values) if rows else []
    yield table([_cells(row) for row in rows], left=len(keys) + 2)


def _cells(row: ExperimentRow) -> dict[str, str]:
    measurement = row.measurement
    return {
        **_keys(row.values),
        "study": row.study,
        "check": measurement.check,
        "value": _number(measurement.estimate),
        "baseline": _number(measurement.control),
        "note": measurement.reason,
    }


def _keys(values: Mapping[str, Any]) -> dict[str, str]:
    texts = {}
    for key, value in values.items():
        texts[key] = "none" if value is None else f"{value}"
    return texts


def _printed_summary(summaries: Sequence[SeedSummary]) -> Iterator[str]:
    """Yield the table over seeds: varied keys, check, mean with interval, standard deviation, baseline."""
    yield "Means over seeds; in brackets: 95% intervals over seeds (Student's t), of one seed over people."
    yield "Seeds share the people of the table: the intervals say nothing about another table."
    yield ""
    lines = [line for summary in summaries for line in _summary_cells(summary)]
    yield table(lines, left=len(summaries[0].values) + 2)


def _summary_cells(summary: SeedSummary) -> Iterator[dict[str, str]]:
    for name in dict.fromkeys((*summary.numbers, *summary.reasons)):
        spread = summary.numbers.get(name)
        seeds = 0
        deviation = ""
        if spread is not None:
            seeds = spread.seeds
            deviation = number_text(spread.sd, ".4f")
        yield {
            **_keys(summary.values),
            "study": measurable()[name][0],
            "check": name,
            "seeds": f"{seeds} of {len(summary.seeds)}",
            "mean": _number(spread),
            "sd": deviation,
            "baseline": _number(summary.baselines.get(name)),
            "note": summary.reasons.get(name, ""),
        }


def _number(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return interval_text(estimate, percent=False)
