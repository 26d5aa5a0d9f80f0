"""A plug-in of pytest: a test that computes for longer than FAULTS_HANG seconds fails, however busy others are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest


def _hangs(*_: Any) -> None:
    raise TimeoutError("this test hangs")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Ring after so many seconds."""
    before = signal.signal(signal.SIGPROF, _hangs)
    signal.setitimer(signal.ITIMER_PROF, float(os.environ["FAULTS_HANG"]))
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
