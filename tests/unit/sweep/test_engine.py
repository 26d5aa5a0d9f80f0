"""Which configurations a grid holds, and the sweep here and in workers: the same points, each measured once."""

from __future__ import annotations

import itertools
import math
import os
import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.base.errors import Cancelled, FairLeakError, InputError
from core.datasets import AuditDataset
from core.experiments.sweep import PAPER_TOLERANCES, FolderStore, MemoryStore, SweepPoint, grid, measure, sweep
from core.experiments.sweep import engine as workers
from core.models import METHODS, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.fairness import METRICS
from core.studies.config import AuditConfig
from tests.sweep_work import BASE, begun, logged, people, surroundings, unattacked

CONFIGS = [
    *grid(BASE, tolerances=(0.0, 0.05)),
    replace(BASE, method="threshold_optimizer", metric="equal_opportunity", tolerance=0.0),
    replace(BASE, method="unmitigated", tolerance=0.0, seed=3),
]


def by_config(points: object) -> dict[AuditConfig, SweepPoint]:
    return {point.config: point for point in points}  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def local_points() -> dict[AuditConfig, SweepPoint]:
    return by_config(sweep(CONFIGS, people()))


def test_two_workers_and_measuring_alone_give_the_same_to_the_bit(local_points: dict[AuditConfig, SweepPoint]):
    assert by_config(sweep(CONFIGS, people(), n_jobs=2)) == local_points
    assert measure(CONFIGS[3], people()) == local_points[CONFIGS[3]]
    assert unattacked(replace(CONFIGS[3], seed=7), people()) != replace(local_points[CONFIGS[3]], disclosures={})


def test_workers_are_processes_of_their_own_polite_and_single_threaded(monkeypatch: pytest.MonkeyPatch):
    from joblib.externals.loky import get_reusable_executor

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    get_reusable_executor().shutdown(wait=True)  # workers that were started before
    configs = grid(BASE, tolerances=[k / 100 for k in range(6)])
    points = list(sweep(configs, people(), n_jobs=2, measure=surroundings))
    assert os.getpid() not in {point.unfairness_test.n for point in points}
    assert {point.achieved for point in points} == {1.0}
    assert {point.accuracy_train.n for point in points} == {max(10, os.nice(0))}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_stored_is_not_measured_again(n_jobs: int, tmp_path: Path):
    log = tmp_path / "log"
    store = FolderStore(tmp_path / "store")
    again = partial(logged, log=log)
    first = by_config(sweep(CONFIGS[:2], people(), n_jobs=n_jobs, store=store, measure=again))
    progress: list[tuple[int, int]] = []
    twice = [*CONFIGS, CONFIGS[3]]
    both = sweep(twice, people(), n_jobs=n_jobs, store=store, measure=again, report=lambda *t: progress.append(t))
    once = by_config(sweep(CONFIGS, people(), measure=unattacked))
    assert by_config(both) == once == once | first
    assert len(begun(log)) == 4 and len(store) == 4
    assert progress == [(2, 4), (3, 4), (4, 4)]
    assert not store.notes


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_report_can_stop_the_sweep_and_nothing_finished_is_lost(n_jobs: int, tmp_path: Path):
    def stop(done: int, total: int) -> None:
        if done == 2:
            raise Cancelled("Stopped.")

    store = FolderStore(tmp_path)
    with pytest.raises(Cancelled):
        list(sweep(CONFIGS, people(), n_jobs=n_jobs, store=store, report=stop, measure=surroundings))
    assert len(store) == 2
    assert len(list(sweep(CONFIGS, people(), n_jobs=n_jobs, store=store, measure=surroundings))) == 4


def never(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    raise AssertionError("measured again")


def fatal(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    os._exit(7)


def refused(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    raise InputError("No such thing.")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_configuration_that_cannot_be_measured_says_why(n_jobs: int):
    with pytest.raises(InputError, match="No such thing"):
        list(sweep(CONFIGS, people(), n_jobs=n_jobs, measure=refused))


@pytest.mark.long
def test_a_lost_worker_is_one_sentence_and_another_sweep_can_follow():
    with pytest.raises(FairLeakError, match="A worker process was killed"):
        list(sweep(CONFIGS, people(), n_jobs=2, measure=fatal))
    assert len(list(sweep(CONFIGS, people(), n_jobs=2, measure=surroundings))) == 4


def test_an_uploaded_table_leaves_neither_memory_nor_machine(tmp_path: Path):
    uploaded = replace(people(), uploaded=True)
    with pytest.raises(InputError, match="must stay in memory"):
        list(sweep(CONFIGS, uploaded, store=FolderStore(tmp_path), measure=never))
    with pytest.raises(InputError, match="must stay on this machine"):
        list(sweep(CONFIGS, uploaded, scheduler="tcp://127.0.0.1:1", measure=never))
    assert len(list(sweep(CONFIGS, uploaded, n_jobs=2, store=MemoryStore(), measure=surroundings))) == 4


def test_a_worker_keeps_the_dataset_of_its_last_job_unless_it_was_uploaded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers._process, "last", None)
    monkeypatch.setattr(workers, "_settle", lambda parent: None)
    seen: list[AuditDataset] = []

    def look(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
        seen.append(dataset)
        return surroundings(config, dataset)

    first = people()
    shuffled = replace(first, sensitive=first.sensitive[::-1].copy())  # its fingerprint is the same
    uploaded = replace(first, uploaded=True)
    for sent in (first, pickle.loads(pickle.dumps(first)), shuffled, uploaded, pickle.loads(pickle.dumps(uploaded))):
        workers.measure_in_process(0, BASE, sent, look, 1)
    assert seen[1] is seen[0] is first and seen[2] is shuffled and seen[3] is uploaded and seen[4] is not uploaded
    assert workers._process.last is not None and workers._process.last[1] is shuffled


def test_a_grid_holds_what_each_method_takes():
    base = AuditConfig(dataset="sample", train_share=0.4, seed=7)
    configs = grid(base, tolerances=PAPER_TOLERANCES, methods=METHODS, metrics=METRICS, seeds=(0, 1))
    assert len(configs) == len(set(configs)) == 2 * 4 * (2 * 49 + 4)
    assert {c.tolerance for c in configs if c.method not in TOLERANCE_METHODS} == {0.0}
    assert {(c.method, c.metric, c.seed) for c in configs} == set(itertools.product(METHODS, METRICS, (0, 1)))
    assert all(c.train_share == 0.4 and c.dataset == "sample" for c in configs)
    configs = grid(replace(base, epsilon=2.0), tolerances=(0.0, 0.1, 0.1), methods=METHODS)
    assert len(configs) == 2 * 2 + 4 and {(c.metric, c.seed) for c in configs} == {(base.metric, 7)}
    assert {c.method: c.epsilon for c in configs} == {m: 2.0 if m in PRIVATE_METHODS else math.inf for m in METHODS}
    for name in ("tolerances", "methods", "metrics", "seeds"):
        with pytest.raises(InputError, match=f"{name} must hold at least one"):
            grid(base, **{name: ()})
