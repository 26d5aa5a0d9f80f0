"""A model as ONNX: its graph is read and checked, then run by onnxruntime on one thread of the processor.

The runtime would open other files that the graph names as its weights, and knows operators beyond the standard. So the
graph is read here first, by a description of the few fields that matter (ONNX 1.23, onnx-ml.proto); the rest passes
unread. Then it is run as it stands, without being rewritten first. ONNX computes in 32-bit floats as a rule, so scores
agree with the model they were exported from to about seven digits, and a decision can differ where a score lies that
close to the border.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.datasets.columns import quoted
from core.errors import InputError
from core.models.runtime import RawAnswers, Runtime, cause

if TYPE_CHECKING:
    import pandas

DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
"""Where operators may come from: the standard's own."""

_FIELDS: dict[str, tuple[tuple[str, int, str], ...]] = {
    "Model": (("ir_version", 1, "int64"), ("graph", 7, "Graph"), ("functions", 25, "*Blank")),
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
    """Return the file as a message with the fields of `_FIELDS`; refuse what is not ONNX."""
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
    """Refuse weights in other files, functions of the graph's own, and operators that the standard does not have."""
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
    plain = {name: getattr(kinds, f"TYPE_{name.upper()}") for name in ("int32", "int64", "string", "bytes")}
    file = descriptor_pb2.FileDescriptorProto(name="onnx_part.proto", package="onnx_part", syntax="proto2")
    for title, fields in _FIELDS.items():
        message = file.message_type.add(name=title)
        for name, number, kind in fields:
            label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
            kind = kind.removeprefix("*")
            added = message.field.add(name=name, number=number, label=label)
            added.type = plain.get(kind, kinds.TYPE_MESSAGE)
            if kind not in plain:
                added.type_name = f".onnx_part.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx_part.Model"))


_CELLS = {
    "float": (np.float32, "number"),
    "double": (np.float64, "number"),
    "float16": (np.float16, "number"),
    **{name: (np.dtype(name).type, "whole number") for name in ("int8", "int16", "int32", "int64")},
    **{name: (np.dtype(name).type, "whole number") for name in ("uint8", "uint16", "uint32", "uint64")},
    "bool": (np.bool_, "true or false"),
    "string": (np.object_, "text"),
}
_LABELS = ("tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(bool)")
_SCORES = ("tensor(float)", "tensor(double)")
_MOST_SCORES = 1000
_TAKES_MISSING = ("Imputer", "IsNaN")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxModel(Runtime):
    """A session with what it takes and gives; see `core.models.runtime.Runtime`."""

    session: Any = field(repr=False)
    inputs: tuple[tuple[str, Any, int], ...]
    label: str
    scores: tuple[str, ...]
    classes: tuple[Any, ...] | None

    def ask(self, frame: pandas.DataFrame) -> RawAnswers:
        """Return the answers for records whose columns are the model's features in its order."""
        wanted = [*([self.label] if self.label else []), *self.scores]
        try:
            given = self.session.run(wanted, self._feed(frame))
        except Exception as error:
            if _wants_memory(error):
                raise MemoryError from None
            raise
        labels = np.asarray(given[0]).reshape(len(frame)) if self.label else None
        return self._raw(labels, given[1:] if self.label else given, len(frame))

    def _feed(self, frame: pandas.DataFrame) -> dict[str, npt.NDArray[Any]]:
        if not self.feature_names:
            name, dtype, _ = self.inputs[0]
            return {name: np.column_stack([_column(frame, j, dtype) for j in range(frame.shape[1])])}
        feed = {}
        for j, (name, dtype, rank) in enumerate(self.inputs):
            column = _column(frame, j, dtype)
            feed[name] = column.reshape(-1, 1) if rank == 2 else column
        return feed

    def _raw(self, labels: npt.NDArray[Any] | None, scores: list[Any], n: int) -> RawAnswers:
        if not scores:
            return RawAnswers(labels=labels, probability=None, classes=self.classes)
        if isinstance(scores[0], list):  # one dict a record
            classes = tuple(scores[0][0])
            table = np.array([[said[one] for one in classes] for said in scores[0]], dtype=np.float64)
            return RawAnswers(labels=labels, probability=table, classes=classes)
        if sum(np.asarray(column).size for column in scores) > _MOST_SCORES * n:
            raise ValueError(f"it gives more than {_MOST_SCORES} scores a record")
        table = np.column_stack([np.asarray(column, dtype=np.float64).reshape(n, -1) for column in scores])
        return RawAnswers(labels=labels, probability=table, classes=self.classes)


def _column(frame: pandas.DataFrame, j: int, dtype: Any) -> npt.NDArray[Any]:
    """Return a column in the model's type, or fail if that has no room for a whole number."""
    values = frame.iloc[:, j].to_numpy()
    cells = values.astype(dtype)
    if np.issubdtype(dtype, np.integer) and (cells != values).any():
        raise ValueError(f"a whole number does not fit into {np.dtype(dtype).name}")
    return cells


def _wants_memory(error: Exception) -> bool:
    return any(words in str(error) for words in ("bad_alloc", "bad allocation", "allocate memory", "BFCArena"))


