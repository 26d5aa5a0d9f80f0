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
from core.base.serialize import fingerprint_frame
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


def test_two_columns_of_one_name_are_refused() -> None:
    frame = pd.concat([table_of().frame, table_of().frame[["age"]]], axis=1)
    with pytest.raises(InputError, match="'age'"):
        build_dataset(replace(table_of(), frame=frame), GOOD_ROLES)


def test_missing_features_are_filled_or_dropped() -> None:
    cells: dict[str, Any] = {"pay": [1.0, 2.0, 9.0, np.nan, 4.0], "job": ["b", "a", None]}
    filled = built(**cells)
    assert filled.n == N and filled.notes == ("24 missing numbers are filled with their column's median.",)
    assert filled.features[:4, 1].tolist() == [1, 2, 9, 3] and filled.features[:4, 2].tolist() == [1, 0, -1, 1]
    assert built(pay=[None, *range(1, N)]).notes == ("1 missing number is filled with its column's median.",)
    dropped = built(replace(GOOD_ROLES, missing="drop"), **cells)
    assert dropped.n == 64 and dropped.notes == ("56 records with a missing feature are left out.",)
    assert dropped.features[:3, 2].tolist() == [1, 0, 0]
    nullable = built(pay=pd.array([1, 2, 9, None, 4], "Int64"), job=cells["job"])
    np.testing.assert_array_equal(nullable.features, filled.features)


def test_dropping_looks_only_at_columns_in_use() -> None:
    roles = replace(GOOD_ROLES, missing="drop", excluded=("left",))
    data = built(roles, left=[None, 1], empty=[None], one=[None, 5.0])
    assert data.n == N and data.feature_names == ("age",)


def test_column_made_constant_by_dropping_is_set_aside() -> None:
    data = built(replace(GOOD_ROLES, missing="drop"), pay=[1.0, 2.0, 3.0, 4.0, None, None], flag=["a"] * 4 + ["b", "b"])
    assert data.n == 80 and data.feature_names == ("age", "pay")
    assert "Column flag holds the same value in every record and is left out." in data.notes


def test_a_running_number_is_no_feature_where_records_are_left_out() -> None:
    table = table_of(row=list(range(1001, 1001 + N)))
    frame = table.frame.assign(hired=table.frame["hired"].where(table.frame.index != 7))
    for used in (table, replace(table, frame=frame)):
        data = build_dataset(used, GOOD_ROLES)
        assert "row" not in data.feature_names and "Column row numbers the records and is left out." in data.notes


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


def test_any_index_will_do() -> None:
    table = table_of(job=["cook", "nurse"])
    repeated = replace(table, frame=table.frame.set_axis([7] * N, axis=0))
    for missing in ("keep", "drop"):
        roles = replace(GOOD_ROLES, missing=missing)
        assert build_dataset(repeated, roles).fingerprint == build_dataset(table, roles).fingerprint


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


@pytest.mark.parametrize(
    "cells",
    [[1, 2], [0.5, None], ["a", None], pd.array([True, None], "boolean"), pd.Categorical(["a", "b"])],
)
def test_table_fingerprint_changes_with_one_cell(cells: object) -> None:
    frame = table_of(extra=cells).frame
    changed = frame.copy(deep=True)
    changed.loc[77, "extra"] = frame.loc[76, "extra"]
    assert fingerprint_frame(frame) != fingerprint_frame(changed)
    assert fingerprint_frame(frame) == fingerprint_frame(frame.copy(deep=True))
    assert fingerprint_frame(frame) != fingerprint_frame(frame.rename(columns={"extra": "other"}))


NAMES = ("train", "attack", "validation", "test")


def people(n: int, *, rare: int | None = None) -> AuditDataset:
    """Return n people, in the first group only the first `rare` ones if that is given."""
    drawn = samples.dataset(n)
    return drawn if rare is None else replace(drawn, sensitive=(np.arange(n) < rare).astype(np.uint8))


def together(splits: Splits) -> np.ndarray:
    """Return all row numbers in the order of the sets."""
    return np.concatenate([getattr(splits, name) for name in NAMES])


def test_sizes_for_adult() -> None:
    splits = split(people(45_222), train_share=0.34)
    assert [len(getattr(splits, name)) for name in NAMES] == [15_375, 10_446, 4_477, 14_924]
    assert len(splits.attacker_rows) == 14_923


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.integers(400, 3000), st.floats(0.1, 0.8), st.integers(0, 2**32 - 1))
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
    assert data.n == 330
    equal = [i for i in range(0, n, 10) if i % 3 == (n + i // 10) % 3 and i % 2 == (n + i // 10) % 2]
    pairs = [(i, n + i // 10) for i in equal]
    records = [tuple(row) for row in np.column_stack([data.features, data.labels, data.sensitive])]
    counted = Counter(records)
    repeated = sum(c for c in counted.values() if c > 1)
    assert repeated > len(pairs) > 0
    assert data.notes[-1].startswith(f"{repeated} of 330 records are equal to another one in every column used")
    splits = split(data, seed=1)
    trained = {records[i] for i in splits.train}
    expected = {
        name: sum(records[i] in trained for i in getattr(splits, name)) for name in ("attack", "validation", "test")
    }
    assert shared_records(data, splits) == expected and sum(expected.values()) > 0
    attacker_total = expected["attack"] + expected["validation"]
    caveat = sharing(data, splits)
    assert caveat is not None and caveat.kind == "records_shared"
    assert caveat.text == (
        f"{expected['test']} of {splits.test.size} test records and {attacker_total} of {splits.attacker_rows.size} "
        "records "
        "the attacker knows equal a training record in every column used."
    )
    assert (caveat.count, caveat.total) == (
        expected["test"] + attacker_total,
        splits.test.size + splits.attacker_rows.size,
    )
