"""``fairleak sweep``: attack accuracy over a grid of methods, metrics, tolerances and seeds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ..auditing import checked_dataset
from ..base.errors import InputError
from ..base.files import csv_of_frame
from ..base.settings import add_arguments as add_settings
from ..base.settings import from_arguments
from ..base.validation import unit_interval
from ..experiments.engine import measured_points
from ..experiments.sweep import (
    PAPER_TOLERANCES,
    TOLERANCES,
    SweepPoint,
    SweepRow,
    SweepSettings,
    grid,
    measure,
    summarise,
    summary_frame,
)
from ..models import PRIVATE_METHODS, TOLERANCE_METHODS
from ..stats.estimates import Spread
from ..studies.config import AuditConfig
from .arguments import (
    add_file_arguments,
    add_running_arguments,
    add_seeds_argument,
    check_epsilon,
    collected,
    parts_of,
    seeds_in,
)
from .console import Console, interval_text, table, write_csv
from .subject import PlannedTable, add_planned_table_arguments, planned_table

HELP = "Sweep methods, metrics, tolerances and seeds."

_NAMED_TOLERANCES = {"18": TOLERANCES, "49": PAPER_TOLERANCES}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_planned_table_arguments(parser)
    add_settings(parser, SweepSettings)
    add_settings(parser, AuditConfig, "epsilon", "train_share", "forest")
    add_seeds_argument(parser)
    add_running_arguments(parser)
    add_file_arguments(parser, "csv")


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print; what is stored already is not measured again."""
    settings = from_arguments(arguments, SweepSettings)
    tolerances = _tolerances(settings.tolerances)
    seeds = seeds_in(arguments.seeds)
    planned = planned_table(arguments, console)
    _check_trained(planned)
    config = planned.plan.config
    check_epsilon(config.epsilon, settings.methods)
    dataset = checked_dataset(planned.plan, planned.table)
    configs = grid(
        replace(config, roles=dataset.roles),
        tolerances=tolerances,
        methods=settings.methods,
        metrics=settings.metrics,
        seeds=seeds,
    )
    measured = partial(measured_points, configs, dataset, measure=measure, result=SweepPoint)
    points = collected(measured, arguments, console, noun="configurations", uploaded=dataset.uploaded)
    summary = summarise(points)
    console.results(_printed(summary, settings, config))
    write_csv(csv_of_frame(summary_frame(summary)), arguments, console)


def _check_trained(planned: PlannedTable) -> None:
    """Refuse a model that is given: a sweep trains its own."""
    kind = planned.plan.model.kind
    if kind == "train":
        return
    columns = ""
    if kind == "predictions":
        roles = planned.plan.config.roles
        assert roles is not None  # of given predictions
        columns = f" ({roles.prediction or roles.score})"
    raise InputError(f"A sweep trains its models itself and takes a table without a model's, got {kind}{columns}.")


def _tolerances(text: str) -> tuple[float, ...]:
    if (tolerances := _NAMED_TOLERANCES.get(text.strip())) is not None:
        return tolerances
    parts = parts_of(text, name="--tolerances")
    return tuple(dict.fromkeys(unit_interval(part, name="--tolerances") for part in parts))  # type: ignore[arg-type]


def _printed(summary: Sequence[SweepRow], settings: SweepSettings, config: AuditConfig) -> Iterator[str]:
    """Yield the tables: recovered people, then the audited models; each number with its interval."""
    rows = [row for row in summary if (row.protocol, row.cost) == (settings.protocol, settings.cost)]
    several = len({seed for row in rows for seed in row.seeds}) > 1
    over = "over seeds (t)" if several else "over people; one seed is no evidence for another"
    where = f"{config.dataset}, exponent chosen {settings.protocol}, cost {settings.cost}"
    yield f"Attribute inference accuracy on the training set, % ({where})"
    yield f"In brackets: 95% intervals {over}. Majority: the majority-class baseline."
    yield ""
    printed = [
        {
            "method": row.method,
            "metric": row.metric,
            "attacker": row.adversary,
            "tolerance": _tolerance(row),
            "seeds": str(len(row.seeds)),
            "true": str(row.n_true),
            "majority": interval_text(row.majority),
            "before": interval_text(row.before),
            "after": _with_missing(row.after, len(row.seeds)),
            "gain": interval_text(row.gain, signed=True),
        }
        for row in rows
    ]
    yield table(printed, left=3)
    if any(row.method in PRIVATE_METHODS for row in rows):
        yield f"{', '.join(PRIVATE_METHODS)}: private trees trained with epsilon {config.epsilon:g}."
    yield "true: seeds in which the model satisfies the disclosed tolerance. none after: no guess satisfies it."
    yield "With --protocol as_published, or where there is none, the tolerance is raised until the model satisfies it."
    yield ""
    yield from _models(rows)


def _tolerance(row: SweepRow) -> str:
    return f"{row.tolerance:g}" if row.method in TOLERANCE_METHODS else "none"


def _with_missing(after: Spread | None, seeds: int) -> str:
    text = interval_text(after)
    return text if after is None or after.seeds == seeds else f"{text} ({after.seeds} of {seeds})"


def _models(rows: list[SweepRow]) -> Iterator[str]:
    yield "Audited models: accuracy in %. unfair: largest deviation of a group from the overall rate. differ:"
    yield "difference between groups, which is Fairlearn's (demographic parity difference and kin)."
    yield ""
    unique_rows = {(row.method, row.metric, row.tolerance): row for row in rows}
    printed = [
        {
            "method": row.method,
            "metric": row.metric,
            "tolerance": _tolerance(row),
            "train": interval_text(row.model_train),
            "test": interval_text(row.model_test),
            "majority, test": interval_text(row.model_majority),
            "unfair, train": interval_text(row.unfairness_train, percent=False),
            "unfair, test": interval_text(row.unfairness_test, percent=False),
            "differ, train": interval_text(row.difference_train, percent=False),
            "differ, test": interval_text(row.difference_test, percent=False),
        }
        for row in unique_rows.values()
    ]
    yield table(printed, left=2)
