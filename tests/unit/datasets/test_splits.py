"""Four disjoint sets: nobody twice, nobody forgotten, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.dataset import AuditDataset
from core.datasets.roles import Roles
from core.datasets.splits import Splits, split
from core.errors import InputError

NAMES = ("train", "attack", "validation", "test")


def people(n: int, *, rare: int | None = None) -> AuditDataset:
    """Return n people; every second in the first group, or only the first `rare` ones."""
    numbers = np.arange(n)
    sensitive = numbers % 2 if rare is None else numbers < rare
    return AuditDataset(
        title="T",
        source="",
        features=np.zeros((n, 1)),
        feature_names=("f",),
        categorical=np.zeros(1, dtype=bool),
        labels=(numbers // 2 % 2).astype(np.uint8),
        sensitive=sensitive.astype(np.uint8),
        group_names=("b", "a"),
        roles=Roles(label="y", positive="1", sensitive="s", group=("a",)),
        rows_read=n,
    )


def together(splits: Splits) -> np.ndarray:
    """Return all row numbers in the order of the sets."""
    return np.concatenate([getattr(splits, name) for name in NAMES])


def test_sizes_for_adult() -> None:
    splits = split(people(45_222), train_share=0.34)
    assert [len(getattr(splits, name)) for name in NAMES] == [15_375, 10_446, 4_477, 14_924]
    assert len(splits.known) == 14_923


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.integers(400, 3000), st.floats(0.1, 0.8), st.integers(0, 2**32 - 1))
def test_everybody_exactly_once(n: int, share: float, seed: int) -> None:
    splits = split(people(n), train_share=share, seed=seed)
    np.testing.assert_array_equal(np.sort(together(splits)), np.arange(n))
    assert abs(len(splits.train) - share * n) <= 1
    assert 0 <= len(splits.test) - len(splits.known) <= 1
    np.testing.assert_array_equal(splits.known, np.concatenate([splits.attack, splits.validation]))


def test_records_are_drawn_without_looking_at_them() -> None:
    np.testing.assert_array_equal(together(split(people(1000))), together(split(people(1000, rare=300))))


@pytest.mark.parametrize("share", [0.0, 0.09, 0.81, 1.0, -1.0, float("nan"), float("inf")])
def test_share_outside_its_range(share: float) -> None:
    with pytest.raises(InputError, match=r"training share must be in \[0.1, 0.8\], got"):
        split(people(1000), train_share=share)


def test_a_set_without_enough_of_a_group_is_refused() -> None:
    with pytest.raises(InputError, match=r"records must hold at least 3 people of each group; .* group a has [012]"):
        split(people(1000, rare=5))


def test_a_set_without_enough_of_a_label_is_refused() -> None:
    data = people(1000)
    data.labels[6:] = 0
    with pytest.raises(InputError, match=r"records must hold at least 3 people of each label; .* label 1 has [012]"):
        split(data)
