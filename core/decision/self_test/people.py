"""People out of a known law, for the tests of FairLeak itself: a group, four features that tell of it, a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SHARE = 0.4
"""Probability of group 1."""

_VALUES = 3
_TELLS = (0.30, 0.15, 0.05, 0.0)
"""How much each feature leans: how much likelier its highest value is in group 1 than a third, and less in group 0."""

Bits = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """People.

    Attributes
    ----------
    features : ndarray of shape (n, 4), int
        Values 0, 1, 2; given the group they are independent.
    labels, sensitive : ndarray of shape (n,), uint8
    """

    features: npt.NDArray[np.int64]
    labels: Bits
    sensitive: Bits


def draw_people(n: int, rng: np.random.Generator) -> Drawn:
    """Draw n people. The label depends on features alone, so it says no more of the group than they do."""
    sensitive = (rng.random(n) < SHARE).astype(np.uint8)
    chances = _chances()[sensitive]  # (n, 4, values)
    features = (rng.random((n, len(_TELLS), 1)) >= chances.cumsum(axis=2)[:, :, :-1]).sum(axis=2)
    labels = (rng.random(n) < 0.2 + 0.15 * (features[:, 0] + features[:, 3])).astype(np.uint8)
    return Drawn(features=features, labels=labels, sensitive=sensitive)


def posterior(people: Drawn, *, noise: npt.NDArray[np.float64] | float = 0.0) -> npt.NDArray[np.float64]:
    """Return P(group 1) given features and label, shape (n,); exactly, but for noise on the log-odds."""
    chances = _chances()
    odds = np.full(len(people.features), np.log(SHARE / (1.0 - SHARE)))
    for j in range(len(_TELLS)):
        odds += np.log(chances[1, j, people.features[:, j]] / chances[0, j, people.features[:, j]])
    return np.asarray(1.0 / (1.0 + np.exp(-(odds + noise))))


def _chances() -> npt.NDArray[np.float64]:
    """Return the probability of each value of each feature in each group, shape (2, 4, values)."""
    lean = np.array(_TELLS)[:, np.newaxis] * np.linspace(-1.0, 1.0, _VALUES)
    return np.stack([1.0 / _VALUES - lean, 1.0 / _VALUES + lean])
