"""The gain a release is expected to bring, before any true attribute is seen.

Where few people settle that is the meter's formula. Where many do, a posterior does not move by a little, and the
formula falls short. Then the release is tried out: everybody's attribute is drawn from the attacker's posterior,
published as precisely as the release will be, projected, and the gain read off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate
from core.release.chance import Chance, distance_variance, formula_chance, student
from core.release.disputed import table_value
from core.release.measured import gained_bits
from core.release.meter import Meter, meter_of
from core.release.modes import Modes, modes_of
from core.release.numbers import SIZE_PARTS, Floats, part_of
from core.release.projection import project
from core.release.statistics import Published, PublishedNumber, Release
from core.results import Result
from core.seeds import child_generator

MOST_DRAWS = 24
_FEWEST_DRAWS = 8
_CLOSE = 0.03
"""Draws end early once the standard error of their mean is this share of it, and the formula explains them."""

_EXPLAINED = 0.75
"""Share of the variance of the draws from which on it does; their deviation is then known from few."""

_FEW_SETTLE = 0.03
"""joint_bits / prior_bits up to which the formula is kept. Adult's sex and race, 300 to 15,000 people, 1 to 50 models:
simulated over formula .97 to 1.07 up to here, to 1.16 at .06, 1.25 at .17, 1.45 beyond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction(Result):
    """What a release is expected to give away.

    Attributes
    ----------
    bits : Estimate
        Expected gain in bits; its interval is that of the mean of the draws, nan where the formula is kept.
    draws : int
        Draws of everybody's attribute behind it; 0: the formula.
    low, high : float
        Where the gain of one release lies in 95% of such draws.
    chance : Chance
        How the gain of one release is spread over them.
    """

    bits: Estimate
    draws: int
    low: float
    high: float
    chance: Chance


def predict(
    posterior: npt.ArrayLike, released: Release | Published, *, seed: int = 0, metered: Meter | None = None
) -> Prediction:
    """Return the expected gain of a release; no true attribute is used.

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
        P(s = 1) of each person before the release.
    released : Release or Published
        A `Published` one is tried out with the same numbers, as precise as these are.
    metered : Meter, optional
        Of the same release; worked out when left out.

    Notes
    -----
    Draws are compared with what the formula says of the same draw (`Modes.distance`), whose mean and variance are known
    exactly (a control variate). Few draws are then enough where the formula is nearly
    right. Draws that leave a published number without one of its groups are drawn again.
    """
    modes = modes_of(posterior, released)
    chance, n = formula_chance(modes), modes.release.n
    if (meter_of(modes) if metered is None else metered).share > _FEW_SETTLE or _sizes_open(released):
        gains = _tried_out(modes, released, child_generator(seed, "predicted bits"))
        if gains is not None:
            mean, error, deviation, draws = gains
            chance = replace(chance, mean=mean, deviation=math.hypot(deviation, error))
            half = student(draws - 2) * error
            return _prediction(chance, Estimate(value=mean, low=mean - half, high=mean + half, n=draws), draws)
    return _prediction(chance, Estimate(value=chance.mean, low=math.nan, high=math.nan, n=n), 0)


def _prediction(chance: Chance, bits: Estimate, draws: int) -> Prediction:
    low, high = chance.range()
    return Prediction(bits=bits, draws=draws, low=low, high=high, chance=chance)


def _sizes_open(released: Release | Published) -> bool:
    """Whether numbers speak of groups of unknown size: the formula takes their equations for straight, and is off."""
    if isinstance(released, Release):
        return not released.sizes
    counts = released.counts
    return counts is not None and any(part_of(name) not in counts.sizes for name in released.limits)


def _tried_out(
    modes: Modes, released: Release | Published, rng: np.random.Generator
) -> tuple[float, float, float, int] | None:
    """Return mean, standard error, deviation and number of draws; None where hardly any draw can be published."""
    q = modes.posterior
    gains: list[float] = []
    distances: list[float] = []
    variance = distance_variance(modes)
    for _ in range(4 * MOST_DRAWS):
        s = (rng.random(q.size) < q).astype(np.uint8)
        try:
            published = released.publish(s, rng=rng) if isinstance(released, Release) else _again(released, s, rng)
        except InputError:  # a group it compares is empty
            continue
        gains.append(float(gained_bits(q, project(q, published).probability, s).sum()))
        distances.append(modes.distance(s))
        if len(gains) < _FEWEST_DRAWS:
            continue
        mean, error, explained, left = _controlled(np.array(gains), np.array(distances), modes.df_bits, variance)
        enough = error <= _CLOSE * abs(mean) and explained >= _EXPLAINED * (explained + left)
        if enough or len(gains) == MOST_DRAWS:
            wider = student(len(gains) - 2) / student(10**6)
            return mean, error, math.sqrt(explained + left * wider**2), len(gains)
    return None


def _controlled(gains: Floats, distances: Floats, mean: float, variance: float) -> tuple[float, float, float, float]:
    """Return mean, standard error, variance explained and left, by regression on distances of known mean and variance.

    A control variate with one coefficient, by least squares.
    """
    off = distances - distances.mean()
    squares = max(float(off @ off), 1e-300)
    slope = float(off @ gains) / squares
    left = gains - gains.mean() - slope * off
    residual = float(left @ left) / (gains.size - 2)
    away = float(distances.mean()) - mean
    error = math.sqrt(residual * (1.0 / gains.size + away**2 / squares))
    return float(gains.mean()) - slope * away, error, slope**2 * variance, residual


def _again(published: Published, s: npt.NDArray[np.uint8], rng: np.random.Generator) -> Published:
    """Return the same numbers of other memberships, as precise: exact, rounded alike, or in as wide an interval."""
    release = published.release
    if published.noise is not None:
        return release.publish(s, rng=rng)
    numbers: list[PublishedNumber] = []
    for number in published.numbers:
        true = table_value(published, number, s)
        if math.isnan(true):
            raise InputError(f"{number.statistic} needs people of both groups.")
        low = high = true
        if number.statistic not in SIZE_PARTS and number.low < number.high:
            width = number.high - number.low
            start = true - rng.random() * width
            if release.decimals is not None and width <= 1.001 * 10.0**-release.decimals:
                start = round(true, release.decimals) - width / 2
            low, high = start, start + width
        numbers.append(replace(number, value=(low + high) / 2, low=low, high=high))
    return Published(release=release, numbers=tuple(numbers))
