"""Two reports of one audit, number by number: the same to the bit, within bounds, or not.

Everything is compared but when the audit ran and what it ran on; the second decides how far numbers may lie apart. On
one kind of machine, with the same versions and the same code, the same audit gives the same bits, and a difference in
the last digits only is reported as such. Elsewhere sums are taken in another order, a tree may split another way and an
estimate moves: it may move by a tenth of its own half interval, which changes nothing that anybody should conclude from
it. Verdicts, counts of people and everything the audit was asked for must be equal anywhere.

Sentences, the words of tables and the names of details only word what stands beside them as numbers and statuses: where
they are not equal, that is reported apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
_NAMED = ("check", "attack", "group", "name")  # by which the items of a list are distinguished, the first they all have
_OUTSIDE = ("times", "fingerprint")  # the fingerprint is of all the rest
_INPUTS = ("plan", "policy", "provenance")
_LATER = ("findings", "caveats")  # what reports of other code may not have
_LOOSE = ("tables", "details")
_P_VALUES = ("p_value", "p_adjusted")
_SENTENCES = re.compile(
    "assumptions|attacked|attacker_knows|caveats|columns|control|control_name|definition|detail|evidence|"
    "headline|knows|notes|point|reason|rows|so_what|split|text|title|to_do|told|why"
)
"""Names of what is worded: sentences, and what tables say in words."""

_FINE, _COARSE, _COARSE_P, _LEAST = 1e-6, 1e-2, 0.16, 1e-3
_ABSENT = "(absent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Result):
    """One value that is not equal, at a `path` such as "measurements[correction_gain].estimate.low".

    `kind` is "estimate" (its value and limits), "p_value", "number" (any other that is not whole, and whole ones in
    tables and details), "digest", "wording" or "exact"; `bound` how far apart the two may lie, 0 where they must be
    equal, nan where they are no numbers. "(absent)" stands for what only the other report has, the number of items for
    lists of different lengths.
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

    `differences` are numbers, statuses and settings that are not equal to the bit, in the order of the reports;
    `wording` sentences that are not; `environment` versions, kind of machine and code that are not the same.
    """

    compared: int
    differences: tuple[Difference, ...]
    wording: tuple[Difference, ...]
    environment: tuple[Difference, ...]

    @property
    def beyond(self) -> tuple[Difference, ...]:
        """The differences beyond their bounds."""
        return tuple(found for found in self.differences if not found.within)

    @property
    def status(self) -> Sameness:
        """How alike they are, whatever their words."""
        if not self.differences:
            return Sameness.IDENTICAL
        return Sameness.DIFFERENT if self.beyond else Sameness.WITHIN_BOUNDS


def same_numbers(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Compare two reports as read from their JSON: nested dicts and lists of texts, numbers, booleans and None.

    Left out are "times", the report's own "fingerprint", and of the provenance versions, machine and code, which are
    compared apart.
    """
    origins = _pairs(_environment(old), _environment(new), _Place(names=("provenance",), path="provenance"))
    environment = tuple(found for pair in origins for found in _unequal(*pair, same=True))
    later = _LATER if any(one.path == "provenance.code" for one in environment) else ()
    known = {name: value for name, value in _content(new).items() if name in old or name not in later}
    pairs = list(_pairs(_content(old), known, _Place()))
    found = [one for pair in pairs for one in _unequal(*pair, same=not environment)]
    return Comparison(
        compared=sum(not place.counts for place, *_ in pairs),
        differences=tuple(one for one in found if one.kind != "wording"),
        wording=tuple(one for one in found if one.kind == "wording"),
        environment=environment,
    )


def _environment(report: Mapping[str, Any]) -> dict[str, Any]:
    told = report.get("provenance")
    return {name: told[name] for name in _ENVIRONMENT if name in told} if isinstance(told, dict) else {}


