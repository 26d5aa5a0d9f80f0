"""Results as bytes and back, arrays included, without running code of the bytes.

`core.base.serialize` reads a record by the annotations of one class. What a page of the dashboard holds is a whole
graph: a subject with its arrays, and what was already computed about it. `pack` writes such a graph as a tree of tagged
JSON lists beside numpy arrays, in one npz archive; `unpack` builds it again.

No pickle: a name in the tree stands for a class of this package that is a dataclass, an enum or listed in `_PLAIN`, and
for nothing else. Objects are built without calling their class, and filled field by field; arrays of objects are
refused. A changed archive can therefore hold false numbers, which a checksum beside it tells, but can start nothing.
"""

from __future__ import annotations

import dataclasses
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .serialize import RecordError

if TYPE_CHECKING:
    import pandas

_PACKAGE = __package__.partition(".")[0]

_PLAIN = {
    "report.public_summary:Reports": ("audit",),
    "studies.subject:Progress": ("total", "done"),
}
"""Class that is no dataclass -> the attributes it is built again from; others keep the class's value."""

_CONTAINERS: dict[str, type] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}

MEMO = {"memo": True}
"""Metadata of a field with what can be computed again: None stands for what cannot be written, and entries of a
dictionary that cannot are left out."""

_TEXTS = ("str", "object")
"""Types of columns whose cells are written one by one."""

_TREE = "tree"
"""Entry of the archive with the JSON text."""


class UnstorableError(TypeError):
    """A value, or a part of it, has no form in which it is written."""


def pack(value: Any, shared: Mapping[int, str] | None = None) -> bytes:
    """Return the content of an archive with a value.

    Parameters
    ----------
    value : object
        Numbers, texts, arrays, containers, enums and dataclasses of this package, nested in any way but in a circle.
    shared : mapping, optional
        id of an object -> the name written in its place, for what the reader has already.

    Raises UnstorableError if anything else is in it.
    """
    writer = _TreeWriter(shared or {})
    tree = json.dumps(
        writer.tree(value), allow_nan=False, ensure_ascii=False, separators=(",", ":")
    )
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(
            zipfile.ZipInfo(_TREE), tree.encode()
        )  # without a time: equal values make equal bytes
        for number, array in enumerate(writer.arrays):
            entry = io.BytesIO()
            np.save(entry, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(str(number)), entry.getvalue())
    return content.getvalue()


def unpack(content: bytes, shared: Callable[[str], Any] | None = None) -> Any:
    """Return the value of an archive; `shared` returns the object that a name stands for.

    Raises RecordError if the content is not what `pack` writes.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            tree = json.loads(archive.read(_TREE))
            arrays = [
                _array(archive.read(str(number))) for number in range(len(archive.namelist()) - 1)
            ]
        return _TreeReader(arrays, shared).value(tree)
    except RecordError:
        raise
    except (
        Exception
    ) as error:  # whatever a damaged archive makes of zipfile, json, numpy or a class
        raise RecordError(f"it cannot be read: {error}") from error


def _array(entry: bytes) -> Any:
    return np.load(io.BytesIO(entry), allow_pickle=False)


class _TreeWriter:
    """Makes the tree of a value and collects its arrays; what occurs twice is written once."""

    def __init__(self, shared: Mapping[int, str]) -> None:
        self.arrays: list[Any] = []
        self._shared = shared
        self._written: dict[int, int] = {}
        self._alive: list[Any] = []  # an id is an object's for as long as it lives

    def tree(self, value: Any) -> Any:
        """Return the tree of a value."""
        if id(value) in self._shared:
            return ["shared", self._shared[id(value)]]
        if isinstance(value, Enum):
            return ["enum", _name(type(value)), value.name]
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            if math.isfinite(value):
                return value
            return ["float", str(value)]
        if type(value) in (set, frozenset):
            return [type(value).__name__, *map(self.tree, sorted(value, key=repr))]
        if type(value) in (tuple, list):
            return [type(value).__name__, *map(self.tree, value)]
        if type(value) is dict:
            return ["dict", *([self.tree(key), self.tree(item)] for key, item in value.items())]
        if id(value) in self._written:
            return ["again", self._written[id(value)]]
        tree = self._tree_of_object(value)
        self._written[id(value)] = len(self._written)
        self._alive.append(value)
        return tree

    def _tree_of_object(self, value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            if value.dtype.hasobject:
                raise UnstorableError("An array of objects cannot be written.")
            self.arrays.append(np.asarray(value))
            is_writable = isinstance(value, np.ndarray) and value.flags.writeable
            form = "scalar" if isinstance(value, np.generic) else "array"
            return [form, len(self.arrays) - 1, is_writable]
        if type(value).__name__ == "DataFrame":
            return ["frame", *self._columns(value)]
        name = _name(type(value))
        memos = _memos(type(value))
        entries = {}
        for field in _fields(type(value), name):
            item = getattr(value, field)
            entries[field] = self._memo(item) if field in memos else self.tree(item)
        computed = self._memo({key: item for key, item in _computed(value) if key not in entries})
        return ["object", name, entries, computed]

    def _columns(self, frame: pandas.DataFrame) -> Iterator[Any]:
        """Yield the trees of a table's row numbers, and of name, type and cells of each column."""
        if frame.index.dtype.kind != "i" or frame.index.name is not None:
            raise UnstorableError("A table without row numbers cannot be written.")
        yield self.tree(frame.index.to_numpy())
        for position, name in enumerate(frame.columns):
            column = frame.iloc[:, position]
            kind = str(column.dtype)
            if kind in _TEXTS:
                cells = self.tree(
                    [
                        None if missing else cell
                        for cell, missing in zip(column, column.isna(), strict=True)
                    ]
                )
            elif column.dtype.kind in "biuf":
                cells = self.tree(np.array(column))
            else:
                raise UnstorableError(f"A column of type {kind} cannot be written.")
            yield [self.tree(name), kind, cells]

    def _memo(self, memo: Any) -> Any:
        """Return the tree of what can be written of a memo."""
        if not isinstance(memo, dict):
            return next(iter(self._if_written(memo)), None)
        pairs = (
            [self._if_written(key), self._if_written(item)] for key, item in list(memo.items())
        )
        return ["dict", *([key[0], item[0]] for key, item in pairs if key and item)]

    def _if_written(self, value: Any) -> list[Any]:
        """Return a list with the tree of a value; an empty one, and no trace of it, if it cannot be written."""
        n_arrays = len(self.arrays)
        n_written = len(self._written)
        try:
            return [self.tree(value)]
        except UnstorableError:
            del self.arrays[n_arrays:]
            self._written = dict(list(self._written.items())[:n_written])
            return []


