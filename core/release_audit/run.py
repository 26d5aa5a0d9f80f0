"""A release audit from plan to verdict, with the tables beside the verdicts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import core.release_audit.answer_checks as answer_checks
import core.release_audit.attribute_checks as attribute_checks
import core.release_audit.fairness_checks as fairness_checks
import core.release_audit.membership_checks as membership_checks
from core import leak
from core.attriguard import TABLE_ATTACKER_TITLES
from core.datasets import Table
from core.datasets.splits import split
from core.errors import Cancelled, DataUnavailableError, FairLeakError, InputError
from core.estimates import Estimate, rate_over_repeats
from core.fairness import METRIC_TITLES
from core.membership import ATTACK_TITLES
from core.policy import CHECKS, Policy, judge
from core.queries import DECODERS
from core.release_audit.inputs import AttackedPeople, Audited, dataset_and_notes, missing, readers_of
from core.release_audit.plan import AuditPlan, other_studies
from core.release_audit.result import (
    ReleaseAudit,
    SelfTest,
    StudyFindings,
    TableTitle,
    data_summary,
    failed_tests,
    group_summaries,
    model_summary,
    provenance,
)
from core.studies import STUDIES
from core.study import Basis, Measurement, Outcome, Study, not_run
from core.subject import Progress, train_model

if TYPE_CHECKING:
    from core.models.model_files import ModelFile

Row = dict[str, str | float | int | None]
Rows = tuple[Row, ...]

TOLERANCES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Tolerances of the table of corrections, besides the plan's."""

_MANY = (0.01, 0.05, 0.1)
"""The same with more than two groups, where each takes a program of its own."""

_STEPS = {
    "majority": "Majority guess",
    "features": "Features and label",
    "predictions": "and predictions",
    "shares": "and known group shares",
    "constraint": "and fairness promise",
    "constraint_without_shares": "Fairness promise, shares not known",
}


def tables(audited: Audited) -> dict[str, Rows]:
    """Return title -> rows; a table that could not be made has one row, which says why."""
    made = {
        TableTitle.ATTRIBUTION: _attribution,
        TableTitle.CORRECTIONS: _corrections,
        TableTitle.TRUE_CORRECTION: _true_correction,
        TableTitle.RATES: _rates,
        TableTitle.ANSWERS: _answers,
        TableTitle.MEMBERS: _members,
        TableTitle.GUARD: _guard,
    }
    shown: dict[str, Rows] = {str(title): rows for title, make in made.items() if (rows := _rows(make, audited))}
    for study, result, settings in _done(audited):
        shown |= {title: tuple(map(dict, rows)) for title, rows in study.tables(result, settings).items()}
    return shown


def _rows(make: Callable[[Audited], Iterator[Row]], audited: Audited) -> Rows:
    try:
        return tuple(make(audited))
    except Cancelled:
        raise
    except FairLeakError as error:
        return ({_NOT_MADE: str(error)},)
    except Exception as error:  # whatever it was, it must not vanish; where a check needs the same, that blocks
        return ({_NOT_MADE: f"It broke: {type(error).__name__}."},)


_NOT_MADE = "not made"
"""The only column of a table that could not be made."""


def _attribution(audited: Audited) -> Iterator[Row]:
    for name in leak.KINDS:
        for step in fairness_checks.attribution_of(audited, name).steps:
            yield {
                "attacker": f"The {name} attacker" if name == "strong" else "The paper's attacker",
                "step": _STEPS[step.step],
                **_columns("accuracy", step.accuracy),
                **_columns("balanced accuracy", step.balanced_accuracy),
                **_columns("change", step.accuracy_change),
            }


def _corrections(audited: Audited) -> Iterator[Row]:
    others = TOLERANCES if audited.dataset.n_groups == 2 else _MANY
    for tolerance in sorted({*others, audited.config.tolerance}):
        yield from _corrected(audited, tolerance)


def _true_correction(audited: Audited) -> Iterator[Row]:
    """Yield what the check rests on where the plan's promise is false; it tells the unfairness on these records."""
    if fairness_checks.tolerance_told(audited) != audited.config.tolerance:
        yield from _corrected(audited, None)


def _corrected(audited: Audited, tolerance: float | None) -> Iterator[Row]:
    for kind, title in fairness_checks.CORRECTED.items():
        told = fairness_checks.disclosure_of(audited, kind, tolerance)
        yield {
            "tolerance": told.used,
            "attacker": title,
            "true": "yes" if told.is_true else "no",
            **_columns("before", told.before),
            **_columns("after", told.after),
            **_columns("gain", told.gain),
        }


def _rates(audited: Audited) -> Iterator[Row]:
    names = audited.dataset.group_names
    for records, rates in (("training", audited.model.rates_train), ("test", audited.model.rates_test)):
        for rate in rates:
            yield {
                "metric": METRIC_TITLES[audited.config.metric],
                "records": records,
                "among": "everybody" if rate.part == "all" else rate.part,
                "group": names[int(rate.group)],
                "people": rate.count,
                **_columns("positive predictions", rate.rate),
                "everybody": _plain(rate.overall.value),
            }


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
            **_columns("balanced accuracy", rate_over_repeats(values)),
        }


