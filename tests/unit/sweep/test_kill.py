"""A sweep killed at any moment goes on where it was, and leaves nothing behind that still computes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.sweep import FolderStore, SweepPoint, sweep
from core.sweep.point import point_key
from tests.patience import PATIENT, wait_until
from tests.sweep_work import CONFIGS, begun, people, unattacked

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


def start(store: Path, log: Path, jobs: int) -> subprocess.Popen[bytes]:
    """Start the sweep in a session of its own, by which its workers are found."""
    command = [sys.executable, "-m", "tests.sweep_work", str(store), str(log), str(jobs)]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def session(leader: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, member = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(member) == leader and state not in "ZX":
            found.append(int(stat.parent.name))
    return found


def stored(folder: Path) -> dict[float, SweepPoint]:
    """Return what a sweep started now would find."""
    store = FolderStore(folder)
    points = {c.tolerance: store.load(point_key(c, people())) for c in CONFIGS}
    assert not store.notes
    return {tolerance: point for tolerance, point in points.items() if point is not None}


@pytest.fixture(scope="module")
def undisturbed() -> dict[float, SweepPoint]:
    """Return what a sweep that nobody kills finds."""
    return {point.tolerance: point for point in sweep(CONFIGS, people(), measure=unattacked)}


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_sweep_killed_three_times_ends_like_one_that_was_not(
    jobs: int, tmp_path: Path, undisturbed: dict[float, SweepPoint]
):
    folder, log = tmp_path / "store", tmp_path / "log"
    moments: list[Callable[[], bool]] = [
        lambda: len(begun(log)) >= 1,  # at work on the first, nothing is stored
        lambda: len(list(folder.rglob("*.jsonl"))) >= 3,  # just after, or while, something is stored
        lambda: len(begun(log)) >= done_before + 3,  # at work on a later one
    ]
    for moment in moments:
        before, started_before = stored(folder) if folder.exists() else {}, begun(log)
        done_before = len(started_before)
        running = start(folder, log, jobs)
        wait_until(moment)
        running.kill()
        assert running.wait() == -signal.SIGKILL
        wait_until(lambda pid=running.pid: not session(pid))
        assert stored(folder).items() >= before.items()
        assert not {tolerance for _, tolerance in begun(log)[done_before:]} & set(before)
    before, done_before = stored(folder), len(begun(log))
    assert 3 <= len(before) < len(CONFIGS)
    assert start(folder, log, jobs).wait(PATIENT) == 0
    times = Counter(tolerance for _, tolerance in begun(log)[done_before:])
    assert times == Counter(c.tolerance for c in CONFIGS if c.tolerance not in before)
    assert stored(folder) == undisturbed
