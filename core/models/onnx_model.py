"""A model as ONNX: its graph is read and checked (`core.models.onnx_format`), then run by onnxruntime on one thread.

ONNX computes in 32-bit floats as a rule, so scores agree with the model they were exported from to about seven digits,
and a decision can differ where a score lies that close to the border.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..datasets.columns import listed, quoted
from .model_answers import Ask, RawAnswers, Takes, cause, onnx_structure, stack, warn_of_new_values
from .onnx_format import read_graph, smallest_model

if TYPE_CHECKING:
    import pandas

_CELLS = {
    "float": (np.float32, "number"),
    "double": (np.float64, "number"),
    "float16": (np.float16, "number"),
    **{
        f"{sign}int{bits}": (f"{sign}int{bits}", "whole number")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "bool": (np.bool_, "true or false"),
    "string": (np.object_, "text"),
}
"""ONNX's type of a cell -> numpy's, and what it must hold."""

_LABELS = ("tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(bool)")
_SCORES = ("tensor(float)", "tensor(double)")
_MOST_SCORES = 1000


_Inputs = tuple[tuple[str, Any, int], ...]
"""Of each input its name, numpy's type and the number of dimensions."""

_Outputs = tuple[str, tuple[str, ...], tuple[Any, ...] | None]
"""The output with labels (or ""), those with scores, and the classes if the scores are these."""


def asking(
    session: Any,
    inputs: _Inputs,
    outputs: _Outputs,
    encoder_values: Mapping[str, tuple[Any, ...]],
    *,
    one_table: bool,
) -> Ask:
    """Return what asks a session about records whose columns are the model's features in its order.

    Of an input the encoder values are those it had in training, where they are encoded; where all features are
    `one_table`, they are fed as one.
    """
    label, scores, classes = outputs
    output_names = list(filter(None, (label, *scores)))

    def feed_of(frame: pandas.DataFrame) -> dict[str, npt.NDArray[Any]]:
        if one_table:
            name, dtype, _ = inputs[0]
            columns = [_column(frame, j, dtype) for j in range(frame.shape[1])]
            return {name: np.column_stack(columns)}
        feed = {}
        for j, (name, dtype, rank) in enumerate(inputs):
            if name in encoder_values:
                warn_of_new_values(frame.iloc[:, j], encoder_values[name])
            feed[name] = _column(frame, j, dtype)
            if rank == 2:
                feed[name] = feed[name].reshape(-1, 1)
        return feed

    def ask(frame: pandas.DataFrame) -> RawAnswers:
        n = len(frame)
        feed = feed_of(frame)
        try:
            answered = session.run(output_names, feed)
        except Exception as error:
            raise _memory_or(error) from None
        labels = None
        if label:
            labels = np.asarray(answered.pop(0)).reshape(n)
        if not answered:
            return RawAnswers(labels=labels, probability=None, classes=classes)
        if isinstance(answered[0], list):  # one dict a record
            records = answered[0]
            listed_classes = tuple(records[0])
            table = stack([[record[value] for record in records] for value in listed_classes], n)
            return RawAnswers(labels=labels, probability=table, classes=listed_classes)
        if sum(np.asarray(column).size for column in answered) > _MOST_SCORES * n:
            raise ValueError(f"it gives more than {_MOST_SCORES} scores a record")
        return RawAnswers(labels=labels, probability=stack(answered, n), classes=classes)

    return ask


def _column(frame: pandas.DataFrame, j: int, dtype: Any) -> npt.NDArray[Any]:
    """Return a column in the model's type, or fail if that has no room for a whole number or a gap."""
    values = frame.iloc[:, j].to_numpy()
    if dtype is np.bool_ and (values != values).any():
        raise ValueError("a missing value is neither true nor false")
    cells = values.astype(dtype)
    if np.issubdtype(dtype, np.integer) and (cells != values).any():
        raise ValueError(f"a whole number does not fit into {np.dtype(dtype).name}")
    return cells


def _memory_or(error: Exception) -> Exception:
    """Return what the runtime raised, as a `MemoryError` where it is one."""
    wanting = ("bad_alloc", "bad allocation", "allocate memory", "BFCArena")
    if any(phrase in str(error) for phrase in wanting):
        return MemoryError()
    return error


def open_onnx(content: bytes, name: str) -> tuple[Takes, Ask]:
    """Read and check an ONNX file.

    Raises `InputError` if it is no ONNX, holds what is refused, or takes or gives other than one row a person.
    """
    graph = read_graph(content, name).graph
    nodes = list(graph.node)
    try:
        session = _session(content)
    except Exception as error:  # whatever the runtime cannot read
        if isinstance(_memory_or(error), MemoryError):
            raise MemoryError from None
        raise InputError(f"The ONNX file {quoted(name)} cannot be run: {cause(error)}.") from None
    inputs, kinds, width = _inputs(session, name)
    names: tuple[str, ...] = ()
    if width is None:
        names = tuple(feature for feature, *_ in inputs)
        width = len(inputs)
    else:
        kinds *= width or 1
    outputs = _outputs(session, _classes(nodes), name)
    label, scores, _ = outputs
    extra_outputs = [
        str(output.name) for output in session.get_outputs() if output.name not in (label, *scores)
    ]
    notes = list(onnx_structure(graph).notes)
    if extra_outputs:
        notes.append(
            f"The model also gives {listed(extra_outputs)}, which is not audited: hand out its label and scores alone."
        )
    takes = Takes(
        feature_names=names,
        dtypes=kinds,
        width=width or None,
        takes_missing=any(map(_takes_missing, nodes)),
        notes=tuple(notes),
    )
    return takes, asking(session, inputs, outputs, _encoded(nodes), one_table=not names)


