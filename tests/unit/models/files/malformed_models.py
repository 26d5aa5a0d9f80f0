"""Malformed and hostile model files, by what is wrong, for tests of the command line.

`MALFORMED_MODELS` are refused when the file is read, `UNFIT_MODELS` when they are asked about `table`. Contents are
made on demand; what the refusal must say stands beside each.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from tests.model_samples import (
    NUMBERS,
    as_onnx,
    as_skops,
    binary,
    closed,
    graph,
    logistic,
    node,
    nodes_of,
    numbers,
    opened,
    people,
    said,
)

__all__ = ["MALFORMED_MODELS", "UNFIT_MODELS", "MalformedModel", "table"]


@dataclass(frozen=True)
class MalformedModel:
    """A model file, what the audit's plan says of it besides, and words of the sentence that refuses it."""

    name: str
    content: Callable[[], bytes]
    words: str
    plan: dict[str, Any] = field(default_factory=dict)


def table() -> bytes:
    """Return the people the models are asked about, with a sensitive attribute and a column with gaps, as CSV."""
    frame = people().assign(sex=["F", "M", "M"] * 80)
    frame["gaps"] = frame["hours"].where(frame.index % 7 > 0)
    return bytes(frame.to_csv(index=False).encode())


def _tree(**values: list[int]) -> bytes:
    fitted = DecisionTreeClassifier(max_depth=1).fit(numbers(), binary())
    state = fitted.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for name, value in values.items():
        nodes[name] = value
    fitted.tree_.__setstate__({**state, "nodes": nodes})
    return as_skops(fitted)


def _array(header: str, rest: bytes = bytes(64)) -> bytes:
    text = header.encode() + b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + rest


def _changed(change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> Callable[[], bytes]:
    """Return a logistic regression's file after a change to its description and arrays."""

    def content() -> bytes:
        schema, members = opened(as_skops(logistic()))
        change(schema, members)
        return closed(schema, members)

    return content


def _with_array(content: bytes) -> Callable[[], bytes]:
    return _changed(lambda schema, members: members.update({nodes_of(schema, "ndarray")[0]["file"]: content}))


def _with_node(one: dict[str, Any]) -> Callable[[], bytes]:
    def change(schema: dict[str, Any], members: dict[str, bytes]) -> None:
        nodes_of(schema, "LogisticRegression")[0]["content"]["content"]["more"] = one

    return _changed(change)


def _pickled() -> bytes:
    return pickle.dumps({"model": "here"}, protocol=4)


def _torch() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("archive/data.pkl", _pickled())
    return buffer.getvalue()


def _good_skops() -> bytes:
    return as_skops(logistic())


def _good_onnx() -> bytes:
    return as_onnx(logistic(), numbers()[:1], zipmap=False)


def _broken_sum() -> bytes:
    whole = bytearray(_good_skops())
    at = whole.index(b"\x93NUMPY") + 130
    whole[at] ^= 255
    return bytes(whole)


def _member_twice() -> bytes:
    first, second = _good_skops(), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(first)) as old, zipfile.ZipFile(second, "w") as new:
        for name in (*old.namelist(), "x" * len("schema.json")):
            new.writestr(name, old.read(name) if name in old.namelist() else b"{}")
    return second.getvalue().replace(b"x" * len("schema.json"), b"schema.json")


def _step_with(function: Any) -> bytes:
    fitted = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(numbers(), binary())
    fitted.steps[0][1].func = function
    return as_skops(fitted)


def _operator(*arguments: Any, **more: Any) -> Callable[[], bytes]:
    return lambda: graph([helper.make_node(*arguments, **more)])


_ADD = ("Add", ["x", "w"], ["p"])
_NEG = ("Neg", ["x"], ["p"])


def _with_weights(tensor: TensorProto) -> Callable[[], bytes]:
    return lambda: graph([helper.make_node(*_ADD)], initializer=[tensor])


def _outside(location: str) -> TensorProto:
    tensor = TensorProto(name="w", data_type=1, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


def _loop() -> bytes:
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"])], "l", [], [])
    return graph([helper.make_node("Loop", ["", "", "x"], ["p"], body=body)])


def _function() -> bytes:
    inside = [helper.make_node("Neg", ["a"], ["b"])]
    body = helper.make_function("f", "F", ["a"], ["b"], inside, [helper.make_opsetid("", 17)])
    return graph([helper.make_node(*_NEG)], functions=[body])


def _sparse() -> bytes:
    values = numpy_helper.from_array(np.ones(1, np.float32), "w")
    thin = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([0])), [10**12])
    return graph([helper.make_node(*_ADD)], sparse=[thin])


