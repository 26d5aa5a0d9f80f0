"""One bank of correction problems, run against every solver.

Each problem carries the objective every solver must reach (inf when infeasible). The hand-solved ones say how it is
found; the random ones are solved by trying all 2^n vectors in exact fractions, with nothing of core involved.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

METRICS = ("statistical_parity", "predictive_equality", "equal_opportunity", "equalized_odds")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A correction problem and its solution; `smallest` is the smallest feasible tolerance where it is known."""

    name: str
    guess: tuple[int, ...]
    predictions: tuple[int, ...]
    tolerance: Fraction
    objective: float
    metric: str = "statistical_parity"
    labels: tuple[int, ...] | None = None
    cost: tuple[float, ...] | None = None
    smallest: Fraction | None = None

    def arguments(self) -> dict[str, object]:
        """Return the arguments of `correct`."""
        return {
            "guess": np.array(self.guess, dtype=np.uint8),
            "predictions": np.array(self.predictions, dtype=np.uint8),
            "tolerance": float(self.tolerance),
            "metric": self.metric,
            "labels": None if self.labels is None else np.array(self.labels, dtype=np.uint8),
            "cost": None if self.cost is None else np.array(self.cost, dtype=float),
        }


def parts(metric: str, labels: Sequence[int] | None, n: int) -> list[list[int]]:
    """Return the indices of each row set of a metric."""
    if metric == "statistical_parity":
        return [list(range(n))]
    assert labels is not None
    wanted = {"predictive_equality": (0,), "equal_opportunity": (1,), "equalized_odds": (0, 1)}[metric]
    return [[i for i in range(n) if labels[i] == value] for value in wanted]


def gap(predictions: Sequence[int], vector: Sequence[int]) -> Fraction | None:
    """Return max over groups of |overall rate - group rate| in exact fractions; None when a group is empty."""
    n, positives = len(vector), sum(predictions)
    size, hits = sum(vector), sum(p for p, s in zip(predictions, vector, strict=True) if s)
    if size in (0, n):
        return None
    overall = Fraction(positives, n)
    return max(abs(overall - Fraction(hits, size)), abs(overall - Fraction(positives - hits, n - size)))


def brute_force(
    guess: Sequence[int],
    predictions: Sequence[int],
    tolerance: Fraction,
    metric: str = "statistical_parity",
    labels: Sequence[int] | None = None,
    cost: Sequence[float] | None = None,
) -> float:
    """Return the least cost over all vectors that meet the tolerance; inf when none does."""
    cost, total = cost or [1.0] * len(guess), 0.0
    for rows in parts(metric, labels, len(guess)):
        best = math.inf
        for vector in itertools.product((0, 1), repeat=len(rows)):
            reached = gap([predictions[i] for i in rows], vector)
            if reached is not None and reached <= tolerance:
                best = min(best, math.fsum(cost[i] for i, s in zip(rows, vector, strict=True) if s != guess[i]))
        total += best
    return total


def brute_smallest(predictions: Sequence[int]) -> Fraction | None:
    """Return the smallest unfairness of any split of the records into two groups; None when there is no split."""
    gaps = [gap(predictions, vector) for vector in itertools.product((0, 1), repeat=len(predictions))]
    return min((g for g in gaps if g is not None), default=None)


def _solved(name: str, guess: str, predictions: str, tolerance: str, objective: float, **more: Any) -> Problem:
    """Return a problem solved by hand; vectors are written as digits."""
    vectors = {"guess": digits(guess), "predictions": digits(predictions)}
    if "labels" in more:
        more["labels"] = digits(more["labels"])
    return Problem(name=name, tolerance=Fraction(tolerance), objective=objective, **vectors, **more)


def digits(text: str) -> tuple[int, ...]:
    """Return a vector written as digits."""
    return tuple(map(int, text))


_POWERS = tuple(float(b) ** 60 for b in (1.0, 1.3, 1.1, 1.9, 2.0, 1.6, 1.2, 1.7))
_COST = (5.0, 2.0, 7.0, 3.0)

