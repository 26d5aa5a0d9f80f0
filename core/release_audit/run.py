"""A release audit from plan to verdict, with the tables beside the verdicts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import core.release_audit.fairness_checks as fairness_checks
from core import leak
from core.attriguard.study import guard_steps
from core.datasets import Table
from core.datasets.splits import split
from core.errors import Cancelled, DataUnavailableError, FairLeakError, InputError
from core.estimates import Estimate
from core.fairness import METRIC_TITLES
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
from core.study import Measurement, Outcome, Study, not_run
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
    }
    shown = {str(title): rows for title, make in made.items() if (rows := _rows(make, audited))}
    for study in STUDIES.values():
        shown |= _tables_of(study, audited)
    return {title: shown[title] for title in (*TableTitle, *shown) if title in shown}


def _tables_of(study: Study[Any, Any], audited: Audited) -> dict[str, Rows]:
    """Return a study's tables; none where it broke, which its checks say."""
    try:
        result, settings = result_of(study, audited)
    except Cancelled:
        raise
    except Exception:
        return {}
    return {title: tuple(map(dict, rows)) for title, rows in study.tables(result, settings).items()}


def _rows(make: Callable[[Audited], Iterator[Row]], audited: Audited) -> Rows:
    try:
        return tuple(make(audited))
    except Cancelled:
        raise
    except Exception as error:  # whatever it was, it must not vanish; where a check needs the same, that blocks
        return _not_made(error)


def _not_made(error: Exception) -> Rows:
    """Return the only row of a table that could not be made: why."""
    return ({"not made": str(error) if isinstance(error, FairLeakError) else f"It broke: {type(error).__name__}."},)


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


def _columns(name: str, found: Estimate | None) -> Row:
    """Return a number and the ends of its interval as three columns."""
    value, low, high = (None, None, None) if found is None else (found.value, found.low, found.high)
    return {name: _plain(value), f"{name}, low": _plain(low), f"{name}, high": _plain(high)}


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


Report = Callable[[int, int], None]
ReadMeter = Callable[[ReleaseAudit, AttackedPeople | None], ReportMeter]


def audit_steps(plan: AuditPlan) -> int:
    """Return how many steps an audit reports."""
    answers = len(DECODERS) if plan.answers.questions else 0
    shadows = plan.membership.shadows if plan.model.kind == "train" else 0
    guard = guard_steps(plan.guard)
    return 1 + fairness_checks.INFERENCE_STEPS + 1 + answers + shadows + guard + 1  # model first, tables last


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
    "correction_gain": fairness_checks.correction_gain,
    "unfairness": fairness_checks.unfairness,
    "four_fifths": fairness_checks.four_fifths,
}
"""Check -> what measures it."""


def measured(check: str, audited: Audited) -> Measurement:
    """Return a check's number, or why there is none; nothing that breaks here stops the audit, but `Cancelled` does."""
    study = next((each for each in STUDIES.values() if check in {own.name for own in each.declared}), None)
    try:
        if study is not None:
            return studied(study, audited)[check]
        reason = missing(check, audited)
        return not_run(check, reason) if reason else MEASURES[check](audited)
    except Cancelled:
        raise
    except (InputError, DataUnavailableError) as error:
        return not_run(check, str(error))
    except FairLeakError as error:
        return not_run(check, str(error), outcome=Outcome.FAILED)
    except Exception as error:  # whatever it was, it must not vanish: a check that broke blocks a release
        return not_run(check, f"It broke: {type(error).__name__}.", outcome=Outcome.FAILED)


def studied(study: Study[Any, Any], audited: Audited) -> Mapping[str, Measurement]:
    """Return a study's measurements, made once; what breaks in it breaks again for each of its checks."""
    return audited.once(f"study {study.name}", lambda: study.checks(*result_of(study, audited)))


def result_of(study: Study[Any, Any], audited: Audited) -> tuple[Any, Any]:
    """Return a study's whole result and the plan's settings of it, run once; InputError if it cannot be run."""

    def make() -> tuple[Any, Any]:
        settings = audited.plan.settings_of(study.name, study.settings)
        if reason := study.unavailable(audited, settings):
            raise InputError(reason)
        *_, result = study.run(audited, settings, lambda done, total: audited.progress.tick())
        return result, settings

    return audited.once(f"result {study.name}", make)