def _versions(*, opset: int = 17, ir: int = 8) -> bytes:
    made = helper.make_graph(
        [helper.make_node(*_NEG)],
        "graph",
        [helper.make_tensor_value_info("x", 1, [None, 2])],
        [helper.make_tensor_value_info("p", 1, None)],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
    return bytes(model.SerializeToString())


def _row(values: list[float], title: str = "w") -> TensorProto:
    return numpy_helper.from_array(np.array(values, dtype=np.float32), title)


def _scored(*chain: tuple[str, list[str], list[str]], row: list[float] | None = None, **more: Any) -> bytes:
    """Return a graph of operators on two numbers, with a row of weights."""
    return graph([helper.make_node(*one) for one in chain], initializer=[_row(row or [1.0, 1.0])], **more)


def _grows(count: int) -> bytes:
    sizes = numpy_helper.from_array(np.array([count], dtype=np.int64), "s")
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["c"]),
        helper.make_node("ReduceSum", ["c"], ["r"], keepdims=0),
        helper.make_node("Add", ["x", "r"], ["p"]),
    ]
    return graph(nodes, initializer=[sizes])


def _wide() -> bytes:
    sizes = numpy_helper.from_array(np.array([240, 2000], dtype=np.int64), "s")
    return graph([helper.make_node("ConstantOfShape", ["s"], ["p"])], initializer=[sizes])


def _named(columns: list[str], answers: list[str] | None = None) -> bytes:
    """Return a tree that names its columns."""
    frame = people()[columns]
    said_of = people()["approved"] if answers is None else np.resize(np.array(answers, dtype=object), len(frame))
    return as_skops(DecisionTreeClassifier(max_depth=2, random_state=0).fit(frame, said_of))


def _renamed() -> bytes:
    fitted = LogisticRegression().fit(people()[NUMBERS].rename(columns={"hours": "days"}), binary())
    return as_skops(fitted)


def _nan_weights() -> bytes:
    fitted = LogisticRegression().fit(numbers(), binary())
    fitted.coef_ = np.full_like(fitted.coef_, np.nan)
    return as_skops(fitted)


