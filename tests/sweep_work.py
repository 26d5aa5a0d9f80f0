"""Small sweeps whose measuring is written down; also a program that runs one, to be killed.

``python -m tests.sweep_work STORE LOG JOBS`` sweeps `CONFIGS` over a sample and stores what it finishes.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from core.datasets import AuditDataset
from core.datasets.splits import split
from core.experiments.sweep import FolderStore, SweepPoint, sweep
from core.stats.estimates import proportion
from core.studies.config import AuditConfig
from core.studies.subject import train_model
from tests import samples

BASE = AuditConfig(dataset="sample", roles=samples.ROLES, forest=(("n_estimators", 10),))
CONFIGS = [replace(BASE, method="unmitigated", tolerance=k / 100) for k in range(9)]


@cache
def people() -> AuditDataset:
    """Return the sample, the same in every process."""
    return samples.dataset(500)


def unattacked(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    """Train and ask the model, and attack nobody."""
    model = train_model(config, dataset, split(dataset, train_share=config.train_share, seed=config.seed))
    return SweepPoint.of(config, model, disclosures={})


def logged(config: AuditConfig, dataset: AuditDataset, *, log: Path, pause: float = 0.0) -> SweepPoint:
    """Measure, and write down who began with what; the pause is the time in which to be killed."""
    with open(log, "a", encoding="utf-8") as file:  # one short line in append mode: never torn
        file.write(f"{os.getpid()} {config.tolerance}\n")
    time.sleep(pause)
    return unattacked(config, dataset)


def begun(log: Path) -> list[tuple[int, float]]:
    """Return (process, tolerance) of everything that was begun."""
    if not log.exists():
        return []
    lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    return [(int(process), float(tolerance)) for process, tolerance in lines]


def surroundings(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    """Measure nothing; hand over the process, its niceness and its most threads as if they were results."""
    import threadpoolctl

    threads = max((pool["num_threads"] for pool in threadpoolctl.threadpool_info()), default=0)
    some = proportion(1, 2)
    return SweepPoint(
        config=config,
        achieved=float(threads),
        unfairness_test=replace(some, n=os.getpid()),
        difference_train=0.0,
        difference_test=some,
        accuracy_train=replace(some, n=os.nice(0)),
        accuracy_test=some,
        majority_test=some,
        disclosures={},
    )


def main(store: str, log: str, jobs: str) -> None:
    """Sweep."""
    slow = partial(logged, log=Path(log), pause=0.3)
    for _ in sweep(CONFIGS, people(), n_jobs=int(jobs), store=FolderStore(Path(store)), measure=slow):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
