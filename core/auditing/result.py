"""What a release audit found, whole, and what it takes to get its numbers again.

Versions, seeds, and fingerprints of code, plan, policy and table are of contents: a plan that calls its table by
another path is the same plan. Nothing names the machine or who uses it; of the machine only its kind is given, and the
kind of processor that the linear algebra was built for, on which the last digits of a number may depend.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from ..adversaries.released_outputs import drift_caveat
from ..base.caveats import (
    ATTRIBUTE_NEEDED_TEXT,
    CHOSEN_TEXT,
    CONSTANT_TEXT,
    LABELS_ONLY_TEXT,
    RANDOMISED_TEXT,
    SELF_TEST_TEXT,
    TRAINED_TEXT,
    Caveat,
    CaveatKind,
    in_order,
)
from ..base.serialize import UNSAID, Result, code_fingerprint, content_fingerprint
from ..base.validation import Ints
from ..datasets import AuditDataset, Roles, Table, cautions
from ..datasets.checked_table import Fact
from ..datasets.columns import listed, quoted, text_of
from ..datasets.input_check import CONFIRMED_GUESSES
from ..datasets.role_suggestion import names_attribute, suggested_positive
from ..datasets.splits import sharing
from ..models import METHOD_TITLES
from ..stats.estimates import Estimate, proportion
from ..studies.study import Finding, Measurement, Row
from .inputs import Audited
from .plan import AuditPlan
from .policy import Alternative, Policy, Verdict

if TYPE_CHECKING:
    import pandas

    from ..models.model_files import ModelFile


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSummary(Result):
    """One group in the data and under the model.

    `count` and `label_rate` are its records in the table and the positive labels among them; `test_rate`, `test_tpr`
    and `test_fpr` positive predictions on the test records: among all, among positive labels, among negative labels.
    Where the model gives some people no answer they count those with one, and `all_rate`, `all_tpr`, `all_fpr` count
    everybody: who has no answer is not accepted.
    """

    group: str
    count: int
    label_rate: Estimate
    test_rate: Estimate
    test_tpr: Estimate
    test_fpr: Estimate
    all_rate: Estimate | None = field(default=None, metadata=UNSAID)
    all_tpr: Estimate | None = field(default=None, metadata=UNSAID)
    all_fpr: Estimate | None = field(default=None, metadata=UNSAID)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSummary(Result):
    """The table.

    `attribute` and `label` are their names; `n` records are audited, `sets` are their numbers by set (train, attack,
    validation, test) and `split` one sentence on how these came about; `notes` say what was left out, filled in, or
    stands twice; `fingerprint` is the SHA-256 of the arrays.
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

    `kind` is that of `core.auditing.ModelPlan`, `achieved` the unfairness on the training records, `fingerprint`
    the SHA-256 of the predictions and scores, and of the file where there is one.
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

    @property
    def beside_majority(self) -> str:
        """How its accuracy lies below that of always giving the commonest answer; empty where it lies above.

        Worse it is called where its whole interval lies below.
        """
        if self.accuracy_test.high < self.majority_test.value:
            return "worse than"
        if self.accuracy_test.value < self.majority_test.value:
            return "not better than"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest(Result):
    """Whether FairLeak itself reports a leak where there is none, and one where there is.

    `false_alarms` is the share of null models (no leak by construction) that failed, `detected` that of
    planted leaks that were detected; `passed` says whether the first is at most 5% plus two standard errors and the
    second at least 95%; `told` what was planted, in one sentence.
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

    `platform` is the machine's kind, `packages` the versions of what computes numbers; `code`, `policy` and `plan` are
    the SHA-256 of FairLeak's own code, of the policy and of the plan.
    """

    fairleak: str
    python: str
    platform: str
    packages: dict[str, str]
    code: str
    policy: str
    plan: str
    seeds: dict[str, int]


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
class StudyFindings(Result):
    """What one study found, as it words it: `study` is its name, `title` what people call it."""

    study: str
    title: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseAudit(Result):
    """A whole release audit.

    There is one measurement a check of `core.auditing.policy.CHECKS`, in their order. `tables`, `TableTitle` -> rows
    (column -> text or number), stand in the report beside the verdicts, and as CSV. `times` are "started" (ISO
    8601, UTC) and "seconds": all that differs between two runs. `findings` are those of the studies that ran;
    `people` is there where the plan asks for it, with tables of its own. `caveats` are those on what was audited,
    whatever it is judged by; all caveats are the verdict's. `alternatives` are narrower releases that were tried.
    """

    plan: AuditPlan
    data: DataSummary
    groups: tuple[GroupSummary, ...]
    model: ModelSummary
    measurements: tuple[Measurement, ...]
    verdict: Verdict
    tables: dict[str, tuple[Row, ...]]
    self_tests: tuple[SelfTest, ...]
    provenance: Provenance
    times: dict[str, str | float]
    findings: tuple[StudyFindings, ...] = ()
    people: StudyFindings | None = None
    people_tables: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    caveats: tuple[Caveat, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


COMPUTING = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "fairlearn",
    "PuLP",
    "cvxpy",
    "clarabel",
    "osqp",
    "scs",
    "onnxruntime",
    "skops",
)
"""Packages that compute numbers; those that are not installed are left out."""

