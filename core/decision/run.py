"""A release audit from plan to verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core.datasets import Table
from core.datasets.splits import split
from core.decision.attacks.inference import INFERENCE_STEPS
from core.decision.attacks.noise import guard_steps
from core.decision.attacks.readers import AttackedPeople, readers_of
from core.decision.audited import Audited, Progress
from core.decision.measures.answers_excess import answers_excess
from core.decision.measures.attribute_gains import attribute_balanced, attribute_bits, attribute_excess
from core.decision.measures.attriguard_cost import attriguard_cost
from core.decision.measures.attriguard_exposure import attriguard_exposure
from core.decision.measures.correction_gain import correction_gain
from core.decision.measures.four_fifths import four_fifths
from core.decision.measures.membership_auc import membership_advantage, membership_auc
from core.decision.measures.membership_caught import membership_caught
from core.decision.measures.membership_gap import membership_gap
from core.decision.measures.reasons import missing, not_run
from core.decision.measures.targeted_leakage import targeted_leakage
from core.decision.measures.unfairness import unfairness
from core.decision.plan import AuditPlan
from core.decision.provenance import provenance
from core.decision.result import ReleaseAudit, ReportMeter, SelfTest, failed_tests
from core.decision.sources import config_of, dataset_and_notes
from core.decision.summaries import data_summary, group_summaries, model_summary
from core.decision.tables import tables
from core.errors import Cancelled, DataUnavailableError, FairLeakError, InputError
from core.policy import CHECKS, Basis, Measurement, Outcome, Policy, judge
from core.queries import DECODERS
from core.training import train_model

if TYPE_CHECKING:
    from core.models.files import ModelFile

Report = Callable[[int, int], None]
ReadMeter = Callable[[ReleaseAudit, AttackedPeople | None], ReportMeter]


def audit_steps(plan: AuditPlan) -> int:
    """Return how many steps an audit reports."""
    answers = len(DECODERS) if plan.answers.questions else 0
    shadows = plan.membership.shadows if plan.model.kind == "train" else 0
    return (
        1 + INFERENCE_STEPS + 1 + answers + shadows + guard_steps(plan) + 1
    )  # the model first, what is released, the tables last


def run_audit(
    plan: AuditPlan,
    table: Table,
    policy: Policy,
    *,
    model_file: ModelFile | None = None,
    self_tests: Sequence[SelfTest] = (),
    report: Report | None = None,
    meter: ReadMeter | None = None,
) -> ReleaseAudit:
    """Audit a model, and judge it by a policy.

    An attack that breaks does not stop the audit: its check says so, and blocks a release that asks for it. Two runs
    of one plan on one table differ in nothing but their times.

    Parameters
    ----------
    table : Table
        What `core.decision.load_table` returns for it.
    model_file : ModelFile, optional
        What `core.decision.load_model` returns for it.
    self_tests : sequence of SelfTest
        FairLeak's tests of itself, for the report; one that failed blocks the release.
    report : callable, optional
        Called with (steps done, steps in all); may raise `core.errors.Cancelled` to stop.
    meter : callable, optional
        `core.report.meter_of`, which reads what the report's own numbers give away; nothing is metered without it.

    Raises
    ------
    InputError
        If table, roles or model break a rule, so that there is nothing to audit.
    """
    return audit_with_people(
        plan, table, policy, model_file=model_file, self_tests=self_tests, report=report, meter=meter
    )[0]


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
    """Do `run_audit`, and return the test people besides, on whom a report for others is attacked before it is given.

    They are None where the attack that knows them beforehand broke. `self_tests` may be a function that returns them,
    called when everything is measured, so that they can be made meanwhile.
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
    """Return what a plan audits, trained or taken as given, before any attack; parameters as for `run_audit`."""
    dataset, notes = dataset_and_notes(plan, table, model_file=model_file)
    config = config_of(plan, dataset)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    progress = Progress(audit_steps(plan), report)  # of input that cannot be used nothing but that is said
    model = train_model(config, dataset, splits)
    progress.tick()
    return Audited(plan, config, dataset, splits, model, progress, model_notes=notes)


MEASURES: dict[str, Callable[[Audited], Measurement]] = {
    "attribute_excess": attribute_excess,
    "attribute_balanced": attribute_balanced,
    "attribute_bits": attribute_bits,
    "correction_gain": correction_gain,
    "answers_excess": answers_excess,
    "targeted_leakage": targeted_leakage,
    "membership_caught": membership_caught,
    "membership_auc": membership_auc,
    "membership_advantage": membership_advantage,
    "membership_gap": membership_gap,
    "unfairness": unfairness,
    "four_fifths": four_fifths,
    "attriguard_exposure": attriguard_exposure,
    "attriguard_cost": attriguard_cost,
}
"""Check -> what measures it."""

_DECLARED = ("targeted_leakage",)


def measured(check: str, audited: Audited) -> Measurement:
    """Return a check's number, or why there is none; nothing that breaks here stops the audit, but `Cancelled` does."""
    basis = Basis.DECLARED if check in _DECLARED else Basis.MEASURED
    if reason := missing(check, audited):
        return not_run(check, reason, basis=basis)
    try:
        return MEASURES[check](audited)
    except Cancelled:
        raise
    except (InputError, DataUnavailableError) as error:
        return not_run(check, str(error), basis=basis)
    except FairLeakError as error:
        return not_run(check, str(error), outcome=Outcome.FAILED, basis=basis)
    except Exception as error:  # whatever it was, it must not vanish: a check that broke blocks a release
        return not_run(check, f"It broke: {type(error).__name__}.", outcome=Outcome.FAILED, basis=basis)
