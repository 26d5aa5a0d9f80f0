"""Every hostile file is read, or refused in one sentence, and the process that asked goes on.

Models that crash, grow, or compute without end, and some that only lie; tables that are small as files and large in
memory, damaged where it hurts, or slow to read. All are made on demand.
"""

import io
import zipfile
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

from core.base.errors import InputError
from core.datasets import read_table
from core.models import model_files
from core.models.model_files import MAX_BYTES, read_model
from tests.model_samples import NUMBERS, as_skops, binary, closed, graph, logistic, nodes_of, numbers, opened, people

_FLOAT = TensorProto.FLOAT


def _constant(name, *values):
    return numpy_helper.from_array(np.array(values, dtype=np.int64), name)


def _chain(*nodes, **tensors):
    """Return a graph of operators that ends in "r", added to the input."""
    graph_nodes = [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes]
    graph_nodes += [
        helper.make_node("ReduceMean", ["r"], ["m"], keepdims=0),
        helper.make_node("Add", ["x", "m"], ["p"]),
    ]
    return graph(graph_nodes, initializer=[_constant(name, *values) for name, values in tensors.items()])


def killer(column="x", width=2):
    """Return a graph that divides the smallest whole number by −1, which no processor can: it raises SIGFPE."""
    graph_nodes = [
        helper.make_node("Div", ["a", "b"], ["q"]),
        helper.make_node("Cast", ["q"], ["r"], to=_FLOAT),
        helper.make_node("Add", [column, "r"], ["p"]),
    ]
    inputs = ((column, 1, [None, width]),)
    return graph(graph_nodes, inputs=inputs, initializer=[_constant("a", np.iinfo(np.int64).min), _constant("b", -1)])


def _filled(*shape):
    return _chain(("ConstantOfShape", ["s"], ["r"]), s=shape)


def _doubled(times):
    steps = [("Concat", [f"t{i}", f"t{i}"], [f"t{i + 1}"], {"axis": 0}) for i in range(times)]
    return _chain(("ConstantOfShape", ["s"], ["t0"]), *steps, ("Identity", [f"t{times}"], ["r"]), s=(1000,))


def _trees(**changed):
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
    settings = {**node, **changed}
    return graph([helper.make_node("TreeEnsembleClassifier", ["x"], ["l", "p"], domain="ai.onnx.ml", **settings)])


def _tree(**values):
    fitted = DecisionTreeClassifier(max_depth=1).fit(numbers(), binary())
    state = fitted.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for name, value in values.items():
        nodes[name] = value
    fitted.tree_.__setstate__({**state, "nodes": nodes})
    return fitted


def _forest(**values):
    forest = RandomForestClassifier(3, random_state=0).fit(numbers(), binary())
    forest.estimators_[1] = _tree(**values)
    return as_skops(forest)


def _boosted(name, value):
    fitted = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5).fit(numbers(), binary())
    fitted._predictors[1][0].nodes[name] = value
    return as_skops(fitted)


def _powers():
    step = PolynomialFeatures(2)
    fitted = make_pipeline(step, LogisticRegression()).fit(numbers(), binary())
    step.degree = step._max_degree = 900
    return as_skops(fitted)


def _encoder():
    encoder = OneHotEncoder(drop="first").fit(people()[["work"]])
    fitted = make_pipeline(encoder, LogisticRegression()).fit(people()[["work"]], binary())
    encoder._n_features_outs = [1]
    return as_skops(fitted)


