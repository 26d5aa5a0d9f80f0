"""People and questions for the tests of the attacks."""

from __future__ import annotations

import numpy as np

from core.queries import People, QueryPool, design_scores, statistical_parity_gap
from tests.unit.queries import attributes


def attribute(n: int, n_disadvantaged: int, seed: int = 0) -> np.ndarray:
    """Return an attribute with that many zeros, in random order."""
    a = np.ones(n, dtype=np.uint8)
    a[np.random.default_rng(seed).permutation(n)[:n_disadvantaged]] = 0
    return a


def sizes(a: np.ndarray) -> dict[str, int]:
    """Return the group sizes as the attacks take them."""
    return {"n_advantaged": int(a.sum()), "n_disadvantaged": int(a.size - a.sum())}


def asked(a: np.ndarray, m: int, *, design: str = "jitter", seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of m models around a U-shaped base, and their exact gaps."""
    rng = np.random.default_rng([seed, a.size, m])
    scores = design_scores(design, rng.beta(0.4, 1.2, a.size), m, rng=rng)
    return scores, statistical_parity_gap(scores, a)


def vectors(n: int) -> np.ndarray:
    """Return every attribute of n people in which both groups occur, one a row."""
    return np.array(attributes.vectors(n), dtype=np.uint8)


def pool(n: int = 400, n_disadvantaged: int = 120, *, seed: int = 0, metric: str = "statistical_parity") -> QueryPool:
    """Return people whose prior is calibrated and about 1.2 standard deviations strong, with a U-shaped base model."""
    rng = np.random.default_rng(seed)
    a = attribute(n, n_disadvantaged, seed)
    odds = (
        np.where(a == 1, 0.5, -0.5) * 1.44 + 1.2 * rng.normal(size=n) + np.log((n - n_disadvantaged) / n_disadvantaged)
    )
    base = rng.beta(0.4, 1.2, n)
    labels = (rng.random(n) < base).astype(np.uint8)
    everybody = People(sensitive=a, base=base, prior=1 / (1 + np.exp(-odds)), labels=labels)
    return QueryPool(people=everybody, advantaged="north", disadvantaged="south", metric=metric)
