"""What the benchmarks share: median seconds of a call, whether Adult is here, and a verdict a limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["DATA", "is_adult_available", "seconds", "verdicts"]

DATA = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere"))


@cache
def is_adult_available() -> bool:
    """Return whether Adult lies where FAIRLEAK_DATA says; say so where it does not."""
    available = (DATA / "adult" / "adult.data").is_file()
    if not available:
        print("Adult is not here (set FAIRLEAK_DATA): something of the same size stands in.")
    return available


def seconds(work: Callable[[], Any], repeats: int = 1, *, clock: Callable[[], float] = time.process_time) -> float:
    """Return the median time of a call, of processor time unless another clock is given."""
    durations = []
    for _ in range(repeats):
        start = clock()
        work()
        durations.append(clock() - start)
    return median(durations)


def verdicts(reached: Iterable[tuple[str, bool]]) -> None:
    """Print a line a limit: what it is, and whether it is reached."""
    for sentence, good in reached:
        print(f"{'reached' if good else 'NOT reached'}: {sentence}", flush=True)
