"""Model files that are refused in one sentence, and of which nothing is run."""

import copy
import operator
import os
import pickle

import numpy as np
import onnx
import pytest
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import SVC

from core.base.errors import InputError
from core.models import onnx_format
from core.models.model_files import read_model
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
    pipeline,
    several,
    text_node,
)


@pytest.fixture
def marker(tmp_path):
    path = tmp_path / "it ran"
    yield path
    assert not path.exists()


class Hostile:
    def __init__(self, marker):
        self.command = f"touch '{marker}'"

    def __reduce__(self):
        return os.system, (self.command,)


def refusal(content, name):
    with pytest.raises(InputError) as caught:
        read_model(content, name)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message and "Traceback" not in message and len(message) < 400
    return message


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("m.pkl", "opening a pickle can run any code hidden in it"),
        ("M.PT", "a PyTorch file is a pickle inside"),
        ("m.keras", "it is a Keras model"),
        ("m.onnx", "is not ONNX, or is damaged"),
        ("m.skops", "it is not skops; if it is ONNX, let its name end in .onnx"),
        *((name, "must end in .onnx or .skops") for name in ("m.ort", "m.zip", "m", "m.onnx.gz", ".onnx")),
    ],
)
@pytest.mark.parametrize("protocol", [0, 5])
def test_a_pickle_is_refused_whatever_its_name(marker, name, what, protocol):
    assert what in refusal(pickle.dumps(Hostile(marker), protocol=protocol), name)


def test_empty_large_and_misnamed_files_are_refused(monkeypatch):
    skops = as_skops(logistic())
    assert "is empty" in refusal(b"", "m.onnx") and "is empty" in refusal(b"", "m.skops")
    assert "it is not ONNX; if it is skops, let its name end in .skops" in refusal(skops, "m.onnx")
    assert "must hold a schema.json" in refusal(closed("{}").replace(b"schema.json", b"schema.jsan"), "m.skops")
    monkeypatch.setattr("core.models.model_files.MAX_BYTES", 1000)
    with pytest.raises(InputError, match="must not be larger than"):
        read_model(skops, "m.skops")


GOOD = {"m.onnx": as_onnx(logistic(), numbers()[:1]), "m.skops": as_skops(logistic())}


@settings(max_examples=40)
@given(st.sampled_from(sorted(GOOD)), st.data())
def test_damaged_files_are_refused_or_answer(name, data):
    content = bytearray(GOOD[name])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(content[: data.draw(st.integers(1, len(content)))]) if data.draw(st.booleans()) else bytes(content)
    try:
        answers = read_model(damaged, name).answers(people(), features=NUMBERS)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert answers.labels.shape == (240,)


ADD = helper.make_node("Add", ["x", "w"], ["p"])
NEG = helper.make_node("Neg", ["x"], ["p"])
FOREIGN = helper.make_node("Run", ["x"], ["p"], domain="my.ops")
UNKNOWN = helper.make_node("NoSuchOperator", ["x"], ["p"])


def own_function():
    inner, sets = helper.make_node("Neg", ["a"], ["b"]), [helper.make_opsetid("", 17)]
    return graph([NEG], functions=[helper.make_function("f", "F", ["a"], ["b"], [inner], sets)])


def claiming(**fields):
    return graph([ADD], initializer=[TensorProto(name="w", data_type=1, **fields)])


