"""The columns of a table: kinds, what is set aside, which roles they can have and which are guessed, and why."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

from core.datasets import build_dataset, suggest_roles
from core.datasets.column_roles import (
    COLUMN_ROLES,
    ColumnSummary,
    assign_roles,
    reason_of,
    role_of,
    summarise_columns,
    usable_features,
)
from core.datasets.columns import as_text, describe_columns
from core.datasets.role_suggestion import Suggestion
from tests.unit.datasets.small_tables import N, built, table_of


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["Ulm"], "the same value"),
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
        (np.array([2**64 - 1, 1], np.uint64), [2.0**64, 1], False),
        ([1e300, -1e300], [1e300, -1e300], False),
        (pd.array([0.5, 1.5], "Float64"), [0.5, 1.5], False),
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


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1.0, None], ["1", None]),
        ([-0.0, 1.0], ["0", "1"]),
        ([1e300, 1.0], ["1e+300", "1.0"]),
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


SCORE = ((np.arange(N) * 37 % N) / N).round(2)
SAID = np.arange(N) % 3 == 0
SEVERAL = ["white"] * 60 + ["black"] * 35


def guessed(order: tuple[str, ...] = (), **columns: object) -> Suggestion:
    """Guess for people with age, sex, hired and more columns, in this order where it matters."""
    frame = table_of(**columns).frame
    return suggest_roles(frame[list(order)] if order else frame)


@pytest.mark.parametrize("order", list(itertools.permutations(("sex", "hired", "score", "prediction"))))
@pytest.mark.parametrize("score", [[0, 1], [0.2, 0.8], [0.0, 1.0]])
def test_a_score_of_two_values_is_no_label(order: tuple[str, ...], score: list[float]):
    for said in (["yes", "no"], [1, 0]):
        found = guessed(order, score=score, prediction=said).roles
        assert (found.label, found.positive, found.sensitive) == ("hired", "yes", "sex")
        assert (found.prediction, found.score) == ("prediction", "score")


@pytest.mark.parametrize("name", ["risk_score", "Score 2", "prob_default", "predictedClass", "y_pred_forest", "split"])
def test_what_is_called_like_an_output_is_never_the_label(name: str):
    for columns in ({name: [0, 1]}, {name: ["a", "b"]}):
        assert guessed(**columns).roles.label == "hired"
        frame = table_of(**columns).frame.drop(columns="hired")
        found = suggest_roles(frame)
        assert found.roles.label == "" and "no column has two values" in found.reasons["label"]


@pytest.mark.parametrize(
    ("columns", "label", "reason"),
    [
        ({}, "hired", "two values, the last such column"),
        ({"flag": [1, 0]}, "flag", "two values, the last such column"),
        ({"flag": [1, 0], "decision": ["no", "yes"]}, "hired", "the values of the prediction, the last such column"),
        ({"flag": [1, 0], "decision": [0, 1]}, "flag", "the values of the prediction, the last such column"),
        ({"target": [1, 0], "flag": [1, 0]}, "target", "named like a label"),
        ({"target": [0.1, 0.5]}, "hired", "two values, the last such column"),  # named like one, and no label
        ({"race": ["a", "b"]}, "hired", "two values, the last such column"),  # another sensitive attribute
    ],
)
def test_the_label_and_its_reason(columns: dict[str, object], label: str, reason: str):
    found = guessed(**columns)
    assert (found.roles.label, found.reasons["label"]) == (label, reason)


@pytest.mark.parametrize(
    ("values", "groups", "reason"),
    [
        (["a", "b", "b"], {"group": ("a",)}, "the rarer of two values"),
        (["a", "b", "c", "d"], {"each": True}, "a group for each value, all of 30 people or more"),
        ([*SEVERAL, *["other"] * 25], {"group": ("white",)}, "the most frequent value against the others"),
        (list(range(60)), {"at_most": 14.0}, "a number, so the lowest quarter against the others"),
    ],
)
def test_the_groups_can_be_audited(values: list[object], groups: dict[str, object], reason: str):
    table = table_of(gender=values)
    found = suggest_roles(table.frame, attribute="gender")
    assert {name: getattr(found.roles, name) for name in groups} == groups and found.reasons["group"] == reason
    build_dataset(table, found.roles)


def test_what_names_the_records_or_another_model_s_answer_is_left_out():
    columns = {
        "case_id": [1000 + 3 * i for i in range(N)],
        "name": [f"P{i}" for i in range(N)],
        "pay": [str(i) if i else "unknown" for i in range(N)],  # numbers with a typing error: said when it is built
        "prediction": ["yes", "no"],
        "y_pred": [1, 0],
        "score": SCORE,
        "proba": SCORE / 2,
    }
    found = guessed(**columns)
    assert found.roles.excluded == ("case_id", "name", "y_pred", "proba")
    assert found.reasons["excluded"] == "another prediction or score, by its name; names the records"
    frame = table_of(**columns).frame
    own = suggest_roles(frame, model=True)
    assert own.roles.excluded == ("case_id", "name", "prediction", "y_pred", "score", "proba")
    assert not own.roles.gives_predictions and not {"prediction", "score"} & own.reasons.keys()


def test_every_guess_has_a_reason_and_nothing_else_has():
    found = guessed(prediction=["yes", "no"], score=SCORE, split=["train", "train", "test"], case_id=range(N))
    assert set(found.reasons) == {
        *("label", "positive", "sensitive", "group", "prediction", "score", "sets", "excluded"),
    }
    told = suggest_roles(table_of().frame, attribute="sex", label="hired")
    assert set(told.reasons) == {"positive", "group"}
    nobody = suggest_roles(pd.DataFrame({"a": range(N), "b": range(N)}))
    assert set(nobody.reasons) >= {"label", "sensitive"} and not nobody.roles.label and not nobody.roles.sensitive


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


def summaries() -> dict[str, ColumnSummary]:
    return {column.name: column for column in summarise_columns(people())}


def test_what_columns_hold():
    found = summaries()
    assert {name: column.kind for name, column in found.items()} == {
        **dict.fromkeys(("town", "country", "pay", "sex", "hired", "prediction"), "category"),
        **dict.fromkeys(("age", "score"), "number"),
        "case_id": "text",
        "day": "date",
    }
    assert (found["age"].missing, found["age"].first) == (3, ("21", "22", "23"))
    assert (found["sex"].distinct, found["sex"].first) == (2, ("M", "F"))
    assert found["pay"].set_aside == "holds numbers mixed with text, or infinite values"
    aside = {name for name, column in found.items() if column.set_aside}
    assert aside == {"case_id", "country", "pay", "day"}


def test_roles_a_column_can_have():
    found = summaries()
    assert found["sex"].possible_roles(given=True) == tuple(COLUMN_ROLES)
    assert set(COLUMN_ROLES) - set(found["sex"].possible_roles(given=False)) == {"prediction", "score", "sets"}
    assert set(found["score"].possible_roles(given=False)) == {"feature", "sensitive", "excluded"}  # 100 values
    assert set(found["country"].possible_roles(given=False)) == {"feature", "excluded"}
    column = found["sex"]
    for role, few, many in (("label", 2, 50), ("crossed", 2, 20), ("sensitive", 2, 10**6)):
        has = [role in replace(column, distinct=n).possible_roles(given=False) for n in (few - 1, few, many, many + 1)]
        assert has == [False, True, True, role == "sensitive"]


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
        ("age", "feature", "may be sensitive too; this audit does not cover it; median fills 3 gaps"),
        ("town", "feature", "a category of its own for 80 gaps"),
        ("country", "feature", "not used: holds the same value in every record"),
        ("age", "excluded", "your choice"),
        ("sex", "feature", "another column was chosen"),
    ],
)
def test_reasons(name: str, role: str, reason: str):
    assert reason_of(summaries()[name], role, suggest_roles(people()), keep=True) == reason
    if role == "sensitive":
        assert reason_of(summaries()[name], role, None, keep=True) == ""  # the role is in use
    if role == "feature" and "median" in reason:
        dropped = reason.replace("median fills 3 gaps", "3 records without it are dropped")
        assert reason_of(summaries()[name], role, None, keep=False) == dropped
