"""What is run when: long tests only when asked for, and all tests in parts that end, go on and never pass unrun."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.order import SECONDS
from tests.parts import ROOT, cost, parts
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