GRAPHS = {
    "an operator of its own": (
        lambda: graph([FOREIGN], domains=[helper.make_opsetid("my.ops", 1)]),
        "'Run' of 'my.ops' is not part of the ONNX standard",
    ),
    "functions": (own_function, "functions of its own"),
    "an unknown operator": (lambda: graph([UNKNOWN]), "'NoSuchOperator' is not on the list"),
    "a tensor of 4 TB": (lambda: claiming(dims=[10**6, 10**6]), "cannot be run"),
    "a negative tensor": (lambda: claiming(dims=[-1, 5]), "cannot be run"),
    "half a tensor": (lambda: claiming(dims=[2], raw_data=b"abc"), "cannot be run"),
    "four records": (lambda: graph([NEG], inputs=[("x", 1, [4, 2])]), "for any number of records"),
    "pictures": (lambda: graph([NEG], inputs=[("x", 1, [None, 3, 8, 8])]), "must be a column or a table"),
    "two tables": (lambda: graph([NEG], inputs=[("x", 1, [None, 2]), ("y", 1, [None, 3])]), "takes 2 tables"),
    "two scores": (lambda: graph([NEG], outputs=[("p", 1, None), ("x", 1, None)]), "gives 'p', 'x'; export one label"),
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_graphs_that_are_no_model_of_people_are_refused(kind):
    make, what = GRAPHS[kind]
    assert what in refusal(make(), "m.onnx")


def test_nodes_that_call_something_are_refused(marker):
    command = f"touch '{marker}'"
    calls = [
        node("OperatorFuncNode", "operator.methodcaller", attrs=several("system", command)),
        node("ConstructorFromReduceNode", "subprocess.Popen", several(["touch", str(marker)])),
        node("MethodNode", "sklearn.pipeline.Pipeline", {"func": "__class__", "obj": text_node(1)}),
        node("FunctionNode", "os.system"),
        node("FunctionNode", "numpy.load"),
        node("TypeNode", "builtins.eval"),
        node("ObjectNode", "subprocess.Popen", node("DictNode", "builtins.dict", {})),
        node("NdArrayNode", "subprocess.Popen", type="numpy", file="a.npy"),
        node("DictNode", "os._Environ", {}, key_types=text_node([])),
        node("LossNode", "os.system", {}, __reduce__={"args": several(command)}),
        node("PartialNode", "functools.partial", {"func": node("FunctionNode", "os.system"), "args": several(command)}),
        node("CachedNode", "builtins.int", __id__=1),
        node("NoSuchNode", "builtins.int"),
    ]
    plain = opened(as_skops(pipeline()))
    for call in calls:
        schema, members = copy.deepcopy(plain)
        nodes_of(schema, "Pipeline")[0]["content"]["content"]["more"] = call
        message = refusal(closed(schema, members), "m.skops")
        assert "is refused because" in message or "damaged or made up" in message, call


@pytest.mark.parametrize("function", [os.system, lambda frame: frame, np.load, operator.methodcaller("system", "true")])
def test_a_step_with_a_function_is_refused(function):
    fitted = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(numbers(), binary())
    fitted.steps[0][1].func = function
    message = refusal(as_skops(fitted), "m.skops")
    assert "not on the list" in message or "'func' of its 'FunctionTransformer' names a function to call" in message


def test_what_is_no_fitted_classifier_is_refused():
    assert "not on the list" in refusal(as_skops(SVC().fit(numbers(), binary())), "m.skops")
    assert "no classifier" in refusal(as_skops(OneHotEncoder().fit(people()[["work"]])), "m.skops")
    assert refusal(as_skops(LogisticRegression()), "m.skops") and refusal(as_skops({"a": 1}), "m.skops")


def test_arrays_are_read_without_pickle(marker):
    def array_of(header, rest=b""):
        text = header.encode() + b" " * (117 - len(header)) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + rest

    objects = array_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickle.dumps(Hostile(marker)))
    called = array_of("__import__('os').system('true')")
    for wrong in (objects, called, b"not an array", pickle.dumps(Hostile(marker)), b""):
        schema, members = opened(GOOD["m.skops"])
        members[nodes_of(schema, "ndarray")[0]["file"]] = wrong
        assert "damaged or made up" in refusal(closed(schema, members), "m.skops")


PLAIN = ("int32", "int64", "uint64", "float", "double", "string", "bytes")
TYPES = {getattr(FieldDescriptor, f"TYPE_{kind.upper()}"): kind for kind in PLAIN}
TYPES[FieldDescriptor.TYPE_ENUM] = "int32"


def descriptors():
    """Return the format's own description of each message on the list, from that of a model on."""
    by_title, queue = {"Model": onnx.ModelProto.DESCRIPTOR}, ["Model"]
    for title in queue:
        for name, _, kind in onnx_format._FIELDS[title]:
            part = kind.removeprefix("*")
            if part in onnx_format._FIELDS and part not in by_title:
                by_title[part] = by_title[title].fields_by_name[name].message_type
                queue.append(part)
    return by_title


@pytest.mark.parametrize("title", onnx_format._FIELDS)
def test_fields_have_the_numbers_and_types_of_the_format(title):
    titles = {descriptor.full_name: part for part, descriptor in descriptors().items()}
    for name, number, kind in onnx_format._FIELDS[title]:
        field = descriptors()[title].fields_by_name[name]
        assert field.number == number
        assert field.is_repeated == kind.startswith("*")
        field_type = titles[field.message_type.full_name] if field.message_type else TYPES[field.type]
        assert field_type == kind.removeprefix("*")


def test_refused_fields_are_fields_of_the_format_that_are_not_let_in():
    for title, number in onnx_format._REFUSED_FIELDS:
        assert number in descriptors()[title].fields_by_number
        assert number not in {allowed for _, allowed, _ in onnx_format._FIELDS[title]}


def test_operators_are_the_standard_s_and_none_decodes_or_trains():
    schemas = onnx.defs.get_all_schemas_with_history()
    operators = {schema.name for schema in schemas if schema.domain in onnx_format.DOMAINS}
    assert operators >= onnx_format._OPERATORS
    assert not onnx_format._OPERATORS & {"ImageDecoder", "Optional", "Gradient", "Adam", "NonMaxSuppression"}
