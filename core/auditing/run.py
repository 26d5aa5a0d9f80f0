"""A release audit from plan to verdict, with the tables beside the verdicts; and FairLeak tried on itself.

The self-test is the share of trials that went wrong, cached, in a process of its own. A trial takes a study, as an
audit runs it, and what it plants: a model that clearly leaks, or one that does not (the null). It asks the audit's own
judge with a policy that allows no more than is reached without a leak: a leak is called where the policy fails the
model, that is, where the whole 95% interval lies above the limit. The interval leaves out 2.5% on either side, so false
positives are aimed at 2.5%, less where several attacks share them; a trial above 5% and two standard errors of so many
runs has found a fault.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import Cancelled, DataUnavailableError, FairLeakError, InputError
from ..base.files import write_file
from ..base.serialize import (
    RecordError,
    code_fingerprint,
    content_fingerprint,
    dumps,
    loads,
)
from ..base.validation import child_seed, decimals_of
from ..datasets import AuditDataset, Table, build_dataset
from ..datasets.splits import split
from ..stats.estimates import Estimate, Tables, plain_row, proportion
from ..studies.people import PEOPLE
from ..studies.registry import STUDIES
from ..studies.study import (
    Finding,
    Measurement,
    Outcome,
    Plant,
    ReportProgress,
    Row,
    Study,
    not_run,
    result_name,
)
from ..studies.subject import OutputsPlan, Progress, splits_with_unanswered, train_model
from .inputs import Audited, access_of, input_of, require_answers
from .plan import AuditPlan
from .policy import (
    CHECKS,
    Alternative,
    Limit,
    Policy,
    Status,
    judge,
    judged_alternatives,
    output_checks,
    unchanged_rows,
)
from .result import (
    SELF_TEST_SEED,
    ReleaseAudit,
    SelfTest,
    StudyFindings,
    TableTitle,
    data_summary,
    failed_tests,
    group_summaries,
    input_caveats,
    kind_of_machine,
    model_summary,
    provenance,
    verdict_caveats,
    versions,
)
from .sizes import with_remedy
from .subprocess_jobs import run_in_subprocess

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
    return _plain_tables(study_tables)


def _broken(error: Exception) -> tuple[Outcome, str]:
    """Return how a study ended that broke, and why; whatever it was, it must not vanish, but `Cancelled` goes on."""
    if isinstance(error, Cancelled):
        raise error
    if isinstance(error, (InputError, DataUnavailableError)):
        return Outcome.NOT_RUN, str(error)
    if isinstance(error, FairLeakError):
        return Outcome.FAILED, str(error)
    return Outcome.FAILED, f"The attack stopped with an error ({type(error).__name__})."


_TRIED_STEPS = 4
"""Steps that measuring another release takes: about as long as so many attackers of the attribute."""


def _steps(audited: Audited) -> int:
    """Return the number of steps, of about the same length: the model's, each study's, and those of other releases."""
    plan = audited.plan
    steps = 1 + _TRIED_STEPS * len(narrower_releases(audited))
    if plan.people is not None:
        steps += plan.people.steps
    for study in audited_studies(plan):
        settings = plan.settings_of(study.name, study.settings)
        try:
            if not study.unavailable(audited, settings):
                steps += study.steps(audited, settings)
        except Exception as error:
            _broken(error)  # which its checks say
    return steps


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
    people, people_tables = people_at_risk(audited)
    alternatives = measured_alternatives(audited, policy, measurements)
    audited.progress.reach(audited.progress.total)
    if callable(self_tests):
        self_tests = self_tests()
    tests = tuple(self_tests)
    caveats = input_caveats(audited, table)
    verdict = judge(
        policy,
        measurements,
        attribute=audited.attribute,
        failed_tests=failed_tests(tests),
        caveats=verdict_caveats(caveats, chosen=chosen is not None, self_tests=tests),
        alternatives=alternatives,
    )
    findings = findings_of(audited)
    if chosen is not None:
        findings = (*findings, chosen)
    return ReleaseAudit(
        plan=plan,
        data=data_summary(audited, table),
        groups=group_summaries(audited),
        model=model_summary(audited, model_file),
        measurements=measurements,
        verdict=verdict,
        tables=audit_tables,
        findings=findings,
        people=people,
        people_tables=people_tables,
        self_tests=tests,
        provenance=provenance(plan, policy),
        times={"started": started, "seconds": time.perf_counter() - begun},
        caveats=caveats,
        alternatives=alternatives,
    )


def measured_alternatives(
    audited: Audited, policy: Policy, measurements: Sequence[Measurement]
) -> tuple[Alternative, ...]:
    """Measure narrower releases where what is released keeps the model from passing, until one passes.

    One passes when nothing is left open but what no release changes, such as fairness. Of each the checks that do not
    pass are measured first: while they do not pass, no other is.
    """
    verdict = judge(policy, measurements, attribute=audited.attribute)
    dependent = output_checks()
    unchanged = {row.check for row in unchanged_rows(verdict.rows)}
    open_checks = [row.check for row in verdict.rows if row.blocks and row.check in dependent]
    if not open_checks:
        return ()
    releases = narrower_releases(audited)
    tried: list[Alternative] = []
    for outputs in releases:
        audited.progress.reach(audited.progress.done + _TRIED_STEPS * bool(tried))
        changed = audited.releasing(outputs)
        alternative = Alternative(outputs=outputs, measurements=(), tries=len(releases))
        for checks in (open_checks, sorted(dependent.difference(open_checks))):
            again = tuple(measured(check, changed) for check in checks)
            alternative = replace(alternative, measurements=alternative.measurements + again)
            ((_, narrower),) = judged_alternatives(
                policy, measurements, [alternative], attribute=audited.attribute
            )
            blocking = {row.check for row in narrower.rows if row.blocks}
            if not blocking.isdisjoint(open_checks):
                break
        tried.append(alternative)
        if blocking <= unchanged:
            break
    return tuple(tried)


def narrower_releases(audited: Audited) -> tuple[OutputsPlan, ...]:
    """Return what releases less of a model's scores, the most useful first; nothing where labels alone are released."""
    scores = audited.released_scores
    if scores is None:
        return ()
    labels = OutputsPlan(released="labels")
    if decimals_of(scores) > 1:
        return OutputsPlan(decimals=1), labels
    return (labels,)


