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

__all__ = ["ENDLESS", "MODELS", "killer"]

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


def _filled(*shape: int, then: tuple[Any, ...] = ()) -> bytes:
    """Return a graph that makes a tensor of this shape and hands it on."""
    first = ("ConstantOfShape", ["s"], ["r" if not then else "t"])
    return _chain(first, *then, s=shape)


def _pooling() -> bytes:
    pool = ("AveragePool", ["t"], ["r"], {"kernel_shape": [2500, 2500], "pads": [1249] * 4})
    return _filled(1, 1, 2500, 2500, then=(pool,))


def _multiplied(size: int, times: int) -> bytes:
    steps = [("MatMul", [f"t{i}", f"t{i}"], [f"t{i + 1}"]) for i in range(times)]
    return _chain(("ConstantOfShape", ["s"], ["t0"]), *steps, ("Identity", [f"t{times}"], ["r"]), s=(size, size))


def _doubled(operator: str, times: int) -> bytes:
    steps = [(operator, [f"t{i}", f"t{i}"], [f"t{i + 1}"], {"axis": 0}) for i in range(times)]
    return _chain(("ConstantOfShape", ["s"], ["t0"]), *steps, ("Identity", [f"t{times}"], ["r"]), s=(1000,))


def _loop() -> bytes:
    kept = helper.make_tensor_value_info("n", TensorProto.BOOL, [])
    inner = [helper.make_node("Identity", ["c"], ["n"]), helper.make_node("Identity", ["v"], ["w"])]
    value = helper.make_tensor_value_info("w", _FLOAT, None)
    body = helper.make_graph(
        inner,
        "body",
        [
            helper.make_tensor_value_info("i", _INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", _FLOAT, None),
        ],
        [kept, value],
    )
    ever = numpy_helper.from_array(np.array(True), "ever")
    nodes = [
        helper.make_node("Loop", ["", "ever", "x"], ["p"], body=body),
    ]
    return graph(nodes, initializer=[ever])


def _words() -> bytes:
    steps = [
        helper.make_node("Constant", [], ["t"], value=helper.make_tensor("t", TensorProto.STRING, [1], [b"x" * 1000]))
    ]
    steps += [
        helper.make_node("Expand", ["t", "s"], ["e"]),
        helper.make_node("LabelEncoder", ["e"], ["f"], domain="ai.onnx.ml", keys_strings=["a"], values_floats=[1.0]),
        helper.make_node("ReduceMean", ["f"], ["m"], keepdims=0),
        helper.make_node("Add", ["x", "m"], ["p"]),
    ]
    return graph(steps, initializer=[_constant("s", 10**8)])


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


def _gathered(place: int) -> bytes:
    return _chain(("Gather", ["t", "i"], ["g"]), ("Cast", ["g"], ["r"], {"to": _FLOAT}), t=(1, 2, 3), i=(place,))


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
    fitted = make_pipeline(counts, LogisticRegression()).fit(["aaa", "aa"] * 30, [0, 1] * 30)
    return as_skops(fitted)


def _member(content: bytes, **settings: int) -> bytes:
    """Return a logistic regression with other bytes for its first array."""
    schema, members = opened(as_skops(logistic()))
    members[nodes_of(schema, "ndarray")[0]["file"]] = content
    return closed(schema, members, **settings)


def _array(shape: str, rest: bytes = bytes(64)) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + rest


def _shared() -> bytes:
    schema, members = opened(as_skops(logistic()))
    first, second = [one for one in nodes_of(schema, "ndarray") if one["type"] == "numpy"][:2]
    second["__id__"] = first["__id__"]
    return closed(schema, members)


def _encoder() -> bytes:
    encoder = OneHotEncoder(drop="first").fit(people()[["work"]])
    fitted = make_pipeline(encoder, LogisticRegression()).fit(people()[["work"]], binary())
    encoder._n_features_outs = [1]
    return as_skops(fitted)


_ZEROS = b"\x00" * 300_000_000

ENDLESS = (
    "pooling with a kernel of 2500 × 2500",
    "matrices multiplied 10,000 times",
    "a loop",
    "a tree with a loop",
    "a forest with a loop",
)
"""Those of `MODELS` that only compute."""

MODELS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "Div of the smallest int64 by −1": ("m.onnx", killer),
    "Mod of the smallest int32 by −1": ("m.onnx", partial(killer, np.int32, "Mod")),
    "division by zero": (
        "m.onnx",
        lambda: _chain(("Div", ["a", "b"], ["q"]), ("Cast", ["q"], ["r"], {"to": 1}), a=(1,), b=(0,)),
    ),
    "pooling with a kernel of 2500 × 2500": ("m.onnx", _pooling),
    "matrices multiplied 10,000 times": ("m.onnx", partial(_multiplied, 800, 10_000)),
    "a matrix of 400 GB": ("m.onnx", partial(_filled, 10**11)),
    "a matrix of 4 GB": ("m.onnx", partial(_filled, 10**9)),
    "a negative shape": ("m.onnx", partial(_filled, -5)),
    "doubled 40 times": ("m.onnx", partial(_doubled, "Concat", 40)),
    "a loop": ("m.onnx", _loop),
    "a text a hundred million times": ("m.onnx", _words),
    "an index beyond": ("m.onnx", partial(_gathered, 10**9)),
    "an ensemble that leads out": ("m.onnx", partial(_trees, nodes_truenodeids=[99, 0, 0])),
    "an ensemble that leads back": ("m.onnx", partial(_trees, nodes_truenodeids=[0, 0, 0])),
    "an ensemble with a class too many": ("m.onnx", partial(_trees, class_ids=[0, 10**6])),
    "a tree with a loop": ("m.skops", lambda: as_skops(_tree(left_child=[0, -1, -1], right_child=[0, -1, -1]))),
    "a tree that leads out": (
        "m.skops",
        lambda: as_skops(_tree(left_child=[10**9, -1, -1], right_child=[10**9, -1, -1])),
    ),
    "a forest with a loop": ("m.skops", partial(_forest, left_child=[0, -1, -1], right_child=[0, -1, -1])),
    "boosting that leads out": ("m.skops", partial(_boosted, "left", 10**6)),
    "boosting with categories it lacks": ("m.skops", partial(_boosted, "is_categorical", 1)),
    "powers to the 900th": ("m.skops", _powers),
    "a pattern that backtracks": ("m.skops", _pattern),
    "an encoder that lies": ("m.skops", _encoder),
    "two arrays of one number": ("m.skops", _shared),
    "an array of 8 TB": ("m.skops", lambda: _member(_array("(1000000000000,)"))),
    "an array of negative length": ("m.skops", lambda: _member(_array("(-1,)"))),
    "an array of zeros, packed": (
        "m.skops",
        lambda: _member(_array("(37500000,)", _ZEROS), compression=zipfile.ZIP_DEFLATED),
    ),
    "2 GB of blanks, packed": (
        "m.skops",
        lambda: closed(b" " * 2_000_000_000, compression=zipfile.ZIP_DEFLATED),
    ),
    "a deep description": ("m.skops", lambda: closed(b"[" * 100_000 + b"]" * 100_000)),
}
"""What is wrong -> file name and how the file is made."""
