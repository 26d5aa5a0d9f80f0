"""Two reports of one audit, number by number: the same to the bit, within bounds, or not.

Everything is compared but when the audit ran and what it ran on; the second decides how far numbers may lie apart. On
one kind of machine, with the same versions and the same code, the same audit gives the same bits, and a difference in
the last digits only is told as such. Elsewhere sums are taken in another order, a tree may split another way and an
estimate moves: it may move by a tenth of its own half interval, which changes nothing that anybody should conclude from
it. Verdicts, counts of people and everything the audit was asked for must be equal anywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.serialize import Result


class Sameness(StrEnum):
    """Equal to the bit; every difference within its bound; at least one beyond."""

    IDENTICAL = "identical"
    WITHIN_BOUNDS = "within_bounds"
    DIFFERENT = "different"


_ENVIRONMENT = ("fairleak", "python", "platform", "packages", "code")
_LIMITS = ("value", "low", "high")
_NAMED = ("check", "attack", "group", "name")  # by which the items of a list are told apart, the first they all have
_OUTSIDE = ("times", "fingerprint")  # the fingerprint is of all the rest
_INPUTS = ("plan", "policy", "provenance")
_LOOSE = ("tables", "details")
_FINE, _COARSE, _COARSE_P, _LEAST = 1e-6, 1e-2, 0.16, 1e-3
_SENTENCE = re.compile(r"(?:^|\.)(?:why|headline|detail|attacked|knows|assumptions\[[^\]]*\]|reason|told)$")
_MEASURED = re.compile(r"[+\-−]?(?:\d[\d,]*\.\d+|\d[\d,]*(?=%| to | points?\b| bits\b)|(?<= to )\d[\d,]*)")
_ABSENT = "(absent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Result):
    """One value that is not equal, at a `path` such as "measurements[correction_gain].estimate.low".

    `kind` is "estimate" (its value and limits), "p_value", "number" (any other that is not whole, and whole ones in
    tables and details), "digest", "text" or "exact"; `bound` how far apart the two may lie, 0 where they must be equal,
    nan where they are no numbers. "(absent)" stands for what only the other report has, the number of items for lists
    of different lengths.
    """

    path: str
    kind: str
    old: str | float | int | bool | None
    new: str | float | int | bool | None
    bound: float
    within: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Result):
    """Two reports of one audit, of which `compared` values were looked at.

    `differences` are what is not equal to the bit, in the order of the reports; `environment` are versions, kind of
    machine and code that are not the same.
    """

    compared: int
    differences: tuple[Difference, ...]
    environment: tuple[Difference, ...]

    @property
    def beyond(self) -> tuple[Difference, ...]:
        """The differences beyond their bounds."""
        return tuple(found for found in self.differences if not found.within)

    @property
    def status(self) -> Sameness:
        """How alike they are."""
        if not self.differences:
            return Sameness.IDENTICAL
        return Sameness.DIFFERENT if self.beyond else Sameness.WITHIN_BOUNDS


def same_numbers(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Compare two reports as read from their JSON: nested dicts and lists of texts, numbers, booleans and None.

    Left out are "times", the report's own "fingerprint", and of the provenance versions, machine and code, which are
    told apart.
    """
    environment = tuple(_Walk(same=True).compare(_environment(old), _environment(new), "provenance"))
    walk = _Walk(same=not environment)
    known = _numbers(new)
    for part in ("release_meter", "findings"):
        if part not in old:  # written before there was one
            known.pop(part, None)
    differences = tuple(walk.compare(_numbers(old), known, ""))
    return Comparison(compared=walk.seen, differences=differences, environment=environment)


def _environment(report: Mapping[str, Any]) -> dict[str, Any]:
    told = report.get("provenance")
    return {name: told[name] for name in _ENVIRONMENT if name in told} if isinstance(told, dict) else {}


def _numbers(report: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in report.items() if name not in _OUTSIDE}
    told = kept.get("provenance")
    if isinstance(told, dict):
        kept["provenance"] = {name: value for name, value in told.items() if name not in _ENVIRONMENT}
    return kept


