"""Many audits at once: the curve of corrected accuracy over trained tolerances.

Each configuration is trained anew and the attacker is told the very tolerance it was trained for. Results come one
by one, in the order in which they finish, so that a curve can grow while the rest is still running.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.adversaries import ADVERSARIES
from core.audit import PROTOCOLS, AuditConfig, attack_model, train_model
from core.correction import COSTS, Disclosure, disclose
from core.datasets.dataset import AuditDataset
from core.datasets.splits import split
from core.estimates import Estimate
from core.results import Result

__all__ = ["TOLERANCES", "SweepPoint", "measure", "sweep", "tolerance_configs"]

_NICE = 10  # how far the worker processes give way

TOLERANCES = (
    0.0, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2,
)  # fmt: skip
"""Trained tolerances of the default curve: 18 values in [0, 0.2], denser near 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint(Result):
    """One trained tolerance.

    Attributes
    ----------
    tolerance : float
        Trained for, and told to the attacker.
    achieved : float
        Unfairness on the training records.
    accuracy_train, accuracy_test : Estimate
        Of the audited model.
    disclosures : dict
        (adversary, protocol, cost) -> Disclosure.
    """

    tolerance: float
    achieved: float
    accuracy_train: Estimate
    accuracy_test: Estimate
    disclosures: dict[tuple[str, str, str], Disclosure]


def tolerance_configs(config: AuditConfig, tolerances: Sequence[float] = TOLERANCES) -> list[AuditConfig]:
    """Return the same audit at each trained tolerance."""
    return [replace(config, tolerance=float(t)) for t in tolerances]


def measure(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    """Train at one tolerance, attack, and tell each adversary that tolerance."""
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    model = train_model(config, dataset, splits)
    disclosures: dict[tuple[str, str, str], Disclosure] = {}
    for kind in ADVERSARIES:
        for protocol in PROTOCOLS:
            found = attack_model(kind, protocol, dataset, splits, model.predictions, seed=config.seed)
            for cost in COSTS:
                disclosures[kind, protocol, cost] = disclose(
                    found.attacked,
                    found.held_out,
                    tolerance=config.tolerance,
                    metric=config.metric,
                    cost=cost,
                    raise_until_true=protocol == "as_published",
                )
    return SweepPoint(
        tolerance=config.tolerance,
        achieved=model.unfairness_train,
        accuracy_train=model.accuracy_train,
        accuracy_test=model.accuracy_test,
        disclosures=disclosures,
    )


def _politely(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    """Measure in a worker process that gives way to what a person waits for."""
    if hasattr(os, "nice") and os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))
    return measure(config, dataset)


def sweep(configs: Sequence[AuditConfig], dataset: AuditDataset, *, n_jobs: int = 1) -> Iterator[SweepPoint]:
    """Yield the result of each configuration as soon as it is there, in any order.

    Parameters
    ----------
    configs : sequence of AuditConfig
        All on the same dataset.
    dataset : AuditDataset
        Sent to worker processes through pipes: joblib's memory mapping, which would put it on disk, is off.
    n_jobs : int
        Worker processes; 1 works in this one. Closing the generator stops the workers.
    """
    if n_jobs == 1:
        yield from (measure(config, dataset) for config in configs)
        return
    import joblib

    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", max_nbytes=None, batch_size=1)
    results = parallel(joblib.delayed(_politely)(config, dataset) for config in configs)
    try:
        for point in results:  # noqa: UP028 - "yield from" would close the results before the filter below is set
            yield point
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*cancelled. You could benefit")  # cancelling is meant
            results.close()