def _session(content: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False  # memory goes back after each batch
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.load_model_format", "ONNX")
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _inputs(session: Any, name: str) -> tuple[_Inputs, tuple[str, ...], int | None]:
    """Return the inputs, what their cells must hold, and the width (0: any) if they are one table."""
    inputs = []
    kinds = []
    widths = []
    for node in session.get_inputs():
        match = re.fullmatch(r"tensor\((\w+)\)", node.type)
        if (
            not match
            or match[1] not in _CELLS
            or not 1 <= len(node.shape) <= 2
            or isinstance(node.shape[0], int)
        ):
            raise InputError(
                f"The ONNX file {quoted(name)} takes {quoted(node.name)} as {node.type} of shape {node.shape}; every "
                "input must be a column or a table of numbers or texts, for any number of records."
            )
        dtype, kind = _CELLS[match[1]]
        inputs.append((str(node.name), dtype, len(node.shape)))
        kinds.append(kind)
        last = node.shape[1] if len(node.shape) == 2 else 1
        width = last if isinstance(last, int) else 0
        widths.append(width)
    if inputs and all(width == 1 for width in widths):
        return tuple(inputs), tuple(kinds), None
    if len(inputs) == 1:
        return tuple(inputs), tuple(kinds), widths[0]
    raise InputError(
        f"The ONNX file {quoted(name)} takes {len(inputs)} tables; give every column an input of its own, or one table "
        "for all."
    )


def _outputs(session: Any, classes: tuple[Any, ...] | None, name: str) -> _Outputs:
    """Return the names of the outputs with labels (or "") and with scores, and the classes if they are these."""
    outputs = session.get_outputs()
    labels = [output for output in outputs if output.type in _LABELS and len(output.shape) <= 2]
    maps = [str(output.name) for output in outputs if output.type.startswith("seq(map(")]
    tables = [str(output.name) for output in outputs if output.type in _SCORES]
    if labels and classes and (labels[0].type == "tensor(string)") != isinstance(classes[0], str):
        classes = None  # numbers that are turned into texts later
    scores = maps[:1] or tables
    narrow = all(
        len(output.shape) < 2 or output.shape[1] == 1 for output in outputs if output.name in tables
    )
    per_class = (
        narrow and classes is not None and len(classes) == len(scores)
    )  # an output for each class
    if len(scores) > 1 and not per_class:
        scores = [table_name for table_name in tables if "prob" in table_name.lower()] or tables
    if len(labels) > 1 or (len(scores) > 1 and not per_class) or not (labels or scores):
        listing = ", ".join(quoted(output.name) for output in outputs)
        raise InputError(
            f"The ONNX file {quoted(name)} gives {listing}; export one label, and the probabilities of a classifier."
        )
    label = str(labels[0].name) if labels else ""
    return label, tuple(scores), classes


def _takes_missing(node: Any) -> bool:
    """Return whether an operator is made for missing numbers."""
    tracks = (
        attribute
        for attribute in node.attribute
        if attribute.name == "nodes_missing_value_tracks_true"
    )
    return node.op_type in ("Imputer", "IsNaN") or any(any(attribute.ints) for attribute in tracks)


def _encoded(nodes: list[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the values that one-hot encoders have columns for, by what they encode, itself or in another type."""
    source = {node.output[0]: node.input[0] for node in nodes if node.op_type == "Cast"}
    return {
        source.get(node.input[0], node.input[0]): _listed(attribute)
        for node in nodes
        for attribute in node.attribute
        if node.op_type == "OneHotEncoder" and attribute.name.startswith("cats_")
    }


def _listed(attribute: Any) -> tuple[Any, ...]:
    """Return the texts or whole numbers that an attribute lists."""
    texts = tuple(bytes(text).decode("utf-8", "replace") for text in attribute.strings)
    return texts or tuple(int(number) for number in attribute.ints)


def _classes(nodes: list[Any]) -> tuple[Any, ...] | None:
    """Return the classes that the graph lists, if there is one list only."""
    class_lists: set[tuple[Any, ...]] = set()
    for attribute in [attribute for node in nodes for attribute in node.attribute]:
        if attribute.name.startswith("classlabels_"):
            class_lists.add(_listed(attribute))
    usable = [classes for classes in class_lists if len(classes) >= 2]
    if len(usable) == 1:
        return usable[0]
    return None


def rehearse() -> None:
    """Open and ask a small model of our own: a confined child cannot import what libraries put off until then."""
    import pandas as pd

    _, ask = open_onnx(smallest_model(), "rehearsal.onnx")
    ask(pd.DataFrame({"x": np.zeros(2)}))
