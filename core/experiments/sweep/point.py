"""One configuration of a sweep: what a user chooses, which there are, their keys, and how one is measured."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

from ...base.errors import InputError
from ...base.param import Param
from ...base.settings import Settings
from ...datasets.dataset import AuditDataset
from ...models import METHODS, PRIVATE_METHODS, TOLERANCE_METHODS
from ...stats.fairness import METRICS
from ...studies.config import AuditConfig
from ...studies.correction import ATTACKERS, COSTS, PROTOCOLS, CorrectionResult, Disclosure
from ...studies.correction.study import Cost
from ...studies.subject import ModelPoint, subject_of

TOLERANCES = (
    0.0, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2,
)  # fmt: skip
"""Trained tolerances of the default curve: 18 values in [0, 0.2], denser near 0."""

PAPER_TOLERANCES = (
    0.0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003, 0.004, 0.005, 0.006, 0.007, 0.0075, 0.008, 0.009, 0.01,
    0.0125, 0.015, 0.0175, 0.02, 0.0225, 0.025, 0.0275, 0.03, 0.035, 0.04, 0.045, 0.05, 0.055, 0.06, 0.065, 0.07,
    0.075, 0.08, 0.085, 0.09, 0.095, 0.1, 0.11, 0.12, 0.125, 0.13, 0.14, 0.15, 0.16, 0.17, 0.175, 0.18, 0.19, 0.2,
)  # fmt: skip
"""49 trained tolerances in [0, 0.2], denser near 0, as many and as far as in Ferry et al. (2023, IV-B3).

The paper prints their number and range, not the values. These hold all of `TOLERANCES`, so that a long sweep goes
on from a short one.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSettings(Settings):
    """Which configurations are measured, and which of their numbers are printed."""

    methods: Annotated[
        tuple[str, ...],
        Param("Fair learning", "Fair learning methods, or all: {options}.", options=METHODS, some=True),
    ] = METHODS[:1]
    metrics: Annotated[
        tuple[str, ...], Param("Metrics", "Fairness metrics, or all: {options}.", options=METRICS, some=True)
    ] = METRICS[:1]
    tolerances: Annotated[
        str,
        Param(
            "Tolerances", "Target tolerances, which are disclosed too: 49, 18, or numbers in [0, 1] such as 0,0.01,0.1."
        ),
    ] = "18"
    protocol: Annotated[
        str,
        Param("Paper's protocol", "Choice of the exponent in the printed tables: {options}.", options=PROTOCOLS),
    ] = PROTOCOLS[0]
    cost: Cost = "published"


def grid(
    base: AuditConfig,
    *,
    tolerances: Sequence[float] = TOLERANCES,
    methods: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[AuditConfig]:
    """Return every combination of the values, seed by seed, each once.

    Raises `InputError` if a sequence is empty or a value breaks its rule.

    Tolerances, in [0, 1], are those of the methods that can be asked for one (`core.models.TOLERANCE_METHODS`); the
    others appear once for each metric and seed, with tolerance 0. Everything else is the base's; its epsilon is the
    private trees' alone.
    """
    methods = (base.method,) if methods is None else methods
    metrics = (base.metric,) if metrics is None else metrics
    seeds = (base.seed,) if seeds is None else seeds
    for name, values in (("tolerances", tolerances), ("methods", methods), ("metrics", metrics), ("seeds", seeds)):
        if not len(values):
            raise InputError(f"{name} must hold at least one value, got none.")
    configs = [
        replace(
            base,
            method=method,
            metric=metric,
            seed=seed,
            tolerance=float(tolerance),
            epsilon=base.epsilon if method in PRIVATE_METHODS else math.inf,
        )
        for seed, method, metric in product(seeds, methods, metrics)
        for tolerance in (tolerances if method in TOLERANCE_METHODS else (0.0,))
    ]
    return list(dict.fromkeys(configs))


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint(ModelPoint):
    """What every adversary makes of a model's tolerance: disclosures by adversary, protocol and cost."""

    disclosures: dict[tuple[str, str, str], Disclosure]


def measure(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    """Train for one tolerance, and attack with every adversary, who knows it.

    A method without a tolerance has no fairness constraint: the disclosed tolerance is then the smallest true one, in
    steps of 0.001, under either protocol.
    """
    started = time.perf_counter()
    subject = subject_of(config, dataset)
    seconds_model = time.perf_counter() - started
    result = CorrectionResult.of(subject, as_published=True)
    disclosures = {}
    for kind, protocol, cost in product(ATTACKERS, PROTOCOLS, COSTS):
        published = protocol == "as_published"
        disclosures[kind, protocol, cost] = result.disclose(
            config.tolerance,
            adversary=kind,
            cost=cost,
            as_published=published,
            until_true=published or config.method not in TOLERANCE_METHODS,
        )
    seconds = time.perf_counter() - started
    return SweepPoint.of(config, subject.model, disclosures=disclosures, seconds=seconds, seconds_model=seconds_model)
