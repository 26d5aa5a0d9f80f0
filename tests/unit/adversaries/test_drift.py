"""Training and test records that differ without any model are named, and records drawn alike are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from core.adversaries.released_outputs import drift_caveat, two_sample_test
from core.base.caveats import CaveatKind
from core.datasets import build_dataset
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
def test_two_hundred_tables_without_drift_are_within_the_level():
    p_values = np.array([two_sample_test(*drawn(seed), seed=seed)[1] for seed in range(200)])
    for level in (0.01, 0.05, 0.2):
        assert np.count_nonzero(p_values < level) <= binom.ppf(0.999, p_values.size, level)


@pytest.mark.parametrize("seed", range(5))
def test_planted_drift_has_a_small_p_value(seed: int):
    auc, p_value = two_sample_test(*drawn(seed, shift=1.0), seed=seed)
    assert auc > 0.6
    assert p_value < 0.01


@pytest.mark.parametrize(("shift", "kind"), [(1.0, CaveatKind.SETS_DIFFER), (0.0, CaveatKind.NO_DRIFT)])
def test_drift_caveat_is_of_named_sets_alone(shift: float, kind: CaveatKind):
    frame = samples.frame(1000)
    frame["part"] = np.where(np.arange(1000) % 2 == 0, "train", "test")
    frame.loc[frame["part"] == "train", "skill"] += shift
    table = replace(samples.table(), frame=frame)
    caveats = []
    for roles in ({"sets": "part"}, {"excluded": ("part",)}):
        dataset = build_dataset(table, replace(samples.ROLES, **roles))
        caveats.append(drift_caveat(dataset, split(dataset, seed=0), seed=0))
    assert caveats[0] is not None
    assert caveats[0].kind is kind
    assert caveats[1] is None
