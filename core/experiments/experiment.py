"""An experiment: plans that differ in a few keys, each measured by studies, one tidy row a measurement.

A model of the grid is one unit of work: it is trained once, and every study looks at it, under each of its plans: those
that differ in settings of studies alone. Rows are the checks of an audit, by the same functions: a plan's row has the
number of that plan's report. Further numbers of studies, which no policy limits, are measured where they are named.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..auditing.inputs import Audited, access_of, checked_dataset
from ..auditing.plan import AuditPlan, changed_plan, plan_value
from ..auditing.run import audited_on, measured, measured_number
from ..base.errors import InputError
from ..base.fingerprint import content_fingerprint
from ..base.serialize import Result
from ..base.validation import choice
from ..datasets import AuditDataset, Table
from ..stats.estimates import estimate_columns
from ..studies.registry import STUDIES
from ..studies.study import Check, Measurement
from .engine import measured_points
from .store import PointStore, environment

if TYPE_CHECKING:
    import pandas

    from ..models.model_files import ModelFile

MOST_PLANS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPoint:
    """A plan of the grid, and the values of the keys in which it differs from the others."""

    values: Mapping[str, Any]
    plan: AuditPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMeasurements(Result):
    """What is measured under one plan."""

    plan: str
    """Fingerprint of all that it says."""
    measurements: tuple[Measurement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMeasurements(Result):
    """What is measured of one model under each of its plans, and how long all of it took."""

    plans: tuple[PlanMeasurements, ...]
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRow(Result):
    """One measurement of one model of the grid, which took so many seconds with all that was measured of it.

    `versions` are those of FairLeak and of the libraries.
    """

    values: dict[str, Any]
    study: str
    measurement: Measurement
    seed: int
    seconds: float = field(default=0.0, compare=False)
    versions: str = ""


@dataclass(frozen=True)
class ModelMeasure:
    """What measures a model under each of its plans; table and file are there where it is a file that can be asked."""

    names: tuple[str, ...]
    """Checks and numbers of studies."""
    table: Table | None = None
    model_file: ModelFile | None = None

    @property
    def parts(self) -> tuple[Any, ...]:
        """What decides the measurements besides plans and data."""
        return (self.names,)

    def __call__(self, plans: tuple[AuditPlan, ...], dataset: AuditDataset) -> ModelMeasurements:
        """Train or take the model once, and measure it under plans that differ in settings of studies alone."""
        started = time.perf_counter()
        access = None
        if self.table is not None and self.model_file is not None:
            access = access_of(plans[0], self.table, dataset, self.model_file)
        audited = audited_on(plans[0], dataset, access=access)
        return ModelMeasurements(
            plans=tuple(self._measured(audited.under(plan)) for plan in plans),
            seconds=time.perf_counter() - started,
        )

    def _measured(self, audited: Audited) -> PlanMeasurements:
        numbers = {number.name for study in STUDIES.values() for number in study.numbers}
        return PlanMeasurements(
            plan=content_fingerprint(audited.plan),
            measurements=tuple(
                measured_number(name, audited) if name in numbers else measured(name, audited)
                for name in self.names
            ),
        )


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


def names_of(studies: Sequence[str] = (), measures: Sequence[str] = ()) -> tuple[str, ...]:
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


def grid_of(
    plans: Sequence[AuditPlan], varied: Mapping[str, Sequence[Any]]
) -> tuple[GridPoint, ...]:
    """Return every combination of the values with every plan, each once.

    Two combinations that come to the same plan, as two budgets of a method that has none, are one. InputError if a key
    is unknown, a value breaks its rule, or there are more than `MOST_PLANS`.

    Parameters
    ----------
    plans : sequence of AuditPlan
        Such as one for each attribute.
    varied : mapping
        Key of a plan, such as "model.tolerance" -> its values.
    """
    for key, values in varied.items():
        if not len(values):
            raise InputError(f"{key} must have at least one value, got none.")
    n_plans = len(plans) * math.prod(map(len, varied.values()))
    if n_plans > MOST_PLANS:
        raise InputError(f"An experiment may have at most {MOST_PLANS:,} plans, got {n_plans:,}.")
    points: dict[AuditPlan, GridPoint] = {}
    for plan in plans:
        for combination in itertools.product(*varied.values()):
            changed = changed_plan(plan, dict(zip(varied, combination, strict=True)))
            written = {key: plan_value(changed, key) for key in varied}
            points.setdefault(changed, GridPoint(values=written, plan=changed))
    return tuple(points.values())


def models_of(points: Sequence[GridPoint]) -> tuple[tuple[AuditPlan, ...], ...]:
    """Return the plans of each model: plans that differ in settings of studies alone share one."""
    plans: dict[Any, list[AuditPlan]] = {}
    for point in points:
        plan = point.plan
        plans.setdefault((plan.data, plan.model, plan.config, plan.outputs), []).append(plan)
    return tuple(map(tuple, plans.values()))


def run_experiment(
    points: Sequence[GridPoint],
    table: Table,
    *,
    studies: Sequence[str] = (),
    measures: Sequence[str] = (),
    model_file: ModelFile | None = None,
    n_jobs: int = 1,
    scheduler: str | None = None,
    store: PointStore | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Generator[ExperimentRow, None, None]:
    """Yield the rows of each model as soon as it is measured, dataset by dataset, of each the stored ones first.

    What is measured is that of `names_of`; the other arguments are those of `core.experiments.engine.measured_points`,
    whose errors this raises, too; progress counts models. InputError if a name is unknown or the table cannot serve a
    plan.
    """
    names = names_of(studies, measures)
    measure = ModelMeasure(names)
    if model_file is not None:
        measure = ModelMeasure(names, table, model_file)
    groups: dict[Any, list[GridPoint]] = {}
    for point in points:
        groups.setdefault((point.plan.data, point.plan.config.roles, point.plan.model), []).append(
            point
        )
    models = [models_of(group) for group in groups.values()]
    total = sum(map(len, models))
    before = 0
    for group, group_models in zip(groups.values(), models, strict=True):

        def tell(done: int, _: int, before: int = before) -> None:
            if report is not None:
                report(before + done, total)

        dataset = checked_dataset(group[0].plan, table, model_file=model_file)
        measurements = measured_points(
            group_models,
            dataset,
            n_jobs=min(n_jobs, len(group_models)),
            scheduler=scheduler,
            store=store,
            report=tell,
            measure=measure,
            result=ModelMeasurements,
        )
        by_plan = {content_fingerprint(point.plan): point for point in group}
        with closing(measurements):
            for result in measurements:
                for measured_plan in result.plans:
                    yield from _rows(by_plan[measured_plan.plan], measured_plan, result.seconds)
        before += len(group_models)


def in_grid_order(
    rows: Sequence[ExperimentRow], points: Sequence[GridPoint]
) -> list[ExperimentRow]:
    """Return rows in the order of their plans in the grid, whenever each was measured."""
    ranks = {tuple(point.values.items()): rank for rank, point in enumerate(points)}
    return sorted(rows, key=lambda row: ranks[tuple(row.values.items())])


def rows_of(
    points: Sequence[GridPoint], results: Sequence[ModelMeasurements]
) -> tuple[ExperimentRow, ...]:
    """Return a row for each measurement of those plans of a grid that are measured."""
    measurements = {
        measured_plan.plan: (measured_plan, result.seconds)
        for result in results
        for measured_plan in result.plans
    }
    rows: list[ExperimentRow] = []
    for point in points:
        fingerprint = content_fingerprint(point.plan)
        if fingerprint in measurements:
            rows += _rows(point, *measurements[fingerprint])
    return tuple(rows)


def _rows(point: GridPoint, result: PlanMeasurements, seconds: float) -> list[ExperimentRow]:
    studies = measurable()
    return [
        ExperimentRow(
            values=dict(point.values),
            study=studies[measurement.check][0],
            measurement=measurement,
            seed=point.plan.config.seed,
            seconds=seconds,
            versions="; ".join(environment()),
        )
        for measurement in result.measurements
    ]


def rows_frame(rows: Sequence[ExperimentRow]) -> pandas.DataFrame:
    """Return one line a row: varied keys, study, check, value with interval, baseline, n, reason, seed, versions."""
    import pandas as pd

    return pd.DataFrame([_line(row) for row in rows])


def _line(row: ExperimentRow) -> dict[str, Any]:
    measurement = row.measurement
    return {
        **row.values,
        "study": row.study,
        "check": measurement.check,
        **estimate_columns("value", measurement.estimate),
        **estimate_columns("baseline", measurement.control),
        "baseline is": measurement.control_name,
        "n": None if measurement.estimate is None else measurement.estimate.n,
        "reason": measurement.reason,
        "seed": row.seed,
        "seconds": round(row.seconds, 3),
        "versions": row.versions,
    }