HAND_SOLVED = (
    _solved("already fair: each group has one of each prediction", "1100", "1010", "0", 0.0),
    # the cheaper of {5, 2} and the cheaper of {7, 3}
    _solved("two swaps: at 0 each group needs half its records predicted 1", "1100", "1100", "0", 5.0, cost=_COST),
    _solved("just under 1/2: one change leaves a group 1/2 away", "1100", "1100", "49/100", 5.0, cost=_COST),
    _solved("met with equality: overall 1/2, groups 2/3 and 1/3", "111000", "110100", "1/6", 0.0),
    _solved("one group is empty: the cheapest record moves", "000", "101", "1", 2.0, cost=(3.0, 2.0, 4.0)),
    _solved("all predictions equal: only an empty group needs repair", "111", "000", "0", 2.5, cost=(3.0, 2.5, 4.0)),
    _solved("coprime: 1 of 5, 1/5 away whatever the split", "11000", "10000", "0", math.inf, smallest=Fraction(1, 5)),
    # the record predicted 1 leaves: rates 0 and 1/4 against 1/5
    _solved("coprime at their smallest tolerance", "11000", "10000", "1/5", 1.0),
    # one of the first two joins: groups of 3 with one predicted 1 each
    _solved("an empty cell: nobody predicted 1 is guessed in group 1", "000110", "110000", "0", 1.0),
    _solved("one record cannot be split", "1", "1", "1", math.inf),
    # two of {1, 1.3, 2, 1.6} and two of {1.1, 1.9, 1.2, 1.7}
    _solved(
        "exponent 60: the dear record stays, many magnitudes apart",
        "11001100",
        "11001100",
        "0",
        1.0 + 1.3**60 + 1.1**60 + 1.2**60,
        cost=_POWERS,
    ),
    _solved(
        "equal opportunity leaves the rows with label 0 alone",
        "101010",
        "101010",
        "0",
        9.0,  # 3 + 6 on the last four rows
        labels="001111",
        metric="equal_opportunity",
        cost=(1.0, 1.0, 4.0, 6.0, 3.0, 9.0),
    ),
    _solved(
        "equalized odds adds both row sets",
        "11001100",
        "11001100",
        "0",
        12.0,  # 2 + 3 and 1 + 6
        labels="00001111",
        metric="equalized_odds",
        cost=(*_COST, 1.0, 4.0, 6.0, 8.0),
    ),
)


def random_problem(seed: int, most: int = 12) -> Problem:
    """Return a random problem of at most `most` records, solved by brute force."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most + 1))
    guess = (rng.random(n) < rng.random()).astype(int)
    predictions = (rng.random(n) < rng.choice([0.2, 0.5, 0.8])).astype(int)
    labels = (rng.random(n) < 0.5).astype(int)
    base = 1 + rng.random(n)
    cost = [np.ones(n), base, base**60, rng.integers(1, 4, n).astype(float)][seed % 4]
    tolerance = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(int(rng.integers(0, 60)), 100)][seed // 4 % 4]
    metric = METRICS[seed // 16 % 4]
    told = {
        "guess": tuple(guess.tolist()),
        "predictions": tuple(predictions.tolist()),
        "tolerance": tolerance,
        "metric": metric,
        "labels": tuple(labels.tolist()),
        "cost": tuple(cost.tolist()),
    }
    return Problem(name=f"random {seed}: {metric}, {n} records", objective=brute_force(**told), **told)


def bank() -> tuple[Problem, ...]:
    """Return all problems: the hand-solved ones and 64 random ones over all metrics, tolerances and kinds of cost."""
    return HAND_SOLVED + tuple(random_problem(seed) for seed in range(64))


def adult_like(n: int, seed: int = 0, exponent: float = 6) -> dict[str, np.ndarray]:
    """Return guesses that overstate the groups' difference, with distinct costs; no solution comes with them."""
    rng = np.random.default_rng(seed)
    predictions = (rng.random(n) < 0.2).astype(np.uint8)
    guess = (rng.random(n) < np.where(predictions, 0.25, 0.42)).astype(np.uint8)
    cost = (1 + rng.random(n)) ** exponent
    return {"guess": guess, "predictions": predictions, "cost": cost}
