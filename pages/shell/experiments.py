"""Models of an experiment, measured in the background: what pages draw of them, and how far they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from core.base.fingerprint import fingerprint
from core.datasets.dataset import AuditDataset
from pages.shell import cached
from pages.shell.background import Background, Job, pace

if TYPE_CHECKING:
    from core.auditing import AuditPlan
    from core.experiments.experiment import ExperimentRow, GridPoint

LANE = "sweep"

Points = Sequence["GridPoint"]


class ModelsJob(Background):
    """The models of some points of a grid, measured one after the other, begun with those kept from earlier work.

    `make_points` returns the points, as the plan and `parts` decide them; `measures` are the checks and numbers that
    are measured of each.
    """

    def __init__(
        self,
        name: str,
        plan: AuditPlan,
        dataset: AuditDataset,
        measures: Sequence[str],
        make_points: Callable[[], Points],
        *parts: Any,
    ) -> None:
        from core.experiments.experiment import ModelMeasure, models_of

        self.dataset = dataset
        self.measure = ModelMeasure(tuple(measures))
        store = cached.store_of(plan.config.dataset)
        key = fingerprint(name, dataset.fingerprint, plan, list(measures), *parts)

        def make() -> tuple[Points, tuple[tuple[AuditPlan, ...], ...]]:
            points = make_points()
            return points, models_of(points)

        self.points, self.models = store.remember(f"points {key}", make)
        self.point_store: Any = None
        self.left: list[tuple[AuditPlan, ...]] = []
        super().__init__(
            "sweep", store, key, self._measured, lane=LANE, total=len(self.models), widget=name
        )

    def initial_partial(self) -> list[Any]:
        """Return what is kept of these models."""
        from core.experiments.environment import point_key
        from core.experiments.experiment import ModelMeasurements

        self.point_store = cached.point_store(
            self.models[0][0].config.dataset
        )  # the job may not call Streamlit
        keys = [
            point_key(plans, self.dataset, ModelMeasurements, *self.measure.parts)
            for plans in self.models
        ]
        stored = [self.point_store.load(key, ModelMeasurements) for key in keys]
        self.left = [
            plans for plans, result in zip(self.models, stored, strict=True) if result is None
        ]
        return [result for result in stored if result is not None]

    def _measured(self, job: Job) -> list[Any]:
        from core.experiments import engine
        from core.experiments.experiment import ModelMeasurements

        results = engine.measured_points(
            self.left,
            self.dataset,
            n_jobs=2,
            store=self.point_store,
            measure=self.measure,
            result=ModelMeasurements,
        )
        return job.collect(results)

    def offer(
        self, start: str = "Train and attack", done: str = "attacked", go_on: str = "Go on"
    ) -> bool:
        """Show how far it is and offer to stop or start it; returns whether any model is there."""
        n_done = len(self.partial)
        label = f"{start} {self.total} models"
        if self.job:
            label = f"Stopped after {n_done} of {self.total} models. {go_on}"
        self.show(lambda job: f"Models {done}: {n_done} of {job.total}, {pace(job)}", label)
        return n_done > 0

    def rows(self, points: Points | None = None) -> tuple[ExperimentRow, ...]:
        """Return the rows of what is measured so far, of some of its points where they are named."""
        from core.experiments.experiment import rows_of

        return rows_of(self.points if points is None else points, self.partial)
