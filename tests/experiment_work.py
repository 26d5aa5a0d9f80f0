"""Small experiments: models that are measured and not attacked, and where that is done."""

import os
import time
from dataclasses import dataclass, field, replace
from functools import cache

from core.base.serialize import Result
from core.datasets.splits import split
from core.stats.estimates import Estimate
from core.studies.subject import AuditConfig, train_model
from tests import samples

BASE = AuditConfig(dataset="sample", roles=samples.ROLES, forest=(("n_estimators", 10),))
CONFIGS = [replace(BASE, method="unmitigated", tolerance=k / 100) for k in range(9)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredModel(Result):
    """What these experiments keep of a model; equality ignores the seconds."""

    config: AuditConfig
    unfairness: float
    accuracy_train: Estimate
    accuracy_test: Estimate
    bounds: tuple[float, ...] = ()
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings(Result):
    """Where a configuration was measured: the process, its niceness, and its most threads."""

    config: AuditConfig
    process: int
    niceness: int
    threads: int


@cache
def people():
    return samples.dataset(500)


def measure(config, dataset):
    """Train and ask the model, and attack nobody."""
    started = time.perf_counter()
    model = train_model(config, dataset, split(dataset, train_share=config.train_share, seed=config.seed))
    return MeasuredModel(
        config=config,
        unfairness=model.unfairness_train,
        accuracy_train=model.accuracy_train,
        accuracy_test=model.accuracy_test,
        seconds=time.perf_counter() - started,
    )


def surroundings(config, dataset):
    import threadpoolctl

    threads = max((pool["num_threads"] for pool in threadpoolctl.threadpool_info()), default=0)
    return Surroundings(config=config, process=os.getpid(), niceness=os.nice(0), threads=threads)
