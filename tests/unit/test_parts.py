"""What is run when: long tests only when asked for, and all tests in parts that end, go on and never pass unrun."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import parts as parts_module
from tests.order import SECONDS
from tests.parts import ROOT, cost, main, parts
from tests.patience import PATIENT

CORES = 2


def collected(*arguments: str) -> set[str]:
    """Return the files whose tests would be run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return {line.split("::")[0] for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.long
def test_of_the_browser_only_the_walks_are_run_unasked():
    every = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "browser").glob("test_*.py")}
    assert collected("tests/browser") == {"tests/browser/test_walks.py"}
    assert collected("tests/browser", "--long") == every
    assert collected("tests/browser/test_start.py") == {"tests/browser/test_start.py"}


def test_every_file_is_in_one_part_and_no_part_takes_ten_minutes():
    files = [file for part in parts().values() for file in part]
    every = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(files) == len(set(files)) and set(files) == every
    assert set(SECONDS) <= every
    for name, part in parts().items():
        assert part and all(file.startswith(f"tests/{name.rpartition('-')[0]}/") for file in part)
        assert sum(map(cost, part)) / CORES < 500, name
        assert name.startswith("properties") or max(map(cost, part)) < 500, name  # whole files, but for properties
    assert sum(map(cost, files)) / CORES < 70 * 60


@pytest.fixture
def statuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, int]:
    """Return the exit statuses that parts will have, by their first file; each is asked for once only."""
    asked = {"tests/a/test_a.py": 0, "tests/b/test_b.py": 0, "tests/c/test_c.py": 0}
    monkeypatch.setattr(parts_module, "STAMPS", tmp_path)
    monkeypatch.setattr(
        parts_module,
        "parts",
        lambda: {"a-1": ["tests/a/test_a.py"], "b-1": ["tests/b/test_b.py"], "c-1": ["tests/c/test_c.py"]},
    )
    monkeypatch.setattr(parts_module, "state", lambda: "as they are")
    monkeypatch.setattr(parts_module.subprocess, "call", lambda command, cwd: asked.pop(command[-1]))
    return asked


def test_what_has_passed_is_not_run_again_until_something_changes(
    statuses: dict[str, int], monkeypatch: pytest.MonkeyPatch
):
    del statuses["tests/b/test_b.py"]
    with pytest.raises(KeyError):  # ends the run in the middle, as Ctrl-C does
        main()
    assert set(statuses) == {"tests/c/test_c.py"}
    statuses["tests/b/test_b.py"] = 0
    assert main() == 0 and not statuses and main() == 0
    statuses["tests/b/test_b.py"] = 0
    assert main("b-1") == 0 and not statuses  # asked for by name
    monkeypatch.setattr(parts_module, "state", lambda: "changed")
    with pytest.raises(KeyError):
        main()


@pytest.mark.parametrize("status", [pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.TESTS_FAILED])
def test_a_part_that_fails_or_runs_nothing_is_told_and_left(
    statuses: dict[str, int], capsys: pytest.CaptureFixture[str], status: int
):
    statuses["tests/b/test_b.py"] = status
    assert main() == 1 and not statuses
    told = capsys.readouterr()
    assert "Not passed: b-1." in told.err and ("b-1: NO TEST RAN" in told.out) == (status == 5)
    statuses["tests/b/test_b.py"] = 0
    assert main() == 0


def test_a_part_that_does_not_exist_is_one_sentence(statuses: dict[str, int], capsys: pytest.CaptureFixture[str]):
    assert main("d-1") == 2 and len(statuses) == 3
    assert capsys.readouterr().err == "A part must be one of a-1, b-1, c-1, got 'd-1'.\n"


def test_where_every_test_is_skipped_none_has_passed(tmp_path: Path):
    (tmp_path / "test_nothing.py").write_text("import pytest\n\n\ndef test_nothing():\n    pytest.skip('not here')\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.conftest",
        "-c",
        "/dev/null",
    ]
    done = subprocess.run(
        [*command, "--rootdir", tmp_path, tmp_path], cwd=ROOT, capture_output=True, text=True, timeout=PATIENT
    )
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr
