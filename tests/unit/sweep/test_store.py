"""Records on disk: read back as written, or not at all."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

import core
from core.errors import InputError
from core.fingerprint import fingerprint
from core.sweep import FolderStore, SweepPoint, measure
from core.sweep.point import point_key
from tests.sweep_work import BASE, people

KEY = fingerprint("some key")


@pytest.fixture(scope="module")
def point() -> SweepPoint:
    return measure(BASE, people())


def the_record(folder: Path) -> Path:
    (record,) = folder.rglob("*.jsonl")
    return record


def test_a_point_comes_back_equal(tmp_path: Path, point: SweepPoint):
    FolderStore(tmp_path).save(KEY, point)
    back = FolderStore(tmp_path).load(KEY)
    assert back == point and back is not None
    assert (back.seconds, back.seconds_model) == (point.seconds, point.seconds_model)


def test_infeasible_points_come_back_equal(tmp_path: Path):
    config = replace(BASE, tolerance=0.0, seed=0)
    found = measure(config, people())
    told = [d for d in found.disclosures.values() if d.after is None]
    assert told and all(d.reached != d.reached for d in told)  # nan, and an infinite bound in the certificate
    store = FolderStore(tmp_path)
    store.save(KEY, found)
    assert store.load(KEY) == found


def test_every_damage_is_ignored_and_noted(tmp_path: Path, point: SweepPoint):
    store = FolderStore(tmp_path)
    store.save(KEY, point)
    record = the_record(tmp_path)
    whole = record.read_bytes()
    middle = len(whole) // 2
    other = b"1" if whole[middle : middle + 1] != b"1" else b"2"
    damages = [
        b"", b"\n", b"null\nnull", b"[]\n{}", b"\xff\xfe\x00", whole[:middle], whole[:-1], whole + b" ",
        whole[:middle] + other + whole[middle + 1 :], whole.replace(KEY.encode(), fingerprint("other").encode()),
        whole.replace(b'"format": 1', b'"format": 2'),
    ]  # fmt: skip
    for count, damage in enumerate(damages, start=1):
        record.write_bytes(damage)
        assert store.load(KEY) is None
        assert len(store.notes) == count and "ignored and measured again" in store.notes[-1]
    store.save(KEY, point)
    assert store.load(KEY) == point


def test_another_version_has_records_of_its_own(tmp_path: Path, point: SweepPoint, monkeypatch: pytest.MonkeyPatch):
    from core.sweep import point as identity

    FolderStore(tmp_path).save(point_key(BASE, people()), point)
    monkeypatch.setattr(core, "__version__", "99.0")
    identity.environment.cache_clear()
    try:
        store = FolderStore(tmp_path)
        assert store.load(point_key(BASE, people())) is None and len(store) == 0
        assert [note.startswith("Records of another version are ignored: 1 in fairleak-") for note in store.notes] == [
            True
        ]
    finally:
        identity.environment.cache_clear()


def test_half_written_files_are_swept_up_once_they_are_old(tmp_path: Path, point: SweepPoint):
    FolderStore(tmp_path).save(KEY, point)
    folder = the_record(tmp_path).parent
    old, young = folder / "old.part", folder / "young.part"
    old.write_text("half")
    young.write_text("half")
    os.utime(old, (time.time() - 7200,) * 2)
    store = FolderStore(tmp_path)
    assert not old.exists() and young.exists() and len(store) == 1


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="The store must be a folder that can be written to"):
        FolderStore(tmp_path / "file")
