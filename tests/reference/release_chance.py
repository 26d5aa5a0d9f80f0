"""How chance moves the bits of a model card: redraws of people, and of everybody's attribute from the posterior.

`redraw` takes n people of a table at random, releases k models about them, and says what is gained, the interval, and
what was predicted. What the interval is of is the mean gain over all such redraws. `drawn` keeps the people and draws
their attribute from the attacker's posterior, which is what a prediction is of. Seeds: the arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.model_card import Release, predict, project
from core.model_card.meter import gained_bits
from tests.reference.release_adult import Split


@dataclass(frozen=True, kw_only=True)
class Redraw:
    """Bits about one sample of people, measured with the interval, and predicted."""

    bits: float
    low: float
    high: float
    predicted: float


def redraw(people: Split, attribute: str, n: int, k: int, number: int) -> Redraw:
    """Return one redraw."""
    chosen = np.random.default_rng([7, n, k, number]).choice(people.labels.size, n, replace=False)
    q, s = people.posterior[attribute][chosen], people.sensitive[attribute][chosen]
    release = Release(people.predictions[:k, chosen], labels=people.labels[chosen])
    bits = _gain(q, release, s)
    prediction = predict(q, release, seed=number)
    found = prediction.chance.expected(bits, n)
    return Redraw(bits=bits, low=found.low, high=found.high, predicted=prediction.bits.value)


def covered(redraws: list[Redraw]) -> float:
    """Return how many of the intervals hold the mean gain of the redraws."""
    mean = np.mean([one.bits for one in redraws])
    return float(np.mean([one.low <= mean <= one.high for one in redraws]))


def drawn(people: Split, attribute: str, n: int, k: int, draws: int) -> tuple[list[float], float]:
    """Return the gains about n people over draws of their attribute, and their prediction."""
    rng = np.random.default_rng([8, n, k])
    chosen = rng.choice(people.labels.size, n, replace=False)
    q = people.posterior[attribute][chosen]
    release = Release(people.predictions[:k, chosen], labels=people.labels[chosen])
    gains: list[float] = []
    while len(gains) < draws:
        try:
            gains.append(_gain(q, release, (rng.random(n) < q).astype(np.uint8)))
        except InputError:  # one of the groups is empty
            continue
    return gains, predict(q, release).bits.value


def _gain(q: np.ndarray, release: Release, s: np.ndarray) -> float:
    return float(gained_bits(q, project(q, release.publish(s)).probability, s).sum())
