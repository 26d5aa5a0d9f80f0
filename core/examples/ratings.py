"""Eight people's ratings of five apps, and an attacker who reads one of three cities off them.

The classifier is linear: each app has a weight for each city, and the weights of an app add up to 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SOURCE = (
    "Jia and Gong, AttriGuard: A Practical Defense Against Attribute Inference Attacks via Adversarial Machine "
    "Learning, USENIX Security 2018"
)
METHOD = "AttriGuard"

CITIES = ("Ash", "Birch", "Cedar")
WEIGHTS = np.array([[5, -1, -4], [-1, 3, -2], [-2, -1, 3], [1, 1, -2], [-3, 2, 1]], float)  # one row an app
RATED = np.array(
    [
        [1, 0, 0, 1, 0],
        [0, 1, 0, 0, 1],
        [0, 0, 1, 0, 0],
        [1, 0, 1, 0, 0],
        [0, 1, 1, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1],
        [0, 0, 1, 0, 1],
    ],
    float,
)


def attacker() -> Any:
    """Return the attacker as a fitted classifier of scikit-learn with these weights."""
    from sklearn.linear_model import LogisticRegression

    reader = LogisticRegression()
    reader.classes_ = np.arange(3)
    reader.coef_, reader.intercept_ = WEIGHTS.T.copy(), np.zeros(3)
    reader.n_features_in_ = 5
    return reader


def person(i: int) -> str:
    """Return what a person is called."""
    return f"Person {i + 1}" if i else "Ana"
