"""How fast the noise of AttriGuard is found and allocated, and how fast a moved budget is answered.

Without the ratings of Jia and Gong (2018) in FAIRLEAK_DATA the demo's invented ones stand in, too few to judge the two
ratios by, as these grow with the number of people. The plain loop (`tests.linear_cases`) runs on a spread sample of the
people, cvxpy with Clarabel on another; both are reckoned up to all of them.
"""

import subprocess
import sys

import numpy as np

from core.datasets.ratings import demo_ratings, read_ratings
from core.studies.attriguard import Exposure, RatingsDefense, allocate, representatives
from core.studies.attriguard.result import Guesses
from tests.benchmarks.measuring import seconds, verdicts
from tests.linear_cases import plain_panda, plain_weights
from tests.oracles.allocation import allocate_with_solver
from tests.ratings_samples import ratings_settings
from tests.reference.data import RATINGS

LOOP_PEOPLE, SOLVER_PEOPLE = 24, 60
BUDGETS = (0.1, 0.3, 1.0)


def whole_study():
    """Run the study with all attackers; return the most memory this process has taken, in GB."""
    import resource

    for _ in RatingsDefense(available_ratings(), ratings_settings()).expose():
        pass
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e9 if sys.platform == "darwin" else 1e9 / 1024)  # bytes there, kilobytes elsewhere


def available_ratings():
    """Return the ratings of Jia and Gong, or the demo's invented ones."""
    return read_ratings(RATINGS) if (RATINGS / "test_user.txt").is_file() else demo_ratings()


def loop_seconds(records, defender, noise):
    """Return what the plain loop takes for all pairs, by what it takes for a sample of the people."""
    weights, offsets = plain_weights(defender, centred=True)
    people = np.linspace(0, records.shape[0] - 1, LOOP_PEOPLE).astype(int)

    def work():
        for k, x in zip(people.tolist(), records[people].toarray(), strict=True):
            for i in np.flatnonzero(np.arange(noise.size.shape[1]) != noise.predicted[k]).tolist():
                plain_panda(x, weights, offsets, i, policy="modify_add")

    return seconds(work) * records.shape[0] / LOOP_PEOPLE


def study(noise, shares):
    """Return a study with invented guesses; how good they are does not matter to the time."""
    rng = np.random.default_rng(3)
    n, m = noise.size.shape
    guesses = [
        Guesses(attacker=f"attacker {k}", clean=rng.integers(m, size=n), noisy=rng.integers(m, size=(n, m)))
        for k in range(9)
    ]
    return Exposure(
        attribute="city",
        unit="ratings",
        values=tuple(map(str, range(m))),
        truth=rng.integers(m, size=n),
        predicted=noise.predicted,
        size=noise.size,
        reached=noise.reached,
        target=shares,
        shares=shares,
        guesses=tuple(guesses),
    )


def main():
    from sklearn.linear_model import LogisticRegression

    ratings = available_ratings()
    records, shares = ratings.people_test, ratings.shares
    defender = LogisticRegression(C=1.0, max_iter=1000).fit(ratings.people_train, ratings.values_train)
    noise = representatives(records, defender)
    (people, values), items = noise.size.shape, records.shape[1]
    print(f"AttriGuard, {ratings.title}: {people:,} people, {values} values, {items:,} items")
    search = seconds(lambda: representatives(records, defender), 3)
    loop = loop_seconds(records, defender, noise) / search
    sample = noise.size[np.linspace(0, people - 1, SOLVER_PEOPLE).astype(int)]
    allocate_with_solver(sample[:2], shares, BUDGETS[0])  # the first call compiles the program
    slowest, ratio = 0.0, float("inf")
    for budget in BUDGETS:
        quick = seconds(lambda budget=budget: allocate(noise.size, shares, budget), 15)
        bare = seconds(lambda budget=budget: allocate_with_solver(sample, shares, budget)) * people / SOLVER_PEOPLE
        slowest, ratio = max(slowest, quick), min(ratio, bare / quick)
    moved = study(noise, shares)
    move = max(seconds(lambda budget=budget: moved.at(budget), 9) for budget in BUDGETS)
    code = "from tests.benchmarks.bench_attriguard import whole_study; print(whole_study())"
    process = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    memory = float(process.stdout.split()[-1])
    if not ratings.synthetic:
        verdicts(("times as fast as the loop", loop, 12, "least"), ("times as fast as cvxpy", ratio, 300, "least"))
    verdicts(("s of allocate", slowest, 0.009), ("s of a moved budget", move, 0.1), ("GB of a whole study", memory, 2))