SELF_TEST_SEED = 2023
"""Seed of FairLeak's test of itself: its numbers say something of the code, and so never change with an audit."""


def provenance(plan: AuditPlan, policy: Policy) -> Provenance:
    """Return where an audit's numbers come from; FairLeakError if FairLeak's own code cannot be read."""
    return Provenance(
        fairleak=__version__,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=kind_of_machine(),
        packages=versions(),
        code=code_fingerprint(),
        policy=content_fingerprint(policy),
        plan=plan_fingerprint(plan),
        seeds={"audit": plan.config.seed, "self-test": SELF_TEST_SEED},
    )


def plan_fingerprint(plan: AuditPlan) -> str:
    """Return the SHA-256 of what a plan asks for: everything but the paths of its files, which it may have or not."""
    data = plan.data
    if data.file:
        data = replace(data, file="given")
    model = plan.model
    if model.file:
        model = replace(model, file="given")
    return content_fingerprint(replace(plan, data=data, model=model, policy=""))


def data_fingerprint(dataset: AuditDataset, *, answers: bool = True) -> str:
    """Return the SHA-256 of the records an audit works on, the same for every version of FairLeak.

    Every value enters, with the columns' names and what their codes stand for, and the predictions, scores and sets
    where the table gives them; not what the table is called or where it lay. `answers` says whether predictions and
    scores enter: not where a model file gave them, whose last digits hang on the machine.
    """
    answered = {
        "predictions": dataset.predictions,
        "scores": dataset.scores,
        "withheld": dataset.withheld,
        "answered": dataset.answered,
    }
    answer_arrays = answered if answers else {}
    arrays = {
        name: array
        for name, array in {**answer_arrays, "sets": dataset.sets}.items()
        if array is not None
    }
    return content_fingerprint(
        dataset.features,
        dataset.labels,
        dataset.sensitive,
        dataset.categorical,
        list(dataset.feature_names),
        [list(values) for values in dataset.categories],
        list(dataset.group_names),
        list(arrays),
        *arrays.values(),
    )


def versions() -> dict[str, str]:
    """Return the version of each installed package of `COMPUTING`."""
    installed = {}
    for name in COMPUTING:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


def kind_of_machine() -> str:
    """Return system and processor, such as "Linux x86_64 (Haswell)", of whatever machine of this kind."""
    machine = f"{platform.system()} {platform.machine()}"
    built_for = _linear_algebra()
    if built_for:
        return f"{machine} ({built_for})"
    return machine


def _linear_algebra() -> str:
    """Return what processor numpy's own linear algebra takes this one for; empty where it has none or does not say.

    Only numpy's is asked: other packages bring libraries of their own, and which are loaded hangs on what ran before.
    """
    from threadpoolctl import threadpool_info

    numpy_folder = os.path.realpath(
        os.path.dirname(np.__file__)
    )  # the library lies in "numpy.libs" beside it, or inside
    libraries = [
        library for library in threadpool_info() if library["filepath"].startswith(numpy_folder)
    ]
    return ", ".join(
        sorted(
            {str(library["architecture"]) for library in libraries if library.get("architecture")}
        )
    )


def data_summary(audited: Audited, table: Table) -> DataSummary:
    """Return what the table is."""
    dataset = audited.dataset
    return DataSummary(
        title=dataset.title,
        source=table.source,
        attribute=audited.attribute,
        label=dataset.roles.label,
        synthetic=dataset.synthetic,
        n=dataset.n,
        sets={
            name: int(getattr(audited.splits, name).size)
            for name in ("train", "attack", "validation", "test")
        },
        split=_split(audited),
        features=dataset.feature_names,
        notes=tuple(caveat.text for caveat in data_caveats(audited, table)),
        fingerprint=data_fingerprint(dataset, answers=audited.plan.model.kind != "file"),
    )


