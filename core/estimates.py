"""Rates with their intervals: the only form in which a measured rate leaves core.

All intervals but `over_repeats` treat the attacked records as a sample of the people the model could have been trained
on, and everything else (model, attacker, seed) as given. They say nothing about another seed; `over_repeats` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.results import Result

_ALIKE = 1e-9
"""Probabilities no farther apart than this are alike: they differ by rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Result):
    """A value with its interval.

    Attributes
    ----------
    value, low, high : float
        Point estimate and interval limits, in the unit of the value; nan where there was nothing to measure.
    n : int
        Number of records the estimate rests on.
    level : float
        Coverage the interval aims at, in (0, 1).
    """

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95


def not_measured(*, level: float = 0.95) -> Estimate:
    """Return the estimate of something there was nothing to measure of: all nan, n = 0."""
    return Estimate(value=math.nan, low=math.nan, high=math.nan, n=0, level=level)


def _normal_quantile(level: float) -> float:
    from statistics import NormalDist

    if not 0.0 < level < 1.0:
        raise InputError(f"level must be in (0, 1), got {level!r}.")
    return NormalDist().inv_cdf(0.5 + level / 2)


def proportion(successes: float, n: int, *, level: float = 0.95) -> Estimate:
    """Return successes/n with the Wilson score interval (Wilson 1927), which stays inside [0, 1].

    Successes need not be whole: n records with a probability each add up to their expected number.
    """
    if n == 0:
        return Estimate(value=math.nan, low=math.nan, high=math.nan, n=0, level=level)
    if not 0 <= successes <= n:
        raise InputError(f"successes must be in [0, {n}], got {successes!r}.")
    z = _normal_quantile(level)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes == 0 else max(0.0, min(p, centre - half))
    high = 1.0 if successes == n else min(1.0, max(p, centre + half))
    return Estimate(value=p, low=low, high=high, n=n, level=level)


