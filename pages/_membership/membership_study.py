"""Membership on its page: the study of a subject that is trained in the background, and curves over other subjects.

Attack comes after attack and point after point; everything is kept in the store of the table it comes from. A moved
slider cancels the attacks on the model before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import streamlit as st

from core.auditing.subprocess_jobs import ReportProgress
from core.base.fingerprint import fingerprint
from core.datasets.dataset import AuditDataset
from core.models import GIVEN_PREDICTIONS
from core.studies.config import AuditConfig
from core.studies.correction import audit_key
from core.studies.membership import MembershipResult, MembershipSettings
from core.studies.membership.bands import CurvePoint
from core.studies.membership.study import STUDY
from core.studies.subject import subject_of
from pages.shell.background import Background, Job, ResultStore, pace, want_instead

FIRST_EPSILON = 1.0

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, math.inf)
"""Positions of the slider."""

SHADOWS = (0, 4, 8, 16, 32, 64, 128)
"""Numbers of shadow models that the page offers."""

FEW_REPEATS = 5
"""Repeats of a model that takes longer to train."""


class MembershipRun(Background):
    """The study of one model, whose result grows attack by attack; `name` is its place on the page."""

    def __init__(
        self,
        name: str,
        config: AuditConfig,
        dataset: AuditDataset,
        settings: MembershipSettings,
        store: ResultStore,
    ) -> None:
        self.config = config
        self.dataset = dataset
        self.settings = settings
        key = fingerprint("membership", audit_key(config, dataset), settings)
        if config.method == GIVEN_PREDICTIONS:
            total = 0
        else:
            total = settings.shadows
        super().__init__(name, store, key, self._run, lane="questions", total=total)

    def _run(self, job: Job) -> MembershipResult:
        grow = partial(_attacked, self.config, self.dataset, self.settings)
        for result in job.each_in_subprocess(grow, about=self.dataset):
            job.partial[:] = [result]
        return job.partial[-1]  # type: ignore[no-any-return]

    def show_progress(self) -> None:
        """Show how far the attacks are, with a button that stops them, or that starts them again."""
        result: MembershipResult | None = self.latest
        finished = 0
        if result is not None:
            finished = len(result.guesses)
        self.show(self._doing, f"Stopped after attacks: {finished}. Start again", again="Try again")

    def _doing(self, job: Job) -> str:
        if not job.partial:
            return "Training the model"
        return f"{job.done} of {job.total} shadow models, {pace(job)}"


def _attacked(
    config: AuditConfig, dataset: AuditDataset, settings: MembershipSettings, report: ReportProgress
) -> Iterator[MembershipResult]:
    """Yield the result of the study of the subject of these settings as it grows."""
    yield from STUDY.run(subject_of(config, dataset), settings, report)


Draw = Callable[[list[CurvePoint], bool], None]
"""Draws the points of a curve, which may be growing."""


class CurveJob(Background):
    """Points over a setting, one after the other; stopped and gone on with without losing any.

    `make` goes from the points that are there to an iterator of the others; `parts` are what the curve depends on.
    """

    def __init__(
        self,
        run: MembershipRun,
        name: str,
        total: int,
        make: Callable[..., Iterator[CurvePoint]],
        *parts: Any,
    ) -> None:
        def points(job: Job) -> list[CurvePoint]:
            finished = list(job.partial)
            return job.collect(
                job.each_in_subprocess(lambda _: make(finished=finished), about=run.dataset)
            )

        self._waiting = run.busy
        key = fingerprint("membership curve", name, run.dataset.fingerprint, *parts)
        super().__init__(
            f"member_curve_{name}", run.store, key, points, lane="sweep", total=total, widget=name
        )

    def grow(self, draw: Draw) -> None:
        """Draw the points as they come, with progress and buttons; start them once the attacks are done."""
        if not self._waiting:
            want_instead(self)
            self.begin()
        st.fragment(self._grow, run_every=2.0 if self.busy else None)(draw, self.busy)

    def _grow(self, draw: Draw, running: bool) -> None:
        if running and not self.busy:
            st.rerun()
        points = self.partial
        if points:
            draw(points, len(points) < self.total)
        if not self.begun():
            st.caption("This begins when the attacks above are done.")
        else:
            done = f"{len(points)} of {self.total} models"
            self.show(lambda job: f"{done} attacked, {pace(job)}", f"Stopped after {done}. Go on")
