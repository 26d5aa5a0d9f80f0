"""A plug-in of pytest: a test that takes longer than FAULTS_HANG seconds fails."""

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
    before = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(int(os.environ["FAULTS_HANG"]))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