def open_onnx(content: bytes, name: str) -> OnnxModel:
    """Read and check an ONNX file.

    Raises `InputError` if it is no ONNX, holds what is refused, or takes or gives other than one row a person.
    """
    model = read_graph(content, name)
    check_graph(model, name)
    try:
        session = _session(content)
    except Exception as error:  # whatever the runtime cannot read
        if _wants_memory(error):
            raise MemoryError from None
        raise InputError(f"The ONNX file {quoted(name)} cannot be run: {cause(error)}.") from None
    inputs, width = _inputs(session, name)
    named = width is None
    operators = list(model.graph.node)
    label, scores, classes = _outputs(session, operators, name)
    kinds = tuple(kind for _, _, kind, _ in inputs)
    return OnnxModel(
        feature_names=tuple(one for one, *_ in inputs) if named else (),
        dtypes=kinds if named else kinds * max(width or 1, 1),
        width=len(inputs) if named else width or None,
        takes_missing=any(_can_miss(node) for node in operators),
        examples=tuple(_texts(operators) if kind == "text" else (0,) for kind in kinds) if named else (),
        notes=(),
        session=session,
        inputs=tuple((one, dtype, rank) for one, dtype, _, rank in inputs),
        label=label,
        scores=scores,
        classes=classes,
    )


def _session(content: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False  # memory goes back after each batch
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.load_model_format", "ONNX")
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _inputs(session: Any, name: str) -> tuple[list[tuple[str, Any, str, int]], int | None]:
    """Return name, dtype, kind of cell and rank of every input, and the width (0: any) if they are one table."""
    found, widths = [], []
    for one in session.get_inputs():
        match = re.fullmatch(r"tensor\((\w+)\)", one.type)
        if not match or match[1] not in _CELLS or not 1 <= len(one.shape) <= 2:
            raise InputError(
                f"The ONNX file {quoted(name)} takes {quoted(one.name)} as {one.type} of {len(one.shape)} dimensions; "
                "every input must be a column or a table of numbers or texts."
            )
        if isinstance(one.shape[0], int):
            raise InputError(
                f"The ONNX file {quoted(name)} takes exactly {one.shape[0]} records at a time; "
                "export it for any number."
            )
        found.append((str(one.name), *_CELLS[match[1]], len(one.shape)))
        last = one.shape[1] if len(one.shape) == 2 else 1
        widths.append(last if isinstance(last, int) else 0)
    if not found:
        raise InputError(f"The ONNX file {quoted(name)} takes no input.")
    if all(width == 1 for width in widths):
        return found, None
    if len(found) == 1:
        return found, widths[0]
    raise InputError(
        f"The ONNX file {quoted(name)} takes {len(found)} tables; give every column an input of its own, or one table "
        "for all."
    )


def _outputs(session: Any, operators: list[Any], name: str) -> tuple[str, tuple[str, ...], tuple[Any, ...] | None]:
    """Return the names of the outputs with labels (or "") and with scores, and the classes if the graph says them."""
    outputs = session.get_outputs()
    labels = [one for one in outputs if one.type in _LABELS and len(one.shape) <= 2]
    maps = [one.name for one in outputs if one.type.startswith("seq(map(")]
    tables = [one.name for one in outputs if one.type in _SCORES]
    classes = _classes(operators)
    if labels and classes and (labels[0].type == "tensor(string)") != isinstance(classes[0], str):
        classes = None  # numbers that are turned into texts later
    if len(labels) > 1:
        told = ", ".join(quoted(one.name) for one in labels)
        raise InputError(f"The ONNX file {quoted(name)} gives several labels ({told}); export one.")
    scores = maps[:1] or tables
    if len(scores) > 1 and not (classes and len(classes) == len(scores)):
        scores = [one for one in scores if "prob" in one.lower()]
        if len(scores) != 1:
            told = ", ".join(quoted(one) for one in tables)
            raise InputError(f"The ONNX file {quoted(name)} gives several scores ({told}); export the probabilities.")
    if not labels and not scores:
        raise InputError(f"The ONNX file {quoted(name)} gives neither labels nor scores; export a classifier.")
    return (str(labels[0].name) if labels else ""), tuple(str(one) for one in scores), classes


def _classes(operators: list[Any]) -> tuple[Any, ...] | None:
    found: set[tuple[Any, ...]] = set()
    for node in operators:
        for attribute in node.attribute:
            if attribute.name.startswith("classlabels_"):
                texts = tuple(bytes(text).decode("utf-8", "replace") for text in attribute.strings)
                numbers: tuple[Any, ...] = tuple(int(number) for number in attribute.ints)
                found.add(texts or numbers)
    known = [classes for classes in found if len(classes) >= 2]
    return known[0] if len(known) == 1 else None


def _texts(operators: list[Any]) -> tuple[str, ...]:
    """Return the first of each list of categories in the graph."""
    named = (one for node in operators for one in node.attribute if one.name in ("cats_strings", "keys_strings"))
    return tuple(bytes(one.strings[0]).decode("utf-8", "replace") for one in named if one.strings)[:20]


def _can_miss(node: Any) -> bool:
    """Return whether an operator is made for missing numbers."""
    tracks = (one for one in node.attribute if one.name == "nodes_missing_value_tracks_true")
    return node.op_type in _TAKES_MISSING or any(any(one.ints) for one in tracks)
