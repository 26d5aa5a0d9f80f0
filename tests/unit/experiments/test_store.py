"""Records on disk: read back as written, or not at all, whenever the experiment was killed."""

from __future__ import annotations

import math
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.experiments import engine as engine_module
from core.experiments.engine import FileStore, point_key
from core.store.history import History
from core.studies.subject import AuditConfig
from tests.experiment_work import BASE, MeasuredModel, measure, people
from tests.patience import PATIENT

KEY = fingerprint("some key")


@pytest.fixture(scope="module")
def point() -> MeasuredModel:
    return measure(BASE, people())


@pytest.fixture
def store(tmp_path) -> FileStore:
    """A store with nothing in it."""
    return FileStore(tmp_path / "store")


def key_of(config: AuditConfig) -> str:
    return point_key(config, people(), MeasuredModel)


def altered(path: Path, statement: str, *values: object) -> None:
    """Change the file of a store behind its back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def test_points_come_back_equal_infinities_and_nan_too(tmp_path, point):
    path = tmp_path / "folder" / "store"
    unbounded = replace(point, bounds=(math.nan, math.inf, -math.inf))
    FileStore(path).save(KEY, unbounded)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    back = FileStore(path).load(KEY, MeasuredModel)
    assert back == unbounded and back is not None and back.seconds == point.seconds


@pytest.mark.parametrize(
    "change",
    [
        "body = NULL",
        "body = 7",
        "body = substr(body, 1, length(body) - 1)",
        "body = CAST(replace(CAST(body AS TEXT), 'sample', 'simple') AS BLOB)",
        "checksum = NULL",
        "checksum = X'00'",
    ],
)
def test_a_damaged_record_is_ignored_and_noted(change, store, point):
    store.save(KEY, point)
    altered(store.path, f"UPDATE points SET {change}")
    assert store.load(KEY, MeasuredModel) is None
    assert store.notes == [f"The record {KEY[:12]} is ignored and measured again: it is damaged."]
    store.save(KEY, point)
    assert store.load(KEY, MeasuredModel) == point


@pytest.mark.long
def test_no_damage_to_the_file_gives_a_wrong_point_or_a_traceback(tmp_path, point):
    path, keys = tmp_path / "store", [fingerprint(k) for k in range(20)]
    for key in keys:
        FileStore(path).save(key, point)
    sound, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(40):
        content = bytearray(sound)
        start, length = int(rng.integers(len(sound))), int(rng.choice([1, 16, 4096]))
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
    assert 0 < refused < 40


def test_another_version_has_separate_records_and_they_go_after_a_month(store, point, monkeypatch):
    store.save(key_of(BASE), point)
    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "__version__", "99.0")
        engine_module.environment.cache_clear()
        foreign = FileStore(store.path)
        assert foreign.load(key_of(BASE), MeasuredModel) is None and len(foreign) == 0
        foreign.save(fingerprint("other"), point)
    engine_module.environment.cache_clear()
    altered(store.path, "UPDATE points SET saved = saved - ?", 29.9 * 86_400)
    assert FileStore(store.path).notes[0].startswith("Records of other versions are ignored: 1;")
    altered(store.path, "UPDATE points SET saved = saved - ?", 0.2 * 86_400)
    later = FileStore(store.path)
    assert not later.notes and later.load(key_of(BASE), MeasuredModel) == point  # its own are kept, however old


@pytest.mark.parametrize("content", [b"damaged", bytes(10_000), None], ids=["short", "zeros", "database"])
def test_another_file_is_refused_and_left_as_it_is(content, tmp_path):
    path = tmp_path / "notes.txt"
    if content is None:
        History.open(path)
        content = path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"notes.txt' is no store of experiments and was left as it is\.$"):
        FileStore(path)
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


def test_a_store_whose_maker_was_killed_is_made_again(tmp_path, point):
    path = tmp_path / "store"
    altered(path, "PRAGMA auto_vacuum = FULL")  # its first step
    assert path.stat().st_size > 0
    store = FileStore(path)
    store.save(KEY, point)
    assert FileStore(path).load(KEY, MeasuredModel) == point


def test_a_busy_file_is_waited_for_a_while(store, point, monkeypatch):
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


def test_several_processes_write_at_once(tmp_path, point):
    path = tmp_path / "store"
    writers = [get_context("fork").Process(target=save_some, args=(path, 25 * k, point)) for k in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(PATIENT)
    assert [writer.exitcode for writer in writers] == [0] * 4
    store = FileStore(path)
    assert [store.load(fingerprint(k), MeasuredModel) for k in range(100)] == [point] * 100
