"""A study of the audited model, run in the background of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from core.base.fingerprint import fingerprint
from core.datasets.dataset import AuditDataset
from core.studies.correction import audit_key
from core.studies.study import Study
from pages.shell.background import Background, Job, ResultStore, pace


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
        *,
        name: str,
    ) -> None:
        self.study = study
        self.subject = subject
        self.settings = settings
        model = audit_key(subject.config, subject.dataset)
        key = fingerprint("curve", study.name, model, sorted(map(repr, settings)))
        super().__init__(name, store, key, self._run, lane="questions", total=len(settings))

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
