"""Results as plain data, tables and JSON text, back from JSON without running code, and their fingerprints.

Results are frozen dataclasses; pages, command line and report draw the same object, so no number is computed twice.

`dumps` writes the form in which a result is stored and travels between processes: strict JSON, where nan and
infinities, which JSON lacks, become the strings "nan", "inf" and "-inf", and numbers keep every bit. `loads` rebuilds
the dataclass from its field annotations and refuses whatever does not fit them, so a damaged text never becomes a
result. No pickle: reading a record runs no code of the record's. A result rebuilt is equal to the one written, nan
included: every nan read is `math.nan` itself, and equality of dataclasses takes identical objects as equal.

One SHA-256 fingerprint over data and settings is the key of every cache, and the identity of a result. `fingerprint`
changes with FairLeak's version, so that no cache outlives the code that filled it. `content_fingerprint` does not: it
says whether two tables, plans or policies are the same, no matter who asks and when. `code_fingerprint` is that of
FairLeak's own code.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import types
import typing
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from .. import __version__
from .errors import FairLeakError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import pandas


UNSAID = {"unsaid": True}
"""Metadata of a field that plain data and records leave out at its default."""


def plain(value: Any, *, finite: bool = False) -> Any:
    """Turn dataclasses, arrays and numpy scalars into dicts, lists and Python numbers, recursively.

    `finite` is for JSON, which has no other numbers: nan becomes None and infinities text.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(item, finite=finite) for name, item in _stated_fields(value)}
    if isinstance(value, dict):
        entries = (
            ("/".join(key) if isinstance(key, tuple) else str(key), item)
            for key, item in value.items()
        )
        return {name: plain(item, finite=finite) for name, item in entries}
    if isinstance(value, (list, tuple)):
        return [plain(item, finite=finite) for item in value]
    if isinstance(value, np.ndarray):
        if finite:
            return plain(value.tolist(), finite=True)
        return value.tolist()
    if isinstance(value, np.generic):
        return plain(value.item(), finite=finite)
    if finite and isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return None
        return str(value)
    return value


def _stated_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a dataclass, but for those that are left out at their defaults."""
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if "unsaid" not in field.metadata or item != field.default:
            yield field.name, item


class Result:
    """Mixin of the frozen result dataclasses."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as nested dicts, lists and numbers (JSON-ready but for infinities)."""
        return dict(plain(self))

    def to_frame(self) -> pandas.DataFrame:
        """Return the result as a table; one row a field, as text, unless the result says otherwise."""
        import pandas as pd

        rows = [
            (name, str(value))
            for name, value in self.to_dict().items()
            if not isinstance(value, (list, dict))
        ]
        return pd.DataFrame(rows, columns=["name", "value"])


T = TypeVar("T")

_NOT_IN_JSON = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class RecordError(ValueError):
    """A text that does not hold what it is read as."""


