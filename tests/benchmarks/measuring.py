"""What the benchmarks share: median seconds of a call, and a verdict a limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any


def seconds(work: Callable[[], Any], repeats: int = 1, *, clock: Callable[[], float] = time.process_time) -> float:
    """Return the median time of a call, of processor time unless another clock is given."""
    told = []
    for _ in range(repeats):
        start = clock()
        work()
        told.append(clock() - start)
    return median(told)


def verdicts(reached: Iterable[tuple[str, bool]]) -> None:
    """Print a line a limit: what it is, and whether it is reached."""
    for sentence, good in reached:
        print(f"{'reached' if good else 'NOT reached'}: {sentence}", flush=True)
