"""Model files that crash, grow, or compute without end, and some that only lie; made on demand."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

from tests.model_samples import as_skops, binary, closed, graph, logistic, nodes_of, numbers, opened, people

_FLOAT, _INT64 = TensorProto.FLOAT, TensorProto.INT64


def _constant(name: str, *values: float, kind: Any = np.int64) -> TensorProto:
    return numpy_helper.from_array(np.array(values, dtype=kind), name)


def _chain(*nodes: Any, **tensors: Any) -> bytes:
    """Return a graph of operators that ends in "r", added to the input."""
    made = [helper.make_node(*one[:3], **(one[3] if len(one) > 3 else {})) for one in nodes]
    made += [helper.make_node("ReduceMean", ["r"], ["m"], keepdims=0), helper.make_node("Add", ["x", "m"], ["p"])]
    return graph(made, initializer=[_constant(name, *values) for name, values in tensors.items()])


def killer(kind: Any = np.int64, operator: str = "Div", column: str = "x", width: int = 2) -> bytes:
    """Return a graph that divides the smallest whole number by −1, which no processor can: it raises SIGFPE."""
    made = [
        helper.make_node(operator, ["a", "b"], ["q"]),
        helper.make_node("Cast", ["q"], ["r"], to=_FLOAT),
        helper.make_node("Add", [column, "r"], ["p"]),
    ]
    values = [_constant("a", np.iinfo(kind).min, kind=kind), _constant("b", -1, kind=kind)]
    return graph(made, inputs=((column, 1, [None, width]),), initializer=values)


def _filled(*shape: int) -> bytes:
    """Return a graph that makes a tensor of this shape and hands it on."""
    return _chain(("ConstantOfShape", ["s"], ["r"]), s=shape)


def _doubled(times: int) -> bytes:
    steps = [("Concat", [f"t{i}", f"t{i}"], [f"t{i + 1}"], {"axis": 0}) for i in range(times)]
    return _chain(("ConstantOfShape", ["s"], ["t0"]), *steps, ("Identity", [f"t{times}"], ["r"]), s=(1000,))


def _loop() -> bytes:
    inner = [helper.make_node("Identity", ["c"], ["n"]), helper.make_node("Identity", ["v"], ["w"])]
    told = (("i", _INT64, []), ("c", TensorProto.BOOL, []), ("v", _FLOAT, None))
    given = (("n", TensorProto.BOOL, []), ("w", _FLOAT, None))
    parts = [[helper.make_tensor_value_info(*one) for one in part] for part in (told, given)]
    body = helper.make_graph(inner, "body", *parts)
    ever = numpy_helper.from_array(np.array(True), "ever")
    return graph([helper.make_node("Loop", ["", "ever", "x"], ["p"], body=body)], initializer=[ever])


def _trees(**changed: Any) -> bytes:
    node = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "class_treeids": [0, 0],
        "class_nodeids": [1, 2],
        "class_ids": [0, 0],
        "class_weights": [0.2, 0.8],
        "classlabels_int64s": [0, 1],
    }
    return graph(
        [helper.make_node("TreeEnsembleClassifier", ["x"], ["l", "p"], domain="ai.onnx.ml", **{**node, **changed})]
    )


def _tree(**values: list[int]) -> DecisionTreeClassifier:
    fitted = DecisionTreeClassifier(max_depth=1).fit(numbers(), binary())
    state = fitted.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for name, value in values.items():
        nodes[name] = value
    fitted.tree_.__setstate__({**state, "nodes": nodes})
    return fitted


def _forest(**values: list[int]) -> bytes:
    forest = RandomForestClassifier(3, random_state=0).fit(numbers(), binary())
    forest.estimators_[1] = _tree(**values)
    return as_skops(forest)


def _boosted(name: str, value: int) -> bytes:
    fitted = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5).fit(numbers(), binary())
    fitted._predictors[1][0].nodes[name] = value
    return as_skops(fitted)


def _powers() -> bytes:
    step = PolynomialFeatures(2)
    fitted = make_pipeline(step, LogisticRegression()).fit(numbers(), binary())
    step.degree = step._max_degree = 900
    return as_skops(fitted)


def _pattern() -> bytes:
    counts = CountVectorizer(token_pattern=r"(?:a+)+$")
    return as_skops(make_pipeline(counts, LogisticRegression()).fit(["aaa", "aa"] * 30, [0, 1] * 30))


def _encoder() -> bytes:
    encoder = OneHotEncoder(drop="first").fit(people()[["work"]])
    fitted = make_pipeline(encoder, LogisticRegression()).fit(people()[["work"]], binary())
    encoder._n_features_outs = [1]
    return as_skops(fitted)


def _array(shape: str, rest: bytes = bytes(64), **settings: int) -> bytes:
    """Return a logistic regression with another array for its first."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    schema, members = opened(as_skops(logistic()))
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + rest
    members[nodes_of(schema, "ndarray")[0]["file"]] = array
    return closed(schema, members, **settings)


ENDLESS = ("a loop", "a tree with a loop", "a forest with a loop")
"""Those of `MODELS` that only compute."""

_BACK, _OUT = {"left_child": [0, -1, -1]}, {"left_child": [10**9, -1, -1], "right_child": [10**9, -1, -1]}

MODELS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "Div of the smallest int64 by −1": ("m.onnx", killer),
    "Mod of the smallest int32 by −1": ("m.onnx", partial(killer, np.int32, "Mod")),
    "a matrix of 400 GB": ("m.onnx", partial(_filled, 10**11)),
    "a matrix of 4 GB": ("m.onnx", partial(_filled, 10**9)),
    "a negative shape": ("m.onnx", partial(_filled, -5)),
    "doubled 40 times": ("m.onnx", partial(_doubled, 40)),
    "a loop": ("m.onnx", _loop),
    "an index beyond": (
        "m.onnx",
        lambda: _chain(("Gather", ["t", "i"], ["g"]), ("Cast", ["g"], ["r"], {"to": _FLOAT}), t=(1, 2, 3), i=(10**9,)),
    ),
    "an ensemble that leads out": ("m.onnx", partial(_trees, nodes_truenodeids=[99, 0, 0])),
    "an ensemble with a class too many": ("m.onnx", partial(_trees, class_ids=[0, 10**6])),
    "a tree with a loop": ("m.skops", lambda: as_skops(_tree(**_BACK, right_child=[0, -1, -1]))),
    "a tree that leads out": ("m.skops", lambda: as_skops(_tree(**_OUT))),
    "a forest with a loop": ("m.skops", partial(_forest, **_BACK, right_child=[0, -1, -1])),
    "boosting that leads out": ("m.skops", partial(_boosted, "left", 10**6)),
    "powers to the 900th": ("m.skops", _powers),
    "a pattern that backtracks": ("m.skops", _pattern),
    "an encoder that lies": ("m.skops", _encoder),
    "an array of 8 TB": ("m.skops", lambda: _array("(1000000000000,)")),
    "an array of negative length": ("m.skops", lambda: _array("(-1,)")),
    "an array of zeros, packed": (
        "m.skops",
        lambda: _array("(37500000,)", bytes(300_000_000), compression=zipfile.ZIP_DEFLATED),
    ),
    "2 GB of blanks, packed": ("m.skops", lambda: closed(b" " * 2_000_000_000, compression=zipfile.ZIP_DEFLATED)),
    "a deep description": ("m.skops", lambda: closed(b"[" * 100_000 + b"]" * 100_000)),
}
"""What is wrong -> file name and how the file is made."""
