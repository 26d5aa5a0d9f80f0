"""The list of what an ONNX file may hold agrees with the format's own description."""

from __future__ import annotations

import onnx
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from core.models import onnx_format

TYPES = {
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_ENUM: "int32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_DOUBLE: "double",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
}


def descriptors() -> dict[str, Descriptor]:
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
def test_fields_have_the_numbers_and_types_of_the_format(title: str):
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
    operators = {
        schema.name for schema in onnx.defs.get_all_schemas_with_history() if schema.domain in onnx_format.DOMAINS
    }
    assert operators >= onnx_format._OPERATORS
    assert not onnx_format._OPERATORS & {"ImageDecoder", "Optional", "Gradient", "Adam", "NonMaxSuppression"}


def test_the_smallest_model_is_let_in():
    graph = onnx_format.read_graph(onnx_format.smallest_model(), "m.onnx").graph
    assert [node.op_type for node in graph.node] == ["Identity"]
    onnx.checker.check_model(onnx.ModelProto.FromString(onnx_format.smallest_model()))
