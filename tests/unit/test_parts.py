"""All tests in parts that end, and none that passes unrun."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.order import SECONDS
from tests.parts import ROOT, cost, parts
from tests.patience import finished

CORES = 2


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


@pytest.mark.long
def test_where_every_test_is_skipped_none_has_passed(tmp_path: Path):
    (tmp_path / "test_nothing.py").write_text("import pytest\n\n\ndef test_nothing():\n    pytest.skip('not here')\n")
    options = "-m pytest -q -p no:cacheprovider -p tests.conftest -c /dev/null"
    command = [sys.executable, *options.split(), "--rootdir", tmp_path, "--confcutdir", tmp_path, tmp_path]
    done = finished(command, cwd=ROOT)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr
