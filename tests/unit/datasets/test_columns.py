"""The columns of a table: kinds, what is set aside, which roles they can have and which are guessed, and why."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.datasets import build_dataset, suggest_roles
from core.datasets.columns import identifier_reason
from core.datasets.role_suggestion import Suggestion, names_attribute, suggested_limit
from tests.unit.datasets.small_tables import N, table_of

SCORE = ((np.arange(N) * 37 % N) / N).round(2)
PREDICTED = np.arange(N) % 3 == 0
SEVERAL = ["white"] * 60 + ["black"] * 35


def guessed(order: tuple[str, ...] = (), **columns: object) -> Suggestion:
    """Guess for people with age, sex, hired and more columns, in this order where it matters."""
    frame = table_of(**columns).frame
    return suggest_roles(frame[list(order)] if order else frame)


@pytest.mark.parametrize(("score", "answers"), [([0, 1], ["yes", "no"]), ([0.2, 0.8], [1, 0]), ([0.0, 1.0], [1, 0])])
def test_a_score_of_two_values_is_no_label(score, answers):
    for order in list(itertools.permutations(("sex", "hired", "score", "prediction")))[::5]:
        roles = guessed(order, score=score, prediction=answers).roles
        assert (roles.label, roles.positive, roles.sensitive) == ("hired", "yes", "sex")
        assert (roles.prediction, roles.score) == ("prediction", "score")


@pytest.mark.parametrize("name", ["risk_score", "Score 2", "prob_default", "predictedClass", "y_pred_forest", "split"])
def test_what_is_called_like_an_output_is_never_the_label(name):
    for columns in ({name: [0, 1]}, {name: ["a", "b"]}):
        assert guessed(**columns).roles.label == "hired"
        frame = table_of(**columns).frame.drop(columns="hired")
        suggestion = suggest_roles(frame)
        assert suggestion.roles.label == "" and "no column has two values" in suggestion.reasons["label"]


@pytest.mark.parametrize(
    ("values", "groups", "reason"),
    [
        (["a", "b", "b"], {"group": ("a",)}, "the smaller group is the first"),
        (["a", "b", "c", "d"], {"each": True}, "a group for each value, all of 30 people or more"),
        ([*SEVERAL, *["other"] * 25], {"group": ("white",)}, "the most frequent value against the others"),
        (list(range(60)), {"at_most": 14.0}, "a number, so the lowest quarter against the others"),
    ],
)
def test_the_groups_can_be_audited(values, groups, reason):
    table = table_of(gender=values)
    suggestion = suggest_roles(table.frame, attribute="gender")
    assert {name: getattr(suggestion.roles, name) for name in groups} == groups and suggestion.reasons[
        "group"
    ] == reason
    build_dataset(table, replace(suggestion.roles, favourable=suggestion.roles.positive))


def test_what_names_the_records_or_another_model_s_answer_is_left_out():
    names = {"case_id": [1000 + 3 * i for i in range(N)], "name": [f"P{i}" for i in range(N)]}
    pay = [str(i) if i else "unknown" for i in range(N)]  # numbers with a typing error: said when it is built
    answers = {"prediction": ["yes", "no"], "y_pred": [1, 0], "score": SCORE, "proba": SCORE / 2}
    frame = table_of(**names, pay=pay, **answers).frame
    suggestion, with_model = suggest_roles(frame), suggest_roles(frame, model=True)
    assert suggestion.roles.excluded == (*names, "y_pred", "proba")
    assert suggestion.reasons["excluded"] == "another prediction or score, by its name; names the records"
    assert with_model.roles.excluded == (*names, *answers)
    assert not with_model.roles.gives_predictions and not {"prediction", "score"} & with_model.reasons.keys()


@pytest.mark.parametrize(("step", "numbers"), [(1, True), (2, False)])
def test_identifier_reason_of_whole_numbers_without_a_gap(step, numbers):
    reason = identifier_reason(np.arange(60.0)[::-1] * step + 7, 60, "height")
    assert ("numbers the records" in reason) == numbers


@pytest.mark.parametrize(("n", "limit"), [(10, None), (11, 3)])
def test_suggested_limit_is_of_more_than_ten_numbers(n, limit):
    """A quarter of the way from 1 to 11 is 3.5; the number below it is 3."""
    assert suggested_limit(pd.Series([*range(n, 0, -1)])) == limit


@pytest.mark.parametrize(
    ("name", "is_sensitive"),
    [("migration_background", True), ("Age_Group", True), ("sexual orientation", True), ("migration_date", False)],
)
def test_names_attribute_of_names_of_sensitive_attributes(name, is_sensitive):
    assert names_attribute(name) is is_sensitive