def _content(report: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in report.items() if name not in _OUTSIDE}
    told = kept.get("provenance")
    if isinstance(told, dict):
        kept["provenance"] = {name: value for name, value in told.items() if name not in _ENVIRONMENT}
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where values stand: path, the names on it, and half the interval of the estimate they belong to.

    The half interval is nan outside of an estimate. `counts` says that they are the lengths of two lists.
    """

    path: str = ""
    names: tuple[str, ...] = ()
    half: float = math.nan
    counts: bool = False


def _pairs(old: Any, new: Any, place: _Place) -> Iterator[tuple[_Place, Any, Any]]:
    """Yield every two values that stand at one place of two reports."""
    if place.names[-1:] == ("details",) and _renamed(old, new):
        for name, other in zip(old, new, strict=True):
            inside = _Place(path=f"{place.path}.{name}", names=(*place.names, "title"))
            yield from _pairs(name, other, inside)
            yield from _pairs(old[name], new[other], replace(inside, names=(*place.names, name)))
    elif isinstance(old, dict) and isinstance(new, dict):
        half = _half_interval(old)
        for name in dict.fromkeys((*old, *new)):
            path = f"{place.path}.{name}" if place.path else name
            inside = _Place(path=path, names=(*place.names, name), half=half if name in _LIMITS else math.nan)
            yield from _pairs(old.get(name, _ABSENT), new.get(name, _ABSENT), inside)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield replace(place, counts=True), len(old), len(new)
        for name, one, other in zip(_places(old), old, new, strict=False):
            yield from _pairs(one, other, replace(place, path=f"{place.path}[{name}]"))
    else:
        yield place, old, new


def _renamed(old: Any, new: Any) -> bool:
    """Return whether two dicts have as many items under other names."""
    both = isinstance(old, dict) and isinstance(new, dict)
    return both and len(old) == len(new) and old.keys() != new.keys()


def _unequal(place: _Place, old: Any, new: Any, *, same: bool) -> Iterator[Difference]:
    """Yield the difference of two values, if any; `same` says whether versions and machine are the same."""
    if type(old) is type(new) and repr(old) == repr(new):  # of numbers also the sign of a zero
        return
    kind = _kind(place, old, new)
    bound = _bound(kind, old, place.half, same=same)
    within = _number(old) and _number(new) and abs(old - new) <= bound
    if kind in ("digest", "wording"):  # a digest of the model's answers
        within = kind == "wording" or not same
    yield Difference(path=place.path, kind=kind, old=_short(old), new=_short(new), bound=bound, within=bool(within))


def _kind(place: _Place, old: Any, new: Any) -> str:
    """Return the kind of two values, as of `Difference`."""
    names = place.names
    if names[:1] and names[0] in _INPUTS:
        return "exact"
    if isinstance(old, str) and isinstance(new, str) and _SENTENCES.fullmatch(names[-1]):
        return "wording"
    if place.counts:
        return "wording" if names[-1] in ("assumptions", "caveats", "notes") else "exact"
    if _number(old) and _number(new):
        if not math.isnan(place.half):
            return "estimate"
        if isinstance(old, int) and isinstance(new, int) and not set(_LOOSE) & {*names}:
            return "exact"
        return "p_value" if names[-1] in _P_VALUES else "number"
    return "digest" if names == ("model", "fingerprint") and _ABSENT not in (old, new) else "exact"


def _bound(kind: str, old: Any, half: float, *, same: bool) -> float:
    if kind in ("digest", "wording"):
        return math.nan
    if kind == "exact":
        return 0.0
    if kind == "p_value":  # the coarse one is what a tenth of the half interval can do
        return _FINE if same else _COARSE_P
    fine = _FINE * max(abs(old), 2 * half if kind == "estimate" else 0.0)
    if same:
        return fine
    return max(fine, half / 10) if kind == "estimate" else max(_COARSE * abs(old), _LEAST)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _half_interval(told: dict[str, Any]) -> float:
    """Return half the width of an estimate's interval; nan for what is no estimate with an interval."""
    if not all(_number(told.get(name)) for name in _LIMITS):
        return math.nan
    return (float(told["high"]) - float(told["low"])) / 2


def _places(items: list[Any]) -> list[str]:
    """Return what to call the items of a list: by a name they all have, each another one, else by number from 0."""
    for key in _NAMED:
        names = [item.get(key) for item in items if isinstance(item, dict)]
        if items and len(names) == len(items) == len(set(map(str, names))) and all(isinstance(n, str) for n in names):
            return [str(name) for name in names]
    return [str(number) for number in range(len(items))]


def _short(value: Any) -> str | float | int | bool | None:
    """Return a value in words; a part that only one report has, by its beginning."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return f"{value!s:.60}"
