"""What is inside a skops file: calls, pickles and what is not on the list are refused; nothing runs."""

from __future__ import annotations

import copy
import functools
import operator
import os
import pickle

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
    logistic,
    node,
    nodes_of,
    numbers,
    opened,
    people,
    pipeline,
    said,
    several,
)
from tests.unit.models.files.refusals import Hostile, changed, refusal


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
        node("NdArrayNode", "subprocess.Popen", type="numpy", file="a.npy"),
        node("DictNode", "os._Environ", {}, key_types=said([])),
        node("LossNode", "os.system", {}, __reduce__={"args": several(command)}),
        node("PartialNode", "functools.partial", {"func": node("FunctionNode", "os.system"), "args": several(command)}),
        node("CachedNode", "builtins.int", __id__=1),
        node("NoSuchNode", "builtins.int"),
    ]
    for call in calls:
        told = refusal(with_step(call), "m.skops")
        assert "not on the list of types that are loaded" in told or "damaged or made up" in told, call


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
    assert "not on the list" in refusal(as_skops(SVC().fit(numbers(), binary())), "m.skops")
    assert "no classifier" in refusal(as_skops(OneHotEncoder().fit(people()[["work"]])), "m.skops")


def test_what_is_no_fitted_classifier_is_refused():
    assert refusal(as_skops(LogisticRegression()), "m.skops")
    assert refusal(as_skops({"a": 1}), "m.skops")


def test_arrays_are_read_without_pickle(marker):
    def array_of(header: str, rest: bytes = b"") -> bytes:
        text = header.encode() + b" " * (117 - len(header)) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + rest

    objects = array_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickle.dumps(Hostile(marker)))
    called = array_of("__import__('os').system('true')")
    for wrong in (objects, called, b"not an array", pickle.dumps(Hostile(marker)), b""):

        def put(array, members, wrong=wrong):
            members[array["file"]] = wrong

        assert "damaged or made up" in refusal(changed(logistic(), "ndarray", put), "m.skops")


def test_an_encoder_that_would_write_beyond_its_columns_is_refused():
    for name, value in (("_n_features_outs", [1]), ("_drop_idx_after_grouping", None)):
        encoder = OneHotEncoder(drop="first").fit(people()[["work"]])
        fitted = make_pipeline(encoder, LogisticRegression()).fit(people()[["work"]], binary())
        setattr(encoder, name, value)
        assert "other columns than it announces" in refusal(as_skops(fitted), "m.skops")
