"""A release audit from plan to verdict, with the tables beside the verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import core.release_audit.answer_checks as answer_checks
import core.release_audit.attribute_checks as attribute_checks
import core.release_audit.membership_checks as membership_checks
from core.attriguard import TABLE_ATTACKER_TITLES
from core.correction import ATTACKERS
from core.datasets import Table
from core.datasets.splits import split
from core.errors import Cancelled, DataUnavailableError, FairLeakError, InputError
from core.estimates import estimate_columns, plain_number, rate_over_repeats
from core.membership import ATTACK_TITLES
from core.policy import CHECKS, Policy, judge
from core.queries import DECODERS
from core.release_audit.inputs import AttackedPeople, Audited, dataset_and_notes, missing, readers_of
from core.release_audit.plan import AuditPlan
from core.release_audit.result import (
    ReleaseAudit,
    ReportMeter,
    SelfTest,
    TableTitle,
    data_summary,
    failed_tests,
    group_summaries,
    model_summary,
    provenance,
)
from core.studies import STUDIES
from core.study import Basis, Measurement, Outcome, Row, Study, not_run
from core.subject import Progress, train_model

if TYPE_CHECKING:
    from core.models.model_files import ModelFile

Rows = tuple[Row, ...]

_TITLES = {
    "correction": (TableTitle.ATTRIBUTION, TableTitle.CORRECTIONS),
    "model_fairness": (TableTitle.RATES,),
}
"""Study -> its tables, which say why they are missing where it breaks."""


def tables(audited: Audited) -> dict[str, Rows]:
    """Return title -> rows; a table that could not be made has one row, which says why."""
    made: dict[str, Rows] = {}
    for study in STUDIES.values():
        found = _whole(lambda study=study: _study_tables(study, audited))  # type: ignore[misc]
        made |= {title: (found,) for title in _TITLES.get(study.name, ())} if "not made" in found else found
    for title, make in {
        TableTitle.ANSWERS: _answers,
        TableTitle.MEMBERS: _members,
        TableTitle.GUARD: _guard,
    }.items():
        rows = _whole(lambda make=make: tuple(make(audited)))  # type: ignore[misc]
        made[title] = (rows,) if isinstance(rows, dict) else rows
    return {title: made[title] for title in TableTitle if made.get(title)}


def _study_tables(study: Study[Any, Any], audited: Audited) -> Mapping[str, Rows]:
    settings = audited.plan.settings_of(study.name, study.settings)
    if study.unavailable(audited, settings):
        return {}
    return study.tables(study_result(study, audited), settings)


def _whole(make: Callable[[], Any]) -> Any:
    """Return what is made, or a row with the only column "not made", which says why it could not be."""
    try:
        return make()
    except Cancelled:
        raise
    except FairLeakError as error:
        return {"not made": str(error)}
    except Exception as error:  # whatever it was, it must not vanish; where a check needs the same, that blocks
        return {"not made": f"It broke: {type(error).__name__}."}


def _answers(audited: Audited) -> Iterator[Row]:
    planned = audited.plan.answers
    if not planned.questions or not audited.has_scores:
        return
    told = {"prior": "No answers, the prior alone", "strongest": "With a prior", "without_prior": "Without a prior"}
    for name, values in answer_checks.planned_leakages(audited).items():
        yield {
            "attacker": told.get(name, "As published"),
            "answers": 0 if name == "prior" else planned.questions,
            "draws": len(values),
            **estimate_columns("balanced accuracy", rate_over_repeats(values)),
        }


def _members(audited: Audited) -> Iterator[Row]:
    if not audited.has_scores and not audited.sets_known:
        return
    gaps, advantages = membership_checks.member_gaps(audited), membership_checks.member_advantages(audited)
    title, alarms = "TPR at 1% FPR", membership_checks.FALSE_ALARMS
    for name, curve in membership_checks.member_curves(audited).items():
        shared: Row = {
            "attack": ATTACK_TITLES[name],
            "AUC": plain_number(curve.auc.value),
            "advantage": plain_number(advantages[name].value),
        }
        yield {**shared, "people": "everybody", **estimate_columns(title, curve.tpr_at(alarms))}
        for gap in gaps[name]:
            for people, rate in zip((gap.group, gap.others), gap.rates, strict=True):
                yield {**shared, "people": people, **estimate_columns(title, rate)}


def _guard(audited: Audited) -> Iterator[Row]:
    if not audited.plan.guard.budget:
        return
    study = attribute_checks.guard_study(audited)
    for point in (*study.undefended(), *study.at(audited.plan.guard.budget)):
        yield {
            "attacker": TABLE_ATTACKER_TITLES[point.attacker],
            "budget": point.budget,
            **estimate_columns("accuracy", point.accuracy),
            **estimate_columns("balanced accuracy", point.balanced),
        }


Report = Callable[[int, int], None]
ReadMeter = Callable[[ReleaseAudit, AttackedPeople | None], ReportMeter]


def audit_steps(plan: AuditPlan) -> int:
    """Return how many steps an audit reports."""
    answers = len(DECODERS) if plan.answers.questions else 0
    shadows = plan.membership.shadows if plan.model.kind == "train" else 0
    guard = attribute_checks.guard_steps(plan)
    return 1 + len(ATTACKERS) + 1 + answers + shadows + guard + 1  # model first, tables last


def audit_with_people(
    plan: AuditPlan,
    table: Table,
    policy: Policy,
    *,
    model_file: ModelFile | None = None,
    self_tests: Sequence[SelfTest] | Callable[[], Sequence[SelfTest]] = (),
    report: Report | None = None,
    meter: ReadMeter | None = None,
) -> tuple[ReleaseAudit, AttackedPeople | None]:
    """Audit a model and judge it by a policy; return that, and the test people for the attack on a report for others.

    An attack that breaks does not stop the audit: its check says so, and blocks a release that asks for it. Two runs
    of one plan on one table differ in nothing but their times. The people are None where the attack that knows them
    beforehand broke.

    Table and model file are what `core.release_audit.load_table` and `load_model` return for the plan. A test of itself
    that FairLeak failed blocks the release; `self_tests` may be a function, called when everything is measured, so that
    they can be made meanwhile. `report` is called with (steps done, steps in all) and may raise
    `core.errors.Cancelled` to stop. `meter` is `core.report.meter_of`, which reads what the report's own numbers give
    away; nothing is metered without it. InputError if table, roles or model break a rule, so that there is nothing to
    audit.
    """
    started, begun = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    audited = audited_of(plan, table, model_file=model_file, report=report)
    measurements = tuple(measured(check, audited) for check in CHECKS)
    shown, readers = tables(audited), readers_of(audited)
    audited.progress.reach(audited.progress.total)
    tests = tuple(self_tests() if callable(self_tests) else self_tests)
    audit = ReleaseAudit(
        plan=plan,
        data=data_summary(audited, table),
        groups=group_summaries(audited),
        model=model_summary(audited, model_file),
        measurements=measurements,
        verdict=judge(policy, measurements, attribute=audited.attribute, failed_tests=failed_tests(tests)),
        tables=shown,
        self_tests=tests,
        provenance=provenance(plan, policy),
        times={"started": started},
        labels_only=not (audited.trainable or audited.has_scores),
    )
    read = None if meter is None else meter(audit, readers)
    return replace(
        audit, release_meter=read, times={"started": started, "seconds": time.perf_counter() - begun}
    ), readers


def audited_of(
    plan: AuditPlan, table: Table, *, model_file: ModelFile | None = None, report: Report | None = None
) -> Audited:
    """Return what a plan audits, trained or taken as given, before any attack; parameters as of `audit_with_people`."""
    dataset, notes = dataset_and_notes(plan, table, model_file=model_file)
    config = replace(plan.config, roles=dataset.roles)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    progress = Progress(audit_steps(plan), report)  # of input that cannot be used nothing but that is said
    model = train_model(config, dataset, splits)
    progress.tick()
    return Audited(config, dataset, splits, model, progress, plan=plan, model_notes=notes)


MEASURES: dict[str, Callable[[Audited], Measurement]] = {
    "attribute_excess": attribute_checks.attribute_excess,
    "attribute_balanced": attribute_checks.attribute_balanced,
    "attribute_bits": attribute_checks.attribute_bits,
    "answers_excess": answer_checks.answers_excess,
    "targeted_leakage": answer_checks.targeted_leakage,
    "membership_caught": membership_checks.membership_caught,
    "membership_auc": membership_checks.membership_auc,
    "membership_advantage": membership_checks.membership_advantage,
    "membership_gap": membership_checks.membership_gap,
    "attriguard_exposure": attribute_checks.attriguard_exposure,
    "attriguard_cost": attribute_checks.attriguard_cost,
}
"""Check -> what measures it."""


def measured(check: str, audited: Audited) -> Measurement:
    """Return a check's number, or why there is none; nothing that breaks here stops the audit, but `Cancelled` does."""
    basis = Basis.DECLARED if check == "targeted_leakage" else Basis.MEASURED
    if reason := missing(check, audited):
        return not_run(check, reason, basis=basis)
    study = next((each for each in STUDIES.values() if check in {own.name for own in each.declared}), None)
    try:
        return MEASURES[check](audited) if study is None else studied(study, audited)[check]
    except Cancelled:
        raise
    except (InputError, DataUnavailableError) as error:
        return not_run(check, str(error), basis=basis)
    except FairLeakError as error:
        return not_run(check, str(error), outcome=Outcome.FAILED, basis=basis)
    except Exception as error:  # whatever it was, it must not vanish: a check that broke blocks a release
        return not_run(check, f"It broke: {type(error).__name__}.", outcome=Outcome.FAILED, basis=basis)


def studied(study: Study[Any, Any], audited: Audited) -> Mapping[str, Measurement]:
    """Return a study's measurements, made once; what breaks in it breaks again for each of its checks."""

    def make() -> Mapping[str, Measurement]:
        settings = audited.plan.settings_of(study.name, study.settings)
        if reason := study.unavailable(audited, settings):
            return {check.name: not_run(check.name, reason) for check in study.declared}
        return study.checks(study_result(study, audited), settings)

    return audited.once(f"checks of {study.name}", make)


def study_result(study: Study[Any, Any], audited: Audited) -> Any:
    """Return the whole result of a study, which is run once."""

    def make() -> Any:
        settings = audited.plan.settings_of(study.name, study.settings)
        *_, result = study.run(audited, settings, lambda done, total: audited.progress.tick())
        return result

    return audited.once(f"study {study.name}", make)
