"""A black-box audit of a mechanism: run it many times on two neighbours and certify how much it gave away, at least.

Half the runs choose an event, the other half test it, so the choice costs no confidence. Events are upper and lower
tails of three statistics that need no knowledge of the noise: the projection on the difference of the medians, the
spread Σ log(1 + z²) of the coordinates z around their medians, and the sum of the two in units of their own spread.
P(event | one) is bounded from below and P(event | other) from above by Clopper and Pearson (1934), each with half the
error allowed; then ε ≥ ln(low/high). A mechanism that keeps its promise is certified above it with a
probability of at most 1 − level; one that is certified above it has broken it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.queries.mechanisms import Mechanism, NoisySums, people

TAILS = 60  # thresholds tried for each statistic and side
CAUTION = 1000  # choosing allows this many times less error than testing, or a rare event wins by luck


def exact_limits(successes: int, n: int, *, level: float) -> tuple[float, float]:
    """Return the lower and the upper Clopper-Pearson limit of a proportion, each one-sided at this level."""
    from scipy.special import betaincinv

    error = 1 - level
    low = float(betaincinv(successes, n - successes + 1, error)) if successes else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1 - error)) if successes < n else 1.0
    return low, high


def black_box_epsilon(
    mechanism: Mechanism,
    scores: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    neighbour: npt.ArrayLike,
    *,
    runs: int,
    rng: np.random.Generator,
    level: float,
) -> float:
    """Return the privacy loss that `runs` runs on either vector certify with this confidence, 0 if none.

    Parameters
    ----------
    scores : array-like of shape (m, n) or (n,), in [0, 1]
    sensitive, neighbour : array-like of shape (n,), 0 or 1
    runs : int
        Runs on each of the two vectors, half of them to choose the event.
    level : float, in (0, 1)
    """
    seen = [observed(mechanism, scores, a, rng, runs) for a in (sensitive, neighbour)]
    half = runs // 2
    one_sided = (1 + level) / 2
    values = _statistics([x[:half] for x in seen], seen)
    name, side, first, threshold = _choose(values, half, 1 - (1 - one_sided) / CAUTION)
    hits, others = (
        int(np.count_nonzero(side * values[name][which][half:] >= threshold)) for which in (first, 1 - first)
    )
    tested = runs - half
    low, high = exact_limits(hits, tested, level=one_sided)[0], exact_limits(others, tested, level=one_sided)[1]
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def observed(
    mechanism: Mechanism, scores: npt.ArrayLike, sensitive: npt.ArrayLike, rng: np.random.Generator, draws: int
) -> Floats:
    """Return all that the one who asks gets to see in `draws` runs, shape (draws, k); mostly the answers."""
    if isinstance(mechanism, NoisySums):
        return mechanism.count_and_sums(*people(scores, sensitive, None), rng, draws)
    return mechanism.draws(scores, sensitive, rng=rng, draws=draws)


def _statistics(learning: list[Floats], seen: list[Floats]) -> dict[str, list[Floats]]:
    """Return the statistics of all runs on either vector; what they need is learnt from the learning runs."""
    together = np.concatenate(learning)
    middle = np.median(together, axis=0)
    wide = np.median(np.abs(together - middle), axis=0)
    wide = np.where(wide > 0, wide, 1.0)
    apart = (np.median(learning[1], axis=0) - np.median(learning[0], axis=0)) / wide
    scaled = [(x - middle) / wide for x in seen]
    shift = [np.clip(z, -50, 50) @ apart for z in scaled]
    spread = [np.log1p(np.square(z)).sum(axis=1) for z in scaled]
    return {"shift": shift, "spread": spread, "sum of shift and spread": _added(shift, spread, len(learning[0]))}


def _added(shift: list[Floats], spread: list[Floats], half: int) -> list[Floats]:
    """Return shift and spread added, each in units of how well the learning runs tell the vectors apart by it."""
    total = [np.zeros(len(x)) for x in shift]
    for values in (shift, spread):
        one, other = (x[:half] for x in values)
        variance = (one.var() + other.var()) / 2
        weight = (other.mean() - one.mean()) / variance if variance > 0 else 0.0
        total = [t + weight * x for t, x in zip(total, values, strict=True)]
    return total


def _choose(values: dict[str, list[Floats]], half: int, one_sided: float) -> tuple[str, int, int, float]:
    """Return the event that certifies most on the learning runs: statistic, side, likelier vector, threshold."""
    best, chosen = -math.inf, ("shift", 1, 0, 0.0)
    tails = 1 - np.geomspace(min(0.9, 10 / half), 0.95, TAILS)  # denser towards the rare end
    for name, pair in values.items():
        learning = [np.sort(x[:half]) for x in pair]
        for side in (1, -1):
            ordered = learning if side > 0 else [-x[::-1] for x in learning]
            for threshold in np.quantile(np.concatenate(ordered), tails):
                counts = [half - int(np.searchsorted(x, threshold)) for x in ordered]
                for first in (0, 1):
                    low = exact_limits(counts[first], half, level=one_sided)[0]
                    high = exact_limits(counts[1 - first], half, level=one_sided)[1]
                    certified = math.log(low / high) if low > 0 else -math.inf
                    if certified > best:
                        best, chosen = certified, (name, side, first, float(threshold))
    return chosen
