"""One SHA-256 fingerprint over data and settings: the key of every cache, and the identity of a result.

`fingerprint` changes with FairLeak's version, so that no cache outlives the code that filled it. `content_fingerprint`
does not: it says whether two tables, plans or policies are the same, no matter who asks and when. `code_fingerprint` is
that of FairLeak's own code.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import __version__
from .errors import FairLeakError
from .serialize import plain

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import pandas


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
