"""Measured points, here and in workers: the same, each measured once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.base.errors import Cancelled, InputError
from core.datasets import AuditDataset
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


@pytest.mark.long
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
def test_what_is_stored_is_not_measured_again(tmp_path: Path):
    log, store = tmp_path / "log", FileStore(tmp_path / "store")
    noted = partial(models, store=store, measure=partial(logged, log=log))
    list(noted(CONFIGS[:2], people()))
    progress: list[tuple[int, int]] = []
    both = noted([*CONFIGS, CONFIGS[3]], people(), report=lambda *steps: progress.append(steps))
    assert by_config(both) == by_config(models(CONFIGS, people()))
    assert len(begun(log)) == 4 and len(store) == 4 and not store.notes
    assert progress == [(2, 4), (3, 4), (4, 4)]


@pytest.mark.long
def test_a_report_can_stop_the_experiment_and_nothing_finished_is_lost(tmp_path: Path):
    def stop(done: int, total: int) -> None:
        if done == 2:
            raise Cancelled("Stopped.")

    store = FileStore(tmp_path / "store")
    with pytest.raises(Cancelled):
        list(places(CONFIGS, people(), n_jobs=2, store=store, report=stop))
    assert len(store) == 2
    assert len(list(places(CONFIGS, people(), store=store))) == 4


def never(config: AuditConfig, dataset: AuditDataset) -> MeasuredModel:
    raise AssertionError("measured again")


def refused(config: AuditConfig, dataset: AuditDataset) -> MeasuredModel:
    raise InputError("No such thing.")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_configuration_that_cannot_be_measured_says_why(n_jobs: int):
    with pytest.raises(InputError, match="No such thing"):
        list(models(CONFIGS, people(), n_jobs=n_jobs, measure=refused))


def test_an_uploaded_table_leaves_neither_memory_nor_machine(tmp_path: Path):
    uploaded = replace(people(), uploaded=True)
    with pytest.raises(InputError, match="must stay in memory"):
        list(models(CONFIGS, uploaded, store=FileStore(tmp_path / "store"), measure=never))
    with pytest.raises(InputError, match="must stay on this machine"):
        list(models(CONFIGS, uploaded, scheduler="tcp://127.0.0.1:1", measure=never))
    assert len(list(places(CONFIGS, uploaded, store=MemoryStore()))) == 4
