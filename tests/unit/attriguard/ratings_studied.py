"""Studies on sample ratings, made once for several tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from core.attriguard import (
    Exposure,
    Guarded,
    GuardSettings,
)
from core.datasets import Ratings
from tests import ratings_samples

SAMPLE = ratings_samples.ratings()
SETTINGS = GuardSettings(trained_at=(1.0, 3.0))


@cache
def guarded() -> Guarded:
    return Guarded(SAMPLE, SETTINGS)


@cache
def studies() -> tuple[tuple[Exposure, ...], tuple[tuple[int, int], ...]]:
    """All studies of one run, and what it reported."""
    told: list[tuple[int, int]] = []
    found = tuple(Guarded(SAMPLE, SETTINGS).expose(lambda done, total: told.append((done, total))))
    return found, tuple(told)


def whole() -> Exposure:
    return studies()[0][-1]


def few(settings: GuardSettings, ratings: Ratings = SAMPLE, attackers: tuple[str, ...] = ("logistic",)) -> Exposure:
    """Return the whole study with few attackers."""
    return list(Guarded(ratings, replace(settings, attackers=attackers)).expose())[-1]