def audited_of(
    plan: AuditPlan,
    table: Table,
    *,
    model_file: ModelFile | None = None,
    guesses: Collection[str] = (),
    report: ReportProgress | None = None,
) -> Audited:
    """Return what a plan audits, trained or taken as given, before any attack; parameters as of `run_audit`."""
    answered, roles, notes = input_of(plan, table, model_file=model_file)
    facts = require_answers(answered, roles, guesses=guesses)
    dataset = build_dataset(answered, roles)
    access = None
    if model_file is not None:
        access = access_of(plan, table, dataset, model_file)
    audited = audited_on(plan, dataset, access=access, report=report)
    return replace(audited, model_notes=notes, facts=facts)


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
        model = train_model(config, dataset, splits)
    except InputError as error:
        raise with_remedy(error, dataset, config) from None
    unanswered = splits_with_unanswered(config, dataset)
    audited = Audited(
        config,
        dataset,
        splits,
        model,
        plan=plan,
        access=access,
        with_unanswered=unanswered,
    )
    audited.progress = Progress(_steps(audited), report)
    audited.progress.tick()
    return audited


def measured(name: str, audited: Audited) -> Measurement:
    """Return a check's number, or another one that a study measures beside its checks, or why there is none.

    Nothing that breaks here stops the audit, but `Cancelled` does.
    """
    study = next(
        study
        for study in STUDIES.values()
        if any(check.name == name for check in (*study.declared, *study.numbers))
    )
    try:
        if any(number.name == name for number in study.numbers):
            return study.number(name, *result_of(study, audited))
        return checks_of(study, audited)[name]
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
        with audited.progress.part(study.steps(audited, settings)) as report:
            *_, result = study.run(audited, settings, report)
        return result, settings

    return audited.once(result_name(study.name, settings), make)


