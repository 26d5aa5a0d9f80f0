"""Studies and experiments in the background of a page: what is drawn of their results, and how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from core.base.serialize import fingerprint
from core.datasets.dataset import AuditDataset
from core.studies.correction import audit_key
from core.studies.study import Study
from pages.shell import cached
from pages.shell.background import Background, Job, ResultStore, pace

if TYPE_CHECKING:
    from core.auditing import AuditPlan
    from core.experiments.experiment import ExperimentRow, Grid


class StudyRun(Background):
    """A study of one subject, whose result may grow."""

    def __init__(
        self, study: Study[Any, Any], subject: Any, settings: Any, store: ResultStore
    ) -> None:
        self.study = study
        self.subject = subject
        self.settings = settings
        key = fingerprint("study", study.name, audit_key(subject.config, subject.dataset), settings)
        super().__init__(
            study.name,
            store,
            key,
            self._run,
            lane="questions",
            total=study.steps(subject, settings),
        )

    def _run(self, job: Job) -> Any:
        result = None
        run = partial(self.study.run, self.subject, self.settings)
        if isinstance(self.subject.dataset, AuditDataset):
            about = self.subject.dataset
        else:
            about = None
        for result in job.each_in_subprocess(run, about=about):
            job.partial[:] = [result]
        return result

    def show_progress(self) -> None:
        """Show how far it is, with a button that stops it, or that starts it again."""
        self.show(
            lambda job: f"{job.done} of {job.total} steps, {pace(job)}",
            "Start again",
            again="Try again",
        )


class StudyCurve(Background):
    """A study of one subject at several settings, which are done in their order."""

    def __init__(
        self,
        study: Study[Any, Any],
        subject: Any,
        settings: Sequence[Any],
        store: ResultStore,
    ) -> None:
        self.study = study
        self.subject = subject
        self.settings = settings
        model = audit_key(subject.config, subject.dataset)
        key = fingerprint("curve", study.name, model, sorted(map(repr, settings)))
        super().__init__("curves", store, key, self._run, lane="questions", total=len(settings))

    @property
    def results(self) -> dict[Any, Any]:
        """Settings -> whole result, as far as they are done."""
        return dict(self.partial or self.result or ())

    def _run(self, job: Job) -> list[Any]:
        study = self.study
        subject = self.subject
        done = dict(job.partial)
        missing = [settings for settings in self.settings if settings not in done]

        def results(_: Any) -> Iterator[Any]:
            for settings in missing:
                *_, result = study.run(subject, settings)
                yield settings, result

        return job.collect(job.each_in_subprocess(results, about=subject.dataset))


class ModelsJob(Background):
    """The models of a grid, measured one after the other, begun with those kept from earlier work.

    `make_grid` returns the grid, as the plan and `parts` decide it; `measures` are the checks and numbers that are
    measured of each.
    """

    def __init__(
        self,
        name: str,
        plan: AuditPlan,
        dataset: AuditDataset,
        measures: Sequence[str],
        make_grid: Callable[[], Grid],
        *parts: Any,
    ) -> None:
        from core.experiments.experiment import models_of

        self.dataset = dataset
        self.measures = tuple(measures)
        store = cached.store_of(plan.config.dataset)
        key = fingerprint(name, dataset.fingerprint, plan, list(measures), *parts)

        def make() -> tuple[Grid, tuple[tuple[AuditPlan, ...], ...]]:
            grid = make_grid()
            return grid, models_of(grid)

        self.grid, self.models = store.remember(f"grid {key}", make)
        self.point_store: Any = None
        self.left: list[tuple[AuditPlan, ...]] = []
        super().__init__(
            "sweep", store, key, self._measured, lane="sweep", total=len(self.models), widget=name
        )

    def initial_partial(self) -> list[Any]:
        """Return what is kept of these models."""
        from core.experiments.engine import stored_points
        from core.experiments.experiment import ModelMeasurements

        self.point_store = cached.point_store(
            self.models[0][0].config.dataset
        )  # the job may not call Streamlit
        stored = stored_points(
            self.models,
            self.dataset,
            self.point_store,
            parts=(self.measures,),
            result=ModelMeasurements,
        )
        self.left = [plans for plans in self.models if plans not in stored]
        return list(stored.values())

    def _measured(self, job: Job) -> list[Any]:
        from core.experiments import engine
        from core.experiments.experiment import ModelMeasurements, measured_model

        results = engine.measured_points(
            self.left,
            self.dataset,
            n_jobs=2,
            store=self.point_store,
            measure=partial(measured_model, names=self.measures),
            parts=(self.measures,),
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

    def rows(self, grid: Grid | None = None) -> tuple[ExperimentRow, ...]:
        """Return the rows of what is measured so far, of a part of its grid where one is given."""
        from core.experiments.experiment import rows_of

        if grid is None:
            grid = self.grid
        return rows_of(grid, self.partial)
