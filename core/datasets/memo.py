"""What was computed from an object and is asked for again: kept with the object, and gone with it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Hashable
from typing import Any, Self, TypeVar, cast

import numpy as np

T = TypeVar("T")

MOST_KEPT = 64
"""Results kept at most; beyond them that is dropped which was asked for longest ago."""


class Memo:
    """Base of a frozen dataclass that keeps results with itself; no field, so not compared, shown, pickled or copied.

    A copy, a replaced and an unpickled object begin with an empty memo.
    """

    __slots__ = ("_kept", "_lock")

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Return an object that has kept nothing yet."""
        made = super().__new__(cls)
        object.__setattr__(made, "_kept", {})
        object.__setattr__(made, "_lock", threading.Lock())
        return made

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returns, calling it the first time only; arrays in it can no longer be written to.

        Two threads that ask at the same time may both call `make`; both are given the same result.

        Parameters
        ----------
        key : hashable
            Names the result and everything it depends on beside this object.
        make : callable
            Computes it; may itself use `once` under other keys.
        """
        kept: dict[Hashable, Any] = self._kept  # type: ignore[attr-defined]
        lock: threading.Lock = self._lock  # type: ignore[attr-defined]
        with lock:
            if key in kept:
                kept[key] = kept.pop(key)  # the one used last stands last
                return cast("T", kept[key])
        made = make()
        _freeze(made)
        with lock:
            made = kept.setdefault(key, made)
            for oldest in list(kept)[:-MOST_KEPT]:
                del kept[oldest]
        return made


def _freeze(value: Any) -> None:
    """Make the arrays in a result read-only: in tuples, lists, dicts and dataclasses too."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, dict):
        for item in value.values():
            _freeze(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _freeze(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            _freeze(getattr(value, field.name, None))
