"""Intervals and p-values of gaps between rates, by resampling counts.

Resampling a stratum of n people of whom k are flagged is one binomial draw B(n, k/n); permuting the groups among K
flagged of N people is one hypergeometric draw. So both are drawn as such: the same distributions as going through the
people, without doing so.

Where fewer than `SPARSE` of a stratum are flagged, or fewer than that are not, the percentile interval is too narrow
and may have no width at all. There it is widened to hold Newcombe's (1998, method 10; for sums of four rates Zou and
Donner 2008), which is made of Wilson's intervals and always has some width.

The rates. The four strata are the two sides (0 the others, 1 the group) by membership (0 outsiders, 1 members). Whoever
is judged counts as a sample of such people; the strata are independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints
from core.errors import InputError
from core.estimates import Estimate, proportion
from core.validation import binary_array, one_length

FEWEST = 10
"""Members, and outsiders, that a group and the others must have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts by side and membership.

    `flagged` and `people`, of shape (2, 2), are those called members, and all, at [side, member].
    """

    flagged: Ints
    people: Ints


def tally(verdict: npt.ArrayLike, group: npt.ArrayLike, member: npt.ArrayLike) -> Tally:
    """Return the counts of a verdict; all three of shape (n,), 0 or 1.

    Raises `InputError` if an array holds anything but 0 and 1, or the lengths differ.
    """
    told = binary_array(verdict, name="verdict")
    side = binary_array(group, name="group")
    inside = binary_array(member, name="member")
    one_length(verdict=told, group=side, member=inside)
    cell = 2 * side + inside
    people = np.bincount(cell, minlength=4).reshape(2, 2)
    return Tally(flagged=np.bincount(cell[told == 1], minlength=4).reshape(2, 2), people=people)


def both_kinds(member: npt.ArrayLike) -> Codes:
    """Return `member` if it holds members and outsiders."""
    inside = binary_array(member, name="member")
    if not inside.size or inside.min() == inside.max():
        held = f"only {inside[0]}" if inside.size else "nothing"
        raise InputError(f"member must hold both 0 and 1, got {held}.")
    return inside


def enough(people: Ints, names: tuple[str, str]) -> str:
    """Return why sides of this size, people[side, member], are too small for a gap; empty if they are not."""
    for side in (1, 0):
        outsiders, members = people[side]
        if min(outsiders, members) < FEWEST:
            return (
                f"A gap needs at least {FEWEST} members and {FEWEST} outsiders of the training data among the judged "
                f"people, got {members} and {outsiders} of “{names[1 - side]}”."
            )
    return ""


SPARSE = 10
"""Fewest flagged, and not flagged, people of a stratum with which the percentile interval stands by itself."""

POWER = 0.8
"""Chance with which the smallest detectable gap is found."""

_ROUNDING = 1e-9
"""Statistics no farther apart than this count as equal."""


def checked_draws(bootstraps: int, permutations: int) -> None:
    """Raise unless both are whole numbers of at least 100."""
    for name, value in (("bootstraps", bootstraps), ("permutations", permutations)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 100:
            raise InputError(f"{name} must be a whole number of at least 100, got {value!r}.")


def resampled(counts: Tally, draws: int, rng: np.random.Generator) -> Floats:
    """Return the rates of `draws` samples drawn with replacement within each stratum, of shape (draws, 2, 2)."""
    return rng.binomial(counts.people, counts.flagged / counts.people, size=(draws, 2, 2)) / counts.people


def gap_estimate(
    weights: npt.ArrayLike, flagged: npt.ArrayLike, people: npt.ArrayLike, drawn: Floats, *, level: float
) -> Estimate:
    """Return Σ weight · flagged / people over strata, with its interval.

    Weights are -1, 0 or 1; `drawn` holds the same of the bootstrap's samples.
    """
    w, k, n = (np.asarray(values) for values in (weights, flagged, people))
    w, k, n = w[w != 0], k[w != 0], n[w != 0]
    wide = newcombe(w, k, n, level=level)  # checks the level
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    if min(k.min(), (n - k).min()) < SPARSE:
        low, high = min(low, wide[0]), max(high, wide[1])
    value = float((w * k / n).sum())
    least, most = int(w[w < 0].sum()), int(w[w > 0].sum())
    return Estimate(
        value=value, low=max(least, min(value, low)), high=min(most, max(value, high)), n=int(n.sum()), level=level
    )


def newcombe(weights: npt.NDArray[Any], flagged: Ints, people: Ints, *, level: float) -> tuple[float, float]:
    """Return the limits of Σ weight · rate from the Wilson intervals of the rates, whose distances add as squares."""
    below, above, value = 0.0, 0.0, 0.0
    for weight, k, n in zip(weights.tolist(), flagged.tolist(), people.tolist(), strict=True):
        rate = proportion(k, n, level=level)
        down, up = rate.value - rate.low, rate.high - rate.value
        value += weight * rate.value
        below += (down if weight > 0 else up) ** 2
        above += (up if weight > 0 else down) ** 2
    return value - math.sqrt(below), value + math.sqrt(above)


def variances(flagged: npt.ArrayLike, people: npt.ArrayLike) -> Floats:
    """Return the variance of each rate, with an observation of either kind added (Agresti and Caffo 2000): never 0."""
    n = np.asarray(people, dtype=np.float64) + 2.0
    p = (np.asarray(flagged, dtype=np.float64) + 1.0) / n
    return p * (1.0 - p) / n


def permuted(counts: Tally, draws: int, rng: np.random.Generator) -> Ints:
    """Return flagged people at [draw, side, member] after permuting the sides within each membership class."""
    flagged, people = counts.flagged.sum(axis=0), counts.people.sum(axis=0)
    side = rng.hypergeometric(flagged, people - flagged, counts.people[1], size=(draws, 2))
    return np.stack([flagged - side, side], axis=1)


def share_as_extreme(found: float, drawn: Floats) -> float:
    """Return the two-sided p-value of a statistic among its permutations, itself being one of them."""
    extreme = np.count_nonzero(np.abs(drawn) >= abs(found) - _ROUNDING)
    return (1 + int(extreme)) / (1 + drawn.size)


def gap_p_value(weights: npt.ArrayLike, counts: Tally, drawn: Ints) -> float:
    """Return the p-value of Σ weight · rate = 0, given the permutations' flagged people, of shape (draws, 2, 2).

    What is compared is the gap over its standard error. So the p-value is exact where both sides are flagged alike, and
    still right in large samples where they are not and the gap is zero all the same (Chung and Romano 2013): of the
    advantage gap, where both sides' rates may differ by the same amount.
    """
    w = np.asarray(weights, dtype=np.float64)
    n = counts.people

    def studentised(flagged: Ints) -> Floats:
        return (w * flagged / n).sum(axis=(-2, -1)) / np.sqrt((w * w * variances(flagged, n)).sum(axis=(-2, -1)))

    return share_as_extreme(float(studentised(counts.flagged)), studentised(drawn))


def smallest_detectable(error: float, *, level: float, comparisons: int) -> float:
    """Return the smallest gap found in four of five cases.

    One minus the level is the significance level of all comparisons together; each group is tested at the strictest of
    Holm's levels, (1 - level) / comparisons.
    """
    normal = NormalDist()
    return (normal.inv_cdf(1 - (1 - level) / (2 * comparisons)) + normal.inv_cdf(POWER)) * error
