"""How fast the attacks on bias answers are, and how much of it is HiGHS.

Run from the repository's root: ``python -m tests.benchmarks.bench_queries``. People and scores are synthetic: a tenth
disadvantaged, a U-shaped base model, jitter of 0.1. A bare call is `scipy.optimize.linprog` with "highs-ds" on the
same matrices, built beforehand, with HiGHS' presolve off as the attacks have it, and for comparison on, its default.

Limits: at n = 1,000 people and m = 400 answers an attack takes at most 1.3 times the bare call;
50 attacks at n = 100 and m = 25 take at most 250 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from core.queries import RECOVERY_METHODS, design_scores, recover_compressed, statistical_parity_gap

LARGE, SMALL, REPEATS = (1000, 400), (100, 25), 50
LIMIT_RATIO, LIMIT_MANY = 1.3, 0.25


@dataclass(frozen=True, kw_only=True)
class Problem:
    """People, the models asked about, and their gaps."""

    sensitive: np.ndarray
    scores: np.ndarray
    answers: np.ndarray

    @property
    def sizes(self) -> tuple[int, int]:
        """Advantaged and disadvantaged."""
        return int(self.sensitive.sum()), int((1 - self.sensitive).sum())


@dataclass(frozen=True, kw_only=True)
class Row:
    """Median seconds of one method at n = 1,000 and of the bare calls, and of 50 attacks at n = 100."""

    method: str
    own: float
    bare: float
    presolved: float
    many: float


def problem(n: int, m: int, seed: int) -> Problem:
    """Return a tenth disadvantaged among n people, and m exact answers."""
    rng = np.random.default_rng(seed)
    a = np.ones(n, dtype=np.uint8)
    a[rng.permutation(n)[: n // 10]] = 0
    scores = design_scores("jitter", rng.beta(0.4, 1.2, n), m, rng=rng)
    return Problem(sensitive=a, scores=scores, answers=statistical_parity_gap(scores, a))


def attack(given: Problem, method: str) -> Any:
    """Run one attack."""
    n_advantaged, n_disadvantaged = given.sizes
    return recover_compressed(
        given.scores, given.answers, n_advantaged=n_advantaged, n_disadvantaged=n_disadvantaged, method=method
    )


def bare_call(given: Problem, method: str, *, presolve: bool) -> Callable[[], Any]:
    """Return the one call of HiGHS that solves a method's program as it is written down."""
    from scipy.optimize import linprog

    h, sp, (n_advantaged, n_disadvantaged) = given.scores, given.answers, given.sizes
    n, c = h.shape[1], 1 / n_advantaged + 1 / n_disadvantaged
    target = (h.sum(axis=1) / n_advantaged - sp) / c
    matrix, right, upper = {
        "l1": (np.hstack([h, -h]), target, None),
        "nonnegative": (h, target, None),
        "box": (np.vstack([h, np.ones(n)]), np.append(target, n_disadvantaged), 1),
        "sizes_unknown": (h.mean(axis=1)[:, np.newaxis] - h, n * sp, None),
    }[method]
    cost = np.ones(matrix.shape[1])
    options = {"presolve": presolve}
    return lambda: linprog(cost, A_eq=matrix, b_eq=right, bounds=(0, upper), method="highs-ds", options=options)


def seconds(work: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def large_seconds(method: str, *, instances: int) -> dict[str, float]:
    """Measure own and bare calls in turn, so that a busy machine slows both; medians."""
    told = []
    for seed in range(instances):
        given = problem(*LARGE, seed)
        bare = [bare_call(given, method, presolve=presolve) for presolve in (False, True)]
        told.append([seconds(partial(attack, given, method)), *map(seconds, bare)])
    return dict(zip(("own", "bare", "presolved"), map(median, zip(*told, strict=True)), strict=True))


def rows(*, instances: int = 3) -> Iterator[Row]:
    """Measure every method."""
    small = [problem(*SMALL, seed) for seed in range(REPEATS)]
    for method in RECOVERY_METHODS:
        attack(small[0], method)  # the first call imports the solver
        told = large_seconds(method, instances=instances)
        many = [sum(seconds(partial(attack, given, method)) for given in small) for _ in range(3)]
        yield Row(method=method, many=median(many), **told)


def verdicts(row: Row) -> Iterator[tuple[str, bool]]:
    """Return each limit that holds for a method, and whether it is reached."""
    ratio = row.own / row.bare
    yield f"{row.method}, n = 1,000: {ratio:.2f} <= {LIMIT_RATIO:g} bare calls", ratio <= LIMIT_RATIO
    told = f"{row.method}, {REPEATS} times n = 100: {row.many * 1e3:.0f} ms <= {LIMIT_MANY * 1e3:g} ms"
    yield told, row.many <= LIMIT_MANY


def main() -> None:
    """Print the table and one verdict a limit."""
    print("Attacks on bias answers: one at n = 1,000 and m = 400, and 50 at n = 100 and m = 25")
    print("method         attack s   bare s  ratio  bare, presolve s  50 small ms")
    reached = []
    for row in rows():
        print(
            f"{row.method:<14} {row.own:>8.3f} {row.bare:>8.3f} {row.own / row.bare:>6.2f} {row.presolved:>17.3f}"
            f" {row.many * 1e3:>12.0f}",
            flush=True,
        )
        reached += list(verdicts(row))
    for sentence, good in reached:
        print(f"{'reached' if good else 'NOT reached'}: {sentence}")


if __name__ == "__main__":
    main()
