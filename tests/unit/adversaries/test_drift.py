"""Training and test records that differ without any model are named, and records drawn alike are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from core.adversaries.released_outputs import drift_caveat, two_sample_test
from core.base.caveats import CaveatKind
from core.datasets import build_dataset, read_table
from core.datasets.splits import split
from tests import samples


def drawn(seed: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of 400 people, one of them skewed and one of categories, and who is of the first sample."""
    rng = np.random.default_rng(seed)
    inside = (np.arange(400) < 240).astype(np.uint8)
    columns = np.column_stack([rng.exponential(size=400), rng.integers(0, 4, 400), rng.random(400) < 0.2])
    columns[:, 0] += shift * inside
    return columns, inside


@pytest.mark.long
def test_two_hundred_tables_without_drift_are_within_the_level() -> None:
    p_values = np.array([two_sample_test(*drawn(seed), seed=seed)[1] for seed in range(200)])
    for level in (0.01, 0.05, 0.2):
        assert np.count_nonzero(p_values < level) <= binom.ppf(0.999, p_values.size, level)


@pytest.mark.parametrize("seed", range(5))
def test_planted_drift_has_a_small_p_value(seed: int) -> None:
    auc, p_value = two_sample_test(*drawn(seed, shift=1.0), seed=seed)
    assert auc > 0.6
    assert p_value < 0.01


def test_drift_is_asked_of_named_sets_alone_and_said_in_a_caveat() -> None:
    frame = samples.frame(1000)
    frame["part"] = np.where(np.arange(1000) % 2 == 0, "train", "test")
    frame.loc[frame["part"] == "train", "skill"] += 1.0
    table = read_table(frame.to_csv(index=False).encode(), "people.csv")
    with_sets = build_dataset(table, replace(samples.ROLES, sets="part"))
    caveat = drift_caveat(with_sets, split(with_sets, seed=0), seed=0)
    assert caveat is not None
    assert caveat.kind is CaveatKind.SETS_DIFFER
    frame.loc[frame["part"] == "train", "skill"] -= 1.0
    even_table = read_table(frame.to_csv(index=False).encode(), "people.csv")
    even_dataset = build_dataset(even_table, replace(samples.ROLES, sets="part"))
    no_drift = drift_caveat(even_dataset, split(even_dataset, seed=0), seed=0)
    assert no_drift is not None
    assert no_drift.kind is CaveatKind.NO_DRIFT
    unnamed = build_dataset(table, replace(samples.ROLES, excluded=("part",)))
    assert drift_caveat(unnamed, split(unnamed, seed=0), seed=0) is None