def group_summaries(audited: Audited) -> tuple[GroupSummary, ...]:
    """Return the groups, first group first."""
    dataset = audited.dataset
    predictions = audited.model.predictions
    everybody = audited.everyone.test
    accepted = predictions == 1
    if dataset.answered is not None:
        accepted = accepted & dataset.answered

    def rate(records: Ints, code: int, label: int | None) -> Estimate:
        chosen = records[dataset.sensitive[records] == code]
        if label is not None:
            chosen = chosen[dataset.labels[chosen] == label]
        return proportion(int(np.count_nonzero(accepted[chosen])), chosen.size)

    codes = {name: code for code, name in enumerate(dataset.group_names)}
    summaries = []
    for name, base_rate in dataset.base_rates.items():
        code = codes[name]
        rates = {
            f"test_{key}": rate(audited.splits.test, code, label) for key, label in _RATES.items()
        }
        if everybody.size > audited.splits.test.size:
            rates |= {f"all_{key}": rate(everybody, code, label) for key, label in _RATES.items()}
        summaries.append(GroupSummary(group=name, count=base_rate.n, label_rate=base_rate, **rates))
    return tuple(summaries)


_RATES = {"rate": None, "tpr": 1, "fpr": 0}
"""Rate of a group, as `GroupSummary` ends it -> the label of the people whom it counts, None for all."""


def model_summary(audited: Audited, model_file: ModelFile | None = None) -> ModelSummary:
    """Return what the model is, and how good and how fair."""
    config = audited.config
    model = audited.model
    file = "" if model_file is None else model_file.fingerprint
    return ModelSummary(
        kind=audited.plan.model.kind,
        title=_title(audited),
        metric=config.metric,
        tolerance=config.tolerance,
        achieved=model.unfairness_train,
        unfairness_test=model.unfairness_test,
        accuracy_train=model.accuracy_train,
        accuracy_test=model.accuracy_test,
        majority_test=model.majority_test,
        fingerprint=content_fingerprint(model.predictions, model.scores, file),
        notes=tuple(caveat.text for caveat in model_caveats(audited)),
    )


def _title(audited: Audited) -> str:
    plan = audited.plan
    roles = audited.dataset.roles
    if plan.model.kind == "file":
        return f"Model file {quoted(PurePosixPath(plan.model.file).name)}"
    if plan.model.kind == "predictions":
        columns = " and ".join(
            quoted(column) for column in (roles.prediction, roles.score) if column
        )
        return f"Predictions given in {columns}"
    return METHOD_TITLES[audited.config.method]


_FACTS_OF_OTHER_CAVEATS = frozenset(
    {"constant_prediction", "constant_score", "person", "repeated_records"}
)
"""Facts of the input check that another caveat says with what was done about them."""


def _fact_caveat(fact: Fact, roles: Roles) -> Caveat:
    """Caveat on a fact of the input check; of its own kind where it stopped the audit until it was confirmed."""
    kind = CaveatKind.INPUT_CHECK
    if fact.is_confirmed(roles) and fact.kind not in CONFIRMED_GUESSES:
        kind = CaveatKind.INPUT_CONFIRMED
    return Caveat(kind, fact.text)


def _columns_caveat(dataset: AuditDataset, attribute: str) -> Caveat:
    """Caveat that no other column is audited: those that are sensitive by their names, then the first of the others."""
    names = [*dataset.feature_names, *dataset.roles.excluded]
    sensitive = [name for name in names if names_attribute(name)]
    more_names = [name for name in names if name not in sensitive]
    text = f"Audited: {attribute}, and no other column."
    if sensitive:
        text = f"{text} Not audited, though sensitive by name: {listed(sensitive)}."
    if more_names:
        either = " either" if sensitive else ""
        text = f"{text} Not audited{either}: {listed(more_names)}."
    return Caveat(CaveatKind.OTHER_COLUMNS, text, count=len(names))


