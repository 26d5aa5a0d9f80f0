"""How fast the certified correction of K groups is, and whether CBC proves as much.

Run from the repository's root: ``python -m tests.benchmarks.bench_groups``. Nine instances a row: guesses of unequal
groups whose rates differ, published costs with exponents 1 to 60, tolerances 0.001 to 0.02. CBC (the counts with one
segment a distinct cost) gets 60 s on the instance with the most changes; it does prove those with few.

Limits: with K = 9 groups and N = 15,000 records all instances proved optimal to 1e-9 with a median under 1 s, where
CBC has no proof in 60 s; CBC never finds anything cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from core.correction import Correction, correct
from core.correction.disclosure import published_cost

ROWS = ((3, 15_000), (5, 15_000), (9, 15_000), (3, 45_000), (5, 45_000), (9, 45_000))
EXPONENTS = (1, 2, 3, 6, 9, 12, 25, 40, 60)
TOLERANCES = (0.001, 0.005, 0.02)
LIMIT_ROW, LIMIT_SECONDS, PROOF = (9, 15_000), 1.0, 1e-9


def instance(k: int, n: int, seed: int) -> dict[str, Any]:
    """Return the arguments of `correct` for one instance."""
    rng = np.random.default_rng(seed)
    predictions = (rng.random(n) < rng.uniform(0.1, 0.5)).astype(np.uint8)
    one, other = (rng.dirichlet(np.full(k, 2.0)) + 0.02 for _ in range(2))
    shares = [one / one.sum(), (one + other) / (one + other).sum()]
    guess = np.where(predictions, rng.choice(k, n, p=shares[0]), rng.choice(k, n, p=shares[1])).astype(np.uint8)
    return {
        "guess": guess,
        "predictions": predictions,
        "cost": published_cost(0.5 + rng.random(n) / 2, EXPONENTS[seed % len(EXPONENTS)]),
        "tolerance": float(rng.choice(TOLERANCES)),
        "n_groups": k,
    }


@dataclass(frozen=True, kw_only=True)
class Row:
    """One K and N: the certified results, and CBC's on the instance with the most changes."""

    k: int
    n: int
    results: list[Correction]
    widest: int
    cbc: Correction

    @property
    def seconds(self) -> list[float]:
        """Seconds of each instance."""
        return [result.certificate.seconds for result in self.results]

    @property
    def gaps(self) -> list[float]:
        """Relative distance of objective and bound; inf without a solution."""
        told = [result.certificate for result in self.results]
        return [float("inf") if c.objective is None else (c.objective - c.best_bound) / c.objective for c in told]

    @property
    def excess(self) -> float | None:
        """How far CBC's objective lies above the certified one, relatively; None where it found nothing."""
        own = self.results[self.widest].objective
        return None if self.cbc.objective is None or not own else self.cbc.objective / own - 1


def rows(*, instances: int = 9, time_limit: float = 60.0) -> Iterator[Row]:
    """Measure every row."""
    for k, n in ROWS:
        problems = [instance(k, n, seed) for seed in range(instances)]
        correct(**problems[0])  # the first call imports the solver
        results = [correct(**problem, time_limit=time_limit) for problem in problems]
        widest = max(range(instances), key=lambda i: results[i].n_changed or 0)
        cbc = correct(**problems[widest], solver="ilp", time_limit=time_limit)
        yield Row(k=k, n=n, results=results, widest=widest, cbc=cbc)


def verdicts(row: Row) -> Iterator[tuple[str, bool]]:
    """Return each limit that holds for a row, and whether it is reached."""
    told, proved = f"K = {row.k}, N = {row.n:,}", sum(gap <= PROOF for gap in row.gaps)
    if (row.k, row.n) == LIMIT_ROW:
        yield f"{told}: {proved} of {len(row.gaps)} proved to {PROOF:g}", proved == len(row.gaps)
        taken = median(row.seconds)
        yield f"{told}: median {taken:.2f} s <= {LIMIT_SECONDS:g} s", taken <= LIMIT_SECONDS
        yield f"{told}: CBC has no proof in its time ({row.cbc.certificate.status})", not _proved(row.cbc)
    if row.excess is not None:
        yield f"{told}: CBC is not cheaper ({row.excess:.1e})", row.excess >= -PROOF


def _proved(result: Correction) -> bool:
    return result.certificate.status == "optimal"


def main() -> None:
    """Print the table and one verdict a limit."""
    print("Correction of K groups, statistical parity, nine instances a row; CBC on the one with the most changes")
    print(" K       N  median s longest s  proved worst gap  CBC s status      above")
    reached = []
    for row in rows():
        proved = f"{sum(gap <= PROOF for gap in row.gaps)}/{len(row.gaps)}"
        above = "-" if row.excess is None else f"{row.excess:.1e}"
        print(
            f"{row.k:>2} {row.n:>7,} {median(row.seconds):>9.3f} {max(row.seconds):>9.3f} {proved:>7}"
            f" {max(row.gaps):>9.1e} {row.cbc.certificate.seconds:>6.1f} {row.cbc.certificate.status:<11} {above}",
            flush=True,
        )
        reached += list(verdicts(row))
    for sentence, good in reached:
        print(f"{'reached' if good else 'NOT reached'}: {sentence}")


if __name__ == "__main__":
    main()
