"""The columns of a table one by one: what they hold, which roles they can have, why they have theirs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.datasets import Roles, suggest_roles
from core.datasets.column_roles import (
    COLUMN_ROLES,
    ColumnSummary,
    assign_roles,
    reason_of,
    role_of,
    summarise_columns,
    usable_features,
)

N = 200


def people() -> pd.DataFrame:
    score = (np.arange(N) % 100) / 100
    return pd.DataFrame(
        {
            "case_id": [f"P{i}" for i in range(N)],
            "age": [None if i % 50 == 0 else 20 + i % 37 for i in range(N)],
            "town": [None if i % 3 else "north" for i in range(N)],
            "country": "here",
            "pay": [str(i) if i else "unknown" for i in range(N)],
            "day": pd.to_datetime("2026-01-01"),
            "sex": ["F" if i % 3 else "M" for i in range(N)],
            "hired": ["yes" if i % 5 < 2 else "no" for i in range(N)],
            "prediction": np.where(score > 0.5, "yes", "no"),
            "score": score,
        }
    )


def columns() -> dict[str, ColumnSummary]:
    return {column.name: column for column in summarise_columns(people())}


def test_what_columns_hold():
    found = columns()
    assert {name: column.kind for name, column in found.items()} == {
        **dict.fromkeys(("town", "country", "pay", "sex", "hired", "prediction"), "category"),
        **dict.fromkeys(("age", "score"), "number"),
        "case_id": "text",
        "day": "date",
    }
    assert (found["age"].missing, found["age"].first) == (4, ("21", "22", "23"))
    assert (found["sex"].distinct, found["sex"].first) == (2, ("M", "F"))
    assert found["pay"].set_aside == "holds numbers mixed with text, or infinite values"
    aside = {name for name, column in found.items() if column.set_aside}
    assert aside == {"case_id", "country", "pay", "day"}


def test_roles_a_column_can_have():
    found = columns()
    assert found["sex"].possible_roles(given=True) == tuple(COLUMN_ROLES)
    assert set(COLUMN_ROLES) - set(found["sex"].possible_roles(given=False)) == {"prediction", "score", "sets"}
    assert set(found["score"].possible_roles(given=False)) == {"feature", "sensitive", "excluded"}  # 100 values
    assert set(found["country"].possible_roles(given=False)) == {"feature", "excluded"}


def test_roles_by_column_and_back():
    roles = suggest_roles(people()).roles
    assigned = {name: role_of(name, roles) for name in people()}
    assert assigned["case_id"] == "excluded" and assigned["age"] == "feature" and assigned["score"] == "score"
    assert assign_roles(roles, assigned) == roles
    other = assign_roles(roles, assigned | {"sex": "feature", "town": "sensitive", "age": "excluded"})
    assert (other.sensitive, other.excluded) == ("town", ("case_id", "age"))
    assert usable_features(summarise_columns(people()), assigned) == ["age", "town"]


@pytest.mark.parametrize(
    ("name", "role", "reason"),
    [
        ("case_id", "excluded", "names the records"),
        ("sex", "sensitive", "named like a sensitive attribute; 2 values"),
        ("hired", "label", "the values of the prediction, the last such column; 2 values"),
        ("prediction", "prediction", "named like a prediction, with few values"),
        ("age", "feature", "median fills 4 gaps"),
        ("town", "feature", "a category of its own for 133 gaps"),
        ("country", "feature", "not used: holds the same value in every record"),
        ("age", "excluded", "your choice"),
    ],
)
def test_reasons(name: str, role: str, reason: str):
    assert reason_of(columns()[name], role, suggest_roles(people()), keep=True) == reason


def test_reasons_of_roles_in_use():
    assert reason_of(columns()["sex"], "sensitive", None, keep=True) == ""
    assert reason_of(columns()["age"], "feature", None, keep=False) == "4 records without it are dropped"


def test_nothing_has_a_role_in_an_empty_form():
    assert role_of("sex", Roles(label="", positive="", sensitive="")) == "feature"
