"""Tests have folders of their own, for every process that they start; all stand in parts."""

import sys

from tests.hermetic import run_folder
from tests.order import SECONDS
from tests.parts import ROOT, cost, parts
from tests.patience import finished

PRINT_FOLDERS = """
import tempfile
from pathlib import Path
from core.datasets.catalog import default_cache_folder
print(Path.home(), default_cache_folder(), tempfile.gettempdir(), sep="\\n")
"""


def test_a_process_of_a_test_has_home_cache_and_temporary_folder_of_the_test_run():
    home, cache, temporary = finished([sys.executable, "-c", PRINT_FOLDERS], cwd=ROOT).stdout.splitlines()
    assert all(folder.startswith(f"{run_folder()}/") for folder in (home, cache, temporary))


def test_every_file_is_in_one_part_and_no_part_takes_ten_minutes():
    cores, files = 2, [file for part in parts().values() for file in part]
    every = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(files) == len(set(files)) and set(files) == every
    assert set(SECONDS) <= every
    for name, part in parts().items():
        assert part and all(file.startswith(f"tests/{name.rpartition('-')[0]}/") for file in part)
        assert sum(map(cost, part)) / cores < 500, name
        assert name.startswith("properties") or max(map(cost, part)) < 500, name  # whole files, but for properties
    assert sum(map(cost, files)) / cores < 70 * 60
