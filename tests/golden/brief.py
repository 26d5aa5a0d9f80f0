"""The golden numbers of many small results, a line for each of them, or for each field of a large one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from core.errors import InputError
from tests.golden.numbers import compare_numbers, lines

Named = Iterator[tuple[str, Any]]
"""Results with their names."""

_WIDEST = 150
"""Letters of a line that holds several numbers."""


def told(measure: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return what a function returns, or the words with which it refuses."""
    try:
        return measure(*arguments, **named)
    except InputError as error:
        return str(error)


def compare_brief(name: str, found: Iterable[tuple[str, Any]]) -> None:
    """Check results against their golden file."""
    compare_numbers(name, [line for own, value in found for line in _brief(own, value)])


def _brief(name: str, value: Any) -> Iterator[str]:
    every = list(lines(name, value))
    numbers = [line[len(name) :].partition(" = ")[2] for line in every]
    if len(every) > 1 and sum(map(len, numbers)) <= _WIDEST:
        yield f"{name} = {' '.join(numbers)}"
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name != "seconds":
                yield from _brief(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _brief(f"{name}[{key}]", part)
    elif isinstance(value, list | tuple) and len(value) > 0:
        for place, part in enumerate(value):
            yield from _brief(f"{name}[{place}]", part)
    else:
        yield from every
