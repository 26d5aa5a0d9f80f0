"""Named children of one seed."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.seeds import child_generator, child_seed


def test_same_seed_and_name_same_numbers_another_name_or_seed_others() -> None:
    first, again = (child_generator(7, "folds").random(20) for _ in range(2))
    assert np.array_equal(first, again)
    for seed, name in ((7, "forests"), (8, "folds")):
        assert not np.array_equal(first, child_generator(seed, name).random(20))


def test_child_seeds_are_whole_numbers_scikit_learn_takes() -> None:
    seeds = {child_seed(seed, name) for seed in range(50) for name in ("a", "b", "ab")}
    assert len(seeds) == 150
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert child_seed(3, "a") == child_seed(3, "a")


def test_a_seed_out_of_range_is_told() -> None:
    with pytest.raises(InputError, match="seed must be a whole number"):
        child_generator(-1, "a")