class _Walk:
    """A walk through two reports at once; `same` says whether both ran on the same versions and machine."""

    def __init__(self, *, same: bool) -> None:
        self.same = same
        self.seen = 0

    def compare(self, old: Any, new: Any, path: str, half: float = math.nan) -> Iterator[Difference]:
        """Yield what differs; `half` is the half interval of the estimate the values belong to, nan outside of one."""
        if isinstance(old, dict) and isinstance(new, dict):
            yield from self._dicts(old, new, path)
        elif isinstance(old, list) and isinstance(new, list):
            yield from self._lists(old, new, path)
        else:
            self.seen += 1
            if type(old) is not type(new) or repr(old) != repr(new):  # of numbers also the sign of a zero
                yield self._difference(old, new, path, half)

    def _dicts(self, old: dict[str, Any], new: dict[str, Any], path: str) -> Iterator[Difference]:
        half = _half_interval(old)
        for name in [*old, *(name for name in new if name not in old)]:
            inside = half if name in _LIMITS else math.nan
            place = f"{path}.{name}" if path else name
            yield from self.compare(old.get(name, _ABSENT), new.get(name, _ABSENT), place, inside)

    def _lists(self, old: list[Any], new: list[Any], path: str) -> Iterator[Difference]:
        if len(old) != len(new):
            yield self._difference(len(old), len(new), path, math.nan, kind="exact")
        for place, one, other in zip(_places(old), old, new, strict=False):
            yield from self.compare(one, other, f"{path}[{place}]")

    def _difference(self, old: Any, new: Any, path: str, half: float, kind: str = "") -> Difference:
        kind = kind or _kind(old, new, path, half)
        bound = self._bound(kind, old, half)
        if kind == "digest":  # of the model's answers
            within = not self.same
        elif kind == "text":  # decimals, percentages and ranges may differ, not words and whole numbers
            within = not self.same and _words(old) == _words(new)
        else:
            within = _number(old) and _number(new) and abs(old - new) <= bound
        return Difference(path=path, kind=kind, old=_short(old), new=_short(new), bound=bound, within=bool(within))

    def _bound(self, kind: str, old: Any, half: float) -> float:
        if kind in ("digest", "text"):
            return math.nan
        if kind == "exact":
            return 0.0
        if kind == "p_value":  # the coarse one is what a tenth of the half interval can do
            return _FINE if self.same else _COARSE_P
        fine = _FINE * max(abs(old), 2 * half if kind == "estimate" else 0.0)
        if self.same:
            return fine
        return max(fine, half / 10) if kind == "estimate" else max(_COARSE * abs(old), _LEAST)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _half_interval(told: dict[str, Any]) -> float:
    """Return half the width of an estimate's interval; nan for what is no estimate with an interval."""
    if not all(_number(told.get(name)) for name in _LIMITS):
        return math.nan
    return (float(told["high"]) - float(told["low"])) / 2


def _kind(old: Any, new: Any, path: str, half: float) -> str:
    """Return the kind of a value, as of `Difference`."""
    if any(path == name or path.startswith(f"{name}.") for name in _INPUTS):
        return "exact"
    if _number(old) and _number(new):
        whole = isinstance(old, int) and isinstance(new, int)
        loose = any(re.search(rf"(?:^|\.){name}(?:$|[.\[])", path) for name in _LOOSE)
        if not math.isnan(half):
            return "estimate"
        if whole and not loose:
            return "exact"
        return "p_value" if re.search(r"(?:^|\.)p_(?:value|adjusted)$", path) else "number"
    if isinstance(old, str) and isinstance(new, str) and _ABSENT not in (old, new):
        if path == "model.fingerprint":
            return "digest"
        return "text" if _SENTENCE.search(path) and _MEASURED.search(old) else "exact"
    return "exact"


def _words(text: str) -> str:
    return _MEASURED.sub("0", text)


def _places(items: list[Any]) -> list[str]:
    """Return what to call the items of a list: by a name they all have, each another one, else by number from 0."""
    for key in _NAMED:
        names = [item.get(key) for item in items if isinstance(item, dict)]
        if items and len(names) == len(items) == len(set(map(str, names))) and all(isinstance(n, str) for n in names):
            return [str(name) for name in names]
    return [str(number) for number in range(len(items))]


def _short(value: Any) -> str | float | int | bool | None:
    """Return a value as it is told: a part of a report that only one has, by its beginning."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return f"{value!s:.60}"
