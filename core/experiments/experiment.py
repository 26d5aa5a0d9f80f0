"""An experiment: plans that differ in a few keys, each measured by studies, one tidy row a measurement.

A plan of the grid is one unit of work: its model is trained once, and every study looks at it. Rows are the checks of
an audit, by the same functions: a plan's row has the number of that plan's report.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..auditing.inputs import access_of, checked_dataset
from ..auditing.plan import AuditPlan, changed_plan, plan_value
from ..auditing.run import audited_on, measured
from ..base.errors import InputError
from ..base.fingerprint import content_fingerprint
from ..base.serialize import Result
from ..base.validation import choice
from ..datasets import AuditDataset, Table
from ..stats.estimates import estimate_columns
from ..studies.registry import STUDIES
from ..studies.study import Measurement
from .engine import measured_points
from .environment import environment
from .store import PointStore

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
    """What the studies measure of one plan's model, and how long that took."""

    plan: str
    """Fingerprint of all that it says."""
    measurements: tuple[Measurement, ...]
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRow(Result):
    """One measurement of one model of the grid; `versions` are those of FairLeak and of the libraries."""

    values: dict[str, Any]
    study: str
    measurement: Measurement
    seed: int
    seconds: float = field(default=0.0, compare=False)
    versions: str = ""


@dataclass(frozen=True)
class PlanMeasure:
    """What measures a plan of the grid; table and model file are there where the model is a file that can be asked."""

    studies: tuple[str, ...]
    table: Table | None = None
    model_file: ModelFile | None = None

    @property
    def parts(self) -> tuple[Any, ...]:
        """What decides the measurements besides plan and data."""
        return (self.studies,)

    def __call__(self, plan: AuditPlan, dataset: AuditDataset) -> PlanMeasurements:
        """Train or take the model, run the studies, and return their checks."""
        started = time.perf_counter()
        access = None
        if self.table is not None and self.model_file is not None:
            access = access_of(plan, self.table, dataset, self.model_file)
        audited = audited_on(plan, dataset, access=access)
        checks = [check.name for study in self.studies for check in STUDIES[study].declared]
        return PlanMeasurements(
            plan=content_fingerprint(plan),
            measurements=tuple(measured(check, audited) for check in checks),
            seconds=time.perf_counter() - started,
        )


def measuring_studies() -> tuple[str, ...]:
    """Return the names of the studies that measure checks."""
    return tuple(name for name, study in STUDIES.items() if study.declared)


def grid_of(plans: Sequence[AuditPlan], varied: Mapping[str, Sequence[Any]]) -> tuple[GridPoint, ...]:
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


def run_experiment(
    points: Sequence[GridPoint],
    table: Table,
    *,
    studies: Sequence[str] = (),
    model_file: ModelFile | None = None,
    n_jobs: int = 1,
    scheduler: str | None = None,
    store: PointStore | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Generator[ExperimentRow, None, None]:
    """Yield the rows of each plan as soon as it is measured, dataset by dataset, of each the stored ones first.

    `studies` are those that measure, all of them where none is named; the other arguments are those of
    `core.experiments.engine.measured_points`, whose errors this raises, too. InputError if a study is unknown or the
    table cannot serve a plan.
    """
    names = tuple(choice(name, measuring_studies(), name="studies") for name in studies) or measuring_studies()
    measure = PlanMeasure(names)
    if model_file is not None:
        measure = PlanMeasure(names, table, model_file)
    groups: dict[Any, list[GridPoint]] = {}
    for point in points:
        groups.setdefault((point.plan.data, point.plan.config.roles, point.plan.model), []).append(point)
    before = 0
    for group in groups.values():

        def tell(done: int, _: int, before: int = before) -> None:
            if report is not None:
                report(before + done, len(points))

        dataset = checked_dataset(group[0].plan, table, model_file=model_file)
        measurements = measured_points(
            [point.plan for point in group],
            dataset,
            n_jobs=min(n_jobs, len(group)),
            scheduler=scheduler,
            store=store,
            report=tell,
            measure=measure,
            result=PlanMeasurements,
        )
        by_plan = _by_fingerprint(group)
        with closing(measurements):
            for result in measurements:
                yield from _rows(by_plan[result.plan], result)
        before += len(group)


def rows_of(points: Sequence[GridPoint], results: Sequence[PlanMeasurements]) -> tuple[ExperimentRow, ...]:
    """Return a row for each measurement of some plans of a grid."""
    by_plan = _by_fingerprint(points)
    return tuple(row for result in results for row in _rows(by_plan[result.plan], result))


def _by_fingerprint(points: Sequence[GridPoint]) -> dict[str, GridPoint]:
    return {content_fingerprint(point.plan): point for point in points}


def _rows(point: GridPoint, result: PlanMeasurements) -> list[ExperimentRow]:
    study_of = {check.name: name for name, study in STUDIES.items() for check in study.declared}
    return [
        ExperimentRow(
            values=dict(point.values),
            study=study_of[measurement.check],
            measurement=measurement,
            seed=point.plan.config.seed,
            seconds=result.seconds,
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
