"""How fast the noise of AttriGuard is found and allocated, and how fast a moved budget is answered.

Run from the repository's root: ``python -m tests.benchmarks.bench_attriguard``, with FAIRLEAK_DATA for the ratings of
Jia and Gong (2018); without them the demo's invented ratings stand in, which are too few to judge the two ratios by,
as these grow with the number of people. The plain loop is Algorithm 1 one person
and one entry at a time (`tests.linear_cases`) on a spread sample of the pairs, the solver cvxpy with Clarabel on a
sample of the people; both are reckoned up to all of them.

Limits: the search is at least 12 times as fast as the plain loop; `allocate` at least 300 times as fast as cvxpy and
at most 9 ms; a budget moved for 1,631 people, 25 values and 9 attackers takes at most 100 ms; a process of its own that
runs the whole study, all attackers included, takes at most 2 GB of memory (about a minute and a half).
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np

from core.datasets import Ratings
from core.datasets.ratings import demo_ratings, read_ratings
from core.studies.attriguard import Exposure, RatingsDefense, allocate, representatives
from core.studies.attriguard.allocation import RepresentativeNoise
from core.studies.attriguard.result import Guesses
from tests.benchmarks.measuring import DATA, seconds, verdicts
from tests.linear_cases import plain_panda, plain_weights
from tests.oracles.allocation import allocate_with_solver
from tests.ratings_samples import ratings_settings

ATTACKERS = 9
LOOP_PEOPLE, SOLVER_PEOPLE = 24, 60
BUDGETS = (0.1, 0.3, 1.0)
LIMIT_LOOP, LIMIT_SOLVER, LIMIT_ALLOCATE, LIMIT_MOVE = 12.0, 300.0, 0.009, 0.1
LIMIT_MEMORY = 2.0  # GB


def available_ratings() -> Ratings:
    """Return the ratings of Jia and Gong, or the demo's invented ones."""
    folder = DATA / "google_play_ratings"
    if (folder / "test_user.txt").is_file():
        return read_ratings(folder)
    return demo_ratings()


def people_and_defender(ratings: Ratings) -> tuple[Any, Any, np.ndarray]:
    """Return the protected people's records, the defender's classifier, and the values' shares."""
    from sklearn.linear_model import LogisticRegression

    defender = LogisticRegression(C=1.0, max_iter=1000).fit(ratings.people_train, ratings.values_train)
    return ratings.people_test, defender, ratings.shares


def loop_seconds(records: Any, defender: Any, noise: RepresentativeNoise) -> float:
    """Return what the plain loop takes for all pairs, by what it takes for a sample of the people."""
    weights, offsets = plain_weights(defender, centred=True)
    people = np.linspace(0, records.shape[0] - 1, LOOP_PEOPLE).astype(int)
    clean = records[people].toarray()

    def work() -> None:
        for k, x in zip(people.tolist(), clean, strict=True):
            for i in np.flatnonzero(np.arange(noise.size.shape[1]) != noise.predicted[k]).tolist():
                plain_panda(x, weights, offsets, i, policy="modify_add")

    return seconds(work, 1) * records.shape[0] / LOOP_PEOPLE


def study(noise: RepresentativeNoise, shares: np.ndarray) -> Exposure:
    """Return a study with invented guesses; how good they are does not matter to the time."""
    rng = np.random.default_rng(3)
    shape = noise.size.shape
    guesses = tuple(
        Guesses(
            attacker=f"attacker {k}",
            clean=rng.integers(shape[1], size=shape[0]),
            noisy=rng.integers(shape[1], size=shape),
        )
        for k in range(ATTACKERS)
    )
    return Exposure(
        attribute="city",
        unit="ratings",
        values=tuple(map(str, range(shape[1]))),
        truth=rng.integers(shape[1], size=shape[0]),
        predicted=noise.predicted,
        size=noise.size,
        reached=noise.reached,
        target=shares,
        shares=shares,
        guesses=guesses,
    )


