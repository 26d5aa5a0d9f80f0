"""Columns of very many distinct values: counted and refused before anything goes through them, or read as ever."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets import Roles, Table, build_dataset, cautions, read_table
from core.datasets.checked_table import Severity
from core.datasets.columns import CROSS
from core.datasets.input_check import check_input
from core.datasets.roles import MINIMUM_PER_GROUP, MOST_GROUPS, groups_of
from tests.unit.datasets.bad_tables import assert_one_sentence

ROLES = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex", group=("f",))
CASES = {
    "values of the attribute": ("sex", ROLES, "10,000"),
    "each value of the attribute": ("sex", replace(ROLES, group=(), each=True), "10,000"),
    "crossed": ("sex", replace(ROLES, sensitive=f"sex{CROSS}place", group=()), "10,000"),
    "label": ("hired", ROLES, "50"),
    "prediction": ("answer", replace(ROLES, prediction="answer"), "50"),
    "sets": ("part", replace(ROLES, sets="part"), "50"),
}


def table_of(column: str, cell: str = "v{}x") -> Table:
    """Return a table of 12,000 people, one of whose columns has another value in each record."""
    n = 12_000
    values = {"id": range(n), "sex": ["f", "m"], "age": range(20, 61), "hired": ["yes", "no", "no"]}
    values |= {"answer": ["no", "yes"], "place": ["a", "b"], "part": ["train", "test"]}
    values[column] = [cell.format(i) for i in range(n)]
    records = [[str(choices[i % len(choices)]) for choices in values.values()] for i in range(n)]
    return read_table("\n".join(map(",".join, [values, *records])).encode(), "t.csv")


@pytest.mark.parametrize(("column", "roles", "most"), CASES.values(), ids=CASES)
def test_as_many_values_as_records_are_refused_in_one_sentence(column, roles, most):
    table = table_of(column)
    with pytest.raises(InputError) as refused:
        build_dataset(table, roles)
    assert_one_sentence(str(refused.value), (f"'{column}'", f"at most {most} distinct values", "got 12,000"))
    (fact,) = check_input(table.frame, roles)
    assert fact.severity is Severity.BLOCKING and fact.text == str(refused.value)
    assert cautions(table.frame, roles) == ()


def test_many_numbers_of_an_attribute_are_split_by_a_limit():
    roles = replace(ROLES, group=(), at_most=5_999.0)
    dataset = build_dataset(table_of("sex", "{}"), roles)
    assert np.bincount(dataset.sensitive).tolist() == [6_000, 6_000]


@pytest.mark.parametrize(("cell", "stays"), [("v{}x", False), ("{}.5", True)])
def test_a_feature_of_many_texts_is_left_out_and_one_of_many_numbers_stays(cell, stays):
    built = build_dataset(table_of("place", cell), ROLES)
    assert ("place" in built.feature_names) == stays


SIZES_OF_VALUES = st.lists(st.integers(1, 70), min_size=2, max_size=30)


@given(SIZES_OF_VALUES)
def test_a_group_for_each_value_is_what_counting_says(sizes):
    cells = [f"v{index}" for index, size in enumerate(sizes) for _ in range(size)] + [None]
    column = pd.Series(cells, dtype="str", name="sex")
    counts = Counter(cell for cell in cells if cell is not None)
    ordered = sorted(counts, key=lambda value: (-counts[value], value))
    rare = [value for value in ordered if counts[value] < MINIMUM_PER_GROUP]
    if len(rare) == 1 and len(ordered) >= 4 and counts[ordered[-2]] < 2 * MINIMUM_PER_GROUP:
        rare = ordered[-2:]
    merged = rare if len(rare) > 1 and sum(counts[value] for value in rare) >= MINIMUM_PER_GROUP else []
    names = [value for value in ordered if value not in merged] + ["other values"] * bool(merged)
    roles = replace(ROLES, group=(), each=True)
    if not 2 <= len(names) <= MOST_GROUPS:
        with pytest.raises(InputError, match=f"got {len(names)};"):
            groups_of(column, roles)
        return
    codes, group_names, _ = groups_of(column, roles)
    expected = [None if cell is None else names[-1 if cell in merged else names.index(cell)] for cell in cells]
    assert group_names == tuple(names)
    assert [None if pd.isna(code) else group_names[code] for code in codes] == expected


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=4, unique=True))
def test_a_group_for_each_pair_is_what_counting_says(pairs):
    cells = [CROSS.join(pair) for index, pair in enumerate(pairs) for _ in range(30 + index)]
    column = pd.Series(cells, dtype="str", name=f"sex{CROSS}race")
    roles = replace(ROLES, sensitive=f"sex{CROSS}race", group=())
    people = Counter(cells)
    n_cells = len({pair[0] for pair in pairs}) * len({pair[1] for pair in pairs})
    if n_cells < 2 or n_cells > len(people):
        with pytest.raises(InputError, match=f"got {n_cells};" if n_cells < 2 else "got 0 in"):
            groups_of(column, roles)
        return
    codes, names, _ = groups_of(column, roles)
    assert names == tuple(sorted(people, key=lambda cell: (-people[cell], cell)))
    assert [names[code] for code in codes] == cells
