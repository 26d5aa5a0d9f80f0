"""Model files that try to reach other files, the environment, the network, processes, or time without end.

Each is made anew in a folder with a secret beside it, which no answer may tell: it is refused in one sentence.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from onnx import AttributeProto, ModelProto, SparseTensorProto, TensorProto, helper, numpy_helper
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from core.base.errors import InputError
from core.base.untrusted import ask_child
from core.models import model_files, onnx_model
from core.models.model_files import read_model
from tests.model_samples import NUMBERS, as_skops, closed, graph, logistic, node, nodes_of, opened, people, text_node

SECRET = "the-server's-secret-0123456789-abcdefghij"
SECRET_FILE = "secret.txt"

_FLOAT, _INT64, _BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
_ADD = helper.make_node("Add", ["x", "w"], ["p"])
_NEG = helper.make_node("Neg", ["x"], ["p"])


def _outside(location=SECRET_FILE, kind=_FLOAT, name="w"):
    """Tensor of two numbers whose bytes lie in a file."""
    tensor = TensorProto(name=name, data_type=kind, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


def _sparse(*, values_outside=True, indices_outside=False, name="w"):
    """Sparse tensor whose values or places lie in a file."""
    values = _outside(name=name) if values_outside else numpy_helper.from_array(np.ones(2, np.float32), name)
    indices = _outside(kind=_INT64, name="") if indices_outside else numpy_helper.from_array(np.arange(2), "")
    return SparseTensorProto(values=values, indices=indices, dims=[2])


def _constant(**attribute):
    return helper.make_node("Constant", [], ["w"], **attribute)


def _branching(inner, **more):
    outputs = [helper.make_tensor_value_info("w", _FLOAT, [2])]
    branch = helper.make_graph(inner, "branch", [], outputs, **more)
    yes = numpy_helper.from_array(np.array(True), "c")
    chosen = helper.make_node("If", ["c"], ["w"], then_branch=branch, else_branch=branch)
    return graph([chosen, _ADD], initializer=[yes])


def _with_function(inner):
    sets = [helper.make_opsetid("", 17)]
    function = helper.make_function("own", "F", [], ["w"], inner, sets)
    calling = helper.make_node("F", [], ["w"], domain="own")
    return graph([calling, _ADD], functions=[function], domains=[helper.make_opsetid("own", 1)])


def _altered(change):
    model = ModelProto.FromString(graph([_NEG]))
    change(model)
    return model.SerializeToString()


def _with_entry(part, key, value):
    def change(model):
        places = {"model": model, "graph": model.graph, "node": model.graph.node[0], "input": model.graph.input[0]}
        places[part].metadata_props.add(key=key, value=value)

    return _altered(change)


def _with_bytes(content):
    """Model with a field behind it that no description of the format has."""
    return graph([_NEG]) + content


def _with_attribute(change):
    attribute = AttributeProto(name="own")
    change(attribute)
    return _altered(lambda model: model.graph.node[0].attribute.append(attribute))


def endless(depth=1, *, column="x", width=2):
    """Loops that never end, `depth` of them one inside the other."""
    inner = [helper.make_node("Identity", ["c0"], ["n0"]), helper.make_node("Identity", ["v0"], ["o0"])]
    for level in range(1, depth):
        body = _loop_body(inner, level - 1)
        loop = helper.make_node("Loop", ["", f"c{level}", f"v{level}"], [f"o{level}"], body=body)
        inner = [helper.make_node("Identity", [f"c{level}"], [f"n{level}"]), loop]
    ever = numpy_helper.from_array(np.array(True), "ever")
    loop = helper.make_node("Loop", ["", "ever", column], ["p"], body=_loop_body(inner, depth - 1))
    return graph([loop], inputs=((column, _FLOAT, [None, width]),), initializer=[ever])


def _loop_body(nodes, level):
    """Body of a loop whose round, condition and value are named by its level."""
    inputs = [(f"i{level}", _INT64, []), (f"c{level}", _BOOL, []), (f"v{level}", _FLOAT, None)]
    outputs = [(f"n{level}", _BOOL, []), (f"o{level}", _FLOAT, None)]
    parts = [[helper.make_tensor_value_info(*value) for value in part] for part in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *parts)


def _endless_in_a_branch():
    """Loop of 2^63 rounds in a branch that is taken."""
    inner = [helper.make_node("Identity", ["c0"], ["n0"]), helper.make_node("Exp", ["v0"], ["o0"])]
    values = {"often": 2**63 - 1, "ever": True}
    constants = [numpy_helper.from_array(np.array(value), name) for name, value in values.items()]
    loop = helper.make_node("Loop", ["often", "ever", "x"], ["w"], body=_loop_body(inner, 0))
    branch = helper.make_graph([loop], "branch", [], [helper.make_tensor_value_info("w", _FLOAT, None)])
    chosen = helper.make_node("If", ["ever"], ["p"], then_branch=branch, else_branch=branch)
    return graph([chosen], initializer=constants)


def _sequence_input():
    def change(model):
        model.graph.input[0].type.Clear()
        model.graph.input[0].type.sparse_tensor_type.elem_type = _FLOAT

    return _altered(change)


ONNX = {
    "weights in a file beside": lambda: graph([_ADD], initializer=[_outside()]),
    "weights in a file by its path": lambda: graph([_ADD], initializer=[_outside("/etc/passwd")]),
    "weights in a file above": lambda: graph([_ADD], initializer=[_outside("../../etc/passwd")]),
    "weights in memory by its address": lambda: graph([_ADD], initializer=[_outside("*/_ORT_MEM_ADDR_/*")]),
    "a constant in a file": lambda: graph([_constant(value=_outside()), _ADD]),
    "sparse weights in a file": lambda: graph([_ADD], sparse=[_sparse()]),
    "places of sparse weights in a file": lambda: graph(
        [_ADD], sparse=[_sparse(values_outside=False, indices_outside=True)]
    ),
    "sparse weights inside": lambda: graph([_ADD], sparse=[_sparse(values_outside=False)]),
    "a sparse constant in a file": lambda: graph([_constant(sparse_value=_sparse()), _ADD]),
    "a sparse constant in a branch": lambda: _branching([_constant(sparse_value=_sparse())]),
    "a constant in a branch": lambda: _branching([_constant(value=_outside())]),
    "weights of a branch": lambda: _branching(
        [helper.make_node("Identity", ["v"], ["w"])], initializer=[_outside(name="v")]
    ),
    "sparse weights of a branch": lambda: _branching(
        [helper.make_node("Identity", ["w0"], ["w"])], sparse_initializer=[_sparse(name="w0")]
    ),
    "a constant in a function": lambda: _with_function([_constant(value=_outside())]),
    "a sparse constant in a function": lambda: _with_function([_constant(sparse_value=_sparse())]),
    "several tensors in files": lambda: _with_attribute(lambda attribute: attribute.tensors.append(_outside())),
    "several sparse tensors": lambda: _with_attribute(lambda attribute: attribute.sparse_tensors.append(_sparse())),
    "a word of a function": lambda: _with_attribute(lambda attribute: setattr(attribute, "ref_attr_name", "a")),
    "a type of its own": lambda: _with_attribute(
        lambda attribute: attribute.tp.optional_type.elem_type.tensor_type.SetInParent()
    ),
    "a program of another vendor": lambda: graph(
        [helper.make_node("EPContext", ["x"], ["p"], domain="com.microsoft", ep_cache_context=SECRET_FILE)],
        domains=[helper.make_opsetid("com.microsoft", 1)],
    ),
    "a Python function": lambda: graph(
        [helper.make_node("PyOp", ["x"], ["p"], domain="ai.onnx.contrib", module="os", class_name="system")],
        domains=[helper.make_opsetid("ai.onnx.contrib", 1)],
    ),
    "a picture to decode": lambda: graph([helper.make_node("ImageDecoder", ["x"], ["p"])]),
    "settings of the runtime": partial(_with_entry, "model", "ort_config", '{"session_options": {}}'),
    "metadata with a path": partial(_with_entry, "model", "weights", "/etc/passwd"),
    "metadata with an address": partial(_with_entry, "graph", "source", "https://example.org/w.bin"),
    "metadata of an operator": partial(_with_entry, "node", "data", "../secret.txt"),
    "metadata of an input": partial(_with_entry, "input", "data", "file:secret.txt"),
    "a part of a tensor": lambda: graph(
        [_ADD],
        initializer=[TensorProto(name="w", data_type=_FLOAT, dims=[2], segment=TensorProto.Segment(begin=0, end=2))],
    ),
    "steps of training": lambda: _altered(lambda model: model.training_info.add().algorithm.node.add(op_type="Neg")),
    "a sparse input": _sequence_input,
    "a field of tomorrow": partial(_with_bytes, b"\xfa\x01\x03abc"),
    "a group of fields": partial(_with_bytes, b"\xa3\x06\x08\x01\xa4\x06"),
    "a loop without end": endless,
    "a loop in a loop without end": partial(endless, 3),
    "a loop of 2^63 rounds in a branch": _endless_in_a_branch,
}
"""What it tries -> how the file is made."""


def _vectorized(vectorizer, **settings):
    """Text classifier whose vectorizer is changed after it was fitted."""
    fitted = make_pipeline(vectorizer, LogisticRegression()).fit(["aaa bb", "aa ccc"] * 30, [0, 1] * 30)
    fitted.steps[0][1].set_params(**settings)
    return as_skops(fitted)


def _backtracking():
    """Classifier of a table's column of text, by a pattern whose search doubles with every letter."""
    texts = pd.DataFrame({"text": ["aaa bb", "aa ccc"] * 30})
    counts = CountVectorizer()
    fitted = make_pipeline(make_column_transformer((counts, "text")), LogisticRegression()).fit(texts, [0, 1] * 30)
    fitted[0].named_transformers_["countvectorizer"].token_pattern = r"(?:a+)+$"
    return as_skops(fitted)


