"""Files made to do harm, or damaged: each is refused in one sentence, and nothing in it is run."""

from __future__ import annotations

import builtins
import copy
import functools
import io
import operator
import os
import pickle
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from core.errors import InputError
from core.models.files import onnx_model, read_model
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
    said,
    several,
)


def refusal(content: bytes, name: str) -> str:
    """Return why a file is refused, in one sentence."""
    with pytest.raises(InputError) as caught:
        read_model(content, name)
    told = str(caught.value)
    assert told.endswith(".") and "\n" not in told and "Traceback" not in told and len(told) < 400
    return told


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Return a file that hostile code would make."""
    path = tmp_path / "it ran"
    yield path
    assert not path.exists()


class Hostile:
    def __init__(self, marker: Path) -> None:
        self.command = f"touch '{marker}'"

    def __reduce__(self):
        return os.system, (self.command,)


@pytest.mark.parametrize("name", ["m.onnx", "m.skops", "m.pkl", "m.joblib", "M.PT", "m.sav"])
@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_is_refused_whatever_its_name(marker, name, protocol):
    content = pickle.dumps(Hostile(marker), protocol=protocol)
    assert "opening a pickle can run any code hidden in it" in refusal(content, name)


@pytest.mark.parametrize("name", ["m.h5", "m.keras", "m.ort", "m.zip", "m.txt", "m", "m.onnx.gz", ".onnx"])
def test_other_endings_are_refused(name):
    assert "ONNX or skops" in refusal(b"anything", name)


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"\x89HDF\r\n\x1a\n", "Keras"),
        (b"\x1f\x8b\x08", "compressed"),
        (b"\x78\x9c\x00", "compressed"),
        (b"\x93NUMPY\x01", "numpy array"),
        (b"\x08\x00\x00\x00ORTM", "onnxruntime's own format"),
        (b"\x1c\x00\x00\x00TFL3", "TensorFlow Lite"),
        (b"\x7fELF", "a program"),
    ],
)
@pytest.mark.parametrize("name", ["m.onnx", "m.skops"])
def test_other_contents_are_refused(start, what, name):
    assert what in refusal(start + bytes(100), name)


def test_an_archive_with_a_pickle_is_refused(marker):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("archive/data.pkl", pickle.dumps(Hostile(marker)))
    assert "PyTorch" in refusal(buffer.getvalue(), "m.skops")
    extra = closed(opened(as_skops(logistic()))[0], {"more.joblib": pickle.dumps(Hostile(marker))})
    assert "holds a pickle" in refusal(extra, "m.skops")


def test_empty_large_and_misnamed_files_are_refused():
    skops, onnx = as_skops(logistic()), as_onnx(logistic(), numbers()[:1])
    assert "is empty" in refusal(b"", "m.onnx") and "is empty" in refusal(b"", "m.skops")
    assert "let its name end in .skops" in refusal(skops, "m.onnx")
    assert "let its name end in .onnx" in refusal(onnx, "m.skops")
    with pytest.raises(InputError, match="must not be larger than"):
        read_model(skops, "m.skops", max_bytes=1000)


# --- skops: what is not on the list


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


# --- skops: what is on the list, but made up


def changed(model: object, kind: str, change) -> bytes:
    """Return a model's file after a change to the first of its nodes of a class."""
    schema, members = opened(as_skops(model))
    change(nodes_of(schema, kind)[0], members)
    return closed(schema, members)


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


def test_two_nodes_with_one_number_must_be_alike():
    schema, members = opened(as_skops(pipeline()))
    first, second = [one for one in nodes_of(schema, "ndarray") if one["type"] == "numpy"][:2]
    assert first["file"] != second["file"]
    second["__id__"] = first["__id__"]
    assert "two different nodes have one number" in refusal(closed(schema, members), "m.skops")


def test_arrays_are_checked_before_they_are_made(marker):
    def array_of(header: str, rest: bytes = b"") -> bytes:
        text = header.encode() + b" " * (117 - len(header)) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + rest

    huge = array_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", bytes(64))
    nothing = array_of("{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }")
    objects = array_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickle.dumps(Hostile(marker)))
    called = array_of("__import__('os').system('true')")
    for wrong in (huge, nothing, objects, called, b"not an array", pickle.dumps(Hostile(marker)), b""):

        def put(array, members, wrong=wrong):
            members[array["file"]] = wrong

        assert "damaged or made up" in refusal(changed(logistic(), "ndarray", put), "m.skops")