_READ = {
    "a pickle": ("m.pkl", _pickled, "opening a pickle can run any code"),
    "joblib": ("m.joblib", _pickled, "opening a pickle can run any code"),
    "an old ending of pickles": ("m.sav", _pickled, "opening a pickle can run any code"),
    "PyTorch": ("m.pt", _torch, "a PyTorch file is a pickle inside"),
    "a pickle called ONNX": ("m.onnx", _pickled, "it is a pickle"),
    "a pickle called skops": ("m.skops", _pickled, "it is a pickle"),
    "a pickle of protocol 0": ("m.onnx", lambda: pickle.dumps([1, 2], protocol=0), "it is a pickle"),
    "PyTorch called skops": ("m.skops", _torch, "PyTorch"),
    "joblib inside skops": (
        "m.skops",
        lambda: closed(opened(_good_skops())[0], {"more.joblib": _pickled()}),
        "holds a pickle",
    ),
    "Keras": ("m.keras", _torch, "it is a Keras model"),
    "HDF5 called ONNX": ("m.onnx", lambda: b"\x89HDF\r\n\x1a\n" + bytes(99), "Keras model or other HDF5 data"),
    "onnxruntime's own format": ("m.ort", lambda: bytes(99), "cannot be inspected before it runs"),
    "that format called ONNX": ("m.onnx", lambda: b"\x08\0\0\0ORTM" + bytes(99), "cannot be inspected"),
    "TensorFlow Lite": ("m.onnx", lambda: b"\x1c\0\0\0TFL3" + bytes(99), "TensorFlow Lite"),
    "a zip archive": ("m.zip", _torch, "does not say what it holds"),
    "a text's ending": ("m.txt", _good_onnx, "must end in .onnx or .skops"),
    "no ending": ("model", _good_onnx, "must end in .onnx or .skops"),
    "compressed": ("m.onnx", lambda: b"\x1f\x8b\x08" + bytes(99), "it is compressed"),
    "an array": ("m.skops", lambda: b"\x93NUMPY\x01\0" + bytes(99), "a numpy array and no model"),
    "a program": ("m.onnx", lambda: b"\x7fELF" + bytes(99), "it is a program"),
    "nothing, as ONNX": ("m.onnx", bytes, "is empty"),
    "nothing, as skops": ("m.skops", bytes, "is empty"),
    "skops called ONNX": ("m.onnx", _good_skops, "let its name end in .skops"),
    "ONNX called skops": ("m.skops", _good_onnx, "let its name end in .onnx"),
    "noise, as ONNX": ("m.onnx", lambda: np.random.default_rng(1).bytes(500), "is not ONNX, or is damaged"),
    "noise, as an archive": (
        "m.skops",
        lambda: b"PK\x03\x04" + np.random.default_rng(1).bytes(500),
        "cannot be unpacked",
    ),
    "half of an ONNX file": ("m.onnx", lambda: _good_onnx()[:200], "is not ONNX, or is damaged"),
    "half of a skops file": ("m.skops", lambda: _good_skops()[:3000], "cannot be unpacked"),
    "a bomb": (
        "m.skops",
        lambda: closed(b" " * (65 * 1024 * 1024), compression=zipfile.ZIP_DEFLATED),
        "its description is no JSON",
    ),
    "an archive with a wrong sum": ("m.skops", _broken_sum, "damaged or made up"),
    "a member twice": ("m.skops", _member_twice, "damaged or made up"),
    "a member of another kind": (
        "m.skops",
        lambda: closed(opened(_good_skops())[0], {"a.bin": b"x"}),
        "damaged or made up",
    ),
    "an archive without a model": ("m.skops", lambda: closed(b"[]"), "its description names no model"),
    "a description that is no JSON": ("m.skops", lambda: closed(b"{"), "its description is no JSON"),
    "a deep description": (
        "m.skops",
        lambda: closed(b'{"__loader__": "ListNode", "content": ' + b"[" * 5000 + b"]" * 5000 + b"}"),
        "nested too deeply",
    ),
    "a huge array": (
        "m.skops",
        _with_array(_array("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }")),
        "needs more than 1,536 MB of memory",
    ),
    "an array of objects": (
        "m.skops",
        _with_array(_array("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", _pickled())),
        "Object arrays cannot be loaded",
    ),
    "an array with code for a header": ("m.skops", _with_array(_array("__import__('os')")), "damaged or made up"),
    "a call": (
        "m.skops",
        _with_node(node("ConstructorFromReduceNode", "subprocess.Popen", said("true"))),
        "not on the list of types",
    ),
    "a function": ("m.skops", lambda: _step_with(np.load), "not on the list of types"),
    "an operator": (
        "m.skops",
        _with_node(node("OperatorFuncNode", "operator.methodcaller", attrs=said("system"))),
        "not on the list of types",
    ),
    "a node that is itself": (
        "m.skops",
        _with_node(node("CachedNode", "builtins.int", __id__=1)),
        "damaged or made up",
    ),
    "an estimator that is left out": ("m.skops", lambda: as_skops(SVC().fit(numbers(), binary())), "not on the list"),
    "a regressor": ("m.skops", lambda: as_skops(LinearRegression().fit(numbers(), binary())), "no classifier"),
    "no estimator": ("m.skops", lambda: as_skops({"a": 1}), "damaged or made up"),
    "an estimator that is not fitted": ("m.skops", lambda: as_skops(LogisticRegression()), "damaged or made up"),
    "weights in another file": ("m.onnx", _with_weights(_outside("w.bin")), "lie in another file"),
    "weights in a system's file": ("m.onnx", _with_weights(_outside("../../etc/passwd")), "lie in another file"),
    "weights in memory": ("m.onnx", _with_weights(_outside("*/_ORT_MEM_ADDR_/*")), "lie in another file"),
    "an operator set of the future": ("m.onnx", lambda: _versions(opset=9999), "cannot be run"),
    "a format of the future": ("m.onnx", lambda: _versions(ir=9999), "cannot be run"),
    "a domain of its own": (
        "m.onnx",
        lambda: graph(
            [helper.make_node("Run", ["x"], ["p"], domain="my.ops")], domains=[helper.make_opsetid("my.ops", 1)]
        ),
        "is not part of the ONNX standard",
    ),
    "a function of its own": ("m.onnx", _function, "functions of its own"),
    "a loop": ("m.onnx", _loop, "cannot be run"),
    "thin tensors": ("m.onnx", _sparse, "cannot be run"),
    "a tensor larger than the file": (
        "m.onnx",
        _with_weights(TensorProto(name="w", data_type=1, dims=[10**6, 10**6])),
        "cannot be run",
    ),
    "a tensor of negative size": (
        "m.onnx",
        _with_weights(TensorProto(name="w", data_type=1, dims=[-1, 5])),
        "cannot be run",
    ),
    "a tensor cut short": (
        "m.onnx",
        _with_weights(TensorProto(name="w", data_type=1, dims=[2], raw_data=b"abc")),
        "cannot be run",
    ),
    "an operator nobody knows": ("m.onnx", _operator("NoSuchOperator", ["x"], ["p"]), "cannot be run"),
    "an input nobody gives": ("m.onnx", _operator("Neg", ["nowhere"], ["p"]), "cannot be run"),
    "nodes in a circle": (
        "m.onnx",
        lambda: graph([helper.make_node("Add", ["x", "b"], ["p"]), helper.make_node("Neg", ["p"], ["b"])]),
        "cannot be run",
    ),
    "texts that grow": ("m.onnx", _operator("StringConcat", ["x", "x"], ["p"]), "cannot be run"),
    "four records at a time": (
        "m.onnx",
        lambda: graph([helper.make_node(*_NEG)], inputs=[("x", 1, [4, 2])]),
        "takes exactly 4 records",
    ),
    "pictures": (
        "m.onnx",
        lambda: graph([helper.make_node(*_NEG)], inputs=[("x", 1, [None, 3, 8, 8])]),
        "4 dimensions",
    ),
    "two tables": (
        "m.onnx",
        lambda: graph([helper.make_node(*_NEG)], inputs=[("x", 1, [None, 2]), ("y", 1, [None, 3])]),
        "takes 2 tables",
    ),
    "cells of complex numbers": (
        "m.onnx",
        lambda: graph(
            [helper.make_node("Shape", ["x"], ["p"])], inputs=[("x", 14, [None, 2])], outputs=[("p", 7, None)]
        ),
        "m.onnx",
    ),
    "nothing to ask": (
        "m.onnx",
        lambda: graph([helper.make_node("Constant", [], ["p"], value_float=0.5)], inputs=()),
        "takes no input",
    ),
    "two scores": (
        "m.onnx",
        lambda: graph([helper.make_node(*_NEG)], outputs=[("p", 1, None), ("x", 1, None)]),
        "gives several scores",
    ),
    "no answer": (
        "m.onnx",
        lambda: graph([helper.make_node("Cast", ["x"], ["p"], to=3)], outputs=[("p", 3, None)]),
        "gives neither labels nor scores",
    ),
}

