"""How fast the noise of AttriGuard is found and allocated, and how fast a moved budget is answered.

Run with FAIRLEAK_DATA for the ratings of Jia and Gong (2018); without them the demo's invented ratings stand in.
"""

import subprocess
import sys

from core.datasets.ratings import demo_ratings, read_ratings
from core.studies.attriguard import RatingsDefense, allocate, representatives
from tests.benchmarks.measuring import DATA, seconds, verdicts
from tests.ratings_samples import ratings_settings
from tests.unit.charts.samples import study

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
    folder = DATA / "google_play_ratings"
    return read_ratings(folder) if (folder / "test_user.txt").is_file() else demo_ratings()


def main():
    from sklearn.linear_model import LogisticRegression

    ratings = available_ratings()
    records, shares = ratings.people_test, ratings.shares
    defender = LogisticRegression(C=1.0, max_iter=1000).fit(ratings.people_train, ratings.values_train)
    noise = representatives(records, defender)
    people, values = noise.size.shape
    print(f"AttriGuard, {ratings.title}: {people:,} people, {values} values, {records.shape[1]:,} items")
    print(f"the search for noise: {seconds(lambda: representatives(records, defender), 3):.2f} s")
    slowest = max(seconds(lambda budget=budget: allocate(noise.size, shares, budget), 15) for budget in BUDGETS)
    moved = study(values, people)  # of invented guesses; how good they are does not matter to the time
    move = max(seconds(lambda budget=budget: moved.at(budget), 9) for budget in BUDGETS)
    code = "from tests.benchmarks.bench_attriguard import whole_study; print(whole_study())"
    process = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    memory = float(process.stdout.split()[-1])
    verdicts(("s of allocate", slowest, 0.009), ("s of a moved budget", move, 0.1), ("GB of a whole study", memory, 2))
