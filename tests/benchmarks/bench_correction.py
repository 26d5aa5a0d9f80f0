"""How fast the exact correction is, against sorting the costs and against CBC on the same problem.

Run from the repository's root: ``python -m tests.benchmarks.bench_correction [arrays.npz]``. The optional file holds
`guess`, `predictions` and `cost` of real records; larger sizes repeat them with costs made distinct.

Limits: exact at most 0.5 x np.argsort(cost) at 1,000,000 records and 1 x at 135,924, and 1,000 x faster than CBC on
RC_e at 15,375, with objectives equal to 1e-9. CBC is given 60 s above 45,000 records and reported as it ends.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from core.correction import Correction, correct
from core.correction.disclosure import published_cost
from tests.problem_bank import METRICS

SIZES = (15_375, 45_000, 135_924, 1_000_000)
TOLERANCE, EXPONENT, AGREEMENT = 0.001, 6, 1e-9
SORT_LIMITS = {135_924: 1.0, 1_000_000: 0.5}
CBC_LIMIT = {15_375: 1000.0}

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One size: seconds of sorting, of the exact call and of CBC, and both corrections."""

    n: int
    sort: float
    exact: float
    cbc: float
    exact_result: Correction
    cbc_result: Correction

    @property
    def difference(self) -> float | None:
        """Relative difference of the objectives; None unless CBC has proved its own."""
        if self.cbc_result.certificate.status != "optimal":
            return None
        return abs(self.exact_result.objective - self.cbc_result.objective) / self.exact_result.objective


def synthetic(n: int, seed: int = 0) -> Arrays:
    """Return seeded guesses correlated with the predictions, and distinct costs from confidences in [0.5, 1]."""
    rng = np.random.default_rng(seed)
    predictions = (rng.random(n) < 0.2).astype(np.uint8)
    guess = (rng.random(n) < np.where(predictions, 0.25, 0.42)).astype(np.uint8)
    return {"guess": guess, "predictions": predictions, "cost": published_cost(0.5 + rng.random(n) / 2, EXPONENT)}


def repeated(arrays: Arrays, n: int, seed: int = 0) -> Arrays:
    """Return n records drawn from real ones, all of them when n is their number, with costs made distinct."""
    rng = np.random.default_rng(seed)
    own = arrays["cost"].size
    pick = rng.permutation(own)[:n] if n <= own else np.concatenate([np.arange(own), rng.integers(0, own, n - own)])
    cost = arrays["cost"][pick] * (1 + 1e-7 * rng.random(n))
    return {"guess": arrays["guess"][pick], "predictions": arrays["predictions"][pick], "cost": cost}


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """Return the median wall time of a call."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return median(times)


def rows(arrays: Arrays | None = None, *, time_limit: float = 60.0, sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Measure every size, on synthetic records or on `arrays` (guess, predictions, cost of real ones)."""
    for n in sizes:
        problem: Any = synthetic(n) if arrays is None else repeated(arrays, n)
        exact = correct(**problem, tolerance=TOLERANCE, metric=METRICS[0])  # also the warm-up
        repeats = 15 if n > 100_000 else 51
        sort = seconds(lambda p=problem: np.argsort(p["cost"]), repeats)
        taken = seconds(lambda p=problem: correct(**p, tolerance=TOLERANCE), repeats)
        cbc = correct(**problem, tolerance=TOLERANCE, solver="ilp", time_limit=time_limit)
        yield Row(n=n, sort=sort, exact=taken, cbc=cbc.certificate.seconds, exact_result=exact, cbc_result=cbc)


def verdicts(row: Row) -> Iterator[tuple[str, bool]]:
    """Return each limit that holds at a row's size, and whether it is reached."""
    if row.n in SORT_LIMITS:
        limit, ratio = SORT_LIMITS[row.n], row.exact / row.sort
        yield f"exact <= {limit:g} x argsort at N = {row.n:,}: {ratio:.2f} x", ratio <= limit
    if row.n in CBC_LIMIT:
        limit, ratio = CBC_LIMIT[row.n], row.cbc / row.exact
        yield f"exact >= {limit:,.0f} x faster than CBC RC_e at N = {row.n:,}: {ratio:,.0f} x", ratio >= limit
    if row.n <= 45_000:
        proved = row.difference is not None
        yield f"CBC RC_e proves optimality at N = {row.n:,}: {row.cbc_result.certificate.status}", proved
    if row.difference is not None:
        told = f"objectives agree to {AGREEMENT:g} at N = {row.n:,}: {row.difference:.1e}"
        yield told, row.difference <= AGREEMENT


def main(path: str | None = None) -> None:
    """Print the table and one verdict a limit."""
    arrays = None if path is None else dict(np.load(path, allow_pickle=False))
    print(f"Correction, statistical parity, tolerance {TOLERANCE}, {'synthetic records' if arrays is None else path}")
    print(f"{'N':>9} {'argsort ms':>11} {'exact ms':>9} {'ratio':>6} {'changed':>8} {'CBC s':>7} status      gap")
    reached = []
    for row in rows(arrays):
        told, found = row.cbc_result.certificate, row.exact_result
        gap = "-" if told.objective is None else f"{told.objective / told.best_bound - 1:.1e}"
        print(
            f"{row.n:>9,} {row.sort * 1e3:>11.2f} {row.exact * 1e3:>9.2f} {row.exact / row.sort:>6.2f}"
            f" {found.n_changed:>8,} {row.cbc:>7.2f} {told.status:<11} {gap}",
            flush=True,
        )
        reached += list(verdicts(row))
    for sentence, good in reached:
        print(f"{'reached' if good else 'NOT reached'}: {sentence}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