def test_archives_are_checked_before_they_are_unpacked():
    schema, members = opened(as_skops(logistic()))
    spaces = closed(b" " * (65 * 1024 * 1024), compression=zipfile.ZIP_DEFLATED)
    assert len(spaces) < 10**6 and "must not unpack to more than" in refusal(spaces, "m.skops")
    whole = closed(schema, members)
    listed = whole.rindex(b"PK\x01\x02")
    claimed = whole[: listed + 24] + (2**31).to_bytes(4, "little") + whole[listed + 28 :]
    assert "claims 2,048" in refusal(claimed, "m.skops")
    assert "cannot be unpacked" in refusal(whole[: len(whole) // 2], "m.skops")
    assert "may hold only numpy arrays" in refusal(closed(schema, {**members, "a.bin": b"x"}), "m.skops")
    twice = io.BytesIO(whole)
    with zipfile.ZipFile(twice, "a") as again, pytest.warns(UserWarning, match="Duplicate name"):
        again.writestr("schema.json", "{}")
    assert "every member once" in refusal(twice.getvalue(), "m.skops")
    nested = b'{"__loader__": "ListNode", "content": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    assert "nested too deeply" in refusal(closed(nested), "m.skops")
    for text in (b"[]", b"{}", b"1", b"{", b'{"__loader__": 7}'):
        assert refusal(closed(text), "m.skops")


def test_what_is_no_fitted_classifier_is_refused():
    assert refusal(as_skops(LogisticRegression()), "m.skops")
    assert refusal(as_skops({"a": 1}), "m.skops")


# --- ONNX


def outside(location: str) -> TensorProto:
    tensor = TensorProto(name="w", data_type=1, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


ADD = helper.make_node("Add", ["x", "w"], ["p"])


@pytest.mark.parametrize("location", ["w.bin", "/etc/passwd", "../../etc/passwd", "*/_ORT_MEM_ADDR_/*"])
def test_weights_in_another_file_are_refused(location, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.bin").write_bytes(np.ones(2, np.float32).tobytes())
    constant = helper.make_node("Constant", [], ["w"], value=outside(location))
    branch = helper.make_graph([constant], "b", [], [helper.make_tensor_value_info("w", 1, [2])])
    chosen = helper.make_node("If", ["c"], ["p"], then_branch=branch, else_branch=branch)
    for content in (graph([ADD], initializer=[outside(location)]), graph([constant, ADD]), graph([chosen])):
        assert "lie in another file" in refusal(content, "m.onnx")


def test_graphs_that_reach_beyond_the_standard_are_refused():
    custom = graph([helper.make_node("Run", ["x"], ["p"], domain="my.ops")], domains=[helper.make_opsetid("my.ops", 1)])
    assert "'Run' of 'my.ops' is not part of the ONNX standard" in refusal(custom, "m.onnx")
    context = graph([helper.make_node("EPContext", ["x"], ["p"], domain="com.microsoft")])
    assert "is not part of the ONNX standard" in refusal(context, "m.onnx")
    body = helper.make_function(
        "f", "F", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    assert "functions of its own" in refusal(graph([helper.make_node("Neg", ["x"], ["p"])], functions=[body]), "m.onnx")
    loop = helper.make_graph([helper.make_node("Identity", ["c"], ["d"])], "l", [], [])
    endless = graph([helper.make_node("Loop", ["", "", "x"], ["p"], body=loop)])
    assert "a loop, which may never end" in refusal(endless, "m.onnx")
    unknown = graph([helper.make_node("NoSuchOperator", ["x"], ["p"])])
    assert "cannot be run" in refusal(unknown, "m.onnx")


def test_tensors_that_claim_too_much_are_refused():
    claimed = TensorProto(name="w", data_type=1, dims=[10**6, 10**6])
    assert "more numbers than the file can hold" in refusal(graph([ADD], initializer=[claimed]), "m.onnx")
    claimed = TensorProto(name="w", data_type=1, dims=[-1, 5])
    assert "more numbers than the file can hold" in refusal(graph([ADD], initializer=[claimed]), "m.onnx")
    values = numpy_helper.from_array(np.ones(1, np.float32), "w")
    thin = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([0])), [10**12])
    assert "sparse tensors" in refusal(graph([ADD], sparse=[thin]), "m.onnx")
    small = TensorProto(name="w", data_type=1, dims=[2], raw_data=b"abc")
    assert "cannot be run" in refusal(graph([ADD], initializer=[small]), "m.onnx")


def test_a_graph_that_grows_without_bound_is_stopped():
    shape = numpy_helper.from_array(np.array([10**11], dtype=np.int64), "s")
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["c"]),
        helper.make_node("ReduceSum", ["c"], ["r"], keepdims=0),
        helper.make_node("Add", ["x", "r"], ["p"]),
    ]
    model = read_model(graph(nodes, initializer=[shape]), "m.onnx")
    with pytest.raises(InputError, match="The model cannot take the table") as caught:
        model.answers(people(), features=NUMBERS[:2])
    assert "\n" not in str(caught.value) and "onnxruntime_src" not in str(caught.value)


def test_a_graph_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(onnx_model, "MAX_SECONDS", 0.05)
    shape = numpy_helper.from_array(np.array([400, 400], dtype=np.int64), "s")
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["c0"])]
    nodes += [helper.make_node("MatMul", [f"c{i}", f"c{i}"], [f"c{i + 1}"]) for i in range(3000)]
    nodes += [helper.make_node("ReduceSum", ["c3000"], ["r"], keepdims=0), helper.make_node("Add", ["x", "r"], ["p"])]
    model = read_model(graph(nodes, initializer=[shape]), "m.onnx")
    with pytest.raises(InputError, match="with 240 records; ask for a faster model"):
        model.answers(people(), features=NUMBERS[:2])