def allocation_row(noise: RepresentativeNoise, shares: np.ndarray, budget: float) -> tuple[float, float, float]:
    """Return the seconds of `allocate` and of the solver for all people, and how far apart they are."""
    allocate_seconds = seconds(lambda: allocate(noise.size, shares, budget), 15)
    size = noise.size[np.linspace(0, len(noise.size) - 1, SOLVER_PEOPLE).astype(int)]
    allocate_with_solver(size[:2], shares, budget)  # the first call compiles the program
    solutions: list[np.ndarray] = []
    bare = seconds(lambda: solutions.append(allocate_with_solver(size, shares, budget)), 1)
    return (
        allocate_seconds,
        bare * len(noise.size) / SOLVER_PEOPLE,
        float(np.abs(solutions[0] - allocate(size, shares, budget)).max()),
    )


def gigabytes_of_a_study() -> float:
    """Return the most memory of a process of its own that runs the whole study."""
    code = "from tests.benchmarks.bench_attriguard import whole_study; print(whole_study())"
    process = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(process.stdout.split()[-1])


def whole_study() -> float:
    """Run the study with all attackers; return the most memory this process has taken, in GB."""
    import resource

    for _ in RatingsDefense(available_ratings(), ratings_settings()).expose():
        pass
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e9 if sys.platform == "darwin" else 1e9 / 1024)  # bytes there, kilobytes elsewhere


def main() -> None:
    """Print the figures and one verdict a limit."""
    ratings = available_ratings()
    print(f"Ratings: {ratings.title}.")
    records, defender, shares = people_and_defender(ratings)
    noise = representatives(records, defender)
    search = seconds(lambda: representatives(records, defender), 3)
    loop = loop_seconds(records, defender, noise)
    (people, values), items = noise.size.shape, records.shape[1]
    print(f"AttriGuard: {people:,} people, {values} values, {items:,} items; {noise.size.mean():.2f} entries a noise")
    print(f"search {search:.2f} s, plain loop {loop:.0f} s; allocation:")
    print("budget  allocate ms  cvxpy s   ratio  largest difference")
    rows = [allocation_row(noise, shares, budget) for budget in BUDGETS]
    for budget, (allocate_time, bare, difference) in zip(BUDGETS, rows, strict=True):
        print(f"{budget:>6g} {allocate_time * 1e3:>12.1f} {bare:>8.1f} {bare / allocate_time:>7.0f}  {difference:.0e}")
    slowest, ratio = (
        max(allocate_time for allocate_time, _, _ in rows),
        min(bare / allocate_time for allocate_time, bare, _ in rows),
    )
    moved = study(noise, shares)
    move = max(seconds(lambda budget=budget: moved.at(budget), 9) for budget in BUDGETS)
    sentence = f"a moved budget, {ATTACKERS} attackers, takes {move * 1e3:.0f} ms <= {LIMIT_MOVE * 1e3:g} ms"
    memory = gigabytes_of_a_study()
    ratios = [
        (f"the search is {loop / search:.0f} >= {LIMIT_LOOP:g} times as fast as the loop", loop / search >= LIMIT_LOOP),
        (f"allocate is {ratio:.0f} >= {LIMIT_SOLVER:g} times as fast as cvxpy", ratio >= LIMIT_SOLVER),
    ]
    reached = [
        (f"allocate takes {slowest * 1e3:.1f} ms <= {LIMIT_ALLOCATE * 1e3:g} ms", slowest <= LIMIT_ALLOCATE),
        (sentence, move <= LIMIT_MOVE),
        (f"the whole study takes {memory:.2f} GB <= {LIMIT_MEMORY:g} GB at its peak", memory <= LIMIT_MEMORY),
    ]
    verdicts(reached if ratings.synthetic else [*ratios, *reached])


if __name__ == "__main__":
    main()
