"""One model's leak over seeds: every attacker step by step, with the controls that keep the result honest.

`measure_leak` trains one configuration and answers what a single audit does not: what each piece of knowledge adds,
for the paper's attacker and for the strong one; what predictions are worth that belong to other people; and what an
attacker reaches who does not know the fairness constraint but estimates one. Repeated over seeds and set beside the
unmitigated model it says how far any of it exceeds chance and what the mitigation itself changes.

Each seed draws its own splits, model and attackers; a step's figure is the mean over seeds with Student's t interval,
and so is its change, which is paired within each seed. With a single seed the interval is the one over people, and
the result says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.adversaries import permuted_by_set
from core.arrays import Codes
from core.config import AuditConfig
from core.correction.attribute_attacks import (
    ATTACKERS,
    KINDS,
    PROTOCOLS,
    AttackFindings,
    CorrectionResult,
    attack_model,
)
from core.correction.attribution import MEASURES, Attribution, StepMeasures
from core.correction.knowledge import (
    ConstraintComparison,
    PermutedControl,
    compare_constraints,
    estimate_constraint,
    permuted_control,
)
from core.datasets.dataset import AuditDataset
from core.datasets.splits import split
from core.errors import InputError
from core.estimates import Estimate, not_measured, over_repeats
from core.serialize import Result
from core.subject import Progress, Subject, train_model

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedMeasure(Result):
    """One measure over seeds: mean and interval, and the standard deviation, nan with fewer than two.

    The interval is `over` "seeds", or "people" where there is only one seed; its `n` counts these.
    """

    estimate: Estimate
    deviation: float
    over: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedStep(Result):
    """One step over the seeds in which it could be measured, and the reasons why not in the others.

    Values and changes are by measure; there are no changes for the majority guess.
    """

    step: str
    builds_on: str | None
    values: dict[str, RepeatedMeasure]
    changes: dict[str, RepeatedMeasure]
    n_seeds: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakAttribution(Result):
    """One attacker's leak over seeds.

    Of `n_seeds` seeds in all, the model really satisfied the disclosed bound in `n_true`.
    """

    attacker: str
    metric: str
    tolerance: float
    n_seeds: int
    n_true: int
    steps: tuple[RepeatedStep, ...]

    def step(self, name: str) -> RepeatedStep:
        """Return a step by name."""
        return next(step for step in self.steps if step.step == name)

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a step: attacker, step, and mean, limits and deviation of each measure and change."""
        import pandas as pd

        rows = []
        for step in self.steps:
            over = next(iter(step.values.values())).over
            row: dict[str, Any] = {
                "attacker": self.attacker,
                "step": step.step,
                "builds_on": step.builds_on,
                "seeds": step.n_seeds,
            }
            for kind, measures in (("", step.values), ("_change", step.changes)):
                for measure in MEASURES:
                    found = measures.get(measure)
                    estimate = found.estimate if found else not_measured()
                    name = f"{measure}{kind}"
                    row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
                    row[f"{name}_sd"] = found.deviation if found else math.nan
            rows.append(row | {"interval_over": over, "reason": " ".join(step.reasons)})
        return pd.DataFrame(rows)


def attribute_over_seeds(seeds: Sequence[Attribution]) -> LeakAttribution:
    """Put together one attacker's attributions, one a seed; a single seed keeps the intervals it came with.

    Raises `InputError` if there is no seed, or they are not of one attacker, metric, tolerance and set of steps.
    """
    if not seeds:
        raise InputError("An attribution needs at least one seed, got none.")
    first = seeds[0]
    for name in ("attacker", "metric", "tolerance"):
        values = {getattr(seed, name) for seed in seeds}
        if len(values) > 1:
            raise InputError(f"All seeds must have one {name}, got {sorted(values)}.")
    names = [step.step for step in first.steps]
    if any([step.step for step in seed.steps] != names for seed in seeds):
        raise InputError("All seeds must have the same steps.")
    steps = zip(*(seed.steps for seed in seeds), strict=True)
    return LeakAttribution(
        attacker=first.attacker,
        metric=first.metric,
        tolerance=first.tolerance,
        n_seeds=len(seeds),
        n_true=sum(seed.is_true for seed in seeds),
        steps=tuple(_repeated(list(same)) for same in steps),
    )


