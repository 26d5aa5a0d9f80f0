"""Graphs of operators that reach beyond their file, grow, or do not end are refused or stopped."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from core.errors import InputError
from core.models.files import onnx_model, read_model
from tests.model_samples import (
    NUMBERS,
    graph,
    people,
)
from tests.unit.models.files.refusals import refusal


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


def text(content: bytes, *, shape: tuple[int, ...] = (1,)) -> TensorProto:
    return helper.make_tensor("t", TensorProto.STRING, shape, [content] * int(np.prod(shape)))


def lengthened(tensor: TensorProto, count: int = 10) -> list[NodeProto]:
    """Return a graph that repeats a text, looks it up and adds the sum of what it found."""
    sizes = numpy_helper.from_array(np.array([count], dtype=np.int64), "s")
    found = {"keys_strings": ["no"], "values_floats": [1.0], "default_float": 0.5, "domain": "ai.onnx.ml"}
    return [
        helper.make_node("Constant", [], ["t"], value=tensor),
        helper.make_node("Constant", [], ["s"], value=sizes),
        helper.make_node("Expand", ["t", "s"], ["e"]),
        helper.make_node("LabelEncoder", ["e"], ["f"], **found),
        helper.make_node("ReduceMean", ["f"], ["r"], keepdims=0),
        helper.make_node("Mul", ["x", "r"], ["m"]),
        helper.make_node("Sigmoid", ["m"], ["q"]),
        helper.make_node("ReduceMean", ["q"], ["p"], axes=[1]),
    ]


def test_texts_that_a_graph_can_repeat_are_short():
    """The runtime's bound of memory counts a text as 32 bytes, so long ones are refused before it sees them."""
    nearly = read_model(graph(lengthened(text(b"x" * 100))), "m.onnx")
    assert 0 < nearly.answers(people(), features=NUMBERS[:2]).labels.sum() <= 240
    for content in (
        graph(lengthened(text(b"x" * 101))),
        graph([ADD], initializer=[text(b"x" * 101)]),
        graph([helper.make_node("Constant", [], ["p"], value_strings=[b"a", b"x" * 101])]),
        graph([helper.make_node("Constant", [], ["p"], value_string=b"x" * 101)]),
        graph([helper.make_node("LabelEncoder", ["x"], ["p"], values_strings=["x" * 101], domain="ai.onnx.ml")]),
    ):
        assert "a text of 101 bytes, more than 100" in refusal(content, "m.onnx")
    longer = graph([helper.make_node("StringConcat", ["x", "x"], ["p"])])
    assert "an operator that makes texts longer" in refusal(longer, "m.onnx")


def test_texts_that_are_only_looked_up_may_be_long():
    keys = {"keys_strings": ["x" * 500], "values_int64s": [1], "domain": "ai.onnx.ml"}
    look = helper.make_node("LabelEncoder", ["x"], ["p"], **keys)
    content = graph([look], inputs=[("x", 8, [None, 1])], outputs=[("p", 7, None)])
    assert read_model(content, "m.onnx").dtypes == ("text",)


def test_a_graph_that_repeats_a_text_without_bound_is_stopped():
    model = read_model(graph(lengthened(text(b"short"), 10**8)), "m.onnx")
    with pytest.raises(InputError, match="The model cannot take the table"):
        model.answers(people(), features=NUMBERS[:2])


def test_a_long_cell_is_not_given_to_a_graph():
    keys = {"keys_strings": ["office"], "values_int64s": [1], "default_int64": 0, "domain": "ai.onnx.ml"}
    model = read_model(
        graph(
            [helper.make_node("LabelEncoder", ["work"], ["p"], **keys)],
            inputs=[("work", 8, [None, 1])],
            outputs=[("p", 7, None)],
        ),
        "m.onnx",
    )
    assert model.answers(people()).labels.sum() == (people()["work"] == "office").sum()
    with pytest.raises(InputError) as caught:
        model.answers(people().assign(work=["é" * 51, *people()["work"][1:]]))
    assert str(caught.value) == (
        "Column 'work' must hold texts of at most 100 bytes for a model as ONNX, got one of 102; shorten them."
    )
