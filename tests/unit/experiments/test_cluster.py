"""An experiment on a real Dask scheduler with a real worker, on this machine's loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.errors import InputError
from core.experiments import engine
from core.experiments.engine import FileStore
from tests.browser.driver import free_port
from tests.experiment_work import BASE, people
from tests.patience import PATIENT
from tests.unit.experiments.test_engine import models, never

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = [replace(BASE, tolerance=0.05), replace(BASE, method="unmitigated", tolerance=0.0, seed=3)]


@contextmanager
def running(log: Path, *arguments: str) -> Iterator[None]:
    """Run one of the documented commands from the repository's root."""
    with open(log, "wb") as out:
        command = [sys.executable, "-m", "dask", *arguments]
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler without any worker."""
    pytest.importorskip("distributed", reason="Dask is not installed (requirements-dask.txt)")
    log, port = tmp_path_factory.mktemp("scheduler") / "log", free_port()
    with running(log, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"):
        wait_for(port, log)
        yield f"tcp://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def address(scheduler: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same scheduler once it has a worker."""
    folder = tmp_path_factory.mktemp("worker")
    settings = ["--nthreads", "1", "--nworkers", "1", "--host", "127.0.0.1", "--no-dashboard"]
    with running(folder / "log", "worker", scheduler, *settings, "--local-directory", str(folder)):
        from distributed import Client

        with Client(scheduler, timeout=PATIENT, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=PATIENT)
        yield scheduler


def test_a_scheduler_without_workers_is_one_sentence(scheduler: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "_PATIENCE", 1)
    with pytest.raises(InputError, match="must have at least one worker, it has none"):
        list(models(CONFIGS, people(), scheduler=scheduler))


@pytest.mark.long
def test_the_cluster_gives_the_same_to_the_bit_and_each_point_is_stored(address: str, tmp_path: Path):
    points = list(models(CONFIGS, people(), scheduler=address, store=FileStore(tmp_path / "store")))
    assert {p.config: p for p in points} == {p.config: p for p in models(CONFIGS, people())}
    again = models(CONFIGS, people(), scheduler=address, store=FileStore(tmp_path / "store"), measure=never)
    assert {p.config for p in again} == set(CONFIGS)


def test_workers_of_other_versions_are_refused(address: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "environment", lambda: ("fairleak 99.0",))
    with pytest.raises(InputError, match=r"must have the versions of this machine \(fairleak 99\.0\), one has"):
        list(models(CONFIGS, people(), scheduler=address))


@pytest.mark.parametrize("wrong", ["", "carrier-pigeon://127.0.0.1:80"])
def test_an_address_that_is_none_is_one_sentence(wrong: str, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed", reason="Dask is not installed (requirements-dask.txt)")
    monkeypatch.setattr(engine, "_PATIENCE", 1)
    with pytest.raises(InputError, match="must be the address of a running Dask scheduler"):
        list(models(CONFIGS, people(), scheduler=wrong))


def test_without_dask_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install -r requirements-dask\.txt"):
        list(models(CONFIGS, people(), scheduler="tcp://127.0.0.1:8786"))
