"""An ONNX file as a graph of operators, read before the runtime sees it, and what in it is refused.

The runtime would open other files that the graph names as its weights, and knows operators beyond the standard. So the
graph is read here first, by a description of the few fields that matter (ONNX 1.23, onnx-ml.proto); the rest passes
unread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.datasets.columns import quoted
from core.errors import InputError

DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
"""Where operators may come from: the standard's own."""

_FIELDS: dict[str, tuple[tuple[str, int, str], ...]] = {
    "Model": (
        ("ir_version", 1, "int64"),
        ("graph", 7, "Graph"),
        ("functions", 25, "*Blank"),
    ),
    "Graph": (("node", 1, "*Node"), ("initializer", 5, "*Tensor")),
    "Node": (("op_type", 4, "string"), ("attribute", 5, "*Attribute"), ("domain", 7, "string")),
    "Attribute": (
        ("name", 1, "string"),
        ("s", 4, "bytes"),
        ("t", 5, "Tensor"),
        ("g", 6, "Graph"),
        ("ints", 8, "*int64"),
        ("strings", 9, "*bytes"),
        ("tensors", 10, "*Tensor"),
        ("graphs", 11, "*Graph"),
    ),
    "Tensor": (("external_data", 13, "*Blank"), ("data_location", 14, "int32")),
    "Blank": (),
}
"""Message -> (field, number, type); a star means repeated."""


def read_graph(content: bytes, name: str) -> Any:
    """Return the file as a message with the fields of `_FIELDS`.

    Raises
    ------
    InputError
        If the content is not ONNX.
    """
    from google.protobuf.message import DecodeError

    model = _message_class()()
    try:
        model.ParseFromString(content)
    except (DecodeError, RecursionError):
        raise _not_onnx(name) from None
    if not model.ir_version or not model.graph.node:
        raise _not_onnx(name)
    return model


def check_graph(model: Any, name: str) -> None:
    """Refuse a graph that reaches beyond the file or the standard.

    Raises
    ------
    InputError
        For weights in other files, functions of its own, and operators that the standard does not have.
    """
    if model.functions:
        raise _refused(name, "it defines functions of its own", "export it with these written out")
    for graph in _graphs(model.graph):
        tensors = list(graph.initializer)
        for node in graph.node:
            if node.domain not in DOMAINS:
                raise _refused(
                    name,
                    f"its operator {quoted(node.op_type)} of {quoted(node.domain)} is not part of the ONNX standard",
                    "export it with standard operators only",
                )
            for attribute in node.attribute:
                tensors += [*([attribute.t] if attribute.HasField("t") else ()), *attribute.tensors]
        if any(tensor.data_location or tensor.external_data for tensor in tensors):
            raise _refused(name, "its weights lie in another file", "export it as one file")


def _graphs(graph: Any) -> Iterator[Any]:
    """Return the graph and those inside its nodes."""
    waiting = [graph]
    while waiting:
        part = waiting.pop()
        yield part
        for node in part.node:
            for attribute in node.attribute:
                waiting.extend([attribute.g] if attribute.HasField("g") else ())
                waiting.extend(attribute.graphs)


def _not_onnx(name: str) -> InputError:
    return InputError(f"The file {quoted(name)} is not ONNX, or is damaged; ask for it again.")


def _refused(name: str, reason: str, remedy: str) -> InputError:
    return InputError(f"The ONNX file {quoted(name)} is refused because {reason}; {remedy}.")


def _message_class() -> Any:
    """Build the message's class from `_FIELDS`, in a pool of its own."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    plain = {
        "int32": kinds.TYPE_INT32,
        "int64": kinds.TYPE_INT64,
        "string": kinds.TYPE_STRING,
        "bytes": kinds.TYPE_BYTES,
    }
    file = descriptor_pb2.FileDescriptorProto(name="onnx_part.proto", package="onnx_part", syntax="proto2")
    for title, fields in _FIELDS.items():
        message = file.message_type.add(name=title)
        for field, number, kind in fields:
            label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
            kind = kind.removeprefix("*")
            added = message.field.add(name=field, number=number, label=label)
            added.type = plain.get(kind, kinds.TYPE_MESSAGE)
            if kind not in plain:
                added.type_name = f".onnx_part.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx_part.Model"))
