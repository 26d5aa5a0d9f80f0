"""The test of FairLeak itself in a process of its own: the same results, progress, an end when nobody wants it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import Cancelled, FairLeakError
from core.release_audit import SelfTest, self_test, self_test_apart
from core.release_audit.result import SELF_TEST_SEED
from core.release_audit.self_tests import _CODE, TRIALS, _keep, _kept, _rests_on, child, there
from core.serialize import dumps
from tests.patience import PATIENT


def keep(tests: tuple[SelfTest, ...], folder: Path) -> None:
    """Put results where the test of ten runs is looked for."""
    _keep(tests, folder, _rests_on(SELF_TEST_SEED, 10))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Return the processes that were started."""
    made: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def popen(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        made.append(real(*arguments, **options))  # type: ignore[call-overload]
        return made[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    return made


@pytest.fixture(scope="module")
def tests() -> tuple[SelfTest, ...]:
    """Return what a short test gives."""
    return self_test(runs=10, trials=TRIALS[:1])


def test_what_is_kept_needs_no_process(
    tests: tuple[SelfTest, ...], tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    keep(tests, tmp_path)
    assert there(tmp_path, runs=10) == tests and there(tmp_path, runs=11) is None
    assert self_test_apart(tmp_path, runs=10) == tests
    assert not started


def test_the_process_returns_what_the_folder_holds_for_it(
    tests: tuple[SelfTest, ...],
    tmp_path: Path,
    started: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The child has the asker's folder, seed, runs, code and packages: it finds what was kept under them."""
    keep(tests, tmp_path)
    monkeypatch.setattr(sys.modules[child.__module__], "there", lambda *_, **__: None)
    assert self_test_apart(tmp_path, runs=10) == tests
    assert len(started) == 1 and started[0].poll() is not None


def test_progress_and_results_are_passed_on(
    tests: tuple[SelfTest, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = dumps(_kept(tests, ""))
    monkeypatch.setattr(sys.modules[child.__module__], "_CODE", f"print('1 10'); print('7 10'); print('=' + {line!r})")
    steps: list[tuple[int, int]] = []
    assert self_test_apart(tmp_path, report=lambda done, total: steps.append((done, total))) == tests
    assert steps == sorted(steps) and steps[-1] == (7, 10) and (1, 10) in steps


def test_it_ends_when_it_is_stopped(tmp_path: Path, started: list[subprocess.Popen[bytes]]) -> None:
    def stop(done: int, total: int) -> None:
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        self_test_apart(tmp_path, report=stop)
    assert started[0].poll() is not None and not list(tmp_path.iterdir())


def test_it_ends_with_the_one_who_asked(tmp_path: Path) -> None:
    asked = [sys.executable, "-c", _CODE, str(tmp_path), "1", "200"]
    process = subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline().split()[1:]  # it works
    process.stdin.close()
    assert process.wait(PATIENT) == 1
    process.stdout.close()


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "print('=nothing')", "print('1 10')"])
def test_a_process_without_results_is_one_sentence(tmp_path: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[child.__module__], "_CODE", code)
    with pytest.raises(FairLeakError, match="ended without results"):
        self_test_apart(tmp_path)


def test_a_process_that_cannot_be_started_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(FairLeakError, match="could not be started"):
        self_test_apart(tmp_path)