def people_at_risk(audited: Audited) -> tuple[StudyFindings | None, dict[str, Rows]]:
    """Return what is found about single people and its tables, where the plan asks for it; if it breaks, why."""
    settings = audited.plan.people
    if settings is None:
        return None, {}

    people_tables: dict[str, Rows] = {}
    try:
        with audited.progress.part(settings.steps) as report:
            *_, result = PEOPLE.run(audited, settings, report)
    except Exception as error:
        reason = f"People at risk were not looked for: {_broken(error)[1]}"
        findings: tuple[Finding, ...] = (Finding(point=reason),)
    else:
        findings = PEOPLE.findings(result, settings)
        people_tables = _plain_tables(PEOPLE.tables(result, settings))
    section = StudyFindings(study=PEOPLE.name, title=PEOPLE.title, findings=findings)
    return section, people_tables


def _plain_tables(study_tables: Tables) -> dict[str, Rows]:
    """Return the tables that have rows, with plain numbers."""
    return {title: tuple(map(plain_row, rows)) for title, rows in study_tables.items() if rows}


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


# Self-test ------------------------------------------------------------------------------------------------------------

RUNS = 200
"""Null models of a trial whose share is 1; there are half as many planted leaks."""

MOST_FALSE_ALARMS = 0.05
LEAST_DETECTED = 0.95
"""What a trial must keep to, the first but for two standard errors of its runs."""

_FEWEST = 10

Trial = tuple[Study[Any, Any], Plant[Any]]


def trials() -> tuple[Trial, ...]:
    """Return every study with each of the leaks it must find at a policy's checks."""
    return tuple(
        (study, plant) for study in STUDIES.values() for plant in study.plants if plant.limits
    )


def finds_leak(study: Study[Any, Any], plant: Plant[Any], seed: int, planted: bool) -> bool:
    """Return whether a study, run on a plant or on its like, has a check that fails at the plant's limit."""
    subject, settings = plant.make(seed, planted)
    *_, result = study.run(subject, settings)
    measured = study.checks(result, settings)
    return any(breaks(measured[check], limit) for check, limit in plant.limits.items())


def breaks(measurement: Measurement, limit: float) -> bool:
    """Return whether a policy with this limit alone fails the model; what was not measured does not."""
    limits = (Limit(check=measurement.check, value=limit),)
    policy = Policy(name="No more than without a leak", version="1", limits=limits)
    return judge(policy, [measurement], attribute="group").overall == Status.FAIL


def self_test(
    *,
    runs: int = RUNS,
    report: ReportProgress | None = None,
    tried: Sequence[Trial] | None = None,
) -> tuple[SelfTest, ...]:
    """Return the false-positive rate and the detection rate of every trial.

    `runs`, at least 10, are the null models of a trial; of plants whose share is smaller there are fewer, 10 at the
    least. `report` is called with (models tried, models in all) and may raise `core.base.errors.Cancelled` to stop.
    """
    if tried is None:
        tried = trials()
    jobs = sorted(
        _jobs(tried, runs)
    )  # all trials advance together, so that the time left can be judged
    leaks: Counter[tuple[int, bool]] = Counter()
    for done, (_, index, planted, job_seed) in enumerate(jobs, 1):
        study, plant = tried[index]
        leaks[index, planted] += finds_leak(study, plant, job_seed, planted)
        if report is not None:
            report(done, len(jobs))
    results = []
    for index, (_, plant) in enumerate(tried):
        nulls, plants = _runs_of(plant, runs)
        false_alarms = proportion(leaks[index, False], nulls)
        detected = proportion(leaks[index, True], plants)
        results.append(
            SelfTest(
                attack=plant.attack,
                false_alarms=false_alarms,
                detected=detected,
                passed=passes(false_alarms, detected),
                told=plant.explanation,
            )
        )
    return tuple(results)


