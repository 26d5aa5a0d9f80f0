"""How long a move of the slider on the bias queries' page takes: one number of answers, one decoder, 50 repeats.

Run from the repository's root: ``python -m tests.benchmarks.bench_slider``. A hundred of the demo's applicants are
asked about; people and questions are drawn beforehand, as on the page, answers and decoding are what is measured.

Limit: 300 ms of processor time for each way of answering and number of answers with the strongest decoder, which is
the marker. The paper's decoder, which only the curves in the background use, is printed beside it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from core.config import AuditConfig
from core.datasets import build_dataset, load
from core.queries import (
    Asking,
    Exact,
    LaplaceGlobal,
    NoisySums,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
    Trials,
    query_pool,
    repeats_for,
)

PEOPLE, NUMBERS, LIMIT = 100, (10, 25, 40, 60), 0.3
MECHANISMS: tuple[tuple[str, Any], ...] = (
    ("exact", Exact()),
    ("rounded, 3 decimals", Rounded(3)),
    ("Laplace, epsilon 5", LaplaceGlobal(5.0)),
    ("Cauchy, epsilon 5", SmoothCauchy(5.0)),
    ("smooth Laplace, epsilon 5", SmoothLaplace(5.0, 1e-5)),
    ("noisy sums, epsilon 5", NoisySums(5.0)),
    ("noisy sums, epsilon 100", NoisySums(100.0)),
)
DECODERS = ("strongest", "published")


def trials() -> Trials:
    """Return the demo's trials."""
    table = load("demo")
    pool = query_pool(AuditConfig(dataset="demo", roles=table.roles[0]), build_dataset(table, table.roles[0]))
    return Trials(pool, Asking(n=PEOPLE, repeats=repeats_for(PEOPLE)))


def rows(asked: Trials) -> Iterator[tuple[str, str, list[float]]]:
    """Yield mechanism, decoder and, for each number of answers, the median seconds of three moves."""
    asked.leak(NUMBERS[-1], Exact(), "strongest")  # draws the questions, imports the solver
    for name, mechanism in MECHANISMS:
        for decoder in DECODERS:
            told = []
            for m in NUMBERS:
                moves = []
                for _ in range(3):
                    start = time.process_time()
                    asked.leak(m, mechanism, decoder)
                    moves.append(time.process_time() - start)
                told.append(median(moves))
            yield name, decoder, told


def main() -> None:
    """Print the table and the verdict."""
    asked = trials()
    print(f"A move of the slider: {asked.asking.repeats} repeats, {PEOPLE} people; processor ms by number of answers")
    print(f"{'answers':<38}" + "".join(f"{m:>7}" for m in NUMBERS))
    slowest = 0.0
    for name, decoder, told in rows(asked):
        if decoder == "strongest":
            slowest = max(slowest, *told)
        print(f"{name + ', ' + decoder:<38}" + "".join(f"{1e3 * seconds:>7.0f}" for seconds in told), flush=True)
    good = "reached" if slowest <= LIMIT else "NOT reached"
    print(f"{good}: the slowest move {1e3 * slowest:.0f} ms <= {1e3 * LIMIT:g} ms")


if __name__ == "__main__":
    main()
