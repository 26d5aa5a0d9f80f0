"""Golden numbers of results of which there are many: a line each, however much a result consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from core.errors import FairLeakError
from tests.golden.numbers import compare_numbers, lines

Rows = Iterator[tuple[str, Any]]
"""Name and result."""


def told(make: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Return what is made, or the sentence with which it is refused."""
    try:
        return make(*given, **named)
    except FairLeakError as error:
        return str(error)


def compare_rows(name: str, rows: Rows) -> None:
    """Check results against their golden file as `compare_numbers` does, everything about one in its line."""
    compare_numbers(name, [f"{what}: {' '.join(_parts(value))}" for what, value in rows])


def _parts(value: Any) -> Iterator[str]:
    for line in lines("", value):
        yield line.partition(" = ")[2].removeprefix("np.").replace("True_", "True").replace("False_", "False")