def _members(audited: Audited) -> Iterator[Row]:
    if not audited.has_scores and not audited.sets_known:
        return
    gaps, advantages = membership_checks.member_gaps(audited), membership_checks.member_advantages(audited)
    title, alarms = "TPR at 1% FPR", membership_checks.FALSE_ALARMS
    for name, curve in membership_checks.member_curves(audited).items():
        shared: Row = {
            "attack": ATTACK_TITLES[name],
            "AUC": _plain(curve.auc.value),
            "advantage": _plain(advantages[name].value),
        }
        yield {**shared, "people": "everybody", **_columns(title, curve.tpr_at(alarms))}
        for gap in gaps[name]:
            for people, rate in zip((gap.group, gap.others), gap.rates, strict=True):
                yield {**shared, "people": people, **_columns(title, rate)}


def _guard(audited: Audited) -> Iterator[Row]:
    if not audited.plan.guard.budget:
        return
    study = attribute_checks.guard_study(audited)
    for point in (*study.undefended(), *study.at(audited.plan.guard.budget)):
        yield {
            "attacker": TABLE_ATTACKER_TITLES[point.attacker],
            "budget": point.budget,
            **_columns("accuracy", point.accuracy),
            **_columns("balanced accuracy", point.balanced),
        }


def _columns(name: str, found: Estimate | None) -> Row:
    """Return a number and the ends of its interval as three columns."""
    value, low, high = (None, None, None) if found is None else (found.value, found.low, found.high)
    return {name: _plain(value), f"{name}, low": _plain(low), f"{name}, high": _plain(high)}


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


Report = Callable[[int, int], None]


def audit_steps(plan: AuditPlan) -> int:
    """Return how many steps an audit reports."""
    answers = len(DECODERS) if plan.answers.questions else 0
    shadows = plan.membership.shadows if plan.model.kind == "train" else 0
    guard = attribute_checks.guard_steps(plan)
    others = len(other_studies())
    return 1 + fairness_checks.INFERENCE_STEPS + 1 + answers + shadows + guard + others + 1  # model first, tables last


def audit_with_people(
    plan: AuditPlan,
    table: Table,
    policy: Policy,
    *,
    model_file: ModelFile | None = None,
    self_tests: Sequence[SelfTest] | Callable[[], Sequence[SelfTest]] = (),
    report: Report | None = None,
) -> tuple[ReleaseAudit, AttackedPeople]:
    """Audit a model and judge it by a policy; return that, and the test people as a reader of the report knows them.

    An attack that breaks does not stop the audit: its check says so, and blocks a release that asks for it. Two runs
    of one plan on one table differ in nothing but their times.

    Table and model file are what `core.release_audit.load_table` and `load_model` return for the plan. A test of itself
    that FairLeak failed blocks the release; `self_tests` may be a function, called when everything is measured, so that
    they can be made meanwhile. `report` is called with (steps done, steps in all) and may raise
    `core.errors.Cancelled` to stop. InputError if table, roles or model break a rule: then there is nothing to audit.
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
        findings=findings_of(audited),
        self_tests=tests,
        provenance=provenance(plan, policy),
        times={"started": started, "seconds": time.perf_counter() - begun},
        labels_only=not (audited.trainable or audited.has_scores),
    )
    return audit, readers


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
    "correction_gain": fairness_checks.correction_gain,
    "answers_excess": answer_checks.answers_excess,
    "targeted_leakage": answer_checks.targeted_leakage,
    "membership_caught": membership_checks.membership_caught,
    "membership_auc": membership_checks.membership_auc,
    "membership_advantage": membership_checks.membership_advantage,
    "membership_gap": membership_checks.membership_gap,
    "unfairness": fairness_checks.unfairness,
    "four_fifths": fairness_checks.four_fifths,
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
        if study is None:
            return MEASURES[check](audited)
        return audited.once(f"checks of {study.name}", lambda: study.checks(*studied(study, audited)))[check]
    except Cancelled:
        raise
    except (InputError, DataUnavailableError) as error:
        return not_run(check, str(error), basis=basis)
    except FairLeakError as error:
        return not_run(check, str(error), outcome=Outcome.FAILED, basis=basis)
    except Exception as error:  # whatever it was, it must not vanish: a check that broke blocks a release
        return not_run(check, f"It broke: {type(error).__name__}.", outcome=Outcome.FAILED, basis=basis)


def studied(study: Study[Any, Any], audited: Audited) -> tuple[Any, Any]:
    """Return a study's result and settings, made once; what breaks in it breaks again for whatever asks for it.

    InputError if it cannot be run on what is audited.
    """

    def make() -> tuple[Any, Any]:
        settings = audited.plan.settings_of(study.name, study.settings)
        if reason := study.unavailable(audited, settings):
            raise InputError(reason)
        progress, other = audited.progress, study.name in other_studies()

        def report(done: int, total: int) -> None:
            progress.reach(progress.done + (0 if other else 1))

        *_, result = study.run(audited, settings, report)
        progress.reach(progress.done + int(other))  # whose steps `audit_steps` counts as one
        return result, settings

    return audited.once(f"study {study.name}", make)


def findings_of(audited: Audited) -> tuple[StudyFindings, ...]:
    """Return what the audit's studies found, each in its own words."""
    return tuple(
        StudyFindings(study=study.name, title=study.title, findings=study.findings(result, settings))
        for study, result, settings in _done(audited)
    )


def _done(audited: Audited) -> Iterator[tuple[Study[Any, Any], Any, Any]]:
    """Yield each study of an audit that ran, with result and settings; of those that broke their checks say why."""
    for study in STUDIES.values():
        if study.declared:
            try:
                result, settings = studied(study, audited)
            except Cancelled:
                raise
            except Exception:  # each of its checks says so, and blocks a release that asks for it
                continue
            yield study, result, settings
