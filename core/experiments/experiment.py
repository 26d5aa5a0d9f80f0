"""An experiment: plans that differ in a few keys, each measured by studies, one tidy row a measurement.

A model of the grid is one unit of work: it is trained once, and every study looks at it, under each of its plans: those
that differ in settings of studies alone. Rows are the checks of an audit, by the same functions: a plan's row has the
number of that plan's report. Further numbers of studies, which no policy limits, are measured where they are named.

Over seeds there are mean, standard deviation and interval of every number. A seed fixes the splits, the training, the
random predictions and the adversaries. The intervals over seeds are Student's t-intervals for the mean, of a fact
Wilson's for the share of seeds in which it holds, and so speak of repeating the experiment on the same table; seeds
share that table's people, so they say nothing about another table. With one seed there is no such interval: the number
then keeps its own interval over people, and says so.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ..auditing.inputs import access_of, checked_dataset
from ..auditing.plan import AuditPlan, changed_plan, plan_value
from ..auditing.policy import estimate_text
from ..auditing.run import audited_on, measured
from ..base.errors import InputError, ReportProgress
from ..base.serialize import Result, content_fingerprint
from ..base.validation import choice
from ..datasets import AuditDataset, Table
from ..stats.estimates import (
    Estimate,
    Spread,
    estimate_columns,
    plain_number,
    proportion,
    summarize_seeds,
)
from ..studies.registry import STUDIES
from ..studies.study import Check, Finding, Measurement
from .engine import PointStore, environment, measured_points

if TYPE_CHECKING:
    import pandas

    from ..models.model_files import ModelFile

MOST_PLANS = 2_000


Grid = dict[AuditPlan, dict[str, Any]]
"""Plan -> the values of the keys in which it differs from the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMeasurements(Result):
    """What is measured of one model under each of its plans, and how long all of it took."""

    plans: dict[str, tuple[Measurement, ...]]
    """Fingerprint of all that a plan says -> what is measured under it."""
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRow(Result):
    """One measurement of one model of the grid, which took so many seconds with all that was measured of it."""

    values: dict[str, Any]
    study: str
    measurement: Measurement
    seed: int
    seconds: float = field(default=0.0, compare=False)


def measured_model(
    plans: tuple[AuditPlan, ...],
    dataset: AuditDataset,
    *,
    names: tuple[str, ...],
    table: Table | None = None,
    model_file: ModelFile | None = None,
) -> ModelMeasurements:
    """Train or take the model once, and measure it under plans that differ in settings of studies alone.

    `names` are checks and numbers of studies; table and file are there where it is a file that can be asked.
    """
    started = time.perf_counter()
    access = None
    if table is not None and model_file is not None:
        access = access_of(plans[0], table, dataset, model_file)
    audited = audited_on(plans[0], dataset, access=access)
    measurements = {}
    for plan in plans:
        subject = audited.under(plan)
        measurements[content_fingerprint(plan)] = tuple(measured(name, subject) for name in names)
    return ModelMeasurements(plans=measurements, seconds=time.perf_counter() - started)


def measuring_studies() -> tuple[str, ...]:
    """Return the names of the studies that measure checks."""
    return tuple(name for name, study in STUDIES.items() if study.declared)


def measurable() -> dict[str, tuple[str, Check]]:
    """Return name of a check or number -> its study, and what it is."""
    return {
        check.name: (name, check)
        for name, study in STUDIES.items()
        for check in (*study.declared, *study.numbers)
    }


