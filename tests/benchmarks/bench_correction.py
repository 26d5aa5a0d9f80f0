"""How fast the exact correction is: two groups against sorting and CBC, and nine groups against CBC.

Nine groups: guesses of unequal groups whose rates differ; CBC (the counts with one segment a distinct cost) gets 60 s
on the instance with the most changes.
"""

import time
from functools import partial
from statistics import median

import numpy as np

from core.studies.correction import correct
from core.studies.correction.disclosure import published_cost
from tests.benchmarks.measuring import is_adult_available, seconds, verdicts
from tests.reference.data import adult_findings

TOLERANCE, EXPONENT, PROOF, TIME_LIMIT = 0.001, 6, 1e-9, 60.0
SORT_LIMITS = {15_375: float("inf"), 135_924: 1.0, 1_000_000: 0.5}
EXPONENTS = (1, 2, 3, 6, 9, 12, 25, 40, 60)
GROUPS, RECORDS = 9, 15_000


def records(n, seed=0):
    """Return n records of Adult, repeated with costs made distinct, or seeded ones where it is not here."""
    rng = np.random.default_rng(seed)
    if not is_adult_available():
        predictions = (rng.random(n) < 0.2).astype(np.uint8)
        guess = (rng.random(n) < np.where(predictions, 0.25, 0.42)).astype(np.uint8)
        return {"guess": guess, "predictions": predictions, "cost": published_cost(0.5 + rng.random(n) / 2, EXPONENT)}
    attacked = adult_findings().attacks["features", "as_published"][0]
    n_available = attacked.guess.size
    pick = np.concatenate([rng.permutation(n_available), rng.integers(0, n_available, max(0, n - n_available))])[:n]
    cost = published_cost(attacked.confidence, EXPONENT)[pick] * (1 + 1e-7 * rng.random(n))
    return {"guess": attacked.guess[pick], "predictions": attacked.predictions[pick], "cost": cost}


def two_groups():
    """Print the verdicts by size; CBC is for the smallest."""
    print(f"Correction, statistical parity, tolerance {TOLERANCE}")
    for n, limit in SORT_LIMITS.items():
        problem = records(n)
        work = partial(correct, **problem, tolerance=TOLERANCE)
        work()  # the warm-up
        sort = seconds(partial(np.argsort, problem["cost"]), 15, clock=time.perf_counter)
        exact = seconds(work, 15, clock=time.perf_counter)
        verdicts((f"times argsort at {n:,}", exact / sort, limit))
        if n == min(SORT_LIMITS):
            cbc = work(solver="ilp", time_limit=TIME_LIMIT).certificate
            verdicts((f"times as fast as CBC ({cbc.status})", cbc.seconds / exact, 1000, "least"))


def instance(k, n, seed):
    rng = np.random.default_rng(seed)
    predictions = (rng.random(n) < rng.uniform(0.1, 0.5)).astype(np.uint8)
    first, second = (rng.dirichlet(np.full(k, 2.0)) + 0.02 for _ in range(2))
    shares = [first / first.sum(), (first + second) / (first + second).sum()]
    guess = np.where(predictions, rng.choice(k, n, p=shares[0]), rng.choice(k, n, p=shares[1])).astype(np.uint8)
    return {
        "guess": guess,
        "predictions": predictions,
        "cost": published_cost(0.5 + rng.random(n) / 2, EXPONENTS[seed % len(EXPONENTS)]),
        "tolerance": float(rng.choice((0.001, 0.005, 0.02))),
        "n_groups": k,
    }


def many_groups():
    problems = [instance(GROUPS, RECORDS, seed) for seed in range(9)]
    correct(**problems[0])  # the first call imports the solver
    results = [correct(**problem, time_limit=TIME_LIMIT) for problem in problems]
    certificates = [result.certificate for result in results]
    proved = sum(c.objective is not None and c.objective - c.best_bound <= PROOF * c.objective for c in certificates)
    slow = median(certificate.seconds for certificate in certificates)
    widest = max(range(len(results)), key=lambda i: results[i].n_changed or 0)
    cbc = correct(**problems[widest], solver="ilp", time_limit=TIME_LIMIT)
    cheapest = float("inf") if cbc.objective is None else cbc.objective / results[widest].objective - 1
    print(f"Correction of {GROUPS} groups, {RECORDS:,} records, statistical parity")
    verdicts(
        (f"proved to {PROOF:g}", proved, len(results), "least"),
        ("s, the median", slow, 1),
        ("CBC has no proof in its time", cbc.certificate.status == "optimal", 0),
        ("CBC is not cheaper", cheapest, -PROOF, "least"),
    )


def main():
    two_groups()
    print()
    many_groups()