def _name(kind: type) -> str:
    """Return the module inside this package and the class, such as "studies.subject:Subject"."""
    package, _, module = kind.__module__.partition(".")
    name = f"{module}:{kind.__qualname__}"
    if package != _PACKAGE or not (
        dataclasses.is_dataclass(kind) or issubclass(kind, Enum) or name in _PLAIN
    ):
        raise UnstorableError(f"A {kind.__module__}.{kind.__qualname__} cannot be written.")
    return name


def _fields(kind: type, name: str) -> tuple[str, ...]:
    """Return the attributes that an object of a class is built again from."""
    if name in _PLAIN:
        return _PLAIN[name]
    return tuple(field.name for field in dataclasses.fields(kind))


def _computed(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what cached properties of an object have computed."""
    for name, item in getattr(value, "__dict__", {}).items():
        if isinstance(getattr(type(value), name, None), cached_property):
            yield name, item


def _memos(kind: type) -> set[str]:
    """Return the fields of a class that are memos."""
    if dataclasses.is_dataclass(kind):
        fields = dataclasses.fields(kind)
    else:
        fields = ()
    return {field.name for field in fields if "memo" in field.metadata}


class _TreeReader:
    """Builds a value of its tree."""

    def __init__(self, arrays: list[Any], shared: Callable[[str], Any] | None) -> None:
        self._arrays = arrays
        self._shared = shared
        self._built: list[Any] = []
        self._classes: dict[str, Any] = {}

    def value(self, tree: Any) -> Any:
        """Return the value of a tree."""
        if not isinstance(tree, list):
            return tree
        tag, *parts = tree
        if tag in _CONTAINERS:
            return _CONTAINERS[tag](map(self.value, parts))
        if tag == "dict":
            return {self.value(key): self.value(item) for key, item in parts}
        if tag == "float":
            return float(parts[0])
        if tag == "enum":
            return self._class(parts[0])[parts[1]]
        if tag == "again":
            return self._built[parts[0]]
        if tag == "shared":
            return self._shared_object(parts[0])
        built = self._object(tag, parts)
        self._built.append(built)
        return built

    def _shared_object(self, name: str) -> Any:
        if self._shared is None:
            shared_object = None
        else:
            shared_object = self._shared(name)
        if shared_object is None:
            raise RecordError(f"{name!r:.80}, which it is about, is not at hand")
        return shared_object

    def _object(self, tag: str, parts: list[Any]) -> Any:
        if tag == "scalar":
            return self._arrays[parts[0]][()]
        if tag == "array":
            array = self._arrays[parts[0]]
            array.flags.writeable = parts[1]
            return array
        if tag == "frame":
            return self._frame(*parts)
        if tag != "object":
            raise RecordError(f"{tag!r:.40} is nothing that is written")
        name, entries, computed = parts
        kind = self._class(name)
        if set(entries) != set(_fields(kind, name)):
            raise RecordError(f"the fields of {name} expected")
        built = kind.__new__(kind)
        for field, entry in entries.items():
            object.__setattr__(built, field, self.value(entry))
        for key, item in self.value(computed).items():
            if not isinstance(getattr(kind, key, None), cached_property):
                raise RecordError(f"{name} computes no {key!r:.40}")
            vars(built)[key] = item
        return built

    def _frame(self, index: Any, *columns: Any) -> pandas.DataFrame:
        import pandas as pd

        series = {}
        numbers = self.value(index)
        for name, kind, cells in columns:
            if kind not in _TEXTS and np.dtype(kind).kind not in "biuf":
                raise RecordError(f"a column of type {kind!r:.40} is nothing that is written")
            series[self.value(name)] = pd.Series(self.value(cells), index=numbers, dtype=kind)
        frame = pd.DataFrame(series, index=numbers)
        is_numbered = np.array_equal(numbers, np.arange(numbers.size))
        if is_numbered:
            return frame.reset_index(drop=True)
        return frame

    def _class(self, name: str) -> Any:
        if name not in self._classes:
            self._classes[name] = _class(name)
        return self._classes[name]


def _class(name: str) -> Any:
    """Return the class of this package that a name stands for: a dataclass, an enum or one of `_PLAIN`."""
    module, _, qualified = name.partition(":")
    kind: Any = import_module(f"{_PACKAGE}.{module}")
    for part in qualified.split("."):
        kind = getattr(kind, part)
    if not isinstance(kind, type) or _name(kind) != name:
        raise RecordError(f"{name!r:.80} is no class that is written")
    return kind
