"""The planned answers to bias questions, and what each kind of attacker makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.datasets.dataset import AuditDataset
from core.decision.audited import Audited
from core.decision.plan import PlannedAnswers
from core.queries import (
    DECODERS,
    Asking,
    Exact,
    LaplaceGlobal,
    Mechanism,
    NoisySums,
    Rounded,
    SmoothCauchy,
    Trials,
)
from core.questions import QueryPool, query_pool


def mechanism_of(answers: PlannedAnswers) -> Mechanism:
    """Return the planned way of answering."""
    if answers.mechanism == "exact":
        return Exact()
    if answers.mechanism == "rounded":
        return Rounded(answers.decimals)
    noisy = {"laplace": LaplaceGlobal, "cauchy": SmoothCauchy, "noisy_sums": NoisySums}
    made: Mechanism = noisy[answers.mechanism](answers.epsilon)
    return made


def answers_of(answers: PlannedAnswers) -> str:
    """Return what to call the planned answers: "10 answers with noisy sums at epsilon 1"."""
    told = {
        "exact": "exact answers",
        "rounded": f"answers rounded to {answers.decimals} decimals",
        "laplace": f"answers with Laplace noise at epsilon {answers.epsilon:g} in all",
        "cauchy": f"answers with Cauchy noise at epsilon {answers.epsilon:g} in all",
        "noisy_sums": f"answers from noisy sums at epsilon {answers.epsilon:g} in all",
    }[answers.mechanism]
    return f"{answers.questions:,} {told}"


def planned_pool(audited: Audited) -> QueryPool:
    """Return the test records the questions are about, in two groups."""
    return audited.once(
        "pool", lambda: query_pool(audited.config, two_sided(audited.dataset), audited.model, audited.splits)
    )


def two_sided(dataset: AuditDataset) -> AuditDataset:
    """Return a dataset in two groups: of more than two the largest (1) and everybody else (0)."""
    if dataset.n_groups == 2:
        return dataset
    largest = int(np.bincount(dataset.sensitive, minlength=dataset.n_groups).argmax())
    return replace(
        dataset,
        sensitive=(dataset.sensitive == largest).astype(np.uint8),
        group_names=("everybody else", dataset.group_names[largest]),
    )


def planned_trials(audited: Audited) -> Trials:
    """Return the repeats in which the planned questions are asked."""
    planned = audited.plan.answers

    def make() -> Trials:
        asking = Asking(n=planned.people, repeats=planned.repeats, seed=audited.config.seed)
        return Trials(planned_pool(audited), asking, most=planned.questions)

    return audited.once("trials", make)


def planned_leakages(audited: Audited) -> dict[str, list[float]]:
    """Return balanced accuracies, one a repeat: of the prior alone ("prior"), then of every decoder."""

    def make() -> dict[str, list[float]]:
        trials, mechanism = planned_trials(audited), mechanism_of(audited.plan.answers)
        found = {"prior": trials.leakages(0, mechanism, DECODERS[0])}
        for decoder in DECODERS:
            found[decoder] = trials.leakages(audited.plan.answers.questions, mechanism, decoder)
            audited.progress.tick()
        return found

    return audited.once("leakages", make)
