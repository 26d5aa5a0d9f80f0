"""What the benchmarks share: median seconds of a call, whether Adult is here, and a verdict a limit."""

import time
from functools import cache
from statistics import median

from tests.reference.data import FOLDER as DATA


@cache
def is_adult_available():
    """Return whether Adult lies where FAIRLEAK_DATA says; say so where it does not."""
    available = (DATA / "adult" / "adult.data").is_file()
    if not available:
        print("Adult is not here (set FAIRLEAK_DATA): something of the same size stands in.")
    return available


def seconds(work, repeats=1, *, clock=time.process_time):
    """Return the median time of a call, of processor time unless another clock is given."""
    durations = []
    for _ in range(repeats):
        start = clock()
        work()
        durations.append(clock() - start)
    return median(durations)


def verdicts(*reached):
    """Print a line a limit: what it is, the number measured, and the most it may be; the least where that is said."""
    for what, value, limit, *least in reached:
        good, sign = (value >= limit, ">=") if least else (value <= limit, "<=")
        print(f"{'reached' if good else 'NOT reached'}: {what}: {value:.3g} {sign} {limit:g}", flush=True)
