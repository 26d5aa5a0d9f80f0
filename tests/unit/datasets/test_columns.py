"""The columns of a table: what is set aside, numbers and categories, and their words."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

from core.datasets.columns import as_text, describe_columns
from core.errors import InputError
from tests.unit.datasets.bad_tables import GOOD_ROLES
from tests.unit.datasets.small_tables import N, built, table_of


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["Ulm"], "the same value"),
        ([True], "the same value"),
        ([np.nan], "empty"),
        ([5, None], "one number"),
        (pd.date_range("2024", periods=7), "dates"),
        (pd.Series(pd.date_range("2024", periods=7)).astype("timestamp[ns][pyarrow]"), "dates"),
        ([f"P{i}" for i in range(N)], "different text"),
        ([date(2024, i // 28 + 1, i % 28 + 1) for i in range(N)], "different text"),
        (range(1, N + 1), "numbers the records"),
    ],
)
def test_useless_columns_are_set_aside_with_a_note(cells: object, words: str) -> None:
    data = built(extra=cells)
    assert data.feature_names == ("age",)
    assert len(data.notes) == 1 and data.notes[0].startswith("Column extra ") and words in data.notes[0]


@pytest.mark.parametrize(
    ("cells", "first", "categorical"),
    [
        ([True, False], [1, 0], True),
        (pd.array([True, None], "boolean"), [0, -1], True),
        ([True, None, False], [1, -1, 0], True),
        (pd.Categorical(["b", "a"], categories=["b", "a"]), [1, 0], True),
        (["a", None], [0, -1], True),
        (np.array([2**64 - 1, 1], np.uint64), [2.0**64, 1], False),
        ([2**70, 1, 2], [1, 0, 2], True),
        ([1e300, -1e300], [1e300, -1e300], False),
        (pd.array([0.5, 1.5], "Float64"), [0.5, 1.5], False),
        ([i / 2 for i in range(N)], [0, 0.5], False),
        (["7", "x"] * 5, [0, 1], True),
    ],
)
def test_kinds_of_features(cells: object, first: list[float], categorical: bool) -> None:
    data = built(extra=cells)
    assert data.feature_names == ("age", "extra") and data.categorical.tolist() == [False, categorical]
    assert data.features[: len(first), 1].tolist() == first


def test_categories_say_what_the_codes_stand_for() -> None:
    data = built(job=["nurse", None, "cook"])
    assert data.categories == ((), ("cook", "nurse"))
    assert data.features[:3, 1].tolist() == [1, -1, 0]
    assert built(job=["smith", None, "cook"]).fingerprint != data.fingerprint


def test_numbers_with_a_few_words_are_refused_unless_excluded() -> None:
    cells = [str(i % 50) for i in range(119)] + ["n.a."]
    with pytest.raises(InputError, match="mixes numbers and text"):
        built(pay=cells)
    assert built(replace(GOOD_ROLES, excluded=("pay",)), pay=cells).feature_names == ("age",)
    assert built(replace(GOOD_ROLES, excluded=("pay",)), pay=[np.inf, 1]).feature_names == ("age",)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1.0, None], ["1", None]),
        ([-0.0, 1.0], ["0", "1"]),
        ([1e300, 1.0], ["1e+300", "1.0"]),
        ([" a ", None], ["a", None]),
        ([True, None], ["True", None]),
        (pd.Categorical([1.0, None]), ["1", None]),
        (pd.array([2**62 + 1, None], "Int64"), [str(2**62 + 1), None]),
    ],
)
def test_as_text(cells: object, expected: list[str | None]) -> None:
    text = as_text(pd.Series(cells))
    assert [None if pd.isna(cell) else cell for cell in text] == expected


def test_describe_columns() -> None:
    table = table_of(pay=[1.0, None, 3.0, 3.0], empty=[None], flag=[True], day=pd.date_range("2024", periods=1))
    told = describe_columns(table.frame).set_index("column")
    assert told.loc["pay"].tolist() == ["number", 30, 2, "3"]
    assert told.loc["empty"].tolist() == ["category", N, 0, ""]
    assert told.loc["day", "missing"] == 0
