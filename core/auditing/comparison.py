"""Two runs of one audit: what a run computed, its fingerprint, and the values that differ.

A run is everything in a report but when and on what it ran, and its sentences, which only word the numbers and statuses
beside them. Numbers count to 6 significant digits: on another machine sums are taken in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..base.fingerprint import content_fingerprint
from ..base.serialize import Result

_ENVIRONMENT = ("fairleak", "python", "platform", "packages", "code")
_KEYS = ("check", "attack", "group", "name")  # by which the items of a list are distinguished, the first they all have
_OUTSIDE = ("times", "fingerprint")
_DIGITS = 6
_ABSENT = "(absent)"

Cell = str | float | int | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedValue(Result):
    """One value that differs, at a `path` such as "measurements[correction_gain].estimate.low".

    "(absent)" stands for what only the other document has, the number of items for lists of different lengths.
    """

    path: str
    before: Cell
    now: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(Result):
    """A run and its repetition: their fingerprints, what they ran on otherwise, and the values that differ."""

    before: str
    now: str
    environment: tuple[ChangedValue, ...]
    changes: tuple[ChangedValue, ...]

    @property
    def same(self) -> bool:
        """Whether both runs gave the same."""
        return self.before == self.now


def compare_runs(before: Mapping[str, Any], now: Mapping[str, Any]) -> Replay:
    """Comparison of two internal reports of one audit, as read from their JSON."""
    environment = changed_values(_environment(before), _environment(now), "provenance")
    first = _run(before)
    second = _run(now)
    if environment:
        for run in (first, second):
            run["model"].pop("fingerprint")  # of the model's answers to the last bit
    return Replay(
        before=content_fingerprint(first),
        now=content_fingerprint(second),
        environment=environment,
        changes=changed_values(first, second),
    )


def changed_values(before: Any, now: Any, path: str = "") -> tuple[ChangedValue, ...]:
    """Values that differ between two documents of dicts, lists, texts, numbers, booleans and None, in their order."""
    return tuple(
        ChangedValue(path=value_path, before=_short(first), now=_short(second))
        for value_path, first, second in _pairs(before, now, path)
        if type(first) is not type(second) or first != second
    )


def _environment(report: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report["provenance"].items() if name in _ENVIRONMENT}


def _run(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run computed, without sentences, its numbers rounded."""
    content = {name: _comparable(value) for name, value in report.items() if name not in _OUTSIDE}
    for name in _ENVIRONMENT:
        content["provenance"].pop(name)
    return content


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _comparable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if isinstance(value, str):
        return "" if " " in value else value
    if isinstance(value, float):
        rounded = float(f"{value:.{_DIGITS}g}")
        return int(rounded) if rounded.is_integer() else rounded
    return value


def _pairs(before: Any, now: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield every two values that stand at one path of two documents."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in dict.fromkeys((*before, *now)):
            inner = f"{path}.{name}" if path else name
            yield from _pairs(before.get(name, _ABSENT), now.get(name, _ABSENT), inner)
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            yield path, len(before), len(now)
        for name, first, second in zip(_item_names(before), before, now, strict=False):
            yield from _pairs(first, second, f"{path}[{name}]")
    else:
        yield path, before, now


def _item_names(items: list[Any]) -> list[str]:
    """Return what to call the items of a list: by a name that each has and no other, else by number from 0."""
    for key in _KEYS:
        names = [item.get(key) for item in items if isinstance(item, dict)]
        if items and len(names) == len(items) == len(set(map(str, names))) and all(isinstance(n, str) for n in names):
            return [str(name) for name in names]
    return [str(number) for number in range(len(items))]


def _short(value: Any) -> Cell:
    """Return a value as a cell; a part that only one document has, by its beginning."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return f"{value!s:.60}"
