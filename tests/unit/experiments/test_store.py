"""Records on disk: read back as written, or not at all, whenever the experiment was killed."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.fingerprint import fingerprint
from core.experiments import environment
from core.experiments.engine import measured_points
from core.experiments.environment import point_key
from core.experiments.store import FolderStore
from core.studies.config import AuditConfig
from tests.experiment_work import BASE, CONFIGS, MeasuredModel, begun, measure, people
from tests.patience import wait_until

KEY = fingerprint("some key")


@pytest.fixture(scope="module")
def point() -> MeasuredModel:
    return measure(BASE, people())


def key_of(config: AuditConfig) -> str:
    return point_key(config, people(), MeasuredModel)


def the_record(folder: Path) -> Path:
    (record,) = folder.rglob("*.jsonl")
    return record


def test_points_come_back_equal_infinities_and_nan_too(tmp_path: Path, point: MeasuredModel):
    FolderStore(tmp_path).save(KEY, point)
    assert the_record(tmp_path).stat().st_mode & 0o777 == 0o600
    back = FolderStore(tmp_path).load(KEY, MeasuredModel)
    assert back == point and back is not None
    assert back.seconds == point.seconds > 0
    unbounded = replace(point, bounds=(math.nan, math.inf, -math.inf))
    store = FolderStore(tmp_path)
    store.save(KEY, unbounded)
    assert store.load(KEY, MeasuredModel) == unbounded


def test_every_damage_is_ignored_and_noted(tmp_path: Path, point: MeasuredModel):
    store = FolderStore(tmp_path)
    store.save(KEY, point)
    record = the_record(tmp_path)
    content = record.read_bytes()
    middle = len(content) // 2
    flipped = b"1" if content[middle : middle + 1] != b"1" else b"2"
    damages = [
        b"", b"\n", b"null\nnull", b"[]\n{}", b"\xff\xfe\x00", content[:middle], content[:-1], content + b" ",
        content[:middle] + flipped + content[middle + 1 :],
        content.replace(KEY.encode(), fingerprint("other").encode()),
        content.replace(b'"format": 1', b'"format": 2'),
    ]  # fmt: skip
    for count, damage in enumerate(damages, start=1):
        record.write_bytes(damage)
        assert store.load(KEY, MeasuredModel) is None
        assert len(store.notes) == count and "ignored and measured again" in store.notes[-1]
    store.save(KEY, point)
    assert store.load(KEY, MeasuredModel) == point


def test_another_version_has_separate_records(tmp_path: Path, point: MeasuredModel, monkeypatch: pytest.MonkeyPatch):
    FolderStore(tmp_path).save(key_of(BASE), point)
    (tmp_path / "fairleak-0.0.0-empty").mkdir()
    monkeypatch.setattr(environment, "__version__", "99.0")
    environment.environment.cache_clear()
    try:
        store = FolderStore(tmp_path)
        assert store.load(key_of(BASE), MeasuredModel) is None and len(store) == 0
        (note,) = store.notes
        assert note.startswith("Records of another version are ignored: 1 in fairleak-")
    finally:
        environment.environment.cache_clear()


def test_half_written_files_are_swept_up_once_they_are_an_hour_old(tmp_path: Path, point: MeasuredModel):
    FolderStore(tmp_path).save(KEY, point)
    folder = the_record(tmp_path).parent
    old, young = folder / "old.part", folder / "young.part"
    for half, age in ((old, 3700), (young, 3500)):
        half.write_text("half")
        os.utime(half, (time.time() - age,) * 2)
    store = FolderStore(tmp_path)
    assert not old.exists() and young.exists() and len(store) == 1


# Killed experiments


ROOT = Path(__file__).resolve().parents[3]


def start(store: Path, log: Path, jobs: int) -> subprocess.Popen[bytes]:
    """Start the experiment in a session of its own, by which its workers are found."""
    command = [sys.executable, "-m", "tests.experiment_work", str(store), str(log), str(jobs)]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def session(leader: int) -> list[int]:
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


def stored(folder: Path) -> dict[float, MeasuredModel]:
    """Return what an experiment started now would find."""
    store = FolderStore(folder)
    points = {c.tolerance: store.load(key_of(c), MeasuredModel) for c in CONFIGS}
    assert not store.notes
    return {tolerance: point for tolerance, point in points.items() if point is not None}


@pytest.fixture(scope="module")
def undisturbed() -> dict[float, MeasuredModel]:
    """Return what an experiment that nobody kills finds."""
    points = measured_points(CONFIGS, people(), measure=measure, result=MeasuredModel)
    return {point.config.tolerance: point for point in points}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_experiment_killed_three_times_ends_like_one_that_was_not(
    jobs: int, tmp_path: Path, undisturbed: dict[float, MeasuredModel]
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
    last = start(folder, log, jobs)
    wait_until(lambda: last.poll() is not None, "the end of the experiment", lambda: len(stored(folder)))
    assert last.wait() == 0
    times = Counter(tolerance for _, tolerance in begun(log)[done_before:])
    assert times == Counter(c.tolerance for c in CONFIGS if c.tolerance not in before)
    assert stored(folder) == undisturbed
