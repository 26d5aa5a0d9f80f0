"""An experiment that is killed again and again ends with each row once, and equal to one that nobody disturbed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.experiments.engine import FileStore
from tests.patience import wait_until
from tests.plan_work import POINTS, STUDIES, rows

ROOT = Path(__file__).resolve().parents[3]
KILLS = 12


def started(store, out):
    """Start the program in a session of its own, which its workers share."""
    command = [sys.executable, "-m", "tests.plan_work", str(store), str(out)]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def session(leader):
    """Return the living processes of a session."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, member = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(member) == leader and state not in "ZX":
            processes.append(int(stat.parent.name))
    return processes


def count(store):
    return len(FileStore(store)) if store.exists() else 0


def key(row):
    return dict(row["values"])["model.method"], row["seed"], row["study"], row["measurement"]["check"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.long
def test_an_experiment_killed_again_and_again_has_each_row_once_and_the_same_numbers(tmp_path):
    store, out, rng = tmp_path / "store", tmp_path / "rows", random.Random(1)
    finished = 0
    for kill in range(KILLS):
        running = started(store, out)
        aim = finished + kill % 3  # none: while it starts
        wait_until(lambda aim=aim: count(store) >= aim, "another plan", pause=lambda: time.sleep(0.05))
        time.sleep(rng.uniform(0.0, 0.6))
        assert running.poll() is None
        if kill % 2:
            os.killpg(running.pid, signal.SIGKILL)  # the workers as well
        running.kill()
        running.wait()
        wait_until(lambda pid=running.pid: not session(pid), "the end of its workers")
        assert count(store) >= finished  # nothing that was saved is lost
        finished = count(store)
    assert KILLS / 2 < finished < len(POINTS)
    last = started(store, out)
    wait_until(lambda: last.poll() is not None, "the end", lambda: count(store), pause=lambda: time.sleep(0.5))
    assert last.returncode == 0 and count(store) == len(POINTS) == 40
    resumed = sorted(json.loads(out.read_text("utf-8")), key=key)
    assert len({key(row) for row in resumed}) == len(resumed)
    assert {row["study"] for row in resumed} == set(STUDIES)
    assert resumed == sorted(rows(), key=key)
