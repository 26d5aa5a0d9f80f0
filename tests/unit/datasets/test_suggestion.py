"""Guessed roles: what is the label and what is not, what is left out, and a reason for every guess."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from core.datasets import build_dataset, suggest_roles
from core.datasets.role_suggestion import Suggestion
from tests.unit.datasets.small_tables import N, table_of

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
        (["a", "b", "c"], {"each": True}, "a group for each value, all of 30 people or more"),
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
