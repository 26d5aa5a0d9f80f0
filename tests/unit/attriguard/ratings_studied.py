"""Studies on sample ratings, made once for several tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from core.attriguard import (
    Guarded,
    GuardSettings,
    Study,
    study_ratings,
)
from core.datasets import Ratings
from tests import ratings_samples

SAMPLE = ratings_samples.ratings()
SETTINGS = GuardSettings(trained_at=(1.0, 3.0))


@cache
def guarded() -> Guarded:
    return Guarded(SAMPLE, SETTINGS)


@cache
def studies() -> tuple[tuple[Study, ...], tuple[tuple[int, int], ...]]:
    """All studies of one run, and what it reported."""
    told: list[tuple[int, int]] = []
    found = tuple(study_ratings(Guarded(SAMPLE, SETTINGS), lambda done, total: told.append((done, total))))
    return found, tuple(told)


def whole() -> Study:
    return studies()[0][-1]


def few(settings: GuardSettings, ratings: Ratings = SAMPLE, attackers: tuple[str, ...] = ("logistic",)) -> Study:
    """Return the whole study with few attackers."""
    return list(study_ratings(Guarded(ratings, replace(settings, attackers=attackers))))[-1]