def _jobs(tried: Sequence[Trial], runs: int) -> Iterator[tuple[float, int, bool, int]]:
    """Yield the models of the trials: how far a trial is then, its index, whether a leak is planted, the model's seed.

    Seeds follow one another, as the ways in which a plant leaks may take turns.
    """
    for index, (_, plant) in enumerate(tried):
        for planted, number in zip((False, True), _runs_of(plant, runs), strict=True):
            first = child_seed(SELF_TEST_SEED, f"self-test, {plant.attack}, {planted}")
            for run in range(number):
                yield run / number, index, planted, (first + run) % 2**32


def allowed_false_alarms(runs: int) -> float:
    """Return the largest false-positive rate a trial passes with: 5% and two standard errors of so many runs."""
    return MOST_FALSE_ALARMS + 2.0 * math.sqrt(MOST_FALSE_ALARMS * (1.0 - MOST_FALSE_ALARMS) / runs)


def passes(false_alarms: Estimate, detected: Estimate) -> bool:
    """Whether a trial with these shares is passed."""
    return (
        false_alarms.value <= allowed_false_alarms(false_alarms.n)
        and detected.value >= LEAST_DETECTED
    )


def _runs_of(plant: Plant[Any], runs: int) -> tuple[int, int]:
    """Return how many null models and how many planted leaks are tried."""
    nulls = max(_FEWEST, math.ceil(plant.share * runs))
    return nulls, max(_FEWEST, math.ceil(nulls / 2))


def cached_self_test(folder: Path, *, report: ReportProgress | None = None) -> tuple[SelfTest, ...]:
    """Return `self_test`, from a folder if it was done before with this code, these packages and this kind of machine.

    The folder is made if it is not there; a file in it that is damaged or of another origin is written again. Where it
    cannot be written to, the test is done all the same, and again the next time; of two at once the later one stays.
    """
    cached = cached_results(folder)
    if cached is not None:
        return cached
    tests = self_test(report=report)
    with contextlib.suppress(OSError, InputError):
        Path(folder).mkdir(parents=True, exist_ok=True)
        content = dumps((_digest(tests), tests))
        write_file(kept_file(folder), content.encode(), what="the self-test's file")
    return tests


def cached_results(folder: Path) -> tuple[SelfTest, ...] | None:
    """Return what a folder holds of the test as it would be made now; None if it does not."""
    try:
        text = kept_file(folder).read_text(encoding="utf-8")
        digest, tests = loads(text, tuple[str, tuple[SelfTest, ...]])
    except (OSError, UnicodeDecodeError, RecordError):
        return None
    if digest == _digest(tests):
        return tests
    return None


def _digest(tests: tuple[SelfTest, ...]) -> str:
    """Return the SHA-256 of results and of what they rest on, which stands beside them in their file."""
    rests_on = (code_fingerprint(), versions(), kind_of_machine(), SELF_TEST_SEED, RUNS)
    return content_fingerprint(*rests_on, *tests)


def kept_file(folder: Path) -> Path:
    """Return where in a folder the results of this code are kept."""
    return Path(folder) / f"self-test-{code_fingerprint()}.json"


def self_test_in_subprocess(folder: Path, *, report: ReportProgress) -> tuple[SelfTest, ...]:
    """Return `cached_self_test`, made by a process of its own unless it is there.

    `report` is called several times a second; what it raises ends the process and is raised here. FairLeakError if the
    process ends without results.
    """
    cached = cached_results(folder)
    if cached is not None:
        return cached
    path = Path(folder).absolute()
    (tests,) = run_in_subprocess(lambda heard: cached_self_test(path, report=heard), report)
    return tests
