"""A release audit from plan to verdict, with the tables beside the verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..base.errors import Cancelled, DataUnavailableError, FairLeakError, InputError
from ..datasets import AuditDataset, Table, build_dataset
from ..datasets.splits import split
from ..stats.quantities import plain_row
from ..studies.attriguard.defense import TableDefense
from ..studies.bias_queries import DECODERS
from ..studies.correction import ATTACKERS
from ..studies.people import MEMBERS, PEOPLE
from ..studies.registry import STUDIES
from ..studies.study import Finding, Measurement, Outcome, ReportProgress, Row, Study, not_run
from ..studies.subject import Progress, splits_with_unanswered, train_model
from .inputs import Audited, access_of, input_of, require_answers
from .plan import AuditPlan, other_studies, own_tables
from .policy import CHECKS, Policy, judge
from .result import (
    PeopleSection,
    ReleaseAudit,
    SelfTest,
    StudyFindings,
    TableTitle,
    data_summary,
    failed_tests,
    group_summaries,
    input_caveats,
    model_summary,
    provenance,
    verdict_caveats,
)
from .sizes import with_remedy

if TYPE_CHECKING:
    from ..models.model_answers import QueryAccess
    from ..models.model_files import ModelFile

Rows = tuple[Row, ...]


def tables(audited: Audited) -> dict[str, Rows]:
    """Return title -> rows; of a study that broke, one row under the study's title, which says why."""
    rows_by_title: dict[str, Rows] = {}
    for study in audited_studies(audited.plan):
        rows_by_title |= _tables_of(study, audited)
    return {
        title: rows_by_title[title]
        for title in (*TableTitle, *rows_by_title)
        if title in rows_by_title
    }


def audited_studies(plan: AuditPlan) -> tuple[Study[Any, Any], ...]:
    """Studies of an audit: all that a policy may limit, and the others that the plan has a table for."""
    return tuple(study for name, study in STUDIES.items() if study.declared or name in plan.studied)


def _tables_of(study: Study[Any, Any], audited: Audited) -> dict[str, Rows]:
    if study.unavailable(audited, audited.plan.settings_of(study.name, study.settings)):
        return {}  # which its checks say
    try:
        study_tables = study.tables(*result_of(study, audited))
    except Exception as error:
        return {study.title: ({"not made": _broken(error)[1]},)}
    return {title: tuple(map(plain_row, rows)) for title, rows in study_tables.items() if rows}


def _broken(error: Exception) -> tuple[Outcome, str]:
    """Return how a study ended that broke, and why; whatever it was, it must not vanish, but `Cancelled` goes on."""
    if isinstance(error, Cancelled):
        raise error
    if isinstance(error, (InputError, DataUnavailableError)):
        return Outcome.NOT_RUN, str(error)
    has_message = isinstance(error, FairLeakError)
    return Outcome.FAILED, str(
        error
    ) if has_message else f"The attack stopped with an error ({type(error).__name__})."


def audit_steps(plan: AuditPlan) -> int:
    """Return how many steps an audit reports."""
    answers = len(DECODERS) if plan.bias_queries.questions else 0
    if plan.model.kind == "train":
        shadows = plan.membership.shadows
    else:
        shadows = 0
    if plan.attriguard.budget:
        noise = TableDefense.steps(plan.attriguard)
    else:
        noise = 0
    steps = answers + shadows + noise + len({*other_studies(), *dict(plan.studies)})
    return 1 + len(ATTACKERS) + 1 + steps + 1  # model first, tables last


def run_audit(
    plan: AuditPlan,
    table: Table,
    policy: Policy,
    *,
    model_file: ModelFile | None = None,
    self_tests: Sequence[SelfTest] | Callable[[], Sequence[SelfTest]] = (),
    chosen: StudyFindings | None = None,
    guesses: Collection[str] = (),
    report: ReportProgress | None = None,
) -> ReleaseAudit:
    """Audit of a model, judged by a policy.

    An attack that breaks does not stop the audit: its check says so, and blocks a release that asks for it. Two runs
    of one plan on one table differ in nothing but their times.

    Table and model file are what `core.auditing.load_table` and `load_model` return for the plan. A test of itself
    that FairLeak failed blocks the release; `self_tests` may be a function, called when everything is measured, so that
    they can be made meanwhile. `chosen` says how the model was chosen, if it was, and `guesses` are the roles of the
    columns that nobody has confirmed. `report` is called with (steps done, steps in all) and may raise
    `core.base.errors.Cancelled` to stop. InputError if table, roles or model break a rule, or an answer to the input
    check is missing: then there is nothing to audit.
    """
    started = datetime.now(UTC).isoformat(timespec="seconds")
    begun = time.perf_counter()
    audited = audited_of(plan, table, model_file=model_file, guesses=guesses, report=report)
    measurements = tuple(measured(check, audited) for check in CHECKS)
    audit_tables = tables(audited)
    people = people_section(audited)
    audited.progress.reach(audited.progress.total)
    tests = tuple(self_tests() if callable(self_tests) else self_tests)
    caveats = input_caveats(audited, table)
    verdict = judge(
        policy,
        measurements,
        attribute=audited.attribute,
        failed_tests=failed_tests(tests),
        caveats=verdict_caveats(caveats, chosen=chosen is not None, self_tests=tests),
    )
    return ReleaseAudit(
        plan=plan,
        data=data_summary(audited, table),
        groups=group_summaries(audited),
        model=model_summary(audited, model_file),
        measurements=measurements,
        verdict=verdict,
        tables=audit_tables,
        findings=(*findings_of(audited), *((chosen,) if chosen else ())),
        people=people,
        self_tests=tests,
        provenance=provenance(plan, policy),
        times={"started": started, "seconds": time.perf_counter() - begun},
        caveats=caveats,
    )


