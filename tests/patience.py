"""How long tests wait for what must come: long enough for any machine, however busy, so that no test is about speed."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENT = 300.0
"""Seconds after which a test gives up. It only ends what would never end: whatever passes, passes long before."""


def wait_until(condition: Callable[[], object], what: str = "a condition") -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENT
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.005)
