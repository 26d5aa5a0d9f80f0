"""From a table and roles to the arrays of an audit and four disjoint sets; equal records, and numbers of people."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets.build import build_dataset
from core.datasets.dataset import MAX_CACHED, AuditDataset
from core.datasets.read_table import read_table
from core.datasets.roles import Roles
from core.datasets.splits import Splits, kinds_of_records, repeated_records, shared_records, sharing, split
from tests import samples
from tests.unit.datasets.bad_tables import BAD_ROLES, GOOD, GOOD_ROLES, BadRoles, assert_one_sentence
from tests.unit.datasets.small_tables import N, built, table_of


@pytest.mark.parametrize("bad", BAD_ROLES, ids=lambda bad: bad.kind)
def test_bad_roles_give_one_sentence(bad: BadRoles) -> None:
    table = read_table(bad.content, "good.csv")
    with pytest.raises(InputError) as caught:
        build_dataset(table, bad.roles)
    assert type(caught.value) is InputError
    assert_one_sentence(str(caught.value), bad.words_expected)
    assert build_dataset(read_table(GOOD, "good.csv"), GOOD_ROLES).n == 80


def test_a_dataset_keeps_the_results_asked_for_last() -> None:
    data = built(GOOD_ROLES)
    for key in (*range(MAX_CACHED), 0):
        data.once(key, lambda key=key: key)
    assert data.once(0, lambda: -1) == 0 and set(data.cached_results()) == set(range(MAX_CACHED))
    data.once("another", lambda: 1)
    assert set(data.cached_results()) == {0, *range(2, MAX_CACHED), "another"}
    data.keep({"more": 1})
    assert set(data.cached_results()) == {0, *range(3, MAX_CACHED), "another", "more"}


def test_missing_features_are_filled_or_dropped() -> None:
    cells: dict[str, Any] = {"pay": [1.0, 2.0, 9.0, np.nan, 4.0], "job": ["b", "a", None]}
    filled = built(**cells)
    assert filled.notes == ("24 missing numbers are filled with their column's median.",)
    assert filled.features[:4, 1:].tolist() == [[1, 1], [2, 0], [9, -1], [3, 1]]
    nullable = built(pay=pd.array([1, 2, 9, None, 4], "Int64"), job=cells["job"])
    np.testing.assert_array_equal(nullable.features, filled.features)
    dropped = built(replace(GOOD_ROLES, missing="drop"), **cells)
    assert dropped.notes == ("56 records with a missing feature are left out.",)
    assert dropped.features[:3, 2].tolist() == [1, 0, 0]


def test_columns_that_dropping_makes_constant_are_set_aside() -> None:
    flag = ["a"] * 4 + ["b", "b"]
    roles = replace(GOOD_ROLES, missing="drop", excluded=("left",))
    data = built(roles, pay=[1.0, 2.0, 3.0, 4.0, None, None], flag=flag, left=[None, 1], empty=[None])
    assert (data.n, data.feature_names) == (80, ("age", "pay"))
    assert "Column flag holds the same value in every record and is left out." in data.notes


def test_codes_do_not_depend_on_the_order_of_records() -> None:
    table = table_of(job=["cook", "nurse", None, "Äbtissin", "clerk"], pay=[3.5, None, 1.5])
    order = np.random.default_rng(0).permutation(N)
    shuffled = replace(table, frame=table.frame.iloc[order])
    straight, mixed = build_dataset(table, GOOD_ROLES), build_dataset(shuffled, GOOD_ROLES)
    np.testing.assert_array_equal(straight.features[order], mixed.features)
    np.testing.assert_array_equal(straight.sensitive[order], mixed.sensitive)
    categories = replace(
        table, frame=table.frame.astype({"job": pd.CategoricalDtype(["nurse", "cook", "clerk", "Äbtissin"])})
    )
    np.testing.assert_array_equal(straight.features, build_dataset(categories, GOOD_ROLES).features)


def test_fingerprint_changes_with_every_part() -> None:
    prints = [
        built().fingerprint,
        built(job=["cook", "nurse"]).fingerprint,
        built(job=["cook", "nurse"] * 59 + ["nurse", "nurse"]).fingerprint,
        built(trade=["cook", "nurse"]).fingerprint,
        built(replace(GOOD_ROLES, positive="no")).fingerprint,
        built(replace(GOOD_ROLES, group=("M",))).fingerprint,
        built(replace(GOOD_ROLES, first_name="women")).fingerprint,
    ]
    assert len(set(prints)) == len(prints)
    assert prints[0] == built().fingerprint


NAMES = ("train", "attack", "validation", "test")


def people(n: int, *, rare: int | None = None) -> AuditDataset:
    """Return n people, in the first group only the first `rare` ones if that is given."""
    drawn = samples.dataset(n)
    return drawn if rare is None else replace(drawn, sensitive=(np.arange(n) < rare).astype(np.uint8))


def together(splits: Splits) -> np.ndarray:
    """Return all row numbers in the order of the sets."""
    return np.concatenate([getattr(splits, name) for name in NAMES])


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(st.integers(800, 3000), st.floats(0.1, 0.7), st.integers(0, 2**32 - 1))
def test_everybody_exactly_once(n: int, share: float, seed: int) -> None:
    splits = split(people(n), train_share=share, seed=seed)
    np.testing.assert_array_equal(np.sort(together(splits)), np.arange(n))
    assert abs(len(splits.train) - share * n) <= 1
    assert 0 <= len(splits.test) - len(splits.attacker_rows) <= 1
    np.testing.assert_array_equal(splits.attacker_rows, np.concatenate([splits.attack, splits.validation]))


def test_records_are_drawn_without_looking_at_them() -> None:
    np.testing.assert_array_equal(together(split(people(1000))), together(split(people(1000, rare=300))))


def test_a_set_without_enough_of_a_group_or_label_is_refused() -> None:
    few = people(1000, rare=5)
    relabelled = replace(few, sensitive=people(1000).sensitive, labels=few.sensitive)
    for data, pattern in ((few, "group; .* group north"), (relabelled, "label; .* label yes")):
        with pytest.raises(InputError, match=rf"records must hold at least 3 people of each {pattern} has [012]"):
            split(data)


@settings(max_examples=100)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.5])] * 2, st.integers(0, 1), st.integers(0, 2)), min_size=1))
def test_kinds_by_brute_force(records: list[tuple[float, float, int, int]]) -> None:
    table = np.array(records)
    kinds = kinds_of_records(table[:, :2], table[:, 2].astype(np.uint8), table[:, 3].astype(np.uint8))
    for i, current in enumerate(records):
        assert [bool(kinds[i] == k) for k in kinds] == [current == candidate for candidate in records]
    sizes = Counter(tuple(value + 0.0 for value in record) for record in records)
    repeated = sum(size for size in sizes.values() if size > 1)
    caveat = repeated_records(kinds)
    assert (caveat is None) == (repeated == 0)
    if caveat is not None:
        assert (caveat.kind, caveat.count, caveat.total) == ("records_repeated", repeated, len(records))
        assert caveat.text.startswith(f"{repeated} of {len(records)} records are equal")


def test_repeated_records_are_noted_and_counted_between_the_sets() -> None:
    n = 300
    frame = pd.DataFrame({"f": [*range(n), *range(0, n, 10)], "g": [0.5, 7.0] * 165, "s": ["a", "b", "a"] * 110})
    table = replace(table_of(), frame=frame.assign(y=["1", "0"] * 165))
    data = build_dataset(table, Roles(label="y", positive="1", favourable="1", sensitive="s", group=("a",)))
    records = [tuple(row) for row in np.column_stack([data.features, data.labels, data.sensitive])]
    repeated = sum(size for size in Counter(records).values() if size > 1)
    assert data.notes[-1].startswith(f"{repeated} of 330 records are equal to another one in every column used")
    splits = split(data, seed=1)
    trained = {records[i] for i in splits.train}
    expected = {
        name: sum(records[i] in trained for i in getattr(splits, name)) for name in ("attack", "validation", "test")
    }
    assert shared_records(data, splits) == expected
    assert min(repeated, expected["test"]) > 0
    caveat = sharing(data, splits)
    assert (caveat.kind, caveat.count) == ("records_shared", sum(expected.values()))
    assert caveat.total == splits.test.size + splits.attacker_rows.size
