"""The run of AttriGuard's study in the background of its page, and what else is computed about the same people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from core.base.fingerprint import fingerprint
from core.datasets.ratings import Ratings
from core.studies import attriguard
from core.studies.attriguard import AttriGuardSettings, Exposure, ProtectedRecords
from core.studies.attriguard.study import AttriGuardStudy
from core.studies.study import ReportProgress
from core.studies.subject import Subject
from pages._study.study_run import StudyRun
from pages.shell import cached
from pages.shell.background import require_result


class CurvesStudy(AttriGuardStudy):
    """The study, with the curves over the budget made where it runs."""

    def run(
        self,
        subject: Subject | ProtectedRecords,
        settings: AttriGuardSettings,
        report: ReportProgress | None = None,
    ) -> Iterator[Exposure]:
        """Yield each result once its curves are there."""
        for exposure in super().run(subject, settings, report):
            _ = exposure.curves
            yield exposure


STUDY = CurvesStudy()


class GuardRun(StudyRun):
    """The study of some records. Balanced accuracy is counted from the same guesses, so it starts no other run."""

    def __init__(
        self,
        records: ProtectedRecords,
        settings: AttriGuardSettings,
        dataset_name: str,
        *,
        balanced: bool,
    ) -> None:
        super().__init__(STUDY, records, settings, cached.store_of(dataset_name))
        self.records = records
        self.drawn_settings = replace(settings, balanced=balanced)

    @property
    def is_ratings(self) -> bool:
        """Whether the records are ratings, and not rows of the audited table."""
        return isinstance(self.records.dataset, Ratings)

    def exposure(self) -> Exposure:
        """Return the newest result; ends the page, which shows how far it is, while there is none."""
        exposure: Exposure = self.first(self.show_progress)
        return exposure

    def defense_of(self, exposure: Exposure) -> Any:
        """Return the defense that made an exposure; fitted again where the exposure was stored without it."""
        if exposure.defense is not None:
            return exposure.defense

        def make(_: Any) -> Any:
            defense = attriguard.defense_of(
                self.records.dataset, self.records.config, self.settings
            )
            defense.search()
            return defense

        return self.require("defense", "Fitting the defence again", make)

    def require(self, name: str, label: str, make: Callable[[ReportProgress], Any]) -> Any:
        """Return something else about these people, made by a function that reports; waits while it is computed."""
        model = None if self.is_ratings else cached.audited()[0]
        key = fingerprint(name, self.key, repr(model))
        return require_result(self.store, key, label, lambda job: job.in_subprocess(make))