def _repeated(same: list[StepMeasures]) -> RepeatedStep:
    """Put together one step's measures, leaving out the seeds in which it could not be measured."""
    measured = [step for step in same if not step.reason]
    return RepeatedStep(
        step=same[0].step,
        builds_on=same[0].builds_on,
        values={name: _over([getattr(step, name) for step in measured]) for name in MEASURES},
        changes={
            name: _over([getattr(step, f"{name}_change") for step in measured])
            for name in MEASURES
            if same[0].builds_on
        },
        n_seeds=len(measured),
        reasons=tuple(sorted({step.reason for step in same if step.reason})),
    )


def _over(estimates: Sequence[Estimate | None]) -> RepeatedMeasure:
    there = [estimate for estimate in estimates if estimate is not None]
    if len(there) < 2:
        return RepeatedMeasure(estimate=there[0] if there else not_measured(), deviation=math.nan, over="people")
    values = [estimate.value for estimate in there]
    return RepeatedMeasure(estimate=over_repeats(values), deviation=float(np.std(values, ddof=1)), over="seeds")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakPoint(Result):
    """One model, and where its leak comes from. Equality ignores the seconds (in all, and of the model)."""

    config: AuditConfig
    """Its tolerance is what the attackers are told, true or not."""
    achieved: float
    difference_train: float
    """Unfairness and difference between groups on the training records."""
    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate
    """Of the audited model, and of always predicting the more frequent label."""
    held_out: dict[str, Estimate]
    """Attacker kind -> accuracy on the attacker's own held-out records."""
    attributions: dict[str, Attribution]
    """Attacker (`KINDS`) -> Attribution."""
    permuted: PermutedControl
    """The paper's correction beside the same with permuted predictions."""
    unknown: ConstraintComparison
    """The paper's correction, told a tolerance raised until true, beside that of one who measures it herself."""
    seconds: float = field(default=0.0, compare=False)
    seconds_model: float = field(default=0.0, compare=False)


def leak_configs(config: AuditConfig, seeds: Sequence[int]) -> list[AuditConfig]:
    """Return the configuration and its unmitigated twin for every seed: the fairness delta compares them."""
    methods = dict.fromkeys((config.method, "unmitigated"))
    return [replace(config, method=method, seed=seed) for seed in seeds for method in methods]


def measure_leak(config: AuditConfig, dataset: AuditDataset) -> LeakPoint:
    """Train one model and attack it in every way."""
    started = time.perf_counter()
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    begun = time.perf_counter()
    model = train_model(config, dataset, splits)
    seconds_model = time.perf_counter() - begun

    def attack(kind: str, predictions: Codes) -> AttackFindings:
        return attack_model(kind, PROTOCOLS[0], dataset, splits, predictions, config=config)

    subject = Subject(config, dataset, splits, model, Progress(1))
    result = CorrectionResult(
        subject=subject, attacks={(kind, PROTOCOLS[0]): attack(kind, model.predictions) for kind in ATTACKERS}
    )
    sets = {name: getattr(splits, name) for name in ("train", "attack", "validation", "test")}
    dealt = permuted_by_set(model.predictions, dataset.labels, sets, seed=config.seed)
    permuted = {name: attack(with_predictions, dealt) for name, (_, with_predictions) in KINDS.items()}
    paper, known = result.attack("features"), splits.known
    promises = config.method in ("exponentiated_gradient", "threshold_optimizer")
    return LeakPoint(
        config=config,
        achieved=model.unfairness_train,
        difference_train=model.difference_train,
        accuracy_train=model.accuracy_train,
        accuracy_test=model.accuracy_test,
        majority_test=model.majority_test,
        held_out={kind: result.attack(kind).held_out_accuracy for kind in ATTACKERS},
        attributions={name: result.attribution(name, config.tolerance, permuted=permuted[name]) for name in KINDS},
        permuted=permuted_control(
            paper.attacked, paper.held_out, tolerance=config.tolerance, seed=config.seed, metric=config.metric
        ),
        unknown=compare_constraints(
            paper.attacked,
            paper.held_out,
            estimate_constraint(model.predictions[known], dataset.sensitive[known], dataset.labels[known]),
            metric=config.metric if promises else None,
            tolerance=config.tolerance if promises else None,
            raise_until_true=True,
            raise_until_feasible=True,
        ),
        seconds=time.perf_counter() - started,
        seconds_model=seconds_model,
    )