def dumps(value: Any) -> str:
    """Return the JSON text of a dataclass of dataclasses, lists, dicts, strings, numbers and None; else TypeError."""
    return json.dumps(_plain(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def loads(text: str, kind: type[T]) -> T:
    """Return the `kind` (a dataclass) written by `dumps`; RecordError if the text does not fit its fields."""
    try:
        return typing.cast(T, _built(json.loads(text), kind))
    except RecordError:
        raise
    except (
        ValueError,
        TypeError,
        RecursionError,
    ) as error:  # JSON of the wrong shape, or a rule of the dataclass
        raise RecordError(f"not a {kind.__name__}: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return str(value)
    if value is None or isinstance(value, (str, int)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(item) for name, item in _stated_fields(value)}
    if isinstance(value, dict):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be written into a record.")


@cache
def _fields(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _built(value: Any, kind: Any) -> Any:
    """Return a JSON value as what an annotation says it is."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _either(value, typing.get_args(kind))
    if origin in (tuple, list, dict):
        return _container(value, origin, typing.get_args(kind))
    if dataclasses.is_dataclass(kind):
        return _dataclass(value, typing.cast(type, kind))
    if kind is float:
        return _number(value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        if value not in tuple(kind):
            raise RecordError(f"one of {', '.join(kind)} expected, got {value!r:.40}")
        return kind(value)
    if kind in (str, bool, int, types.NoneType):
        if type(value) is not kind:
            raise RecordError(f"{kind.__name__} expected, got {value!r:.40}")
        return value
    raise RecordError(f"{kind!r} cannot be read from a record")


def _number(value: Any) -> float:
    if isinstance(value, str) and value in _NOT_IN_JSON:
        return _NOT_IN_JSON[value]
    if type(value) not in (int, float):
        raise RecordError(f"number expected, got {value!r:.40}")
    return float(value)


def _either(value: Any, kinds: tuple[Any, ...]) -> Any:
    for kind in kinds:
        try:
            return _built(value, kind)
        except RecordError:
            continue
    raise RecordError(f"nothing fits {value!r:.40}")


def _container(value: Any, origin: type, kinds: tuple[Any, ...]) -> Any:
    if not isinstance(value, list):
        raise RecordError(f"list expected, got {value!r:.40}")
    if origin is dict:
        if any(not isinstance(pair, list) or len(pair) != 2 for pair in value):
            raise RecordError("pairs expected")
        return {_built(key, kinds[0]): _built(item, kinds[1]) for key, item in value}
    if origin is list or (len(kinds) == 2 and kinds[1] is Ellipsis):
        return origin(_built(item, kinds[0]) for item in value)
    if len(value) != len(kinds):
        raise RecordError(f"{len(kinds)} values expected, got {len(value)}")
    return tuple(_built(item, kind) for item, kind in zip(value, kinds, strict=True))


def _dataclass(value: Any, kind: type) -> Any:
    fields = _fields(kind)
    unsaid = {field.name for field in dataclasses.fields(kind) if "unsaid" in field.metadata}
    if not isinstance(value, dict) or {*value, *unsaid} != set(fields):
        raise RecordError(f"the fields of {kind.__name__} expected")
    return kind(
        **{
            name: _built(value[name], annotation)
            for name, annotation in fields.items()
            if name in value
        }
    )


_CODE = (".py", ".toml", ".json", ".html")
"""What the files end in that decide what FairLeak computes and says."""


def short_fingerprint(digits: str) -> str:
    """Return the beginning of a fingerprint as people compare it: "41c0 9e2a"; empty where there is none."""
    return f"{digits[:4]} {digits[4:8]}".strip()


def fingerprint(*parts: Any) -> str:
    """Return the SHA-256 (64 hex digits) of the parts, in order, and of FairLeak's version.

    A part may be a string, number, None, bytes, numpy array, frozen dataclass, or lists and dicts of these.
    Arrays enter with dtype, shape and every byte: nothing is sampled.
    """
    return _digest(__version__, parts)


def content_fingerprint(*parts: Any) -> str:
    """Return the SHA-256 of the parts, as `fingerprint` does, but the same for every version of FairLeak."""
    return _digest("content", parts)


def _digest(begun: str, parts: tuple[Any, ...]) -> str:
    digest = hashlib.sha256(begun.encode())
    for part in parts:
        digest.update(b"\x00part\x00")
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            if dataclasses.is_dataclass(part):
                name = type(part).__name__
            else:
                name = ""
            digest.update(
                name.encode() + json.dumps(plain(part), sort_keys=True, default=repr).encode()
            )
    return digest.hexdigest()


def fingerprint_frame(frame: pandas.DataFrame) -> str:
    """Return the SHA-256 of a table: column names, types and every cell in row order."""
    digest = hashlib.sha256(__version__.encode())
    for position, column in enumerate(frame.columns):
        digest.update(f"\x00column\x00{column}\x00{frame.dtypes.iloc[position]}".encode())
        digest.update(_hashes(frame.iloc[:, position]).tobytes())
    return digest.hexdigest()


def _hashes(column: pandas.Series) -> npt.NDArray[np.uint64]:
    """Return a hash of each cell, as `pandas.util.hash_array` has them; of texts each is hashed once."""
    import pandas as pd

    if not isinstance(column.dtype, pd.StringDtype):
        return pd.util.hash_array(column.to_numpy(), categorize=True)
    codes, texts = column.factorize()
    hashes = pd.util.hash_array(texts.to_numpy(dtype=object), categorize=False)
    return np.append(hashes, np.iinfo(np.uint64).max)[
        codes
    ]  # the last stands for a missing cell, of code -1


@cache
def code_fingerprint() -> str:
    """Return the SHA-256 of FairLeak's own code: every .py, .toml, .json and .html file of core, read once a process.

    The same for a folder of sources and an installed package, and whatever the line ends of the copy.
    """
    from importlib.resources import files

    return fingerprint_of_code(files(__package__.partition(".")[0]))


def fingerprint_of_code(folder: Traversable) -> str:
    """Return the SHA-256 of the names and contents of a folder's code, line ends normalised, in the order of names."""
    digest = hashlib.sha256()
    try:
        for name, file in sorted(_code_files(folder, ""), key=lambda entry: entry[0]):
            content = file.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            digest.update(f"{name}\x00{len(content)}\x00".encode() + content)
    except OSError as error:
        raise FairLeakError(
            f"FairLeak's own code must be readable for its fingerprint, but a file is not: {error}."
        ) from error
    return digest.hexdigest()


def _code_files(folder: Traversable, above: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _code_files(entry, f"{above}{entry.name}/")
        elif entry.name.endswith(_CODE):
            yield above + entry.name, entry
