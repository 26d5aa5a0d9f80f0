"""Tests have folders of their own, for every process that they start; all stand in parts, and none passes unrun."""

import os
import re
import sys
from collections import defaultdict

from tests.order import SECONDS
from tests.parts import ROOT, cost, parts
from tests.patience import finished

PLANTED = """
import os, shutil, sqlite3, subprocess, sys, tempfile
from pathlib import Path

from core.datasets.catalog import default_cache_folder

USER = Path({user!r})
RESULT = USER / ".cache" / "fairleak" / "sweeps" / "result.jsonl"

def python(code):
    # In a process that swallows whatever goes wrong.
    lines = "".join(f"    {{line}}\\n" for line in code.splitlines())
    code = f"import os, sqlite3, pathlib\\ntry:\\n{{lines}}except Exception:\\n    pass"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

def test_lists_results():
    shutil.rmtree(RESULT.parent, ignore_errors=True)

def test_starts_who_starts_who_reads_a_result():
    starts = "subprocess.run([sys.executable, '-c', 'import sys; open(sys.argv[1])', "
    python(f"import subprocess, sys\\n{{starts}}{{str(RESULT)!r}}], stderr=-3)")

def test_starts_who_opens_a_history_by_an_address():
    python(f"sqlite3.connect('file:{{USER / 'history.sqlite'}}?mode=ro', uri=True)")

def test_starts_who_writes_beside_the_code():
    python("pathlib.Path({root!r}, 'tests', 'planted').touch()")

def test_stays_inside():
    folder = default_cache_folder()
    folder.mkdir(parents=True)
    (folder / "mine").write_text("kept")
    python(f"pathlib.Path({{str(folder / 'mine')!r}}).read_text()")
    with tempfile.TemporaryDirectory() as other:
        sqlite3.connect(f"{{other}}/history.sqlite").close()
    Path({root!r}, "README.md").read_text()
    os.listdir({root!r})
"""


def test_whoever_opens_a_users_folder_fails_even_in_a_process_that_swallows_it(tmp_path):
    user, temporary, tests = tmp_path / "user", tmp_path / "temporary", tmp_path / "tests"
    results = user / ".cache" / "fairleak" / "sweeps"
    for created in (temporary, tests, results):
        created.mkdir(parents=True)
    (results / "result.jsonl").write_text("a user's result")
    (tests / "test_planted.py").write_text(PLANTED.format(user=str(user), root=str(ROOT)))
    prefixes = ("FAIRLEAK_", "XDG_", "PYTEST_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    environment |= {"HOME": str(user), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    options = ["-q", "-rA", "-p", "no:cacheprovider", "-p", "tests.conftest", "-c", "/dev/null"]
    places = ["--rootdir", tests, "--confcutdir", tests, tests]
    done = finished([sys.executable, "-m", "pytest", *options, *places], cwd=ROOT, env=environment)
    by_test = defaultdict(set)
    for status, test in re.findall(r"^(PASSED|FAILED|ERROR) \S*::(\S+)", done.stdout, re.MULTILINE):
        by_test[test].add(status)
    assert (results / "result.jsonl").read_text() == "a user's result"
    assert sorted(path.name for path in user.iterdir()) == [".cache"]
    assert by_test.pop("test_stays_inside") == {"PASSED"}
    assert len(by_test) == 4 and [test for test, statuses in by_test.items() if "ERROR" not in statuses] == []


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