def _with_node(content, estimator, setting, value):
    """File of an estimator that has one setting written by hand."""
    schema, members = opened(content)
    nodes_of(schema, estimator)[0]["content"]["content"][setting] = value
    return closed(schema, members)


def _words_by(setting, value):
    return _with_node(_vectorized(CountVectorizer()), "CountVectorizer", setting, value)


def _solved_by(setting, value):
    return _with_node(as_skops(logistic()), "LogisticRegression", setting, value)


def _with_memory(path):
    fitted = make_pipeline(FunctionTransformer(), LogisticRegression()).fit([[0.0], [1.0]], [0, 1])
    fitted.memory = path
    return as_skops(fitted)


SKOPS = {
    "counts of files named in cells": lambda: _vectorized(CountVectorizer(), input="filename"),
    "counts of open files": lambda: _vectorized(CountVectorizer(), input="file"),
    "hashes of files named in cells": lambda: _vectorized(HashingVectorizer(), input="filename"),
    "weights of files named in cells": lambda: _vectorized(TfidfVectorizer(), input="filename"),
    "a store of results on disk": partial(_with_memory, "/tmp/fairleak-store"),
    "a store of results beside": partial(_with_memory, "store"),
    "a list of words in a file": lambda: _vectorized(CountVectorizer(), stop_words="/etc/passwd"),
    "words at an address": lambda: _vectorized(CountVectorizer(), vocabulary="https://example.org/words"),
    "words of a home folder": lambda: _vectorized(CountVectorizer(), vocabulary="~/.ssh/id_rsa"),
    "a function as its analyser": partial(_words_by, "analyzer", node("FunctionNode", "numpy.add")),
    "a function that reads as its analyser": partial(_words_by, "analyzer", node("FunctionNode", "numpy.fromfile")),
    "a type as its tokenizer": partial(_words_by, "tokenizer", node("TypeNode", "builtins.str")),
    "open as its tokenizer": partial(_words_by, "tokenizer", node("TypeNode", "builtins.open")),
    "an estimator as its preprocessor": partial(
        _words_by, "preprocessor", node("TypeNode", "sklearn.pipeline.Pipeline")
    ),
    "a process as a setting": partial(_solved_by, "solver", node("FunctionNode", "subprocess.Popen")),
    "a memory map as a setting": partial(_solved_by, "coef_", node("TypeNode", "numpy.memmap")),
    "an address as a setting": partial(_solved_by, "solver", text_node("http://127.0.0.1:9/")),
    "a pattern that backtracks": _backtracking,
}
"""What it tries -> how the file is made."""