def _array(shape, rest=bytes(64), **settings):
    """Return a logistic regression with another array for its first."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    schema, members = opened(as_skops(logistic()))
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + rest
    members[nodes_of(schema, "ndarray")[0]["file"]] = array
    return closed(schema, members, **settings)


ENDLESS = ("a tree with a loop", "a forest with a loop")  # which only compute

_BACK, _OUT = {"left_child": [0, -1, -1]}, {"left_child": [10**9, -1, -1], "right_child": [10**9, -1, -1]}

MODELS = {
    "Div of the smallest int64 by −1": ("m.onnx", killer),
    "a matrix of 400 GB": ("m.onnx", partial(_filled, 10**11)),
    "a negative shape": ("m.onnx", partial(_filled, -5)),
    "doubled 40 times": ("m.onnx", partial(_doubled, 40)),
    "an index beyond": (
        "m.onnx",
        lambda: _chain(("Gather", ["t", "i"], ["g"]), ("Cast", ["g"], ["r"], {"to": _FLOAT}), t=(1, 2, 3), i=(10**9,)),
    ),
    "an ensemble that leads out": ("m.onnx", partial(_trees, nodes_truenodeids=[99, 0, 0])),
    "a tree with a loop": ("m.skops", lambda: as_skops(_tree(**_BACK, right_child=[0, -1, -1]))),
    "a tree that leads out": ("m.skops", lambda: as_skops(_tree(**_OUT))),
    "a forest with a loop": ("m.skops", partial(_forest, **_BACK, right_child=[0, -1, -1])),
    "boosting that leads out": ("m.skops", partial(_boosted, "left", 10**6)),
    "powers to the 900th": ("m.skops", _powers),
    "an encoder that lies": ("m.skops", _encoder),
    "an array of 8 TB": ("m.skops", lambda: _array("(1000000000000,)")),
    "an array of zeros, packed": (
        "m.skops",
        lambda: _array("(37500000,)", bytes(300_000_000), compression=zipfile.ZIP_DEFLATED),
    ),
    "2 GB of blanks, packed": ("m.skops", lambda: closed(b" " * 2_000_000_000, compression=zipfile.ZIP_DEFLATED)),
    "a deep description": ("m.skops", lambda: closed(b"[" * 100_000 + b"]" * 100_000)),
}
"""What is wrong -> file name and how the file is made."""


_ROWS = 2_000_000


def _parquet(table, **settings):
    sink = io.BytesIO()
    pq.write_table(table, sink, **settings)
    return sink.getvalue()


def _repeated(text, rows, columns=2):
    """Return a text that is stored once and stands in every cell."""
    cells = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), pa.array([text]))
    return _parquet(pa.table({f"c{j}": cells for j in range(columns)}), compression="zstd", row_group_size=rows)


def _same_cells(kind, columns, codec, *, dictionary):
    cells = pa.array(np.zeros(_ROWS, np.int32)).cast(kind)
    table = pa.table({f"c{j}": cells for j in range(columns)})
    return _parquet(table, compression=codec, use_dictionary=dictionary, row_group_size=_ROWS)


def _good():
    rng = np.random.default_rng(3)
    texts = rng.choice(["a", "b", "c"], 500)
    return _parquet(pa.table({"x": rng.normal(size=500), "y": texts, "z": rng.integers(0, 9, 500)}))


def _flipped(seed):
    """Return a good file with four bytes changed, in its pages or its footer."""
    content, rng = bytearray(_good()), np.random.default_rng(seed)
    for offset in rng.integers(4, len(content) - 8, 4):
        content[offset] = rng.integers(256)
    return bytes(content)


def _footer(length):
    content = _good()
    return content[:-8] + length.to_bytes(4, "little") + content[-4:]


def _nested():
    deep = pa.array([1] * 100)
    for _ in range(60):
        deep = pa.ListArray.from_arrays(pa.array(range(len(deep) + 1), pa.int32()), deep)
    return _parquet(pa.table({"a": deep, "b": list(range(len(deep)))}))


_HEADER, _LINE = b"age,work,sex,hired\n", b"31,cook,F,yes\n"

TABLES = {
    **{
        f"a text of {size:,} bytes in every cell": ("a.parquet", partial(_repeated, "x" * size, _ROWS))
        for size in (300, 3_000_000)
    },
    "a text of 100 MB in 2,000 cells": ("a.parquet", partial(_repeated, "x" * 100_000_000, 2_000)),
    "500 columns of one text": ("a.parquet", partial(_repeated, "word", _ROWS, 500)),
    **{
        f"50 columns of {kind}, {codec}": ("a.parquet", partial(_same_cells, kind, 50, codec, dictionary=False))
        for kind, codec in ((pa.float64(), "gzip"), (pa.bool_(), "brotli"), (pa.decimal128(30), "zstd"))
    },
    "400 columns of numbers": ("a.parquet", partial(_same_cells, pa.int64(), 400, "zstd", dictionary=True)),
    **{f"four bytes changed, {seed}": ("a.parquet", partial(_flipped, seed)) for seed in range(3)},
    "a footer of 4 GB": ("a.parquet", partial(_footer, 2**32 - 1)),
    "a footer that begins too early": ("a.parquet", partial(_footer, 10_000)),
    "half of a file": ("a.parquet", lambda: _good()[: len(_good()) // 2] + b"PAR1"),
    "lists in lists": ("a.parquet", _nested),
    "a line of 60 MB": ("a.csv", lambda: _HEADER + b"x" * 60_000_000),
    "a quotation that never ends": ("a.csv", lambda: _HEADER + b'31,"' + _LINE * 3_000_000),
    "blank lines only": ("a.csv", lambda: b" " + b"\n" * 50_000_000),
    "digits without end": ("a.csv", lambda: _HEADER + (b"9" * 1_000_000 + b",a,F,yes\n") * 60),
    "signs and marks of numbers": ("a.csv", lambda: _HEADER + (b"-" + b"1'" * 30_000 + b",a,F,yes\n") * 500),
    "zero bytes": ("a.csv", lambda: _HEADER + bytes(50_000_000)),
    "half of a UTF-16": (
        "a.csv",
        lambda: b"\xff\xfe" + (_HEADER + _LINE * 1_000_000).decode().encode("utf-16-le")[:-1],
    ),
    "every line another width": ("a.csv", lambda: _HEADER + b"".join(b"," * (j % 400) + b"\n" for j in range(200_000))),
    "40 columns, as many lines as are read": (
        "a.csv",
        lambda: b",".join(b"c%d" % j for j in range(40)) + b"\n" + (b",".join([b"1"] * 40) + b"\n") * 1_250_000,
    ),
    "a new word in every cell": (
        "a.csv",
        lambda: _HEADER + b"".join(b"w%d,v%d,F,yes\n" % (j, j) for j in range(2_000_001)),
    ),
    "a long word in every cell": ("a.csv", lambda: _HEADER + (b"x" * 400 + b"," + b"y" * 400 + b",F,yes\n") * 240_000),
}
"""What is wrong -> file name and how the file is made."""

SLOW = (
    *("2 GB of blanks, packed", "an array of zeros, packed", "a text of 100 MB", "a text of 3,000,000 bytes"),
    *("50 columns of ", "400 columns of numbers", "500 columns of one text", "half of a UTF-16"),
    *("every line another width", "40 columns, ", "a new word in every cell", "a long word in every cell"),
)
"""Beginnings of the names of those that are made or read slowly."""


def tried(kind):
    """Return the sentence a file is refused with, or "" if it is read or answers."""
    name, factory = {**MODELS, **TABLES}[kind]
    content = factory()
    try:
        if kind in TABLES:
            read_table(content, name)
            return ""
        model = read_model(content, name)
        model.answers(people(), features=() if model.feature_names else NUMBERS[: model.width or 1])
    except InputError as error:
        message = str(error)
        assert message.endswith(".") and "\n" not in message and len(message) < 420, message
        return message
    return ""


def _params(kinds):
    return [pytest.param(kind, marks=pytest.mark.long if kind.startswith(SLOW) else ()) for kind in kinds]


@pytest.mark.parametrize("kind", _params(MODELS))
def test_a_model(kind, monkeypatch):
    monkeypatch.setattr(model_files, "MAX_SECONDS", 1.0 if kind in ENDLESS else 30.0)
    sentences = {
        **dict.fromkeys(ENDLESS, "was stopped after 1 seconds"),
        "Div of the smallest int64 by −1": "signal SIGFPE",
        "a matrix of 400 GB": "'m.onnx' needs more than 1,536 MB of memory",
    }
    assert sentences.get(kind, "") in tried(kind)


@pytest.mark.parametrize("kind", _params(TABLES))
def test_a_table(kind):
    message = tried(kind)
    if kind in ("40 columns, as many lines as are read", "a long word in every cell"):
        assert not message  # as large as a table may be, in cells and in bytes


@pytest.mark.long
def test_the_largest_model_answers():
    weights = numpy_helper.from_array(np.zeros((2, 24_000_000), np.float32), "w")
    nodes = [
        helper.make_node("ReduceMean", ["w"], ["m"], keepdims=0),
        helper.make_node("ReduceMean", ["x"], ["r"], axes=[1], keepdims=1),
        helper.make_node("Sigmoid", ["r"], ["s"]),
        helper.make_node("Add", ["s", "m"], ["p"]),
    ]
    content = graph(nodes, initializer=[weights])
    assert 180 * 1024**2 < len(content) < MAX_BYTES
    assert read_model(content, "m.onnx").answers(people(), features=NUMBERS[:2]).labels.shape == (240,)