def audited_of(
    plan: AuditPlan,
    table: Table,
    *,
    model_file: ModelFile | None = None,
    guesses: Collection[str] = (),
    report: ReportProgress | None = None,
) -> Audited:
    """Return what a plan audits, trained or taken as given, before any attack; parameters as of `run_audit`."""
    source = input_of(plan, table, model_file=model_file)
    facts = require_answers(source.table, source.roles, guesses=guesses)
    dataset = build_dataset(source.table, source.roles)
    if model_file is None:
        access = None
    else:
        access = access_of(plan, table, dataset, model_file)
    audited = audited_on(plan, dataset, access=access, report=report)
    return replace(audited, model_notes=source.notes, facts=facts)


def audited_on(
    plan: AuditPlan,
    dataset: AuditDataset,
    *,
    access: QueryAccess | None = None,
    report: ReportProgress | None = None,
) -> Audited:
    """Return what a plan audits on a dataset that is built already, trained or taken as given, before any attack."""
    config = replace(plan.config, roles=dataset.roles)
    try:
        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        progress = Progress(
            audit_steps(plan), report
        )  # of input that cannot be used nothing but that is said
        model = train_model(config, dataset, splits)
    except InputError as error:
        raise with_remedy(error, dataset, config) from None
    progress.tick()
    unanswered = splits_with_unanswered(config, dataset)
    return Audited(
        config,
        dataset,
        splits,
        model,
        progress,
        plan=plan,
        access=access,
        with_unanswered=unanswered,
    )


def measured(check: str, audited: Audited) -> Measurement:
    """Return a check's number, or why there is none; nothing that breaks here stops the audit, but `Cancelled` does."""
    study = next(
        study
        for study in STUDIES.values()
        if check in {declared.name for declared in study.declared}
    )
    return _unless_broken(check, lambda: checks_of(study, audited)[check])


def measured_number(name: str, audited: Audited) -> Measurement:
    """Return one of the numbers that studies measure beside their checks, as `measured` returns a check."""
    study = next(
        study for study in STUDIES.values() if name in {number.name for number in study.numbers}
    )
    return _unless_broken(name, lambda: study.number(name, *result_of(study, audited)))


def _unless_broken(name: str, measure: Callable[[], Measurement]) -> Measurement:
    """Return a measurement; where it breaks, one that says why."""
    try:
        return measure()
    except Exception as error:  # a check that broke blocks a release
        outcome, reason = _broken(error)
        return not_run(name, reason, outcome=outcome)


def checks_of(study: Study[Any, Any], audited: Audited) -> Mapping[str, Measurement]:
    """Return a study's measurements, made once; what breaks in it breaks again for each of its checks."""
    settings = audited.plan.settings_of(study.name, study.settings)
    return audited.once(
        f"checks {study.name} {settings}", lambda: study.checks(*result_of(study, audited))
    )


def result_of(study: Study[Any, Any], audited: Audited) -> tuple[Any, Any]:
    """Return a study's whole result and the plan's settings of it, run once; InputError if it cannot be run."""
    settings = audited.plan.settings_of(study.name, study.settings)

    def make() -> tuple[Any, Any]:
        if reason := study.unavailable(audited, settings):
            raise InputError(reason)
        progress = audited.progress
        is_additional = study.name in own_tables()

        def report(done: int, total: int) -> None:
            progress.reach(progress.done + (0 if is_additional else 1))

        *_, result = study.run(audited, settings, report)
        progress.reach(
            progress.done + int(is_additional)
        )  # whose steps `audit_steps` counts as one
        return result, settings

    return audited.once(f"result {study.name} {settings}", make)


def people_section(audited: Audited) -> PeopleSection | None:
    """Return whom the attacks find, where the plan asks for it; if it breaks, why."""
    settings = audited.plan.people
    if settings is None:
        return None

    def report(done: int, total: int) -> None:
        audited.progress.reach(audited.progress.done)  # which may stop it

    try:
        if settings.shadows == audited.plan.membership.shadows:  # judged already
            guesses = result_of(STUDIES["membership"], audited)[0].guesses
            if "lira" in guesses:
                audited.once(MEMBERS.format(settings.shadows), lambda: guesses["lira"])
    except Exception as error:
        _broken(error)  # which its own checks say
    try:
        *_, result = PEOPLE.run(audited, settings, report)
    except Exception as error:
        reason = f"People at risk were not looked for: {_broken(error)[1]}"
        return PeopleSection(findings=(Finding(point=reason),), tables={})
    people_tables = {title: rows for title, rows in PEOPLE.tables(result, settings).items() if rows}
    plain_tables: dict[str, Rows] = {
        title: tuple(map(plain_row, rows)) for title, rows in people_tables.items()
    }
    return PeopleSection(findings=PEOPLE.findings(result, settings), tables=plain_tables)


def findings_of(audited: Audited) -> tuple[StudyFindings, ...]:
    """Return what the audit's studies found, each in its own words; of those that broke their checks say why."""
    sections = []
    for study in audited_studies(audited.plan):
        try:
            findings = study.findings(*result_of(study, audited))
        except Exception as error:
            reason = _broken(error)[1]
            if study.declared:
                continue
            findings = (Finding(point=f"{study.title}: {reason}"),)
        sections.append(StudyFindings(study=study.name, title=study.title, findings=findings))
    return tuple(sections)
