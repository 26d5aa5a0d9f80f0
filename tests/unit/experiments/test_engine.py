"""Measured points, here and in workers: the same, each measured once."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.base.errors import Cancelled, FairLeakError, InputError
from core.datasets import AuditDataset
from core.experiments import engine
from core.experiments.engine import FileStore, MemoryStore, measured_points
from core.studies.subject import AuditConfig
from tests.experiment_work import BASE, MeasuredModel, Surroundings, begun, logged, measure, people, surroundings

CONFIGS = [
    *(replace(BASE, tolerance=tolerance) for tolerance in (0.0, 0.05)),
    replace(BASE, method="threshold_optimizer", metric="equal_opportunity", tolerance=0.0),
    replace(BASE, method="unmitigated", tolerance=0.0, seed=3),
]

models = partial(measured_points, measure=measure, result=MeasuredModel)
places = partial(measured_points, measure=surroundings, result=Surroundings)


def by_config(points: Iterable[MeasuredModel]) -> dict[AuditConfig, MeasuredModel]:
    return {point.config: point for point in points}


@pytest.fixture(scope="module")
def local_points() -> dict[AuditConfig, MeasuredModel]:
    return by_config(models(CONFIGS, people()))


def test_two_workers_and_measuring_alone_give_the_same_to_the_bit(local_points: dict[AuditConfig, MeasuredModel]):
    assert by_config(models(CONFIGS, people(), n_jobs=2)) == local_points
    assert measure(CONFIGS[3], people()) == local_points[CONFIGS[3]]
    other_seed = replace(CONFIGS[3], seed=7)
    assert measure(other_seed, people()) != replace(local_points[CONFIGS[3]], config=other_seed)


@pytest.mark.long
def test_workers_are_processes_of_their_own_polite_and_single_threaded(monkeypatch: pytest.MonkeyPatch):
    from joblib.externals.loky import get_reusable_executor

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    get_reusable_executor().shutdown(wait=True)  # workers that were started before
    configs = [replace(BASE, tolerance=k / 100) for k in range(6)]
    points = list(places(configs, people(), n_jobs=2))
    assert os.getpid() not in {point.process for point in points}
    assert {point.threads for point in points} == {1}
    assert {point.niceness for point in points} == {max(10, os.nice(0))}


@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_stored_is_not_measured_again(n_jobs: int, tmp_path: Path):
    log = tmp_path / "log"
    store = FileStore(tmp_path / "store")
    noted = partial(models, n_jobs=n_jobs, store=store, measure=partial(logged, log=log))
    first = by_config(noted(CONFIGS[:2], people()))
    progress: list[tuple[int, int]] = []
    twice = [*CONFIGS, CONFIGS[3]]
    both = noted(twice, people(), report=lambda *steps: progress.append(steps))
    once = by_config(models(CONFIGS, people()))
    assert by_config(both) == once == once | first
    assert len(begun(log)) == 4 and len(store) == 4
    assert progress == [(2, 4), (3, 4), (4, 4)]
    assert not store.notes


@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_report_can_stop_the_experiment_and_nothing_finished_is_lost(n_jobs: int, tmp_path: Path):
    def stop(done: int, total: int) -> None:
        if done == 2:
            raise Cancelled("Stopped.")

    store = FileStore(tmp_path / "store")
    with pytest.raises(Cancelled):
        list(places(CONFIGS, people(), n_jobs=n_jobs, store=store, report=stop))
    assert len(store) == 2
    assert len(list(places(CONFIGS, people(), n_jobs=n_jobs, store=store))) == 4


def never(config: AuditConfig, dataset: AuditDataset) -> MeasuredModel:
    raise AssertionError("measured again")


def fatal(config: AuditConfig, dataset: AuditDataset) -> MeasuredModel:
    os._exit(7)


def refused(config: AuditConfig, dataset: AuditDataset) -> MeasuredModel:
    raise InputError("No such thing.")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_configuration_that_cannot_be_measured_says_why(n_jobs: int):
    with pytest.raises(InputError, match="No such thing"):
        list(models(CONFIGS, people(), n_jobs=n_jobs, measure=refused))


@pytest.mark.long
def test_a_lost_worker_is_one_sentence_and_another_experiment_can_follow():
    with pytest.raises(FairLeakError, match="A worker process was killed"):
        list(models(CONFIGS, people(), n_jobs=2, measure=fatal))
    assert len(list(places(CONFIGS, people(), n_jobs=2))) == 4


@pytest.mark.long
def test_an_uploaded_table_leaves_neither_memory_nor_machine(tmp_path: Path):
    uploaded = replace(people(), uploaded=True)
    with pytest.raises(InputError, match="must stay in memory"):
        list(models(CONFIGS, uploaded, store=FileStore(tmp_path / "store"), measure=never))
    with pytest.raises(InputError, match="must stay on this machine"):
        list(models(CONFIGS, uploaded, scheduler="tcp://127.0.0.1:1", measure=never))
    assert len(list(places(CONFIGS, uploaded, n_jobs=2, store=MemoryStore()))) == 4


def test_a_worker_keeps_the_dataset_of_its_last_job_unless_it_was_uploaded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine._process, "last", None)
    monkeypatch.setattr(engine, "_settle", lambda parent: None)
    seen: list[AuditDataset] = []

    def look(config: AuditConfig, dataset: AuditDataset) -> Surroundings:
        seen.append(dataset)
        return surroundings(config, dataset)

    first = people()
    shuffled = replace(first, sensitive=first.sensitive[::-1].copy())  # its fingerprint is the same
    uploaded = replace(first, uploaded=True)
    for sent in (first, pickle.loads(pickle.dumps(first)), shuffled, uploaded, pickle.loads(pickle.dumps(uploaded))):
        engine.measure_in_process(0, BASE, sent, look, 1)
    assert seen[1] is seen[0] is first and seen[2] is shuffled and seen[3] is uploaded and seen[4] is not uploaded
    assert engine._process.last is not None and engine._process.last[1] is shuffled
