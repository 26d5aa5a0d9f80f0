"""The comparison of models in the background of the page, begun with the models that were finished earlier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.base.fingerprint import fingerprint
from core.experiments.choose import CandidatePoint, CandidateSet, measure_all
from core.experiments.environment import point_key
from pages.shell import cached
from pages.shell.background import Background, Job, pace

_JOBS = 2


class ChooseRun(Background):
    """Candidates measured one after the other; those that are stored already are not measured again."""

    def __init__(
        self, candidate_sets: Sequence[CandidateSet], minutes: float, dataset_name: str
    ) -> None:
        self.candidate_sets = list(candidate_sets)
        self.minutes = minutes
        self.dataset_name = dataset_name
        self.points: Any = None
        self.left: list[CandidateSet] = []
        parts = [
            [item.name, item.dataset.fingerprint, list(item.configs), list(item.measure.parts)]
            for item in candidate_sets
        ]
        total = sum(len(candidate_set.configs) for candidate_set in candidate_sets)
        store = cached.store_of(dataset_name)
        super().__init__(
            "choose",
            store,
            fingerprint("choose", parts, minutes),
            self._run,
            lane="sweep",
            total=total,
        )

    def initial_partial(self) -> list[CandidatePoint]:
        """Return the stored points of these models, and note which models have none."""
        self.points = cached.point_store(self.dataset_name)  # the job may not call Streamlit
        self.left = []
        finished: list[CandidatePoint] = []
        for candidate_set in self.candidate_sets:
            missing = []
            for config in candidate_set.configs:
                key = point_key(
                    config, candidate_set.dataset, CandidatePoint, *candidate_set.measure.parts
                )
                point = self.points.load(key, CandidatePoint)
                if point is None:
                    missing.append(config)
                else:
                    finished.append(point)
            if missing:
                self.left.append(replace(candidate_set, configs=missing))
        return finished

    def recall(self) -> None:
        """Take the result from the stored points, where that is all of it: nothing has to wait for a place."""
        if self.result is None and not self.busy:
            points = self.initial_partial()
            if not self.left:
                self.store.put(self.key, points)

    @property
    def progress(self) -> str:
        """How many of the models are measured: "12 of 18 models"."""
        return f"{len(self.result or self.partial)} of {self.total} models"

    def show_progress(self) -> None:
        """Show how far it is, with a button that stops it, or that goes on."""
        label = f"Stopped after {self.progress}. Go on"
        self.show(lambda job: f"{self.progress} done, {pace(job)}", label, again="Try again")

    def _run(self, job: Job) -> list[CandidatePoint]:
        if not self.left:
            return list(job.partial)
        return job.collect(
            measure_all(self.left, seconds=60 * self.minutes, n_jobs=_JOBS, store=self.points)
        )
