"""Measured points, here, in workers and on a Dask scheduler: the same, each measured once, whatever is killed."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from unittest.mock import Mock, call

import psutil
import pytest

from core.base.errors import InputError
from core.experiments import engine
from core.experiments.engine import FileStore, MemoryStore, measured_points
from tests.browser.driver import free_port
from tests.experiment_work import BASE, MeasuredModel, Surroundings, measure, people, surroundings
from tests.hermetic import ROOT
from tests.patience import PATIENT, wait_until
from tests.plan_work import POINTS, STUDIES, rows

CONFIGS = [
    *(replace(BASE, tolerance=tolerance) for tolerance in (0.0, 0.05)),
    replace(BASE, method="threshold_optimizer", metric="equal_opportunity", tolerance=0.0),
    replace(BASE, method="unmitigated", tolerance=0.0, seed=3),
]

models = partial(measured_points, measure=measure, result=MeasuredModel)
places = partial(measured_points, measure=surroundings, result=Surroundings)


def by_config(points):
    return {point.config: point for point in points}


@pytest.fixture(scope="module")
def local_points():
    return by_config(models(CONFIGS, people()))


@pytest.mark.long
def test_two_workers_and_measuring_alone_give_the_same_to_the_bit(local_points):
    assert by_config(models(CONFIGS, people(), n_jobs=2)) == local_points
    assert measure(CONFIGS[3], people()) == local_points[CONFIGS[3]]


@pytest.mark.long
def test_workers_are_processes_of_their_own_polite_and_single_threaded(monkeypatch):
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
def test_what_is_stored_is_not_measured_again(local_points, tmp_path):
    store, counted, report = FileStore(tmp_path / "store"), Mock(wraps=measure), Mock()
    list(models(CONFIGS[:2], people(), store=store, measure=counted))
    points = models([*CONFIGS, CONFIGS[3]], people(), store=store, measure=counted, report=report)
    assert by_config(points) == local_points
    assert counted.call_count == len(store) == 4 and not store.notes
    assert report.mock_calls == [call(2, 4), call(3, 4), call(4, 4)]


def never(config, dataset):
    raise AssertionError("measured again")


def refused(config, dataset):
    raise InputError("No such thing.")


def refuses(message, **options):
    """Check that nothing is measured, and that one sentence says why."""
    with pytest.raises(InputError, match=message):
        list(models(CONFIGS, people(), **options))


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_configuration_that_cannot_be_measured_says_why(n_jobs):
    refuses("No such thing", n_jobs=n_jobs, measure=refused)


def test_an_uploaded_table_leaves_neither_memory_nor_machine(tmp_path):
    uploaded = replace(people(), uploaded=True)
    with pytest.raises(InputError, match="must stay in memory"):
        list(models(CONFIGS, uploaded, store=FileStore(tmp_path / "store"), measure=never))
    with pytest.raises(InputError, match="must stay on this machine"):
        list(models(CONFIGS, uploaded, scheduler="tcp://127.0.0.1:1", measure=never))
    assert len(list(places(CONFIGS, uploaded, store=MemoryStore()))) == 4


@contextmanager
def running(log, *arguments):
    """Run one of the documented commands from the repository's root."""
    command = [sys.executable, "-m", "dask", *arguments]
    with open(log, "wb") as out, subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    pytest.importorskip("distributed", reason="Dask is not installed (requirements-dask.txt)")
    log, port = tmp_path_factory.mktemp("scheduler") / "log", free_port()

    def is_open():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    with running(log, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"):
        wait_until(is_open, "the scheduler", pause=lambda: time.sleep(0.05))
        yield f"tcp://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def address(scheduler, tmp_path_factory):
    folder = tmp_path_factory.mktemp("worker")
    settings = ["--nthreads", "1", "--nworkers", "1", "--host", "127.0.0.1", "--no-dashboard"]
    with running(folder / "log", "worker", scheduler, *settings, "--local-directory", str(folder)):
        from distributed import Client

        with Client(scheduler, timeout=PATIENT, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=PATIENT)
        yield scheduler


def test_a_scheduler_without_workers_is_one_sentence(scheduler, monkeypatch):
    monkeypatch.setattr(engine, "_PATIENCE", 1)
    refuses("must have at least one worker, it has none", scheduler=scheduler)


@pytest.mark.long
def test_the_cluster_gives_the_same_to_the_bit_and_each_point_is_stored(address, local_points, tmp_path):
    settings = {"scheduler": address, "store": FileStore(tmp_path / "store")}
    points = by_config(models(CONFIGS[1::2], people(), **settings))
    assert points == {config: local_points[config] for config in CONFIGS[1::2]}
    assert by_config(models(CONFIGS[1::2], people(), measure=never, **settings)) == points


def test_workers_of_other_versions_are_refused(address, monkeypatch):
    monkeypatch.setattr(engine, "environment", lambda: ("fairleak 99.0",))
    refuses(r"must have the versions of this machine \(fairleak 99\.0\), one has", scheduler=address)


@pytest.mark.parametrize("wrong", ["", "carrier-pigeon://127.0.0.1:80"])
def test_an_address_that_is_none_is_one_sentence(wrong, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed (requirements-dask.txt)")
    monkeypatch.setattr(engine, "_PATIENCE", 1)
    refuses("must be the address of a running Dask scheduler", scheduler=wrong)


def test_without_dask_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    refuses(r"pip install -r requirements-dask\.txt", scheduler="tcp://127.0.0.1:8786")


def started(store, out):
    """Start the program in a session of its own, which its workers share."""
    command = [sys.executable, "-m", "tests.plan_work", str(store), str(out)]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def is_alive(leader):
    for process in psutil.process_iter(["status"]):
        with contextlib.suppress(OSError):  # it has just ended
            if os.getsid(process.pid) == leader and process.info["status"] != psutil.STATUS_ZOMBIE:
                return True
    return False


def count(store):
    return len(FileStore(store)) if store.exists() else 0


def key(row):
    return dict(row["values"])["model.method"], row["seed"], row["study"], row["measurement"]["check"]


@pytest.mark.skipif(os.name != "posix", reason="processes have sessions")
@pytest.mark.long
def test_an_experiment_killed_again_and_again_has_each_row_once_and_the_same_numbers(tmp_path):
    store, out, rng = tmp_path / "store", tmp_path / "rows", random.Random(1)
    kills, finished = 12, 0
    for kill in range(kills):
        running = started(store, out)
        aim = finished + kill % 3  # none: while it starts
        wait_until(lambda aim=aim: count(store) >= aim, "another plan", pause=lambda: time.sleep(0.05))
        time.sleep(rng.uniform(0.0, 0.6))
        assert running.poll() is None
        if kill % 2:
            os.killpg(running.pid, signal.SIGKILL)  # the workers as well
        running.kill()
        running.wait()
        wait_until(lambda pid=running.pid: not is_alive(pid), "the end of its workers")
        assert count(store) >= finished  # nothing that was saved is lost
        finished = count(store)
    assert kills / 2 < finished < len(POINTS)
    last = started(store, out)
    wait_until(lambda: last.poll() is not None, "the end", lambda: count(store), pause=lambda: time.sleep(0.5))
    assert last.returncode == 0 and count(store) == len(POINTS) == 80
    resumed = sorted(json.loads(out.read_text("utf-8")), key=key)
    assert len({key(row) for row in resumed}) == len(resumed)
    assert resumed == sorted(rows(), key=key) and {row["study"] for row in resumed} == set(STUDIES)
