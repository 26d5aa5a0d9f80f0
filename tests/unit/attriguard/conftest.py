"""Guards on small ratings and a small table, made once for all tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.studies.attriguard import Exposure, RatingsDefense
from core.studies.attriguard.result import Guesses
from tests import ratings_samples
from tests.ratings_samples import ratings_settings

SETTINGS = ratings_settings(trained_budgets=(1.0, 3.0))


def exposure(truth: np.ndarray, shares: tuple[float, ...], guesses: tuple[Guesses, ...] = (), **more: Any) -> Exposure:
    """Return a study in which people read as their true value, and one change makes another."""
    m = len(shares)
    size = (np.arange(m) != truth[:, None]).astype(np.int64)
    arguments: dict[str, Any] = {
        "attribute": "town",
        "unit": "columns",
        "values": ("Ulm", "Bonn", "Trier")[:m],
        "truth": truth,
        "predicted": truth,
        "size": size,
        "reached": np.ones(size.shape, dtype=bool),
        "target": np.full(m, 1 / m),
        "shares": np.array(shares),
        "guesses": guesses,
    }
    return Exposure(**(arguments | more))


@pytest.fixture(scope="session")
def guarded() -> RatingsDefense:
    return RatingsDefense(ratings_samples.ratings(), SETTINGS)


@pytest.fixture(scope="session")
def full_exposure(guarded: RatingsDefense) -> Exposure:
    *_, exposure = guarded.expose()
    return exposure
