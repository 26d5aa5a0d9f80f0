"""One SHA-256 fingerprint over data and settings: the key of every cache, and the identity of a result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

import core
from core.results import plain

if TYPE_CHECKING:
    import pandas

__all__ = ["fingerprint", "fingerprint_frame"]


def fingerprint(*parts: Any) -> str:
    """Return the SHA-256 (64 hex digits) of the parts, in order, and of FairLeak's version.

    A part may be a string, number, None, bytes, numpy array, frozen dataclass, or lists and dicts of these.
    Arrays enter with dtype, shape and every byte: nothing is sampled.
    """
    digest = hashlib.sha256(core.__version__.encode())
    for part in parts:
        digest.update(b"\x00part\x00")
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            name = type(part).__name__ if dataclasses.is_dataclass(part) else ""
            digest.update(name.encode() + json.dumps(plain(part), sort_keys=True, default=repr).encode())
    return digest.hexdigest()


def fingerprint_frame(frame: pandas.DataFrame) -> str:
    """Return the SHA-256 of a table: column names, types and every cell in row order."""
    import pandas as pd

    digest = hashlib.sha256(core.__version__.encode())
    for position, column in enumerate(frame.columns):
        digest.update(f"\x00column\x00{column}\x00{frame.dtypes.iloc[position]}".encode())
        digest.update(pd.util.hash_array(frame.iloc[:, position].to_numpy(), categorize=True).tobytes())
    return digest.hexdigest()
