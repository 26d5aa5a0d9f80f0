"""Records on disk: read back as written, or not at all, whenever the experiment was killed."""

from __future__ import annotations

import math
import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.experiments import engine as engine_module
from core.experiments.engine import FileStore, measured_points, point_key
from core.store.history import History
from core.studies.subject import AuditConfig
from tests.experiment_work import BASE, CONFIGS, MeasuredModel, Surroundings, begun, measure, people
from tests.patience import PATIENT, wait_until

KEY = fingerprint("some key")


@pytest.fixture(scope="module")
def point() -> MeasuredModel:
    return measure(BASE, people())


def key_of(config: AuditConfig) -> str:
    return point_key(config, people(), MeasuredModel)


def altered(path: Path, statement: str, *values: object) -> None:
    """Change the file of a store behind its back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def test_points_come_back_equal_infinities_and_nan_too(tmp_path: Path, point: MeasuredModel):
    path = tmp_path / "folder" / "store"
    FileStore(path).save(KEY, point)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["store"]
    back = FileStore(path).load(KEY, MeasuredModel)
    assert back == point and back is not None
    assert back.seconds == point.seconds > 0
    unbounded = replace(point, bounds=(math.nan, math.inf, -math.inf))
    store = FileStore(path)
    store.save(KEY, unbounded)
    assert store.load(KEY, MeasuredModel) == unbounded
    assert len(store) == 1 and not store.notes


@pytest.mark.parametrize(
    "change",
    [
        "body = ''",
        "body = NULL",
        "body = 7",
        "body = X'FF'",
        "body = substr(body, 1, length(body) - 1)",
        "body = body || ' '",
        "body = CAST(replace(CAST(body AS TEXT), 'sample', 'simple') AS BLOB)",
        "checksum = NULL",
        "checksum = X'00'",
        "checksum = CAST(checksum AS TEXT)",
    ],
)
def test_a_damaged_record_is_ignored_and_noted(change: str, tmp_path: Path, point: MeasuredModel):
    store = FileStore(tmp_path / "store")
    store.save(KEY, point)
    altered(store.path, f"UPDATE points SET {change}")
    expected = point if change.startswith("checksum = CAST") else None  # the same bytes
    assert store.load(KEY, MeasuredModel) == expected
    assert expected or store.notes == [f"The record {KEY[:12]} is ignored and measured again: it is damaged."]
    store.save(KEY, point)
    assert store.load(KEY, MeasuredModel) == point


def test_a_record_of_another_key_or_kind_is_ignored(tmp_path: Path, point: MeasuredModel):
    store = FileStore(tmp_path / "store")
    store.save(KEY, point)
    assert store.load(KEY, Surroundings) is None and "ignored and measured again" in store.notes[0]
    altered(store.path, "UPDATE points SET key = ?", fingerprint("other"))
    assert store.load(KEY, MeasuredModel) is None
    assert store.load(fingerprint("other"), MeasuredModel) is None and "it is damaged" in store.notes[1]


@pytest.mark.long
def test_no_damage_to_the_file_gives_a_wrong_point_or_a_traceback(tmp_path: Path, point: MeasuredModel):
    path, keys = tmp_path / "store", [fingerprint(k) for k in range(40)]
    for key in keys:
        FileStore(path).save(key, point)
    sound, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(60):
        content = bytearray(sound)
        start = int(rng.integers(len(sound)))
        length = int(rng.choice([1, 16, 4096]))
        content[start : start + length] = rng.bytes(length)
        path.write_bytes(content[: len(sound)] if length < 4096 else content[:start])
        try:
            store = FileStore(path)
            assert {store.load(key, MeasuredModel) for key in keys} <= {point, None}
            store.save(KEY, point)
            assert store.load(KEY, MeasuredModel) == point
        except InputError as error:
            assert re.fullmatch(r"The store '.*' (is|must|cannot) [^\n]+\.", str(error)), error
            refused += 1
    assert 5 < refused < 60


def test_another_version_has_separate_records_and_they_go_after_a_month(
    tmp_path: Path, point: MeasuredModel, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "store"
    FileStore(path).save(key_of(BASE), point)
    monkeypatch.setattr(engine_module, "__version__", "99.0")
    engine_module.environment.cache_clear()
    try:
        store = FileStore(path)
        assert store.load(key_of(BASE), MeasuredModel) is None and len(store) == 0
        assert store.notes == ["Records of other versions are ignored: 1; each is deleted 30 days after it was saved."]
        for k in range(300):
            store.save(fingerprint(k), point)
    finally:
        monkeypatch.undo()
        engine_module.environment.cache_clear()
    altered(path, "UPDATE points SET saved = saved - ?", 29.9 * 86_400)
    assert FileStore(path).notes[0].startswith("Records of other versions are ignored: 300;")
    before = path.stat().st_size
    altered(path, "UPDATE points SET saved = saved - ?", 0.2 * 86_400)
    store = FileStore(path)
    assert not store.notes and store.load(key_of(BASE), MeasuredModel) == point  # its own are kept, however old
    assert path.stat().st_size < before / 5


@pytest.mark.parametrize("content", [b"damaged", b"x" * 10_000, bytes(10_000)], ids=["short", "long", "zeros"])
def test_another_file_is_refused_and_left_as_it_is(content: bytes, tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"notes.txt' is no store of experiments and was left as it is\.$"):
        FileStore(path)
    assert path.read_bytes() == content and len(list(tmp_path.iterdir())) == 1


def test_a_store_whose_maker_was_killed_is_made_again(tmp_path: Path, point: MeasuredModel):
    path = tmp_path / "store"
    altered(path, "PRAGMA auto_vacuum = FULL")  # its first step
    assert path.stat().st_size > 0
    store = FileStore(path)
    store.save(KEY, point)
    assert FileStore(path).load(KEY, MeasuredModel) == point


def test_another_database_is_refused_and_left_as_it_is(tmp_path: Path):
    History.open(tmp_path / "history")
    before = (tmp_path / "history").read_bytes()
    with pytest.raises(InputError, match="is no store of experiments and was left as it is"):
        FileStore(tmp_path / "history")
    assert (tmp_path / "history").read_bytes() == before


def test_a_busy_file_is_waited_for_a_while(tmp_path: Path, point: MeasuredModel, monkeypatch: pytest.MonkeyPatch):
    store = FileStore(tmp_path / "store")
    monkeypatch.setattr("core.experiments.engine.BUSY_SECONDS", 0.2)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as busy:
        busy.execute("BEGIN EXCLUSIVE")
        for refused in (lambda: store.save(KEY, point), lambda: store.load(KEY, MeasuredModel)):
            with pytest.raises(InputError, match=r"was busy for 0\.2 seconds; start again\.$"):
                refused()
    store.save(KEY, point)
    assert store.load(KEY, MeasuredModel) == point


def save_some(path: Path, first: int, point: MeasuredModel) -> None:
    for k in range(first, first + 25):
        FileStore(path).save(fingerprint(k), point)


def test_several_processes_write_at_once(tmp_path: Path, point: MeasuredModel):
    path = tmp_path / "store"
    writers = [get_context("fork").Process(target=save_some, args=(path, 25 * k, point)) for k in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(PATIENT)
    assert [writer.exitcode for writer in writers] == [0] * 4
    store = FileStore(path)
    assert [store.load(fingerprint(k), MeasuredModel) for k in range(100)] == [point] * 100


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


def stored(path: Path) -> dict[float, MeasuredModel]:
    """Return what an experiment started now would find."""
    store = FileStore(path)
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
    path, log = tmp_path / "store", tmp_path / "log"
    moments: list[Callable[[], bool]] = [
        lambda: len(begun(log)) >= 1,  # at work on the first, nothing is stored
        lambda: len(stored(path)) >= 3,  # just after, or while, something is stored
        lambda: len(begun(log)) >= done_before + 3,  # at work on a later one
    ]
    for moment in moments:
        before, started_before = stored(path) if path.exists() else {}, begun(log)
        done_before = len(started_before)
        running = start(path, log, jobs)
        wait_until(moment)
        running.kill()
        assert running.wait() == -signal.SIGKILL
        wait_until(lambda pid=running.pid: not session(pid))
        assert stored(path).items() >= before.items()
        assert not {tolerance for _, tolerance in begun(log)[done_before:]} & set(before)
    before, done_before = stored(path), len(begun(log))
    assert 3 <= len(before) < len(CONFIGS)
    last = start(path, log, jobs)
    wait_until(lambda: last.poll() is not None, "the end of the experiment", lambda: len(stored(path)))
    assert last.wait() == 0
    times = Counter(tolerance for _, tolerance in begun(log)[done_before:])
    assert times == Counter(c.tolerance for c in CONFIGS if c.tolerance not in before)
    assert stored(path) == undisturbed
