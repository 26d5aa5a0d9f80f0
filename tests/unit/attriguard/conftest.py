"""Guards on small ratings and a small table, made once for all tests."""

import numpy as np
import pytest

from core.studies.attriguard import Exposure, RatingsDefense
from tests import ratings_samples
from tests.ratings_samples import ratings_settings

SETTINGS = ratings_settings(trained_budgets=(1.0, 3.0))


def exposure(truth, shares, guesses=(), **more):
    """Return a study in which people read as their true value, and one change makes another."""
    m = len(shares)
    size = (np.arange(m) != truth[:, None]).astype(np.int64)
    arguments = {
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
def guarded():
    return RatingsDefense(ratings_samples.ratings(), SETTINGS)


@pytest.fixture(scope="session")
def full_exposure(guarded):
    *_, exposure = guarded.expose()
    return exposure