def input_answers(frame: pandas.DataFrame, roles: Roles) -> tuple[str, ...]:
    """Return what was answered about a table and no fact says: a score that was turned round, columns left out."""
    answers = []
    if roles.prediction in frame or roles.score in frame:  # a model file's answers are no columns
        guess = suggested_positive(
            frame, label=roles.label, prediction=roles.prediction, score=roles.score
        )
        if roles.positive != guess:
            answers.append(
                f"Answered: a higher {text_of(roles.score or roles.prediction)} means {text_of(roles.label)} = "
                f"{text_of(roles.positive)}, and not {text_of(guess)}."
            )
    if roles.training_value:
        answers.append(
            f"Answered: the model was trained where {text_of(roles.sets)} is {text_of(roles.training_value)}."
        )
    if roles.excluded:
        answers.append(
            f"Left out of the audit: {listed(roles.excluded)}. Neither model nor attacker sees it."
        )
    return tuple(answers)


def data_caveats(audited: Audited, table: Table) -> tuple[Caveat, ...]:
    """Caveats on the table: what was noted of its columns, decided in reading it, and stands in several sets."""

    def make() -> tuple[Caveat, ...]:
        dataset = audited.dataset
        caveats = [
            _fact_caveat(fact, dataset.roles)
            for fact in audited.facts
            if fact.kind not in _FACTS_OF_OTHER_CAVEATS
        ]
        caveats += [
            Caveat(CaveatKind.INPUT_CHECK, caution.text)
            for caution in cautions(table.frame, dataset.roles)
        ]
        caveats.append(_columns_caveat(dataset, audited.attribute))
        if table.uploaded:
            caveats += [
                Caveat(CaveatKind.INPUT_CHECK, text)
                for text in input_answers(table.frame, dataset.roles)
            ]
        caveats += dataset.caveats
        shared = sharing(dataset, audited.splits)
        if shared is not None:
            caveats.append(shared)
        drifted = drift_caveat(dataset, audited.splits, seed=audited.config.seed)
        if drifted is not None:
            caveats.append(drifted)
        return tuple(caveats)

    return audited.once("data caveats", make)


def model_caveats(audited: Audited) -> tuple[Caveat, ...]:
    """Caveats on the model: what it is, and how it answered."""
    model = audited.model
    roles = audited.dataset.roles
    caveats = []
    if model.constant(audited.splits):
        caveats.append(Caveat(CaveatKind.CONSTANT_MODEL, CONSTANT_TEXT))
    if audited.trainable:
        caveats.append(Caveat(CaveatKind.MODEL_TRAINED, TRAINED_TEXT))
        if model.randomised:
            caveats.append(Caveat(CaveatKind.MODEL_RANDOMISED, RANDOMISED_TEXT))
        if model.needs_sensitive:
            caveats.append(Caveat(CaveatKind.ATTRIBUTE_NEEDED, ATTRIBUTE_NEEDED_TEXT))
        caveats += [Caveat(CaveatKind.MODEL_STRUCTURE, text) for text in model.structure.notes]
    elif not audited.has_scores:
        caveats.append(Caveat(CaveatKind.LABELS_ONLY, LABELS_ONLY_TEXT))
    elif not roles.prediction:
        text = f"Predictions are scores of at least {roles.threshold:g}."
        caveats.append(Caveat(CaveatKind.SCORE_THRESHOLD, text))
    caveats += [Caveat(CaveatKind.MODEL_FILE, text) for text in audited.model_notes]
    return tuple(caveats)


def input_caveats(audited: Audited, table: Table) -> tuple[Caveat, ...]:
    """Caveats on what is audited, before anything is judged."""
    return (*data_caveats(audited, table), *model_caveats(audited), *audited.caveats)


def verdict_caveats(
    caveats: Iterable[Caveat], *, chosen: bool, self_tests: Sequence[SelfTest]
) -> tuple[Caveat, ...]:
    """Caveats of a verdict: those of what is audited, and of how it was judged.

    `chosen` is whether the model was picked from several on the records that it is audited on.
    """
    all_caveats = list(caveats)
    if chosen:
        all_caveats.append(Caveat(CaveatKind.CHOSEN_ON_THESE_RECORDS, CHOSEN_TEXT))
    if not self_tests:
        all_caveats.append(Caveat(CaveatKind.SELF_TEST_MISSING, SELF_TEST_TEXT))
    return in_order(all_caveats)


def _split(audited: Audited) -> str:
    roles = audited.dataset.roles
    config = audited.config
    if roles.sets:
        return f"The sets are those of the column {quoted(roles.sets)}; seed {config.seed} divides the attacker's."
    share = f"{100 * config.train_share:g}% of the records train the model"
    if not audited.trainable:
        share = (
            f"{100 * config.train_share:g}% of the records stand for the model's training "
            "records, which are unknown"
        )
    return f"Drawn with seed {config.seed}: {share}; the attacker knows half of the others, the test takes the rest."
