"""How fast the attacks on bias answers are, how much of it is HiGHS, and how long a move of the page's slider takes.

A bare call is `scipy.optimize.linprog` with "highs-ds" on the same matrices, built beforehand, without HiGHS' presolve,
as the attacks have it. The slider's people and questions are drawn beforehand, as on the page.
"""

import time
from functools import partial
from statistics import median

import numpy as np
from scipy.optimize import linprog

from core.datasets import build_dataset, load
from core.studies.bias_queries import (
    Exact,
    NoisySums,
    Rounded,
    SmoothLaplace,
    Trials,
    query_pool,
    statistical_parity_gap,
)
from core.studies.bias_queries.gaps import design_scores
from core.studies.bias_queries.reveal import RECOVERY_METHODS, recover_compressed
from core.studies.subject import AuditConfig, subject_of
from tests.benchmarks.measuring import seconds, verdicts

LARGE, SMALL, REPEATS, INSTANCES = (1000, 400), (100, 25), 50, 3


def problem(n, m, seed):
    """Return the arguments of an attack: a tenth disadvantaged among n people, and m exact answers."""
    rng = np.random.default_rng(seed)
    a = np.ones(n, dtype=np.uint8)
    a[rng.permutation(n)[: n // 10]] = 0
    scores = design_scores("jitter", rng.beta(0.4, 1.2, n), m, rng=rng)
    sizes = {"n_advantaged": int(a.sum()), "n_disadvantaged": int(n - a.sum())}
    return {"scores": scores, "answers": statistical_parity_gap(scores, a), **sizes}


def bare_call(instance, method):
    """Return the one call of HiGHS that solves a method's program as it is written down."""
    h, sp, n_advantaged, n_disadvantaged = instance.values()
    n, c = h.shape[1], 1 / n_advantaged + 1 / n_disadvantaged
    target = (h.sum(axis=1) / n_advantaged - sp) / c
    matrix, right, upper = {
        "l1": (np.hstack([h, -h]), target, None),
        "nonnegative": (h, target, None),
        "box": (np.vstack([h, np.ones(n)]), np.append(target, n_disadvantaged), 1),
        "sizes_unknown": (h.mean(axis=1)[:, np.newaxis] - h, n * sp, None),
    }[method]
    cost, options = np.ones(matrix.shape[1]), {"presolve": False}
    return lambda: linprog(cost, A_eq=matrix, b_eq=right, bounds=(0, upper), method="highs-ds", options=options)


def attacks():
    """Print a row a method and its verdicts; own and bare calls take turns, so that a busy machine slows both."""
    print("Attacks on bias answers: one at n = 1,000 and m = 400, and 50 at n = 100 and m = 25")
    wall = partial(seconds, clock=time.perf_counter)
    small = [problem(*SMALL, seed) for seed in range(REPEATS)]
    for method in RECOVERY_METHODS:
        attack = partial(recover_compressed, method=method)
        attack(**small[0])  # the first call imports the solver
        durations = []
        for seed in range(INSTANCES):
            instance = problem(*LARGE, seed)
            durations.append([wall(partial(attack, **instance)), wall(bare_call(instance, method))])
        attack_time, plain = (median(column) for column in zip(*durations, strict=True))
        many = median(sum(wall(partial(attack, **instance)) for instance in small) for _ in range(3))
        verdicts((f"bare calls, {method}, n = 1,000", attack_time / plain, 1.3))
        verdicts((f"s, {method}, {REPEATS} times n = 100", many, 0.25))


def moves():
    """Print the verdict on the slowest move of the slider by way of answering."""
    table = load("demo")
    pool = query_pool(subject_of(AuditConfig(dataset="demo"), build_dataset(table, table.roles[0])))
    trials = Trials(pool, n=100)
    trials.leak(60, Exact(), "strongest")  # draws the questions, imports the solver
    for mechanism in (Exact(), Rounded(3), SmoothLaplace(5.0, 1e-5), NoisySums(5.0)):
        timings = [seconds(partial(trials.leak, m, mechanism, "strongest"), 3) for m in (10, 25, 40, 60)]
        verdicts((f"s of the slowest move of the slider, {type(mechanism).__name__}", max(timings), 0.3))


def main():
    attacks()
    print()
    moves()