def measured_names(studies: Sequence[str] = (), measures: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what is measured: what is named, or else the checks of the studies, of all where none is named.

    InputError if a name is unknown.
    """
    if measures:
        return tuple(choice(name, tuple(measurable()), name="measures") for name in measures)
    chosen = (
        tuple(choice(name, measuring_studies(), name="studies") for name in studies)
        or measuring_studies()
    )
    return tuple(check.name for name in chosen for check in STUDIES[name].declared)


def grid_of(plan: AuditPlan, varied: Mapping[str, Sequence[Any]]) -> Grid:
    """Return a plan with every combination of the values, each once.

    Two combinations that come to the same plan, as two budgets of a method that has none, are one. InputError if a key
    is unknown, a value breaks its rule, or there are more than `MOST_PLANS`.

    Parameters
    ----------
    varied : mapping
        Key of a plan, such as "model.tolerance" -> its values.
    """
    for key, values in varied.items():
        if not len(values):
            raise InputError(f"{key} must have at least one value, got none.")
    n_plans = math.prod(map(len, varied.values()))
    if n_plans > MOST_PLANS:
        raise InputError(f"An experiment may have at most {MOST_PLANS:,} plans, got {n_plans:,}.")
    grid: Grid = {}
    for combination in itertools.product(*varied.values()):
        changed = changed_plan(plan, dict(zip(varied, combination, strict=True)))
        grid.setdefault(changed, {key: plan_value(changed, key) for key in varied})
    return grid


def models_of(plans: Iterable[AuditPlan]) -> tuple[tuple[AuditPlan, ...], ...]:
    """Return the plans of each model: plans that differ in settings of studies alone share one."""
    models: dict[Any, list[AuditPlan]] = {}
    for plan in plans:
        models.setdefault((plan.data, plan.model, plan.config, plan.outputs), []).append(plan)
    return tuple(map(tuple, models.values()))


def run_experiment(
    grid: Grid,
    table: Table,
    *,
    studies: Sequence[str] = (),
    measures: Sequence[str] = (),
    model_file: ModelFile | None = None,
    guesses: Collection[str] = (),
    n_jobs: int = 1,
    scheduler: str | None = None,
    store: PointStore | None = None,
    report: ReportProgress | None = None,
) -> Generator[ExperimentRow, None, None]:
    """Yield the rows of each model as soon as it is measured, dataset by dataset, of each the stored ones first.

    What is measured is that of `measured_names`; `guesses` are the roles of columns that nobody has confirmed, as of
    `core.auditing.run_audit`; the other arguments are those of `core.experiments.engine.measured_points`, whose errors
    this raises, too; progress counts models. InputError if a name is unknown or the table cannot serve a plan.
    """
    names = measured_names(studies, measures)
    measure = partial(measured_model, names=names)
    if model_file is not None:
        measure = partial(measured_model, names=names, table=table, model_file=model_file)
    groups: dict[Any, list[AuditPlan]] = {}
    for plan in grid:
        groups.setdefault((plan.data, plan.config.roles, plan.model), []).append(plan)
    models = [models_of(group) for group in groups.values()]
    total = sum(map(len, models))
    before = 0
    for group, group_models in zip(groups.values(), models, strict=True):

        def tell(done: int, _: int, before: int = before) -> None:
            if report is not None:
                report(before + done, total)

        dataset = checked_dataset(group[0], table, model_file=model_file, guesses=guesses)
        measurements = measured_points(
            group_models,
            dataset,
            n_jobs=min(n_jobs, len(group_models)),
            scheduler=scheduler,
            store=store,
            report=tell,
            measure=measure,
            parts=(names,),
            result=ModelMeasurements,
        )
        by_fingerprint = {content_fingerprint(plan): plan for plan in group}
        with closing(measurements):
            for result in measurements:
                for fingerprint, plan_measurements in result.plans.items():
                    plan = by_fingerprint[fingerprint]
                    yield from _rows(plan, grid[plan], plan_measurements, result.seconds)
        before += len(group_models)


def in_grid_order(rows: Sequence[ExperimentRow], grid: Grid) -> list[ExperimentRow]:
    """Return rows in the order of their plans in the grid, whenever each was measured."""
    ranks = {tuple(values.items()): rank for rank, values in enumerate(grid.values())}
    return sorted(rows, key=lambda row: ranks[tuple(row.values.items())])


def rows_of(grid: Grid, results: Sequence[ModelMeasurements]) -> tuple[ExperimentRow, ...]:
    """Return a row for each measurement of those plans of a grid that are measured."""
    measurements = {
        plan: (plan_measurements, result.seconds)
        for result in results
        for plan, plan_measurements in result.plans.items()
    }
    rows: list[ExperimentRow] = []
    for plan, values in grid.items():
        fingerprint = content_fingerprint(plan)
        if fingerprint in measurements:
            rows += _rows(plan, values, *measurements[fingerprint])
    return tuple(rows)


def _rows(
    plan: AuditPlan,
    values: Mapping[str, Any],
    measurements: Sequence[Measurement],
    seconds: float,
) -> list[ExperimentRow]:
    studies = measurable()
    return [
        ExperimentRow(
            values=dict(values),
            study=studies[measurement.check][0],
            measurement=measurement,
            seed=plan.config.seed,
            seconds=seconds,
        )
        for measurement in measurements
    ]


def rows_frame(rows: Sequence[ExperimentRow]) -> pandas.DataFrame:
    """Return one line a row: varied keys, study, check, value with interval, baseline, n, reason, seed, versions."""
    import pandas as pd

    return pd.DataFrame([_line(row) for row in rows])


def _line(row: ExperimentRow) -> dict[str, Any]:
    measurement = row.measurement
    estimate = measurement.estimate
    n = None if estimate is None else estimate.n
    return {
        **row.values,
        "study": row.study,
        "check": measurement.check,
        **estimate_columns("value", estimate),
        **estimate_columns("baseline", measurement.control),
        "baseline is": measurement.control_name,
        "n": n,
        "reason": measurement.reason,
        "seed": row.seed,
        "seconds": round(row.seconds, 3),
        "versions": "; ".join(environment()),
    }


SEED = "model.seed"

_RANGES = {"points": (-1.0, 1.0), "percent": (0.0, 1.0), "gap": (0.0, 1.0), "ratio": (0.0, 1.0)}
"""Unit -> smallest and largest value; other units have none."""


# Over seeds -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedSummary(Result):
    """All seeds of one setting: numbers by name, and what is reached without the model in the same seeds.

    A number is over the seeds that measured it; one that none did has the reasons why in its place.
    """

    values: dict[str, Any]
    """Varied keys but the seed."""
    seeds: tuple[int, ...]
    numbers: dict[str, Spread]
    baselines: dict[str, Spread]
    reasons: dict[str, str]

    def count(self, name: str) -> int:
        """Return in how many seeds a fact holds, which is 1 or 0 in each."""
        spread = self.numbers[name]
        return round(spread.value * spread.seeds)


def summarise(rows: Sequence[ExperimentRow]) -> tuple[SeedSummary, ...]:
    """Return the summary of each setting: rows with all keys equal but the seed, in the order in which they came."""
    groups: dict[tuple[Any, ...], list[ExperimentRow]] = {}
    for row in rows:
        groups.setdefault(tuple(_setting(row).items()), []).append(row)
    return tuple(_summary(group) for group in groups.values())


def _setting(row: ExperimentRow) -> dict[str, Any]:
    return {key: value for key, value in row.values.items() if key != SEED}


def _summary(rows: Sequence[ExperimentRow]) -> SeedSummary:
    by_name: dict[str, list[ExperimentRow]] = {}
    for row in sorted(rows, key=lambda row: row.seed):
        by_name.setdefault(row.measurement.check, []).append(row)
    numbers = {}
    baselines = {}
    reasons = {}
    for name, named_rows in by_name.items():
        measurements = [row.measurement for row in named_rows]
        measured = [measurement for measurement in measurements if measurement.estimate is not None]
        if measured:
            numbers[name] = _spread(name, [measurement.estimate for measurement in measured])
        controls = [
            measurement.control for measurement in measured if measurement.control is not None
        ]
        if controls:
            baselines[name] = _spread(name, controls)
        notes = dict.fromkeys(
            measurement.reason for measurement in measurements if measurement.reason
        )
        if notes:
            reasons[name] = " ".join(notes)
    return SeedSummary(
        values=_setting(rows[0]),
        seeds=tuple(sorted({row.seed for row in rows})),
        numbers=numbers,
        baselines=baselines,
        reasons=reasons,
    )


def _spread(name: str, estimates: Sequence[Estimate | None]) -> Spread:
    """Return some numbers over seeds; a fact without a width has no interval of its own."""
    _, check = measurable()[name]
    if check.unit == "fact" and len(estimates) > 1:
        return _share(estimates)
    least, most = _RANGES.get(check.unit, (-math.inf, math.inf))
    return summarize_seeds([_plain(estimate) for estimate in estimates], least=least, most=most)


def _share(facts: Sequence[Estimate | None]) -> Spread:
    """Return in which share of several seeds a fact holds, with Wilson's interval."""
    share = proportion(sum(fact.value for fact in facts if fact is not None), len(facts))
    return Spread(
        value=share.value,
        low=share.low,
        high=share.high,
        n=share.n,
        sd=math.nan,
        over="seeds",
        seeds=len(facts),
    )


def _plain(estimate: Estimate | None) -> Estimate | float | None:
    if estimate is not None and estimate.low == estimate.high:
        return estimate.value
    return estimate


def summary_frame(summaries: Sequence[SeedSummary]) -> pandas.DataFrame:
    """Return one line a setting and number: mean, sd, interval and what it is over, seeds, baseline."""
    import pandas as pd

    return pd.DataFrame([line for summary in summaries for line in _lines(summary)])


def _lines(summary: SeedSummary) -> list[Mapping[str, Any]]:
    studies = measurable()
    lines: list[Mapping[str, Any]] = []
    for name in dict.fromkeys((*summary.numbers, *summary.reasons)):
        seeds = 0
        over = ""
        if name in summary.numbers:
            seeds = summary.numbers[name].seeds
            over = summary.numbers[name].over
        line = {
            **summary.values,
            "study": studies[name][0],
            "check": name,
            **_columns("value", summary.numbers.get(name)),
            **_columns("baseline", summary.baselines.get(name)),
            "seeds": seeds,
            "of seeds": len(summary.seeds),
            "interval over": over,
            "reason": summary.reasons.get(name, ""),
        }
        lines.append(line)
    return lines


def _columns(name: str, spread: Spread | None) -> dict[str, float | None]:
    sd = None
    if spread is not None:
        sd = plain_number(spread.sd)
    return {**estimate_columns(name, spread), f"{name}, sd": sd}


def setting_title(summary: SeedSummary, summaries: Sequence[SeedSummary]) -> str:
    """Return what tells a setting from the others: "method dp_id3, epsilon 3"."""
    parts = []
    for key, value in summary.values.items():
        varied = len({str(setting.values.get(key)) for setting in summaries}) > 1
        if varied and value is not None:
            parts.append(f"{key.rpartition('.')[2]} {value}")
    return ", ".join(parts) or "as planned"


def grid_finding(summaries: Sequence[SeedSummary], name: str) -> Finding:
    """Return where a number is smallest and largest over the settings, with their intervals."""
    measured = [summary for summary in summaries if name in summary.numbers]
    if not measured:
        return Finding(point="No setting has this number.")
    smallest = min(measured, key=lambda summary: summary.numbers[name].value)
    largest = max(measured, key=lambda summary: summary.numbers[name].value)
    one_seed = all(len(summary.seeds) == 1 for summary in measured)
    over = "people" if one_seed else "seeds"
    ends = {"Smallest": smallest}
    if len(measured) > 1:
        ends["Largest"] = largest
    lines = []
    for end, summary in ends.items():
        value, interval = estimate_text(name, summary.numbers[name])
        lines.append(f"{end}: {value} ({interval}), {setting_title(summary, summaries)}.")
    return Finding(
        point=" ".join(lines),
        evidence=f"Settings measured: {len(measured)}. 95% intervals over {over}, not corrected for their number.",
    )


def grid_size_finding(n_models: int, *, trained: bool) -> Finding:
    """Return how many models a grid has, and whether any is trained for it."""
    if trained:
        return Finding(
            point=f"Models in the grid: {n_models}.", evidence="Each is trained and attacked once."
        )
    return Finding(
        point=f"Settings in the grid: {n_models}.",
        evidence="The model is given: nothing is trained.",
    )
