"""The golden numbers: every number of a result, in a line of its own or of the result, compared to six digits."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy import sparse

from core.base.errors import FairLeakError
from tests.golden.make import FILES, RENEW

_LONGEST = 8
"""Numbers of an array that are kept one by one; of more, sums that change with any of them and its place are."""

_MOST_DIFFERENT = 30
"""Lines of a difference that are shown."""

_WIDEST = 150
"""Letters of a line that holds several numbers."""

NamedValues = Iterator[tuple[str, Any]]
"""Results with their names."""


def refused(work: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """Return what work returns, or what it says when it refuses."""
    try:
        return work(*arguments, **more)
    except FairLeakError as error:
        return str(error)


def lines(name: str, value: Any) -> Iterator[str]:
    """Yield what a result consists of, as ``name.field = value``; how long it took is left out."""
    if (parts := _parts(name, value)) is not None:
        for part in parts:
            yield from lines(*part)
    elif sparse.issparse(value):
        yield from lines(name, value.toarray())
    elif isinstance(value, np.ndarray) and value.size > _LONGEST and value.dtype.kind in "biuf":
        yield f"{name} = {value.shape} {value.dtype.kind}: {_sums(value.astype(float).ravel())}"
    elif isinstance(value, set | frozenset | np.ndarray):
        yield from lines(name, sorted(value, key=str) if isinstance(value, set | frozenset) else list(value))
    elif isinstance(value, list | tuple):
        yield f"{name} = empty"
    elif isinstance(value, Enum):
        yield f"{name} = {value.name}"
    elif isinstance(value, bool | np.bool_ | str | None):
        yield f"{name} = {value.item() if isinstance(value, np.generic) else value!r}"
    elif isinstance(value, int | float | np.number):
        yield f"{name} = {_number(float(value))}"
    else:
        raise TypeError(f"{name} is a {type(value).__name__}, of which no line is made")


def _parts(name: str, value: Any) -> list[tuple[str, Any]] | None:
    """Return the parts of a record, mapping or list with their names; None where there are none."""
    if is_dataclass(value) and not isinstance(value, type):
        return [
            (f"{name}.{field.name}", getattr(value, field.name)) for field in fields(value) if field.name != "seconds"
        ]
    if isinstance(value, Mapping):
        return [(f"{name}[{key}]", part) for key, part in value.items()]
    if isinstance(value, list | tuple) and len(value) > 0:
        return [(f"{name}[{index}]", part) for index, part in enumerate(value)]
    return None


def _sums(values: np.ndarray) -> str:
    finite = values[np.isfinite(values)]
    places = np.flatnonzero(np.isfinite(values)) + 1.0
    sums = [finite.min(), finite.max(), finite.sum(), (places * finite).sum() / places.sum()] if finite.size else []
    return " ".join(map(_number, [*sums, values.size - finite.size]))


def _number(value: float) -> str:
    return "0" if abs(value) < 1e-9 else f"{value:.9g}"


def compare_numbers(name: str, entries: Iterable[tuple[str, Any]]) -> None:
    """Check results against their golden file; see `compare_lines`."""
    compare_lines(name, [line for label, value in entries for line in _brief(label, value)])


def _brief(name: str, value: Any) -> Iterator[str]:
    """Yield what a result consists of in one line if it is short enough, else what each of its parts does."""
    every = list(lines(name, value))
    numbers = [line[len(name) :].partition(" = ")[2] for line in every]
    if len(every) > 1 and sum(map(len, numbers)) <= _WIDEST:
        yield f"{name} = {' '.join(numbers)}"
    elif (parts := _parts(name, value)) is not None:
        for part in parts:
            yield from _brief(*part)
    else:
        yield from every


def compare_lines(name: str, new_lines: list[str]) -> None:
    """Check lines against their golden file, numbers to six digits, or write the file if that is asked for."""
    path = FILES / "numbers" / f"{name}.txt"
    if os.environ.get(RENEW):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(new_lines) + "\n", encoding="utf-8")
        return
    old_lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    now = [old if _is_same_line(old, new) else new for old, new in zip(old_lines, new_lines, strict=False)] + new_lines[
        len(old_lines) :
    ]
    different = list(difflib.unified_diff(old_lines, now, "golden", "now", lineterm="", n=0))
    assert not different, f"{path.name} is not as it was; `{RENEW}=1` writes it anew:\n" + "\n".join(
        different[:_MOST_DIFFERENT]
    )


def _is_same_line(old: str, new: str) -> bool:
    before, after = old.split(" "), new.split(" ")
    return len(before) == len(after) and all(map(_same, before, after))


def _same(before: str, after: str) -> bool:
    try:
        return before == after or math.isclose(float(before), float(after), rel_tol=1e-6, abs_tol=1e-8)
    except ValueError:
        return False
