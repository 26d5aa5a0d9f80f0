"""The test of FairLeak itself in a process of its own, so that a server which asks for it goes on answering others.

The child writes a line for every step done and, as its last line, the results; its standard input is a pipe that
nothing is written to. When that pipe closes, the one who asked has ended or is no longer interested, and so the child
ends as well, however the other one ended.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import core
from core.decision.provenance import SELF_TEST_SEED
from core.decision.result import SelfTest
from core.decision.self_test.kept import cached_self_test, packed, there, unpacked
from core.decision.self_test.running import RUNS, Report
from core.errors import FairLeakError
from core.records import RecordError

_CODE = f"from {__name__} import child; child()"
_RESULT = "="
_GLANCE = 0.25
"""Seconds between two looks at whether the one who asked still wants it."""

_NICE = 10
"""How far the child gives way to what a person waits for."""


def self_test_apart(
    folder: Path, *, seed: int = SELF_TEST_SEED, runs: int = RUNS, report: Report | None = None
) -> tuple[SelfTest, ...]:
    """Return `cached_self_test`, made by a process of its own unless it is there.

    Parameters
    ----------
    folder, seed, runs
        As for `cached_self_test`.
    report : callable, optional
        Called several times a second with (models done, models in all); what it raises ends the process and is raised
        here.

    Raises
    ------
    FairLeakError
        If the process cannot be started, or ends without results.
    """
    kept = there(folder, seed=seed, runs=runs)
    if kept is not None:
        return kept
    root = str(Path(core.__file__).parents[1])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _CODE, str(Path(folder).absolute()), str(seed), str(runs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )
    except OSError as error:
        raise FairLeakError("The process for FairLeak's test of itself could not be started.") from error
    with process:
        try:
            found = _followed(process, report)
        finally:
            process.kill()
    if found is None:
        raise FairLeakError("FairLeak's test of itself ended without results, most likely for want of memory.")
    return found


def _followed(process: subprocess.Popen[bytes], report: Report | None) -> tuple[SelfTest, ...] | None:
    """Report what the child tells, and return its results; None if it ends without."""
    assert process.stdout is not None
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_put_lines, args=(process.stdout, lines), daemon=True, name="fairleak-self-test").start()
    done, total = 0, 0
    while True:
        with contextlib.suppress(queue.Empty):
            line = lines.get(timeout=_GLANCE)
            if line is None:
                return None
            if line.startswith(_RESULT):
                with contextlib.suppress(RecordError):
                    return unpacked(line.removeprefix(_RESULT))
                return None
            done, total = map(int, line.split())
        if report is not None:
            report(done, total)


def _put_lines(stream: IO[bytes], lines: queue.SimpleQueue[str | None]) -> None:
    with contextlib.suppress(OSError, ValueError):  # closed while it was read
        for line in stream:
            lines.put(line.decode().strip())
    lines.put(None)


def child() -> None:
    """Make the test as the command line asks, and tell how far it is; what the child does."""
    folder, seed, runs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICE)

    def tell(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    tests = cached_self_test(folder, seed=seed, runs=runs, report=lambda done, total: tell(f"{done} {total}"))
    tell(_RESULT + packed(tests))


def _end_with_the_asker() -> None:
    os.read(0, 1)  # returns when the pipe is closed at its other end
    os._exit(1)
