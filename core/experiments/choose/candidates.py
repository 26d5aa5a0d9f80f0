"""Candidates for a choice: which models are compared, and how each is measured on two halves of the people.

A candidate is a recipe: method, tolerance, privacy budget and depth, or answers that are given. Its seeds are
replicates of it. Everybody is in one of two halves, the same ones for all candidates and seeds: one half chooses, the
other judges what was chosen. A model is trained on all its training records and measured by the checks of an audit,
once with the training and test records of each half.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from ...auditing.inputs import Audited
from ...auditing.plan import AuditPlan, MembershipSettings
from ...auditing.policy import CHECKS
from ...auditing.run import measured
from ...base.errors import InputError, ReportProgress
from ...base.serialize import Result
from ...base.settings import Param, Settings
from ...base.validation import LEAST_EPSILON, Mask, child_generator
from ...datasets.dataset import AuditDataset
from ...datasets.splits import split
from ...models import METHOD_TITLES, METHODS, PRIVATE_METHODS, TOLERANCE_METHODS, TREE_DEPTH
from ...stats.estimates import Estimate, accuracy_gain, epsilon_text, tolerance_text
from ...studies.attribute import AttributeSettings
from ...studies.registry import STUDIES
from ...studies.study import Measurement
from ...studies.subject import MOST_DEPTH, AuditConfig, train_model
from ..engine import measured_points
from ..experiment import grid_of

PREFERENCES = {"accuracy": "Accuracy", "balanced": "Balanced", "leak": "Least leak"}
"""What is preferred among models within all limits: the best accuracy; the smallest worst leak within one standard
error of the best accuracy (Breiman et al. 1984); the smallest worst leak."""

LEAKS = {"all": "All attacks", "attribute": "Sensitive attribute", "membership": "Membership"}
"""Which attacks the worst leak is taken from."""

MEASURED_BY = ("attribute", "correction", "fairness", "membership")
"""Studies whose checks are quick enough for every candidate; membership without shadow models."""

MOST_CANDIDATES = 500

_GAINS = ("points", "bits", "gap")
"""Units of gains, which are 0 where nothing leaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseSettings(Settings):
    """Which models are compared, and what is preferred."""

    methods: Annotated[
        tuple[str, ...],
        Param("Methods", "Fair learning methods, or all: {options}.", options=METHODS, some=True),
    ] = METHODS[:-1]
    """All but the private fair tree, of which there is one for each tolerance, budget and depth."""
    tolerances: Annotated[
        tuple[float, ...],
        Param(
            "Tolerances",
            "Target tolerances of exponentiated gradient.",
            least=0.0,
            most=1.0,
            some=True,
        ),
    ] = (0.005, 0.02, 0.05, 0.1)
    epsilons: Annotated[
        tuple[float, ...],
        Param(
            "Privacy budgets ε",
            "Privacy budgets of the private tree.",
            least=LEAST_EPSILON,
            infinite=True,
            some=True,
            flag="--train-epsilons",
        ),
    ] = (10.0, 3.0)
    depths: Annotated[
        tuple[int, ...],
        Param("Depths", "Depths of the trees, at most.", least=1, most=MOST_DEPTH, some=True),
    ] = (4, TREE_DEPTH)
    prefer: Annotated[
        str,
        Param(
            "Prefer",
            "What is preferred among models within all limits: {options}.",
            options=PREFERENCES,
        ),
    ] = "accuracy"
    leak: Annotated[
        str,
        Param(
            "Leak counted", "Which attacks the worst leak is taken from: {options}.", options=LEAKS
        ),
    ] = "all"
    least_accuracy: Annotated[
        float | None,
        Param(
            "Least accuracy accepted",
            "Least accuracy accepted, as a share; the majority class's where none is given.",
            least=0.0,
            most=1.0,
        ),
    ] = None
    minutes: Annotated[
        float,
        Param(
            "Minutes", "Time budget: no new model is waited for after it.", least=0.0, infinite=True
        ),
    ] = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Half(Result):
    """What is measured of a candidate on one half of the people.

    `majority` is the accuracy of one answer for everybody, the more frequent label of these test records, and `gain`
    how much more accurate than that the candidate is on them (paired). `checks` are the measurements by name; `right`
    are bits in hexadecimal: whether each test record of this half is predicted correctly.
    """

    accuracy: Estimate
    majority: Estimate
    gain: Estimate
    right: str
    checks: dict[str, Measurement]

    def chance(self, check: str) -> float:
        """Return what a check reaches without a leak: 0 of a gain, else its control."""
        control = self.checks[check].control
        if CHECKS[check].unit in _GAINS or control is None:
            return 0.0
        return float(control.value)

    @property
    def correct(self) -> Mask:
        """Whether each test record of this half is predicted correctly."""
        bits = np.unpackbits(
            np.frombuffer(bytes.fromhex(self.right), dtype=np.uint8), count=self.accuracy.n
        )
        return bits.astype(np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePoint(Result):
    """A candidate with one seed, measured on the half that chooses and on the half that judges.

    `name` is empty unless its answers were given; `majority` is the majority class's accuracy on all test records;
    `constant` whether everybody gets the same answer.
    """

    config: AuditConfig
    name: str
    choosing: Half
    judging: Half
    majority: Estimate
    constant: bool = False

    @property
    def recipe(self) -> tuple[str, AuditConfig]:
        """What it has in common with its replicates."""
        return self.name, replace(self.config, seed=0)

    @property
    def title(self) -> str:
        """What to call it: "Exponentiated gradient, tolerance 0.05, depth 8"."""
        return self.name or config_title(self.config)


def config_title(config: AuditConfig) -> str:
    """Return what to call a candidate that is trained."""
    parts = [METHOD_TITLES[config.method]]
    if config.method in TOLERANCE_METHODS:
        parts.append(f"tolerance {tolerance_text(config.tolerance)}")
    if config.method in PRIVATE_METHODS:
        parts.append(f"ε = {epsilon_text(config.epsilon)}")
    return ", ".join([*parts, f"depth {config.depth}"])


def candidate_configs(
    plan: AuditPlan, settings: ChooseSettings, seeds: Sequence[int]
) -> list[AuditConfig]:
    """Return every combination of the settings, seed by seed, each once; all else is the plan's.

    InputError if there are more than `MOST_CANDIDATES`, seeds counted.
    """
    combinations = itertools.product(seeds, settings.epsilons, settings.depths, settings.methods)
    configs = {
        varied_plan.config: None
        for seed, epsilon, depth, method in combinations
        if method in PRIVATE_METHODS or epsilon == settings.epsilons[0]
        for varied_plan in grid_of(plan, _varied(settings, seed, epsilon, depth, method))
    }
    if len(configs) > MOST_CANDIDATES:
        raise InputError(
            f"There may be at most {MOST_CANDIDATES} models to compare, seeds counted, got {len(configs)}."
        )
    return list(configs)


def _varied(
    settings: ChooseSettings, seed: int, epsilon: float, depth: int, method: str
) -> dict[str, tuple[Any, ...]]:
    """Return the keys of the models of one method, budget, depth and seed; a method without a tolerance has 0."""
    tolerances: tuple[float, ...] = (0.0,)
    if method in TOLERANCE_METHODS:
        tolerances = settings.tolerances
    return {
        "model.seed": (seed,),
        "model.epsilon": (epsilon,),
        "model.depth": (depth,),
        "model.method": (method,),
        "model.tolerance": tolerances,
    }


def in_choosing_half(dataset: AuditDataset) -> Mask:
    """Return who is in the half that chooses, (n,): every other one of each group and label, drawn once for all."""
    order = child_generator(0, "people who choose").permutation(dataset.n)
    cells = 2 * dataset.sensitive.astype(np.intp) + dataset.labels
    chosen = np.zeros(dataset.n, dtype=np.bool_)
    chosen[order[np.argsort(cells[order], kind="stable")][::2]] = True
    return chosen


def quick_plan(plan: AuditPlan) -> AuditPlan:
    """Return a plan with what is quick of it: no shadow models, no answers, no AttriGuard, no search for precision."""
    return AuditPlan(
        data=plan.data,
        model=plan.model,
        config=plan.config,
        outputs=plan.outputs,
        membership=MembershipSettings(shadows=0),
        studies=(("attribute", AttributeSettings(closed=1.0)),),
    )


def measured_candidate(
    config: AuditConfig, dataset: AuditDataset, *, plan: AuditPlan, name: str = ""
) -> CandidatePoint:
    """Train a candidate, measure it on both halves with what its plan says is released, and return the point."""
    config = replace(config, roles=dataset.roles)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    model = train_model(config, dataset, splits)
    audited = Audited(
        config,
        dataset,
        splits,
        model,
        plan=quick_plan(replace(plan, config=config)),
    )
    choosing_half = in_choosing_half(dataset)
    return CandidatePoint(
        config=config,
        name=name,
        choosing=_half(audited.part(choosing_half)),
        judging=_half(audited.part(~choosing_half)),
        majority=model.majority_test,
        constant=model.constant(splits),
    )


def _half(audited: Audited) -> Half:
    declared = [check.name for name in MEASURED_BY for check in STUDIES[name].declared]
    test = audited.splits.test
    labels = audited.dataset.labels[test]
    predictions = audited.model.predictions[test]
    right = predictions == labels
    majority = np.bincount(labels, minlength=2).argmax()
    return Half(
        accuracy=audited.model.accuracy_test,
        majority=audited.model.majority_test,
        gain=accuracy_gain(labels, np.full(labels.size, majority), predictions),
        right=np.packbits(right).tobytes().hex(),
        checks={name: measured(name, audited) for name in declared},
    )


@dataclass(frozen=True)
class CandidateSet:
    """Candidates on one dataset: what is trained on it, or the answers that came with it, by their name."""

    configs: Sequence[AuditConfig]
    dataset: AuditDataset
    plan: AuditPlan
    name: str = ""

    @property
    def parts(self) -> tuple[Any, ...]:
        """What decides a point besides configuration and data."""
        return self.plan.outputs, self.plan.model.kind, self.name


def check_same_people(candidate_sets: Sequence[CandidateSet]) -> None:
    """Refuse candidates about different people, other features, labels or groups of them, or another division."""
    first = candidate_sets[0].dataset
    for candidate_set in candidate_sets[1:]:
        for key, title in (
            ("seed", "seed"),
            ("train_share", "training share"),
            ("metric", "fairness metric"),
        ):
            if (
                len(
                    {
                        getattr(config, key)
                        for config in (candidate_sets[0].configs[0], candidate_set.configs[0])
                    }
                )
                > 1
            ):
                raise InputError(
                    f"Models can be compared under one {title} alone, got another one for {candidate_set.name!r} than "
                    f"for {candidate_sets[0].name!r}."
                )
        for what, expected, actual in (
            ("features", first.features, candidate_set.dataset.features),
            ("labels", first.labels, candidate_set.dataset.labels),
            ("groups", first.sensitive, candidate_set.dataset.sensitive),
            ("sets", first.sets, candidate_set.dataset.sets),
        ):
            if not np.array_equal(np.asarray(expected), np.asarray(actual)):
                raise InputError(
                    f"Models can be compared on the same people alone, got other {what} for {candidate_set.name!r} "
                    f"than for {candidate_sets[0].name!r}; leave the columns of the other models out (excluded)."
                )


def measure_all(
    candidate_sets: Sequence[CandidateSet],
    *,
    seconds: float = math.inf,
    report: ReportProgress | None = None,
    n_jobs: int = 1,
    **running: Any,
) -> Iterator[CandidatePoint]:
    """Yield the point of each candidate as soon as it is there, stored ones first; none after so many seconds.

    `running` are arguments of `core.experiments.engine.measured_points`. Raises what that does, and InputError if the
    people differ.
    """
    check_same_people(candidate_sets)
    end = time.monotonic() + seconds
    total = sum(len(candidate_set.configs) for candidate_set in candidate_sets)
    before = 0
    for candidate_set in candidate_sets:

        def tell(done: int, _: int, before: int = before) -> None:
            if report is not None:
                report(before + done, total)

        jobs = min(n_jobs, len(candidate_set.configs))
        points = measured_points(
            candidate_set.configs,
            candidate_set.dataset,
            n_jobs=jobs,
            report=tell,
            measure=partial(measured_candidate, plan=candidate_set.plan, name=candidate_set.name),
            parts=candidate_set.parts,
            result=CandidatePoint,
            **running,
        )
        with closing(points):  # type: ignore[type-var]
            for point in points:
                yield point
                if time.monotonic() > end:
                    return
        before += len(candidate_set.configs)
