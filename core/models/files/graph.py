"""An ONNX file as a graph of operators, read before the runtime sees it, and what in it is refused.

The runtime would open other files that the graph names as its weights, expand small descriptions into huge tensors, and
run operators of anybody's library. So the graph is read here first, with the same parser for the same format, by a
description of the few fields that matter (ONNX 1.23, onnx-ml.proto); the rest passes unread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from core.datasets.columns import quoted
from core.errors import InputError

__all__ = ["DOMAINS", "MOST_TEXT", "check_graph", "read_graph"]

DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
"""Where operators may come from: the standard's own."""

MOST_TEXT = 100
"""Longest text, in bytes, that a graph may take or hand on.

The runtime's bound of memory counts a text as 32 bytes, whatever its length, and a graph can repeat it millions of
times: with this limit it takes at most about five times what is counted.
"""

_REFUSED = {
    "StringConcat": "an operator that makes texts longer",
    "Loop": "a loop, which may never end",
    "SequenceMap": "functions over sequences",
}
_ONLY_COMPARED = (("", "keys_strings"), ("", "pool_strings"), ("OneHotEncoder", "cats_strings"))
"""Operator ("" for any) and attribute whose texts are looked up and never handed on."""

_FIELDS: dict[str, tuple[tuple[str, int, str], ...]] = {
    "Model": (
        ("ir_version", 1, "int64"),
        ("graph", 7, "Graph"),
        ("training_info", 20, "*Blank"),
        ("functions", 25, "*Blank"),
    ),
    "Graph": (("node", 1, "*Node"), ("initializer", 5, "*Tensor"), ("sparse_initializer", 15, "*Blank")),
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
        ("sparse_tensor", 22, "Blank"),
        ("sparse_tensors", 23, "*Blank"),
    ),
    "Tensor": (
        ("dims", 1, "*int64"),
        ("string_data", 6, "*bytes"),
        ("external_data", 13, "*Blank"),
        ("data_location", 14, "int32"),
    ),
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


def check_graph(model: Any, name: str, size: int) -> None:
    """Refuse what could reach beyond the file or grow beyond its size.

    Parameters
    ----------
    model : message
        From `read_graph`.
    name : str
        The file's name.
    size : int
        The file's length in bytes, which bounds how many numbers its tensors can hold.

    Raises
    ------
    InputError
        For data in other files, operators and functions beyond the standard, loops, sparse tensors, tensors that claim
        more numbers than the file can hold, and texts longer than `MOST_TEXT`.
    """
    if model.functions:
        raise _refused(name, "it defines functions of its own", "export it with these written out")
    if model.training_info:
        raise _refused(name, "it holds a training graph", "export it for prediction only")
    for graph in _graphs(model.graph):
        if graph.sparse_initializer:
            raise _refused(name, "it holds sparse tensors, whose size the file does not bound", "export dense weights")
        for tensor in graph.initializer:
            _check_tensor(tensor, name, size)
        for node in graph.node:
            _check_node(node, name, size)


def _check_node(node: Any, name: str, size: int) -> None:
    if node.domain not in DOMAINS:
        raise _refused(
            name,
            f"its operator {quoted(node.op_type)} of {quoted(node.domain)} is not part of the ONNX standard",
            "export it with standard operators only",
        )
    if reason := _REFUSED.get(node.op_type):
        raise _refused(name, f"it holds {reason}", "export it without")
    for attribute in node.attribute:
        if not {("", attribute.name), (node.op_type, attribute.name)} & set(_ONLY_COMPARED):
            _check_texts((attribute.s, *attribute.strings), name)
        if attribute.HasField("sparse_tensor") or attribute.sparse_tensors:
            raise _refused(name, "it holds sparse tensors, whose size the file does not bound", "export dense weights")
        for tensor in (*([attribute.t] if attribute.HasField("t") else ()), *attribute.tensors):
            _check_tensor(tensor, name, size)


def _check_tensor(tensor: Any, name: str, size: int) -> None:
    if tensor.data_location or tensor.external_data:
        raise _refused(name, "its weights lie in another file", "export it as one file")
    if min(tensor.dims, default=0) < 0 or math.prod(tensor.dims) > 2 * size:  # two numbers of 4 bits in a byte
        raise _refused(name, "a tensor claims more numbers than the file can hold", "ask for it again")
    _check_texts(tensor.string_data, name)


def _check_texts(texts: Iterable[bytes], name: str) -> None:
    longest = max(map(len, texts), default=0)
    if longest > MOST_TEXT:
        raise _refused(
            name,
            f"it can answer with a text of {longest:,} bytes, more than {MOST_TEXT}",
            "give its answers short names",
        )


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
