"""How fast the exact correction is: two groups against sorting and CBC, and K groups against CBC.

Run from the repository's root: ``python -m tests.benchmarks.bench_correction``. Two groups: records of Adult where
FAIRLEAK_DATA has it, repeated with costs made distinct, else synthetic ones. K groups: nine instances a row, guesses of
unequal groups whose rates differ, published costs with exponents 1 to 60, tolerances 0.001 to 0.02; CBC (the counts
with one segment a distinct cost) gets 60 s on the instance with the most changes.

Limits: exact at most 0.5 x np.argsort(cost) at 1,000,000 records and 1 x at 135,924, and 1,000 x faster than CBC on
RC_e at 15,375, with objectives equal to 1e-9. With K = 9 groups and 15,000 records all instances proved optimal to 1e-9
with a median under 1 s, where CBC has no proof in 60 s; CBC never finds anything cheaper.
"""

from __future__ import annotations

import time
from functools import cache
from statistics import median
from typing import Any

import numpy as np

from core.datasets import build_dataset, load
from core.studies.correction import CorrectionResult, correct, run
from core.studies.correction.disclosure import published_cost
from core.studies.subject import AuditConfig
from tests.benchmarks.measuring import DATA, is_adult_available, seconds, verdicts

SIZES = (15_375, 45_000, 135_924, 1_000_000)
TOLERANCE, EXPONENT, PROOF, TIME_LIMIT = 0.001, 6, 1e-9, 60.0
SORT_LIMITS = {135_924: 1.0, 1_000_000: 0.5}
CBC_LIMITS = {15_375: 1000.0}
ROWS = ((3, 15_000), (5, 15_000), (9, 15_000), (3, 45_000), (5, 45_000), (9, 45_000))
EXPONENTS = (1, 2, 3, 6, 9, 12, 25, 40, 60)
TOLERANCES = (0.001, 0.005, 0.02)
LIMIT_ROW, LIMIT_SECONDS = (9, 15_000), 1.0

Arrays = dict[str, np.ndarray]


def records(n: int, seed: int = 0) -> Arrays:
    """Return n records of Adult, repeated with costs made distinct, or seeded ones where it is not here."""
    rng = np.random.default_rng(seed)
    if not is_adult_available():
        predictions = (rng.random(n) < 0.2).astype(np.uint8)
        guess = (rng.random(n) < np.where(predictions, 0.25, 0.42)).astype(np.uint8)
        return {"guess": guess, "predictions": predictions, "cost": published_cost(0.5 + rng.random(n) / 2, EXPONENT)}
    attacked = adult().attacks["features", "as_published"][0]
    n_available = attacked.guess.size
    pick = np.concatenate([rng.permutation(n_available), rng.integers(0, n_available, max(0, n - n_available))])[:n]
    cost = published_cost(attacked.confidence, EXPONENT)[pick] * (1 + 1e-7 * rng.random(n))
    return {"guess": attacked.guess[pick], "predictions": attacked.predictions[pick], "cost": cost}


@cache
def adult() -> CorrectionResult:
    """Return the findings of the audited Adult records."""
    table = load("adult", data_folder=DATA)
    return run(AuditConfig(dataset="adult", tolerance=0.0, seed=42), dataset=build_dataset(table, table.roles[0]))


