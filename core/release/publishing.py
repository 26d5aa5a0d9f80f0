"""From the true attribute to the numbers a release gives out."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.release.noise import NoisySums, noisy_sums
from core.release.numbers import each_number, part_of, value_of
from core.release.published import HALF_STEP_ROUNDING, Published, PublishedNumber
from core.release.statistics import Release, part_name
from core.validation import binary_array

Floats = npt.NDArray[np.float64]

_MIDDLE = math.log(20.0) / math.sqrt(2.0)
"""Standard deviations to either side that hold 95% of a Laplace law, 2.12; of sums of several a little more."""


def publish(release: Release, sensitive: npt.ArrayLike, *, rng: np.random.Generator | None = None) -> Published:
    """Return the numbers of a release; see `Release.publish`."""
    s = binary_array(np.asarray(sensitive), name="sensitive")
    if s.size != release.n:
        raise InputError(f"sensitive must have one value for each of {release.n} people, got {s.size}.")
    members = release.cells.members(s)
    for name in each_number(release.statistics):
        inside = release.cells.inside(part_of(name))
        size, people = int(members[inside].sum()), release.cells.size(part_of(name))
        if size in (0, people):
            told = part_name(part_of(name))
            raise InputError(f"{name} needs people of both groups{told}, got none of group {int(size == 0)}.")
    if release.epsilon is None:
        return Published(release=release, numbers=_without_noise(release, members))
    if rng is None:
        raise InputError("A release with privacy noise needs a random generator, got none.")
    noise = noisy_sums(release, s, rng)
    return Published(release=release, numbers=_with_noise(release, noise), noise=noise)


def _without_noise(release: Release, members: npt.NDArray[np.int64]) -> tuple[PublishedNumber, ...]:
    cells = release.cells
    numbers = []
    for name, part in release.size_parts.items():
        size = float(members[cells.inside(part)].sum())
        numbers.append(PublishedNumber(model="", statistic=name, value=size, low=size, high=size))
    for name in each_number(release.statistics):
        part = part_of(name)
        here = members * cells.inside(part)
        counts, positives = (
            (cells.predictions @ x).astype(np.float64) for x in (here, cells.people * cells.inside(part))
        )
        values = value_of(name, counts, float(here.sum()), positives, cells.size(part))
        numbers += _rounded(release, name, values)
    return tuple(numbers)


def _rounded(release: Release, name: str, values: Floats) -> list[PublishedNumber]:
    half = 0.0
    if release.decimals is not None:
        values, half = np.round(values, release.decimals) + 0.0, 0.5 * 10.0**-release.decimals + HALF_STEP_ROUNDING
    return [
        PublishedNumber(model=model, statistic=name, value=value, low=value - half, high=value + half)
        for model, value in zip(release.names, values.tolist(), strict=True)
    ]


def _with_noise(release: Release, noise: NoisySums) -> tuple[PublishedNumber, ...]:
    """Return the numbers the noisy sums add up to.

    The error of a gap or rate is that of a function of the noisy size and the noisy count; its standard deviation is
    taken to first order.
    """
    numbers = []
    for name, part in release.size_parts.items():
        if part not in ("all", *noise.parts) or (part == "all" and "all" not in release.parts):
            continue
        deviation = np.sqrt(noise.variance * (len(noise.parts) if part == "all" else 1))
        numbers.append(_noisy("", name, noise.size(part), deviation))
    for name in each_number(release.statistics):
        values, deviations = _from_sums(release, noise, name)
        numbers += [
            _noisy(model, name, value, own)
            for model, value, own in zip(release.names, values.tolist(), deviations.tolist(), strict=True)
        ]
    return tuple(numbers)


def _from_sums(release: Release, noise: NoisySums, name: str) -> tuple[Floats, Floats]:
    """Return a number of every model and the standard deviation of its noise."""
    part = part_of(name)
    people, positives = release.cells.size(part), release.cells.positives(part).astype(np.float64)
    size, counts = float(np.clip(noise.size(part), 1.0, people - 1.0)), noise.counts(part)

    def at(more: float, larger: float) -> Floats:
        return value_of(name, counts + more, size + larger, positives, people)

    by_count, by_size = at(0.5, 0.0) - at(-0.5, 0.0), 2 * (at(0.0, 0.25) - at(0.0, -0.25))
    parts = len(noise.parts) if part == "all" else 1
    return at(0.0, 0.0), np.sqrt(noise.variance * parts * (by_count**2 + by_size**2))


def _noisy(model: str, name: str, value: float, deviation: float) -> PublishedNumber:
    reach = _MIDDLE * float(deviation)
    return PublishedNumber(model=model, statistic=name, value=value, low=value - reach, high=value + reach)
