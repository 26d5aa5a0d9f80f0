"""The description inside a skops file: nodes that call something, and what is not on the list, are refused."""

from __future__ import annotations

import copy
import functools
import operator
import os

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import SVC

from tests.model_samples import (
    as_skops,
    binary,
    closed,
    node,
    nodes_of,
    numbers,
    opened,
    people,
    pipeline,
    said,
    several,
)
from tests.unit.models.files.refusals import refusal


@functools.cache
def plain() -> tuple[dict, dict]:
    return opened(as_skops(pipeline()))


def with_step(step: dict) -> bytes:
    """Return a pipeline whose first step is a node of somebody's choice."""
    schema, members = copy.deepcopy(plain())
    nodes_of(schema, "Pipeline")[0]["content"]["content"]["more"] = step
    return closed(schema, members)


def test_nodes_that_call_something_are_refused(marker):
    command = f"touch '{marker}'"
    calls = [
        node("OperatorFuncNode", "operator.methodcaller", attrs=several("system", command)),
        node("OperatorFuncNode", "operator.call", attrs=several("system", command)),
        node("ConstructorFromReduceNode", "subprocess.Popen", several(["touch", str(marker)])),
        node("ConstructorFromReduceNode", "sklearn.pipeline.Pipeline", several([])),
        node("MethodNode", "sklearn.pipeline.Pipeline", {"func": "__class__", "obj": said(1)}),
        node("FunctionNode", "os.system"),
        node("FunctionNode", "numpy.load"),
        node("TypeNode", "posix.system"),
        node("TypeNode", "builtins.eval"),
        node("ObjectNode", "subprocess.Popen", node("DictNode", "builtins.dict", {})),
        node("ObjectNode", "builtins.dict", node("DictNode", "builtins.dict", {})),
        node("BytesNode", "builtins.bytes", file="a.npy"),
        node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="a.npz"),
        node("NdArrayNode", "subprocess.Popen", type="numpy", file="a.npy"),
        node("DictNode", "os._Environ", {}, key_types=said([])),
        node("LossNode", "os.system", {}, __reduce__={"args": several(command)}),
        node("PartialNode", "functools.partial", {"func": node("FunctionNode", "os.system"), "args": several(command)}),
        node("CachedNode", "builtins.int", __id__=1),
        node("NoSuchNode", "builtins.int"),
    ]
    for call in calls:
        assert "not on the list of types that are loaded" in refusal(with_step(call), "m.skops"), call


def _lambda(frame):
    return eval("frame")


@pytest.mark.parametrize("function", [os.system, eval, _lambda, lambda frame: frame, np.load])
def test_a_step_with_a_function_is_refused(function):
    fitted = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(numbers(), binary())
    fitted.steps[0][1].func = function
    assert "not on the list" in refusal(as_skops(fitted), "m.skops")


def test_an_operator_that_calls_a_method_is_refused(marker):
    fitted = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(numbers(), binary())
    fitted.steps[0][1].func = operator.methodcaller("system", f"touch '{marker}'")
    assert "not on the list" in refusal(as_skops(fitted), "m.skops")


def test_estimators_that_are_left_out_are_refused():
    for fitted in (SVC().fit(numbers(), binary()), OneHotEncoder().fit(people()[["work"]])):
        told = refusal(as_skops(fitted), "m.skops")
        assert "not on the list" in told or "no classifier" in told


def test_what_is_no_fitted_classifier_is_refused():
    assert refusal(as_skops(LogisticRegression()), "m.skops")
    assert refusal(as_skops({"a": 1}), "m.skops")
