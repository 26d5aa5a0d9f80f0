"""People of a release, made up: a posterior, the attribute drawn from it, and models that are nearly alike."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from core.studies.model_card import ModelCardResult, ModelCardSettings, ReleasedPeople, measure_card


@cache
def people(n: int = 300, k: int = 12, *, seed: int = 3) -> ReleasedPeople:
    """Return n people and k models, each of which differs from the one before in a few people."""
    rng = np.random.default_rng(seed)
    posterior = np.clip(rng.beta(1.2, 2.0, n), 0.01, 0.99)
    sensitive = (rng.random(n) < posterior).astype(np.uint8)
    labels = (rng.random(n) < 0.4).astype(np.uint8)
    rows = [np.where(rng.random(n) < 0.2, 1 - labels, labels)]
    for _ in range(k - 1):
        flipped = rng.random(n) < 1.5 / n
        rows.append(np.where(flipped, 1 - rows[-1], rows[-1]))
    columns = pd.DataFrame({"age": rng.integers(18, 70, n), "town": rng.choice(["North", "South <b>", "*West*"], n)})
    return ReleasedPeople(
        attribute="origin",
        group="north",
        group_names=("south", "north"),
        rows=np.arange(n)[::-1].copy(),
        posteriors=np.column_stack([1 - posterior, posterior]),
        codes=sensitive,
        predictions=np.array(rows, dtype=np.uint8),
        names=tuple(f"model {i + 1}" for i in range(k)),
        labels=labels,
        columns=columns,
    )


@cache
def card(count: int, *, decimals: int | None = None, epsilon: float | None = None, n: int = 300) -> ModelCardResult:
    """Return the card of the first so many models."""
    return measure_card(people(n), ModelCardSettings(family="mixed", count=count, decimals=decimals, epsilon=epsilon))
