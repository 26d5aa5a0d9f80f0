"""People at risk in the background of their page, and what a user's table calls these people."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.auditing.subprocess_jobs import ReportProgress
from core.base.serialize import fingerprint
from core.datasets.columns import as_text
from core.datasets.dataset import AuditDataset, Table
from core.studies.people import PEOPLE, PeopleAtRisk, PeopleSettings
from pages._report.report_plan import AuditRequest
from pages.shell import cached
from pages.shell.background import Background, Job
from pages.shell.study_jobs import StudyRun


class PeopleRun(StudyRun):
    """People at risk of the model that the Report audits, with what it releases."""

    def __init__(self, request: AuditRequest, settings: PeopleSettings) -> None:
        self.request = request
        self.settings = settings
        model = request.model_file and request.model_file.fingerprint
        plan = request.plan.fingerprint
        key = fingerprint("people", request.table.fingerprint, plan, model, settings)
        store = cached.store_of(request.table.name)
        Background.__init__(
            self, "people", store, key, self._run, lane="questions", total=settings.steps
        )

    def _run(self, job: Job) -> PeopleAtRisk:
        (result,) = job.each_in_subprocess(partial(_attacked, self.request, self.settings))
        return result  # type: ignore[no-any-return]


def _attacked(
    request: AuditRequest, settings: PeopleSettings, report: ReportProgress
) -> Iterator[PeopleAtRisk]:
    """Yield whom the attacks find of the subject that the Report audits."""
    from core.auditing.run import audited_of

    audited = audited_of(request.plan, request.table, model_file=request.model_file)
    yield from PEOPLE.run(audited, settings, report)


def identifier_columns(table: Table, dataset: AuditDataset) -> list[str]:
    """Return the columns of a user's table that are no part of the audit: one of them may hold identifiers."""
    if not table.uploaded:
        return []
    roles = dataset.roles
    used = {roles.label, roles.sensitive, roles.prediction, roles.score, roles.sets}
    used.update(dataset.feature_names)
    return [column for column in table.frame.columns if column not in used]


def names_of_people(
    table: Table, dataset: AuditDataset, identifier: str, result: PeopleAtRisk
) -> list[str]:
    """Return what a column of the table calls the people of the result; of an empty cell ""."""
    from core.datasets.build import select

    selected, _, _ = select(table.frame, dataset.roles)
    used = table.frame.loc[selected, identifier]
    return as_text(used).iloc[result.rows].fillna("").tolist()  # type: ignore[no-any-return]