def accuracy(truth: npt.ArrayLike, guess: npt.ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the share of records on which `guess` equals `truth`, with its Wilson interval."""
    right = np.asarray(truth) == np.asarray(guess)
    return proportion(int(np.count_nonzero(right)), right.size, level=level)


def balanced_accuracy(truth: npt.ArrayLike, guess: npt.ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the mean over groups of the share of the group that is recognised.

    The interval combines the groups' Wilson intervals by the method of variance estimates recovery
    (Zou and Donner 2008): the distances to the limits add as squares.
    """
    truth, guess = np.asarray(truth), np.asarray(guess)
    groups = np.unique(truth)
    rates = [accuracy(truth[truth == g], guess[truth == g], level=level) for g in groups]
    if not rates:
        return Estimate(value=math.nan, low=math.nan, high=math.nan, n=0, level=level)
    k = len(rates)
    value = sum(r.value for r in rates) / k
    below = math.sqrt(sum((r.value - r.low) ** 2 for r in rates)) / k
    above = math.sqrt(sum((r.high - r.value) ** 2 for r in rates)) / k
    return Estimate(value=value, low=max(0.0, value - below), high=min(1.0, value + above), n=truth.size, level=level)


def paired_gain(won: int, lost: int, n: int, *, level: float = 0.95) -> Estimate:
    """Return the change in accuracy between two guesses on the same n records.

    Parameters
    ----------
    won, lost : int
        Records that only the second guess, or only the first guess, gets right.
    n : int
        All records.

    Notes
    -----
    Wald interval for a difference of paired proportions with half an observation added to each of the four cells
    (Agresti and Min 2005), so that it keeps some width when nothing changed.
    """
    if n == 0:
        return Estimate(value=math.nan, low=math.nan, high=math.nan, n=0, level=level)
    if min(won, lost) < 0 or won + lost > n:
        raise InputError(f"won and lost must be at least 0 and together at most {n}, got {won} and {lost}.")
    z = _normal_quantile(level)
    b, c, m = won + 0.5, lost + 0.5, n + 2
    centre = (b - c) / m
    half = z * math.sqrt((b + c) - (b - c) ** 2 / m) / m
    value = (won - lost) / n
    return Estimate(
        value=value,
        low=max(-1.0, min(value, centre - half)),
        high=min(1.0, max(value, centre + half)),
        n=n,
        level=level,
    )


def balanced_gain(
    truth: npt.ArrayLike, before: npt.ArrayLike, after: npt.ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Return the change in balanced accuracy between two guesses on the same records.

    The groups' paired intervals (see `paired_gain`) are combined as in `balanced_accuracy`.
    """
    truth = np.asarray(truth)
    was, now = np.asarray(before) == truth, np.asarray(after) == truth
    gains = []
    for group in np.unique(truth):
        inside = truth == group
        won, lost, size = (int(np.count_nonzero(inside & x)) for x in (now & ~was, was & ~now, True))
        gains.append(paired_gain(won, lost, size, level=level))
    if not gains:
        return not_measured(level=level)
    k = len(gains)
    value = sum(g.value for g in gains) / k
    below = math.sqrt(sum((g.value - g.low) ** 2 for g in gains)) / k
    above = math.sqrt(sum((g.high - g.value) ** 2 for g in gains)) / k
    return Estimate(value=value, low=max(-1.0, value - below), high=min(1.0, value + above), n=truth.size, level=level)


def mean(values: npt.ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the mean of one number a record, with the normal interval of a mean; without width for one record."""
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return not_measured(level=level)
    value = float(array.mean())
    error = float(array.std(ddof=1)) / math.sqrt(array.size) if array.size > 1 else 0.0
    half = _normal_quantile(level) * error
    return Estimate(value=value, low=value - half, high=value + half, n=array.size, level=level)


def mean_rate(values: npt.ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return the mean of one probability a record, with the normal interval of a mean cut to [0, 1].

    Notes
    -----
    One record, or records that are all alike, show no variance; that does not make their mean certain. They get
    Wilson's interval of as many successes as the probabilities add up to, which is too wide rather than too narrow.
    """
    array = np.clip(np.asarray(values, dtype=np.float64), 0.0, 1.0)
    if not array.size:
        return not_measured(level=level)
    if np.ptp(array) <= _ALIKE:
        return proportion(float(array.sum()), array.size, level=level)
    found = mean(array, level=level)
    return Estimate(value=found.value, low=max(0.0, found.low), high=min(1.0, found.high), n=found.n, level=level)


def over_repeats(values: npt.ArrayLike, *, level: float = 0.95, resolution: float = 0.0) -> Estimate:
    """Return the mean of one number a repeat (seed), with Student's t interval; n is the number of repeats.

    With one repeat there is no interval: its limits are nan.

    Parameters
    ----------
    values : array-like of shape (m,)
    level : float in (0, 1)
    resolution : float, at least 0
        Least amount by which two repeats differ if they differ at all, such as that of one person among those drawn.

    Notes
    -----
    Repeats that draw their splits from one table share people, so they are not independent samples of a population;
    the interval speaks of other seeds on this table.

    Repeats that all agree show no variance, which does not make their mean certain. A repeat that differs with
    probability q is missed by all m with probability (1 - q)^m, so that q = 1 - (alpha/2)^(1/m) is still possible
    (Clopper and Pearson 1934, for none of m). The half width is never below q times the resolution.
    """
    from scipy.special import stdtrit

    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return not_measured(level=level)
    _normal_quantile(level)  # checks the level
    if not resolution >= 0.0:
        raise InputError(f"resolution must be at least 0, got {resolution!r}.")
    value, m = float(array.mean()), array.size
    half = math.nan
    if m > 1:
        least = resolution * (1.0 - (0.5 - level / 2) ** (1.0 / m))
        half = max(least, float(stdtrit(m - 1, 0.5 + level / 2)) * float(array.std(ddof=1)) / math.sqrt(m))
    return Estimate(value=value, low=value - half, high=value + half, n=m, level=level)


def rate_over_repeats(values: npt.ArrayLike, *, level: float = 0.95) -> Estimate:
    """Return `over_repeats` of rates, the interval cut to [0, 1]."""
    found = over_repeats(values, level=level)
    low, high = (
        min(1.0, max(0.0, limit)) if limit == limit else limit for limit in (found.low, found.high)
    )  # nan stays
    return Estimate(value=found.value, low=low, high=high, n=found.n, level=level)