ENDLESS = (
    *("a loop without end", "a loop in a loop without end", "a loop of 2^63 rounds in a branch"),
    "a pattern that backtracks",
)
"""Those that only compute; the limit of time ends them."""

FILES = {f"{kind}.onnx": content for kind, content in ONNX.items()}
FILES |= {f"{kind}.skops": content for kind, content in SKOPS.items()}


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Folder of the server with a secret, before the process that opens files is started."""
    (tmp_path / SECRET_FILE).write_text(SECRET)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_model_reaches_nothing(name, beside, monkeypatch):
    monkeypatch.setattr(model_files, "MAX_SECONDS", 2.0)
    kind = name.rpartition(".")[0]
    # About such a text the pattern that backtracks would think for longer than there are stars.
    cell = "a" * 60 + "b" if kind in ENDLESS else str(beside / SECRET_FILE)
    cells, features = pd.DataFrame({"text": [cell] * 60}), ["text"]
    if name.endswith(".onnx"):
        cells, features = people(), NUMBERS[:2]
    with pytest.raises(InputError) as caught:
        read_model(FILES[name](), "m" + Path(name).suffix).answers(cells, features=features)
    message = str(caught.value)
    assert SECRET[:8] not in message and "\n" not in message and message.endswith(".")
    if kind in ENDLESS:
        assert "was stopped after 2 seconds" in message
    else:
        assert "is refused because" in message


def run_unread(report, *, content):
    """Open a file with the runtime, without looking through it before."""
    session = onnx_model._session(content)
    (answer,) = session.run(["p"], {"x": np.zeros((2, 2), np.float32)})
    return {"answer": repr(answer)}, None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines a process")
@pytest.mark.parametrize(
    "kind",
    ["weights in a file beside", "weights in a file by its path", "sparse weights in a file", "a constant in a file"],
)
def test_the_runtime_reads_no_file_even_of_a_model_that_was_let_in(kind, beside):
    with pytest.raises(InputError, match="broke its reader"):
        modules = ("core.models.onnx_model:rehearse",)
        ask_child("The file 'a'", f"{__name__}:run_unread", {"content": ONNX[kind]()}, seconds=20, modules=modules)
