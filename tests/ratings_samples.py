"""Small invented ratings made in memory, for tests that need no real ones."""

from functools import cache, partial

import numpy as np
from scipy import sparse

from core.datasets.ratings import build_ratings
from core.studies.attriguard import AttriGuardSettings

ratings_settings = partial(AttriGuardSettings, target="train_shares", trained_budgets=(1.0, 3.0, 5.0))
"""Settings of AttriGuard on ratings as the paper has them."""


@cache
def ratings(*, people=400, items=60, values=4):
    """Return people of whom a quarter hides a value that shows in a few items of its own."""
    rng = np.random.default_rng(0)
    value = rng.integers(values, size=people)
    typical = np.arange(items) % (2 * values) == value[:, None]
    rated = rng.random((people, items)) < np.where(typical, 0.45, 0.12)
    stars = rng.choice([0.2, 0.6, 0.8, 1.0], size=rated.shape, p=[0.1, 0.1, 0.2, 0.6])
    matrix = sparse.csr_array(np.where(rated, stars, 0.0))
    labels = [f"town {i}" for i in value]
    hidden = people // 4
    return build_ratings(
        (matrix[hidden:], matrix[:hidden]),
        (labels[hidden:], labels[:hidden]),
        title="Sample ratings",
        source="Made.",
        attribute="town",
        items=[f"book {i}" for i in range(items)],
        synthetic=True,
    )
