"""Attribute-Conceal on synthetic people: the settings of tables 2 and 3 and figure 3 of Hamman et al. (2023), measured.

The paper leaves open what its synthetic predictions are and, in table 3, how many questions were asked. Here every
prediction is 0 or 1 by a coin, the matrix compressed sensing likes best, and m = ⌈N0 ln(n/N0)⌉ where the paper gives
none. Noise and formulas are those of theorem 7; with 2 <= N0 <= N1 the published and the corrected version are one.

Errors are computed, not drawn: the noise is Cauchy, which has no mean, so that the paper's "average error" is beside
our median and 95th percentile. Each repeat has new people, questions and noise; one whose linear program is not solved
in time is left out of the paper's decoder (l1), and counted.
"""

import json
import math
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np

from core.studies.bias_queries import NoisySums, SmoothCauchy, leakage, statistical_parity_gap
from core.studies.bias_queries.guarantees import answer_error
from core.studies.bias_queries.reveal import solve_program
from tests.unit.queries.people import posterior


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A setting of a table; `paper` holds what is printed there: mean error, leakage in per cent."""

    table: str
    n: int
    m: int
    n_disadvantaged: int
    epsilon: float
    repeats: int
    paper: tuple[float, float] | None = None

    @property
    def key(self):
        return f"n={self.n} m={self.m} N0={self.n_disadvantaged} eps={self.epsilon:g} x{self.repeats}"


# Printed mean errors (thousandths) and leakages (per cent).
TABLE_2_THOUSAND = {  # N0 -> error at m = 500, 900; leakage at m = 500, 900
    10: (128.8, 191.4, 65, 64),
    50: (90.8, 156.3, 67, 61),
    100: (87.4, 102.9, 62, 55),
    200: (51.9, 96.7, 62, 47),
    300: (38.9, 59.9, 48, 47),
    400: (41.6, 54.5, 47, 45),
}
TABLE_2_TEN_THOUSAND = {
    50: (96.9, 64),
    100: (76.9, 61),
    500: (38.3, 59),
    1000: (26.9, 59),
    3000: (12.8, 55),
    5000: (9.9, 48),
}
TABLE_3 = {  # n, N0 -> ε -> error, leakage
    (1000, 10): {10: (929, 49), 50: (149.3, 65), 100: (83, 71), 500: (26.6, 75)},
    (1000, 100): {10: (838, 51), 50: (44.8, 55), 100: (30.5, 56), 500: (9.7, 53)},
    (10000, 100): {10: (832.3, 51), 50: (46.5, 55), 100: (33.1, 55), 500: (31, 57)},
    (10000, 1000): {10: (678.4, 50), 50: (85.3, 52), 100: (47.4, 53), 500: (13.6, 56)},
}
FIGURE_3 = {100: (5, 10, 20, 30), 1000: (10, 50, 100), 10000: (10, 50, 100)}


def questions_for(n, n_disadvantaged):
    """Return m of order N0 log(n/N0), as far as the paper says."""
    return math.ceil(n_disadvantaged * math.log(n / n_disadvantaged))


def repeats_of(n, m, *, quick):
    """Return how many repeats are worth their time: the paper's 50 where a program takes a second at most."""
    if quick:
        return 10 if n <= 100 else 2 if n <= 1000 and m <= 250 else 0
    if n <= 100:
        return 50
    if n <= 1000:
        return 50 if m <= 250 else 10 if m <= 500 else 5
    return 5 if m <= 300 else 3 if m <= 500 else 1


def cells(*, quick=False):
    """Return all settings, those that take least first; with `quick` only what takes minutes together."""
    settings = []
    for n0, (*errors, first_leakage, second_leakage) in TABLE_2_THOUSAND.items():
        for m, paper in zip((500, 900), zip(errors, (first_leakage, second_leakage), strict=True), strict=True):
            settings.append(("table 2", 1000, m, n0, 100.0, paper))
    settings += [("table 2", 10000, 1000, n0, 100.0, paper) for n0, paper in TABLE_2_TEN_THOUSAND.items()]
    for (n, n0), row in TABLE_3.items():
        settings += [("table 3", n, questions_for(n, n0), n0, float(e), paper) for e, paper in row.items()]
    for n, sizes in FIGURE_3.items():
        for n0 in sizes:
            budgets = (10.0, 25.0, 50.0, 100.0, 250.0, 500.0)
            settings += [("figure 3", n, questions_for(n, n0), n0, epsilon, None) for epsilon in budgets]
    all_cells = [
        Cell(table=t, n=n, m=m, n_disadvantaged=n0, epsilon=e, paper=paper, repeats=repeats_of(n, m, quick=quick))
        for t, n, m, n0, e, paper in settings
    ]
    return sorted((cell for cell in all_cells if cell.repeats), key=lambda cell: cell.n * cell.m**2)


def l1_guess(h, answers, sizes, limit):
    """Return whom the paper's decoder calls advantaged (algorithm 2), None if the program is not solved in time."""
    n1, n0 = sizes
    c = 1 / n0 + 1 / n1
    target = (h.sum(axis=1) / n1 - answers) / c
    solved = solve_program(np.ones(2 * h.shape[1]), np.hstack([h, -h]), target, target, time_limit=limit)
    if solved is None:
        return None
    return (solved[: h.shape[1]] - solved[h.shape[1] :] <= 0.5).astype(np.uint8)


def measure(cell, *, seed, limit):
    """Return a cell's errors, and its leakages over repeats."""
    began = time.perf_counter()
    mechanism, n0, n1 = SmoothCauchy(cell.epsilon), cell.n_disadvantaged, cell.n - cell.n_disadvantaged
    l1, aware, sums = [], [], []
    for repeat in range(cell.repeats):
        rng = np.random.default_rng([seed, cell.n, cell.m, n0, repeat])
        a = np.ones(cell.n, dtype=np.uint8)
        a[rng.permutation(cell.n)[:n0]] = 0
        h = rng.integers(0, 2, (cell.m, cell.n)).astype(np.float64)
        answers = mechanism.answer(h, a, rng=rng)
        guess = l1_guess(h, answers, (n1, n0), limit)
        l1.append(None if guess is None else leakage(a, guess))
        probability = posterior(h, answers, mechanism, n_advantaged=n1, n_disadvantaged=n0)
        aware.append(leakage(a, probability > probability.mean()))
        if repeat < 5:
            drawn = NoisySums(cell.epsilon).draws(h, a, rng=rng, draws=200 if cell.n <= 1000 else 20)
            sums.append(float(np.median(np.abs(drawn - statistical_parity_gap(h, a)))))
    error = answer_error(mechanism, h, a, rng=rng)
    return {
        "key": cell.key,
        "seed": seed,
        "error_median": error.median,
        "error_high": error.high,
        "sums_error_median": float(np.mean(sums)),
        "leakage_l1": l1,
        "leakage_aware": aware,
        "seconds": round(time.perf_counter() - began, 1),
    }


def run(selected, *, seed, limit, record):
    """Yield the rows of these cells, from the record where it has them; new ones are added to it at once."""
    lines = record.read_text(encoding="utf-8").splitlines() if record and record.is_file() else []
    recorded = {(row["key"], row["seed"]): row for row in map(json.loads, lines)}
    for number, cell in enumerate(selected, start=1):
        row = recorded.get((cell.key, seed))
        if row is None:
            row = recorded[cell.key, seed] = measure(cell, seed=seed, limit=limit)
            if record:
                with record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        print(f"{number}/{len(selected)} {cell.table}: {cell.key}, {row['seconds']} s", file=sys.stderr, flush=True)
        yield asdict(cell) | row
