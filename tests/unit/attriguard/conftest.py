"""Guards on small ratings and a small table, made once for all tests."""

from __future__ import annotations

import pytest

from core.attriguard import Exposure, Guarded, GuardSettings
from tests import ratings_samples

SETTINGS = GuardSettings(trained_at=(1.0, 3.0))


@pytest.fixture(scope="session")
def guarded() -> Guarded:
    return Guarded(ratings_samples.ratings(), SETTINGS)


Told = list[tuple[int, int]]


@pytest.fixture(scope="session")
def studies(guarded: Guarded) -> tuple[list[Exposure], Told]:
    """All exposures of one run, and what it reported."""
    told: Told = []
    return list(guarded.expose(lambda done, total: told.append((done, total)))), told


@pytest.fixture(scope="session")
def whole(studies: tuple[list[Exposure], Told]) -> Exposure:
    return studies[0][-1]