def two_groups(sizes: tuple[int, ...] = SIZES) -> None:
    """Print a row a size and its verdicts; CBC is reported as it ends."""
    print(f"Correction, statistical parity, tolerance {TOLERANCE}")
    print(f"{'N':>9} {'argsort ms':>11} {'exact ms':>9} {'CBC s':>7} status")
    reached = []
    for n in sizes:
        problem: Any = records(n)
        corrected = correct(**problem, tolerance=TOLERANCE)  # also the warm-up
        repeats = 15 if n > 100_000 else 51
        sort = seconds(lambda p=problem: np.argsort(p["cost"]), repeats, clock=time.perf_counter)
        exact = seconds(lambda p=problem: correct(**p, tolerance=TOLERANCE), repeats, clock=time.perf_counter)
        cbc = correct(**problem, tolerance=TOLERANCE, solver="ilp", time_limit=TIME_LIMIT)
        status, taken = cbc.certificate.status, cbc.certificate.seconds
        print(f"{n:>9,} {sort * 1e3:>11.2f} {exact * 1e3:>9.2f} {taken:>7.2f} {status}", flush=True)
        if n in SORT_LIMITS:
            limit, ratio = SORT_LIMITS[n], exact / sort
            reached.append((f"exact <= {limit:g} x argsort at {n:,}: {ratio:.2f} x", ratio <= limit))
        if n in CBC_LIMITS:
            limit, faster = CBC_LIMITS[n], taken / exact
            reached.append((f"exact >= {limit:,.0f} x as fast as CBC: {faster:,.0f} x", faster >= limit))
        if n <= 45_000:
            reached.append((f"CBC proves optimality at N = {n:,}: {status}", status == "optimal"))
        if status == "optimal":
            difference = abs(corrected.objective - cbc.objective) / corrected.objective
            reached.append((f"objectives agree to {PROOF:g} at N = {n:,}: {difference:.1e}", difference <= PROOF))
    verdicts(reached)


def instance(k: int, n: int, seed: int) -> dict[str, Any]:
    """Return the arguments of `correct` for one instance of K groups."""
    rng = np.random.default_rng(seed)
    predictions = (rng.random(n) < rng.uniform(0.1, 0.5)).astype(np.uint8)
    first, second = (rng.dirichlet(np.full(k, 2.0)) + 0.02 for _ in range(2))
    shares = [first / first.sum(), (first + second) / (first + second).sum()]
    guess = np.where(predictions, rng.choice(k, n, p=shares[0]), rng.choice(k, n, p=shares[1])).astype(np.uint8)
    return {
        "guess": guess,
        "predictions": predictions,
        "cost": published_cost(0.5 + rng.random(n) / 2, EXPONENTS[seed % len(EXPONENTS)]),
        "tolerance": float(rng.choice(TOLERANCES)),
        "n_groups": k,
    }


def many_groups(rows: tuple[tuple[int, int], ...] = ROWS, *, instances: int = 9) -> None:
    """Print a row a number of groups and of records, and its verdicts."""
    print("Correction of K groups, statistical parity, nine instances a row; CBC on the one with the most changes")
    print(" K       N  median s longest s  proved  CBC s status")
    reached = []
    for k, n in rows:
        problems = [instance(k, n, seed) for seed in range(instances)]
        correct(**problems[0])  # the first call imports the solver
        results = [correct(**problem, time_limit=TIME_LIMIT) for problem in problems]
        widest = max(range(instances), key=lambda i: results[i].n_changed or 0)
        cbc = correct(**problems[widest], solver="ilp", time_limit=TIME_LIMIT)
        certificates = [result.certificate for result in results]
        proved = sum(
            c.objective is not None and c.objective - c.best_bound <= PROOF * c.objective for c in certificates
        )
        taken, status = [c.seconds for c in certificates], cbc.certificate.status
        print(
            f"{k:>2} {n:>7,} {median(taken):>9.3f} {max(taken):>9.3f} {f'{proved}/{instances}':>7}"
            f" {cbc.certificate.seconds:>6.1f} {status}",
            flush=True,
        )
        where = f"K = {k}, N = {n:,}"
        if (k, n) == LIMIT_ROW:
            slow = median(taken)
            reached.append((f"{where}: {proved} of {instances} proved to {PROOF:g}", proved == instances))
            reached.append((f"{where}: median {slow:.2f} s <= {LIMIT_SECONDS:g} s", slow <= LIMIT_SECONDS))
            reached.append((f"{where}: CBC has no proof in its time ({status})", status != "optimal"))
        objective = results[widest].objective
        if cbc.objective is not None and objective:
            above = cbc.objective / objective - 1
            reached.append((f"{where}: CBC is not cheaper ({above:.1e})", above >= -PROOF))
    verdicts(reached)


def main() -> None:
    """Measure both."""
    two_groups()
    print()
    many_groups()


if __name__ == "__main__":
    main()
