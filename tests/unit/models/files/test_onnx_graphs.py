"""Graphs of operators that reach beyond their file, grow, or do not end are refused or stopped."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from core.errors import InputError
from core.models.model_files import read_model
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
    unknown = graph([helper.make_node("NoSuchOperator", ["x"], ["p"])])
    assert "cannot be run" in refusal(unknown, "m.onnx")


def test_tensors_that_claim_too_much_are_refused():
    for claimed in (
        TensorProto(name="w", data_type=1, dims=[10**6, 10**6]),
        TensorProto(name="w", data_type=1, dims=[-1, 5]),
        TensorProto(name="w", data_type=1, dims=[2], raw_data=b"abc"),
    ):
        assert "cannot be run" in refusal(graph([ADD], initializer=[claimed]), "m.onnx")


def test_a_graph_with_too_many_answers_is_refused():
    wide = numpy_helper.from_array(np.array([240, 2000], dtype=np.int64), "s")
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["p"])]
    model = read_model(graph(nodes, initializer=[wide]), "m.onnx")
    with pytest.raises(InputError, match="more than 1000 scores a record"):
        model.answers(people(), features=NUMBERS[:2])


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
