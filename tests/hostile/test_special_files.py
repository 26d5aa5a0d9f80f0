"""Devices, pipes, sockets, links in circles and names that no file can have, in every argument that takes a path."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from core.base.errors import InputError
from core.base.files import MEGABYTE, check_writable, content_of, write_file
from tests.hermetic import ROOT
from tests.patience import finished


@pytest.fixture(scope="module", params=[6, pytest.param(1, marks=pytest.mark.long)])
def tries(request, tmp_path_factory):
    """How every command ended, by the kind of file; standard input is a pipe into which nobody writes."""
    folder = tmp_path_factory.mktemp("special")
    results = Path(f"{folder}.jsonl")
    results.touch()
    command = [sys.executable, "-W", "error", "-m", "tests.hostile.special_files", folder, results, request.param]
    done = finished(command, progress=lambda: results.stat().st_size, cwd=ROOT, stdin=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    records = defaultdict(list)
    for line in results.read_text(encoding="utf-8").splitlines():
        records[(record := json.loads(line))["kind"]].append(record)
    return records


def test_no_argument_takes_what_is_no_file(tries):
    """Exit code 3 and one sentence: no hang, no traceback, and no more memory than the libraries need."""
    (memory,) = tries.pop("memory")
    assert len(tries) >= 20 and sum(map(len, tries.values())) > 165
    assert len({attempt["argument"] for kind in tries.values() for attempt in kind}) > 40
    for kind in tries.values():
        for attempt in kind:
            assert attempt["code"] == 3 and not attempt["out"], attempt
            assert attempt["err"].startswith("fairleak ") and attempt["err"].endswith(".\n"), attempt
            assert attempt["err"].count("\n") == 1 and len(attempt["err"]) < 500, attempt
    assert memory["code"] < 1500 * MEGABYTE


def test_what_is_read_has_a_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 1000)
    assert content_of(path, what="A") == content_of(path, what="A", most=1000) == b"x" * 1000
    sentence = r"^A must be a file that can be read, got '.*': it is larger than 0 MB\.$"
    for most in (0, 1, 999):
        with pytest.raises(InputError, match=sentence):
            content_of(path, what="A", most=most)
    endless = Path("/proc/self/environ")  # says of itself that it is empty
    if endless.exists() and endless.stat().st_size == 0:
        assert len(content_of(endless, what="A")) > 1
        with pytest.raises(InputError, match="larger"):
            content_of(endless, what="A", most=1)
    (tmp_path / "empty").touch()
    assert content_of(tmp_path / "empty", what="A", most=0) == b""


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path, link, new = tmp_path / "a", tmp_path / "link", tmp_path / "new"
    link.symlink_to("a")
    write_file(link, b"first", what="A")
    assert link.is_symlink() and path.read_bytes() == b"first"
    path.chmod(0o640)
    write_file(path, b"second", what="A")
    assert path.read_bytes() == b"second" and path.stat().st_mode & 0o777 == 0o640
    write_file(new, b"", what="A", new=True, mode=0o600)
    assert new.stat().st_mode & 0o777 == 0o600
    for target in (new, link):
        with pytest.raises(InputError, match="does not exist yet"):
            write_file(target, b"x", what="A", new=True)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for destination in (path, tmp_path / "other"):
        with pytest.raises(InputError, match=r"A must be a file that can be written, got '.*': the disk is full"):
            write_file(destination, b"third", what="A")
    assert path.read_bytes() == b"second"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "link", "new"]


def test_a_place_is_looked_at_and_left_alone(tmp_path):
    (tmp_path / "folder").mkdir()
    check_writable(None, what="A")
    for name in ("a", "folder/a"):
        check_writable(tmp_path / name, what="A")
        check_writable(tmp_path / name, what="A", folder=True)
    check_writable(tmp_path / "folder", what="A", folder=True)
    for name, folder in (("folder", False), ("no/a", False), ("no/a", True)):
        with pytest.raises(InputError, match=r"^A must be a f"):
            check_writable(tmp_path / name, what="A", folder=folder)
    assert [entry.name for entry in tmp_path.rglob("*")] == ["folder"]
