"""A table is checked against what a model takes before it is asked, and its answers become columns of the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from onnx import TensorProto, helper
from sklearn.linear_model import LogisticRegression

from core.datasets import Table
from core.errors import InputError
from core.fingerprint import fingerprint_frame
from core.models.model_files import ModelFile, read_model, with_answers
from tests.model_samples import NUMBERS, as_onnx, as_skops, graph, logistic, numbers, people, pipeline


def typed(kind: int, operators: list[object] | None = None) -> ModelFile:
    """Return a model that takes one column "a" of a type and answers with a score."""
    operators = operators or [helper.make_node("Cast", ["a"], ["p"], to=TensorProto.FLOAT)]
    return read_model(graph(operators, inputs=(("a", kind, [None, 1]),)), "m.onnx")


def sentence(model: ModelFile, frame: pd.DataFrame, **settings: object) -> str:
    with pytest.raises(InputError) as caught:
        model.answers(frame, positive="yes", **settings)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")
    return str(caught.value)


@pytest.fixture(scope="module")
def model() -> ModelFile:
    return read_model(as_skops(pipeline()), "m.skops")


def test_a_missing_column_is_named(model):
    assert "asks for the column 'hours', which the table does not have;" in sentence(
        model, people().drop(columns="hours")
    )
    assert "nor 1 others it asks for" in sentence(model, people().drop(columns=["hours", "work"]))


@pytest.mark.parametrize(
    ("column", "record", "value", "what"),
    [
        ("work", 77, "mine", "column 'work' of record 78, which is 'mine': Found unknown categories"),
        ("work", 239, None, "column 'work' of record 240, which is empty: Found unknown categories"),
    ],
)
def test_a_category_the_model_never_saw_is_named(model, column, record, value, what):
    frame = people().copy()
    frame.loc[record, column] = value
    assert what in sentence(model, frame, batch=100)


def test_missing_numbers_are_named_where_the_model_cannot_take_them():
    frame = people().copy()
    frame.loc[[10, 20], "income"] = np.nan
    linear = LogisticRegression().fit(people()[NUMBERS], people()["approved"])
    told = sentence(read_model(as_skops(linear), "m.skops"), frame)
    assert "column 'income' of record 11, which is empty: Input X contains NaN" in told
    onnx = read_model(as_onnx(logistic(), numbers()[:1]), "m.onnx")
    with pytest.raises(InputError, match="Column 'income' lacks 2 of 240 values, which the model cannot take"):
        onnx.answers(frame, features=NUMBERS)
    gaps = people().assign(age=people()["age"].astype("Int64").where(people().index > 3))
    with pytest.raises(InputError, match="Column 'age' lacks 4 of 240"):
        onnx.answers(gaps, features=NUMBERS)


def test_missing_numbers_are_passed_to_a_graph_made_for_them():
    imputer = helper.make_node(
        "Imputer", ["a"], ["p"], domain="ai.onnx.ml", imputed_value_floats=[0.25], replaced_value_float=float("nan")
    )
    answers = typed(TensorProto.FLOAT, [imputer]).answers(pd.DataFrame({"a": [0.5, np.nan]}))
    assert answers.scores.tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("kind", "values", "what"),
    [
        (TensorProto.FLOAT, ["1", "x"], "holds text, such as 'x', where the model takes numbers"),
        (TensorProto.INT64, [1.0, 0.5], "must hold whole numbers for this model, got 0.5"),
        (TensorProto.INT8, [1, 300], "column 'a' of record 2, which is '300': a whole number does not fit into int8"),
        (TensorProto.BOOL, [0, 2], "must hold true or false for this model, got 2"),
        (TensorProto.FLOAT, [1.0, np.inf], "holds infinite values"),
        (TensorProto.STRING, ["a", None], "lacks 1 of 2 values"),
        (TensorProto.FLOAT, pd.to_datetime(["2020-01-01", "2021-01-01"]), "holds dates or times"),
    ],
)
def test_cells_of_the_wrong_kind_are_named(kind, values, what):
    with pytest.raises(InputError) as caught:
        typed(kind).answers(pd.DataFrame({"a": values}))
    assert what in str(caught.value) and "'a'" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (TensorProto.FLOAT, [True, False]),
        (TensorProto.INT64, [1.0, 0.0]),
        (TensorProto.BOOL, [1, 0]),
        (TensorProto.STRING, ["1", "0"]),
        (TensorProto.STRING, [1.0, 0.0]),
    ],
)
def test_cells_of_the_right_kind_are_passed(kind, values):
    answers = typed(kind).answers(pd.DataFrame({"a": values}))
    assert answers.scores.tolist() == [1.0, 0.0] and answers.labels.tolist() == [1, 0]


def test_features_must_fit_the_model():
    table = read_model(as_onnx(logistic(), numbers()[:1]), "m.onnx")
    with pytest.raises(InputError, match="takes 3 features, got 2"):
        table.answers(people(), features=NUMBERS[:2])
    with pytest.raises(InputError, match="must be columns of the table, got 'height'"):
        table.answers(people(), features=["age", "height", "hours"])
    with pytest.raises(InputError, match="must name each column once"):
        table.answers(people(), features=["age", "age", "hours"])
    with pytest.raises(InputError, match="'work' holds text"):
        table.answers(people(), features=["age", "work", "hours"])
    with pytest.raises(InputError, match="at least one record"):
        table.answers(people()[:0], features=NUMBERS)


def table_of(frame: pd.DataFrame) -> Table:
    return Table(
        name="upload", title="t.csv", frame=frame, source="Ours.", fingerprint=fingerprint_frame(frame), uploaded=True
    )


def test_answers_become_columns_of_the_table(model):
    table = table_of(people())
    before = table.frame.copy()
    given = with_answers(table, model, positive="yes")
    assert (given.prediction, given.score) == ("model prediction", "model score")
    assert given.table.frame[given.prediction].tolist() == given.answers.labels.tolist()
    assert np.array_equal(given.table.frame[given.score], given.answers.scores)
    assert given.table.fingerprint == fingerprint_frame(given.table.frame) != table.fingerprint
    assert given.table.uploaded and model.fingerprint[:12] in given.table.source
    pd.testing.assert_frame_equal(table.frame, before)


def test_a_model_without_scores_adds_one_column():
    from sklearn.linear_model import RidgeClassifier

    fitted = RidgeClassifier().fit(people()[NUMBERS], people()["approved"])
    given = with_answers(table_of(people()), read_model(as_skops(fitted), "m.skops"), positive="yes")
    assert given.score == "" and "model score" not in given.table.frame.columns