def test_a_graph_with_too_many_answers_is_refused():
    wide = numpy_helper.from_array(np.array([240, 2000], dtype=np.int64), "s")
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["p"])]
    model = read_model(graph(nodes, initializer=[wide]), "m.onnx")
    with pytest.raises(InputError, match="more than 1000 scores a record"):
        model.answers(people(), features=NUMBERS[:2])


@pytest.mark.parametrize(("left", "feature"), [(99, 0), (0, 0), (1, 10**6)])
def test_a_tree_ensemble_that_leads_astray_does_not_get_through(left, feature):
    trees = helper.make_node(
        "TreeEnsembleClassifier",
        ["x"],
        ["l", "p"],
        domain="ai.onnx.ml",
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[feature, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.5, 0.0, 0.0],
        nodes_truenodeids=[left, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        class_treeids=[0, 0],
        class_nodeids=[1, 2],
        class_ids=[0, 0],
        class_weights=[0.2, 0.8],
        classlabels_int64s=[0, 1],
    )
    with pytest.raises(InputError):
        read_model(graph([trees]), "m.onnx").answers(people(), features=NUMBERS[:2])


@pytest.mark.parametrize(
    ("settings_of_graph", "what"),
    [
        ({"inputs": [("x", 1, [4, 2])]}, "takes exactly 4 records"),
        ({"inputs": [("x", 1, [None, 3, 8, 8])]}, "4 dimensions"),
        ({"inputs": [("x", 1, [None, 2]), ("y", 1, [None, 3])]}, "takes 2 tables"),
        ({"outputs": [("p", 1, None), ("x", 1, None)]}, "gives several scores"),
    ],
)
def test_shapes_that_are_no_table_of_people_are_refused(settings_of_graph, what):
    assert what in refusal(graph([helper.make_node("Neg", ["x"], ["p"])], **settings_of_graph), "m.onnx")


@settings(deadline=None, max_examples=40)
@given(content=st.binary(max_size=300), name=st.sampled_from(["m.onnx", "m.skops"]), zipped=st.booleans())
def test_random_bytes_are_refused(content, name, zipped):
    refusal(b"PK\x03\x04" + content if zipped else content, name)


GOOD = {"m.onnx": as_onnx(logistic(), numbers()[:1]), "m.skops": as_skops(logistic())}


@settings(deadline=None, max_examples=40)
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


def test_nothing_is_written_to_disk(tmp_path, monkeypatch):
    def refuse(*given: object, **more: object) -> None:
        raise AssertionError("a file was opened")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for module, name in ((builtins, "open"), (io, "open"), (os, "open"), (os, "mkdir")):
        monkeypatch.setattr(module, name, refuse)
    for name, content in GOOD.items():
        assert read_model(content, name).answers(people(), features=NUMBERS).labels.sum() > 0
    monkeypatch.undo()
    assert not list(tmp_path.iterdir())
