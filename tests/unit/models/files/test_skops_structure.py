"""Trees, encoders and generators of allowed types that would lead compiled code astray are refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from core.models.files import read_model
from tests.model_samples import (
    as_skops,
    binary,
    numbers,
    people,
    said,
)
from tests.unit.models.files.refusals import changed, refusal


def tree_with(**values: list[int]) -> DecisionTreeClassifier:
    """Return a tree of three nodes with other values in them."""
    fitted = DecisionTreeClassifier(max_depth=1).fit(numbers(), binary())
    state = fitted.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for name, value in values.items():
        nodes[name] = value
    fitted.tree_.__setstate__({**state, "nodes": nodes})
    return fitted


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"left_child": [10**9, -1, -1]}, "leads out of the tree"),
        ({"right_child": [-7, -1, -1]}, "leads out of the tree"),
        ({"left_child": [0, -1, -1]}, "back up"),
        ({"left_child": [1, 0, -1], "right_child": [2, 2, -1]}, "back up"),
        ({"feature": [3, -2, -2]}, "a feature the model is not given"),
        ({"feature": [-5, -2, -2]}, "a feature the model is not given"),
    ],
)
def test_a_tree_that_leads_astray_is_refused(values, what):
    assert "damaged or made up" in refusal(as_skops(tree_with(**values)), "m.skops")
    assert what in refusal(as_skops(tree_with(**values)), "m.skops")


def test_a_tree_must_fit_its_arrays_and_its_owner():
    fitted = tree_with()

    def claim(node_of_tree, members):
        node_of_tree["content"]["content"]["node_count"] = said(1)

    def swap(node_of_tree, members):
        node_of_tree["content"]["content"]["nodes"] = said([1, 2])

    assert "miscounts its nodes" in refusal(changed(fitted, "Tree", claim), "m.skops")
    assert "not stored as arrays" in refusal(changed(fitted, "Tree", swap), "m.skops")
    fitted.n_features_in_ = 2
    assert "another number of features" in refusal(as_skops(fitted), "m.skops")
    forest = RandomForestClassifier(2).fit(numbers(), binary())
    forest.estimators_[1] = tree_with(feature=[9, -2, -2])
    assert "a feature the model is not given" in refusal(as_skops(forest), "m.skops")


def test_boosting_that_would_write_beyond_its_columns_is_refused():
    fitted = GradientBoostingClassifier(n_estimators=2).fit(numbers(), binary())
    fitted.estimators_ = np.repeat(fitted.estimators_, 3, axis=1)
    assert "more than two classes" in refusal(as_skops(fitted), "m.skops")
    fitted = GradientBoostingClassifier(n_estimators=2).fit(numbers(), binary())
    fitted.estimators_[1, 0] = (
        GradientBoostingClassifier(n_estimators=1).fit(numbers()[:, :2], binary()).estimators_[0, 0]
    )
    assert "another number of features" in refusal(as_skops(fitted), "m.skops")


@pytest.mark.parametrize(("name", "value"), [("left", 10**6), ("right", 0), ("feature_idx", 99), ("is_categorical", 1)])
def test_histogram_boosting_that_leads_astray_is_refused(name, value):
    fitted = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5).fit(numbers(), binary())
    assert read_model(as_skops(fitted), "m.skops").width == 3
    fitted._predictors[1][0].nodes[name] = value
    assert "damaged or made up" in refusal(as_skops(fitted), "m.skops")


def test_an_encoder_that_would_fill_columns_it_does_not_have_is_refused():
    for name, value in (
        ("_n_features_outs", [1]),
        ("drop_idx_", None),
        ("_drop_idx_after_grouping", np.array([50], "O")),
    ):
        encoder = OneHotEncoder(drop="first").fit(people()[["work"]])
        fitted = make_pipeline(encoder, LogisticRegression()).fit(people()[["work"]], binary())
        setattr(encoder, name, value)
        if name == "drop_idx_":
            encoder._drop_idx_after_grouping = None  # one column more than announced
        assert "encoder" in refusal(as_skops(fitted), "m.skops")


def test_a_random_state_outside_its_sequence_is_refused():
    fitted = LogisticRegression(random_state=np.random.RandomState(0)).fit(numbers(), binary())

    def move(state, members):
        state["content"]["content"]["state"]["content"]["pos"]["content"] = "100000"

    assert "outside its sequence" in refusal(changed(fitted, "RandomState", move), "m.skops")
