"""What a release audit found, whole: the object that page, command line and report draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.decision.plan import AuditPlan
from core.estimates import Estimate
from core.policy import Measurement, Verdict
from core.results import Result

REPORT_SCHEMA = 1
"""Version of the report's JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSummary(Result):
    """One group in the data and under the model.

    Attributes
    ----------
    count : int
        Records in the table.
    label_rate : Estimate
        Positive labels among all its records.
    test_rate, test_tpr, test_fpr : Estimate
        Positive predictions on the test records: among all, among positive labels, among negative labels.
    """

    group: str
    count: int
    label_rate: Estimate
    test_rate: Estimate
    test_tpr: Estimate
    test_fpr: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSummary(Result):
    """The table.

    Attributes
    ----------
    attribute, label : str
        What the sensitive attribute and the label are called.
    n : int
        Records audited.
    sets : dict of str to int
        Records by set: train, attack, validation, test.
    split : str
        How the sets came about, in one sentence.
    notes : tuple of str
        What was left out, filled in, or stands twice.
    fingerprint : str
        SHA-256 of the arrays.
    """

    title: str
    source: str
    attribute: str
    label: str
    synthetic: bool
    n: int
    sets: dict[str, int]
    split: str
    features: tuple[str, ...]
    notes: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary(Result):
    """The audited model.

    Attributes
    ----------
    kind, title : str
        See `core.decision.plan.ModelPlan`; what to call the model.
    achieved : float
        Unfairness on the training records.
    fingerprint : str
        SHA-256 of the predictions and scores, and of the file where there is one.
    """

    kind: str
    title: str
    metric: str
    tolerance: float
    achieved: float
    unfairness_test: Estimate
    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate
    fingerprint: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest(Result):
    """Whether FairLeak itself reports a leak where there is none, and one where there is.

    Attributes
    ----------
    attack : str
        Which attack's verdict was tried.
    false_alarms : Estimate
        Share of null models (no leak by construction) that were called leaking.
    detected : Estimate
        Share of planted leaks that were caught.
    passed : bool
        Whether false alarms are at most 5% plus two standard errors and at least 95% of the leaks are caught.
    told : str
        What was planted, in one sentence.
    """

    attack: str
    false_alarms: Estimate
    detected: Estimate
    passed: bool
    told: str


def failed_tests(tests: Iterable[SelfTest]) -> tuple[str, ...]:
    """Return the attacks for which FairLeak's test of itself failed."""
    return tuple(test.attack for test in tests if not test.passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance(Result):
    """What it takes to get the same numbers again.

    Attributes
    ----------
    fairleak, python, platform : str
        Versions, and the machine's kind.
    packages : dict of str to str
        Version by name, of what computes numbers.
    code, policy, plan : str
        SHA-256 of FairLeak's own code, of the policy and of the plan.
    """

    fairleak: str
    python: str
    platform: str
    packages: dict[str, str]
    code: str
    policy: str
    plan: str
    seeds: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredForm(Result):
    """One form of the numbers, metered.

    Attributes
    ----------
    form : str
        "every_digit", "page" or "disclosure": the numbers with every digit, as the page prints them, and as the
        disclosure edition does.
    group : str
        The group metered against everybody else.
    numbers : int
        Sizes and rates of it and, of two groups, of the other one.
    df_bits : float
        Predicted gain, see `core.release.Prediction`.
    joint_bits, prior_bits, person_bits : float
        See `core.release.Meter`; like the prediction these use no true attribute.
    bits : Estimate
        Bits the numbers tell beyond features and label, measured with the true attribute.
    unsure, pinned : int
        People the attacker was unsure about before, and those of them settled after.
    pinned_right : int
        How many of these rightly.
    accuracy : Estimate
        Named rightly after reading.
    status : str
        Of the projection: "converged", "not_converged" or "infeasible"; "nothing" where no number is told.
    """

    form: str
    group: str
    numbers: int
    df_bits: float
    joint_bits: float
    prior_bits: float
    person_bits: float
    bits: Estimate
    unsure: int
    pinned: int
    pinned_right: int
    accuracy: Estimate
    status: str


class MeterOutcome(StrEnum):
    """The numbers were metered, could not be, or not without breaking; what was read is not for this edition."""

    DONE = "done"
    NOT_RUN = "not_run"
    FAILED = "failed"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMeter(Result):
    """What a report's own fairness numbers give away; nothing about single people.

    Attributes
    ----------
    reason : str
        Why there is no result; empty when there is one.
    people : int
        Test people.
    threshold : int
        Of the disclosure edition.
    accuracy_before, majority : Estimate
        Control: the same attacker before reading, and naming the larger side for everybody.
    told, control, distance : str
        The result, its control, and how far the projection is from the exact posterior, in sentences.
    """

    outcome: MeterOutcome
    reason: str
    people: int
    threshold: int
    forms: tuple[MeteredForm, ...]
    accuracy_before: Estimate
    majority: Estimate
    told: str
    control: str
    distance: str


class TableTitle(StrEnum):
    """What a table is called in the report."""

    ATTRIBUTION = "Where the leak comes from"
    CORRECTIONS = "Corrections over tolerances"
    TRUE_CORRECTION = "Correction with a true tolerance"
    RATES = "Rates by group"
    ANSWERS = "Planned answers"
    MEMBERS = "Membership attacks"
    GUARD = "AttriGuard"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseAudit(Result):
    """A whole release audit.

    Attributes
    ----------
    groups : tuple of GroupSummary
        First group first.
    measurements : tuple of Measurement
        One a check of `core.policy.CHECKS`, in their order.
    tables : dict of str to tuple of dict
        `TableTitle` -> rows (column -> text or number): what the report shows beside the verdicts and offers as CSV.
    times : dict of str to str or float
        "started" (ISO 8601, UTC) and "seconds"; all that differs between two runs.
    labels_only : bool
        Whether predictions were given as labels, without scores.
    release_meter : ReportMeter or None
        What the report's own fairness numbers give away; None where an audit was made without metering.
    """

    plan: AuditPlan
    data: DataSummary
    groups: tuple[GroupSummary, ...]
    model: ModelSummary
    measurements: tuple[Measurement, ...]
    verdict: Verdict
    tables: dict[str, tuple[dict[str, str | float | int | None], ...]]
    self_tests: tuple[SelfTest, ...]
    provenance: Provenance
    times: dict[str, str | float]
    labels_only: bool = False
    release_meter: ReportMeter | None = None
    schema: int = REPORT_SCHEMA
