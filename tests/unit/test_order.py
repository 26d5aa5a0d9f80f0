"""Files that run beside each other: long ones first, one worker without a browser, every test once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("xdist")

from xdist.remote import Producer

from tests.order import BROWSER, SECONDS, LongestFirst, rank

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ["tests/browser/test_sweep.py", "tests/browser/test_start.py", "tests/browser/test_new.py"]
OTHERS = ["tests/unit/test_few.py", "tests/unit/test_many.py", "tests/unit/sweep/test_kill.py"]


class Worker:
    """Takes the tests it is sent, and runs them when it is told to."""

    gateway = SimpleNamespace(id="worker")
    shutting_down = False

    def __init__(self, tests: list[str]) -> None:
        self.tests = tests
        self.waiting: list[int] = []
        self.files: list[str] = []
        self.ran: list[str] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.waiting += indices
        self.files.append(self.tests[indices[0]].split("::")[0])

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def at_browser(self) -> bool:
        return bool(self.waiting) and self.tests[self.waiting[0]].startswith(BROWSER)


def run(tests: list[str], *, quick: int, workers: int = 2) -> tuple[list[Worker], int]:
    """Run on so many workers, the first so many times as fast; return them, and how many were at a browser at once."""
    option = SimpleNamespace(loadscopereorder=True)
    config: Any = SimpleNamespace(option=option, getvalue=lambda name: [f"{workers}*popen"])
    schedule: Any = LongestFirst(config, Producer("order", enabled=False))
    crew = [Worker(tests) for _ in range(workers)]
    for worker in crew:
        schedule.add_node(worker)
        schedule.add_node_collection(worker, tests)
    schedule.schedule()
    most = 0
    while any(worker.waiting for worker in crew):
        most = max(most, sum(worker.at_browser for worker in crew))
        for worker in [crew[0]] * quick + crew[1:]:
            if worker.waiting:
                index = worker.waiting.pop(0)
                worker.ran.append(tests[index])
                schedule.mark_test_complete(worker, index)
    return crew, most


@pytest.mark.parametrize("each", [1, 4])
@pytest.mark.parametrize("quick", [1, 3])
def test_one_worker_has_the_browser_and_the_other_begins_with_what_takes_long(quick: int, each: int):
    tests = [f"{file}::test_{k}" for file in [*OTHERS, *BROWSERS] for k in range(each)]
    (first, second), _ = run(tests, quick=quick)
    assert sorted(first.ran + second.ran) == sorted(tests)
    assert first.files[0] == "tests/browser/test_sweep.py" and second.files[0] == "tests/unit/sweep/test_kill.py"
    assert not set(first.files) & set(second.files)
    assert not any(file.startswith(BROWSER) for file in second.files[:2])


@pytest.mark.parametrize("workers", [2, 3])
def test_all_workers_have_a_browser_only_when_nothing_else_is_left(workers: int):
    many = [f"tests/unit/test_{k}.py" for k in range(20)]
    tests = [f"{file}::test_{k}" for file in [*many, *BROWSERS] for k in range(4)]
    crew, most = run(tests, quick=1, workers=workers)
    assert sorted(test for worker in crew for test in worker.ran) == sorted(tests)
    assert most == workers - 1
    assert run([test for test in tests if test.startswith(BROWSER)], quick=1, workers=workers)[1] == workers


def test_what_takes_long_comes_first_after_the_browser():
    longest = max((file for file in SECONDS if not file.startswith(BROWSER)), key=lambda file: SECONDS[file])
    assert rank("tests/browser/test_a.py") < rank(longest) < rank("tests/app/test_a.py")
