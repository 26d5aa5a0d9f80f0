"""Where the leak of one model comes from: every attacker step by step, with the controls that keep the result honest.

`measure_leak` trains one configuration and answers what a single audit does not: what each piece of knowledge adds,
for the paper's attacker and for the strong one; what predictions are worth that belong to other people; and what an
attacker reaches who is not told the fairness promise but measures one. Repeated over seeds and set beside the
unmitigated model it says how far any of it exceeds chance and what the mitigation itself changes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.adversaries import permuted_by_set
from core.audit import AttackFindings, attack_model
from core.config import AuditConfig
from core.correction import (
    Attribution,
    ConstraintComparison,
    PermutedControl,
    attribute_leak,
    compare_constraints,
    estimate_constraint,
    permuted_control,
)
from core.datasets.dataset import AuditDataset
from core.datasets.splits import known_shares, split
from core.estimates import Estimate
from core.serialize import Result
from core.subject import train_model

KINDS = {"paper's": ("features", "predictions"), "strong": ("strong", "strong_predictions")}
"""Attacker -> its two kinds, without and with the audited model's predictions."""


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
    drawn = model.predictions
    attacks = {
        kind: attack_model(kind, "held_out", dataset, splits, drawn, config=config)
        for kinds in KINDS.values()
        for kind in kinds
    }
    sets = {name: getattr(splits, name) for name in ("train", "attack", "validation", "test")}
    dealt = permuted_by_set(drawn, dataset.labels, sets, seed=config.seed)
    permuted = {
        name: attack_model(kinds[1], "held_out", dataset, splits, dealt, config=config) for name, kinds in KINDS.items()
    }
    paper, known = attacks["features"], splits.known
    promises = config.method in ("exponentiated_gradient", "threshold_optimizer")
    return LeakPoint(
        config=config,
        achieved=model.unfairness_train,
        difference_train=model.difference_train,
        accuracy_train=model.accuracy_train,
        accuracy_test=model.accuracy_test,
        majority_test=model.majority_test,
        held_out={kind: found.held_out_accuracy for kind, found in attacks.items()},
        attributions={
            name: attribution_of(name, attacks, config, known_shares(dataset, splits), permuted=permuted[name])
            for name in KINDS
        },
        permuted=permuted_control(
            paper.attacked, paper.held_out, tolerance=config.tolerance, seed=config.seed, metric=config.metric
        ),
        unknown=compare_constraints(
            paper.attacked,
            paper.held_out,
            estimate_constraint(drawn[known], dataset.sensitive[known], dataset.labels[known]),
            metric=config.metric if promises else None,
            tolerance=config.tolerance if promises else None,
            raise_until_true=True,
            raise_until_feasible=True,
        ),
        seconds=time.perf_counter() - started,
        seconds_model=seconds_model,
    )


def attribution_of(
    name: str,
    attacks: dict[str, AttackFindings],
    config: AuditConfig,
    prior: Sequence[float],
    *,
    tolerance: float | None = None,
    permuted: AttackFindings | None = None,
) -> Attribution:
    """Return one attacker's steps on the attacked records, told `tolerance` (the configuration's by default)."""
    without, with_predictions = (attacks[kind].attacked for kind in KINDS[name])
    return attribute_leak(
        name,
        without,
        with_predictions,
        prior=prior,
        metric=config.metric,
        tolerance=config.tolerance if tolerance is None else tolerance,
        permuted=None if permuted is None else permuted.attacked,
    )
