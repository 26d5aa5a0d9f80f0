"""Work in a process of its own: the same results and errors, a shared memo, no process left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from unittest.mock import Mock

import psutil
import pytest

from core.auditing.subprocess_jobs import run_in_process, run_in_subprocess
from core.base.errors import Cancelled, FairLeakError, InputError
from core.base.untrusted import child
from tests import samples
from tests.patience import PATIENT, wait_until

pytestmark = pytest.mark.skipif(not child.FORKS, reason="the system cannot fork safely")


def deaf(*_: int) -> None:
    """Hear a report and do nothing."""


def test_results_come_as_they_grow():
    def squares(report):
        for i in range(5):
            report(i, 5)
            yield i * i

    heard = []
    assert list(run_in_subprocess(squares, lambda *step: heard.append(step))) == list(run_in_process(squares, deaf))
    assert heard[-1] == (4, 5)


def test_it_gives_way_after_its_first_part():
    def niceness(_):
        yield os.nice(0)
        yield os.nice(0)

    before = os.nice(0)
    assert list(run_in_subprocess(niceness, deaf, nice=before, then=before + 7)) == [before, min(19, before + 7)]


def test_it_knows_what_the_data_remember():
    dataset = samples.dataset(200)
    remembered = dataset.once("known", lambda: 3)

    def work(_):
        return dataset, dataset.once("known", lambda: 0) + dataset.once("made", lambda: os.getpid())

    ((same, total),) = run_in_subprocess(work, deaf, about=dataset)
    assert same is dataset
    assert total - remembered == dataset.once("made", lambda: 0) != os.getpid()


def test_errors_come_back_and_a_process_that_dies_is_one_sentence():
    def refuse(_):
        raise InputError("The bound must be at most 1, got 2.")

    with pytest.raises(InputError, match="got 2"):
        list(run_in_subprocess(refuse, deaf))
    with pytest.raises(FairLeakError, match="ended without a result"):
        list(run_in_subprocess(lambda _: os._exit(3), deaf))


def test_a_fresh_process_does_it_where_none_can_be_forked(monkeypatch):
    monkeypatch.setattr(child, "FORKS", False)
    assert next(run_in_subprocess(lambda _: os.getpid(), deaf)) != os.getpid()
    assert next(run_in_subprocess(lambda _: os.getpid(), deaf, nice=0, then=0)) == os.getpid()


def forked() -> list[psutil.Process]:
    """Return what the warm process has forked."""
    return [process for child in psutil.Process().children() for process in child.children(recursive=True)]


def test_who_stops_leaves_no_process_behind():
    with pytest.raises(Cancelled):
        list(run_in_subprocess(lambda _: time.sleep(PATIENT), Mock(side_effect=Cancelled("Stopped."))))
    wait_until(lambda: not forked(), "no process left")


@pytest.mark.long
def test_it_ends_when_the_one_who_asked_is_killed():
    asker = (
        "import time, os; from core.auditing.subprocess_jobs import run_in_subprocess\n"
        "def work(report):\n    yield os.getpid()\n    time.sleep(600)\n"
        "for pid in run_in_subprocess(work, lambda *_: None): print(pid, flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", asker], stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        process.kill()
    wait_until(lambda: not psutil.pid_exists(pid), "no process left")