_TWO = {"features": NUMBERS[:2]}

_ASKED = {
    "a tree that leads out": (
        "m.skops",
        lambda: _tree(right_child=[10**9, -1, -1]),
        "made the process that opened it crash",
        {"features": NUMBERS},
    ),
    "a column the table lacks": ("m.skops", _renamed, "'days'", {}),
    "texts for numbers": ("m.onnx", lambda: _versions(), "Column 'work' holds text", {"features": ["age", "work"]}),
    "gaps for numbers": ("m.onnx", lambda: _versions(), "Column 'gaps' lacks", {"features": ["age", "gaps"]}),
    "no names and no order": ("m.onnx", lambda: _versions(), "features", {}),
    "fewer columns than it takes": ("m.onnx", lambda: _versions(), "2", {"features": ["age"]}),
    "more columns than it takes": ("m.onnx", lambda: _versions(), "2", {"features": NUMBERS}),
    "a column of the plan's own": ("m.onnx", lambda: _versions(), "'shoe size'", {"features": ["age", "shoe size"]}),
    "answers that are no numbers": (
        "m.onnx",
        lambda: _scored(("Sub", ["x", "x"], ["z"]), ("Div", ["z", "z"], ["q"]), ("Mul", ["q", "w"], ["p"])),
        "scores must be probabilities in [0, 1], got nan",
        _TWO,
    ),
    "margins for scores": (
        "m.onnx",
        lambda: _scored(("Mul", ["x", "w"], ["p"])),
        "scores must be probabilities in [0, 1]",
        _TWO,
    ),
    "scores that do not add up": (
        "m.onnx",
        lambda: _scored(("Sub", ["x", "x"], ["z"]), ("Add", ["z", "w"], ["p"]), row=[0.2, 0.3]),
        "add up to 0.5 and not to 1",
        _TWO,
    ),
    "one answer for all": (
        "m.onnx",
        lambda: graph([helper.make_node("ReduceMean", ["x"], ["p"], keepdims=0)]),
        "The model cannot take",
        _TWO,
    ),
    "thousands of answers each": ("m.onnx", _wide, "more than 1000 scores a record", _TWO),
    "growth beyond memory": ("m.onnx", lambda: _grows(10**11), "needs more than 1,536 MB of memory", _TWO),
    "an array that does not fit": (
        "m.onnx",
        lambda: _scored(("Mul", ["x", "w"], ["p"]), row=[1.0, 2.0, 3.0]),
        "cannot",
        _TWO,
    ),
    "weights that are no numbers": ("m.skops", _nan_weights, "got nan", {"features": NUMBERS}),
    "an unknown positive answer": (
        "m.skops",
        lambda: _named(NUMBERS),
        "must be one of the model's",
        {"positive": "si"},
    ),
    "no known positive answer": (
        "m.skops",
        lambda: _named(NUMBERS, ["good", "bad"]),
        "say which of them is the positive answer",
        {},
    ),
    "a threshold beyond 1": ("m.onnx", lambda: _versions(), "threshold", {**_TWO, "threshold": 1.5}),
}

MALFORMED_MODELS = {kind: MalformedModel(*given) for kind, given in _READ.items()}
"""What is refused when the file is read, by what is wrong."""

UNFIT_MODELS = {kind: MalformedModel(*given) for kind, given in _ASKED.items()}
"""What is refused when the model is asked about `table`, by what is wrong."""
