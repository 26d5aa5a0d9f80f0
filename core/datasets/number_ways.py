"""Ways of writing a number: which decimal mark, which mark between thousands, and which of them fit a column's cells.

A mark between thousands is one of comma, point, blank (also the no-break and the narrow one) and apostrophe. Blanks and
apostrophes say what they are; a comma or a point may be either, and a column in which it stands once in a number,
before three digits, fits two ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

BLANKS = "[ \u00a0\u2007\u2009\u202f]"
_THOUSANDS = {",": ",", ".": r"\.", " ": BLANKS, "'": "['\u2019]"}
_MARKS = "|".join(_THOUSANDS[mark] for mark in ", '")
_EXPONENT = r"(?:[eE][+-]?\d+)?"


@dataclass(frozen=True)
class Way:
    """One way of writing numbers.

    Attributes
    ----------
    decimal : {".", ","}
    thousands : {"", ",", ".", " ", "'"}
        The mark between thousands; "" for none.
    """

    decimal: str
    thousands: str = ""

    @cached_property
    def pattern(self) -> str:
        """Regular expression of one number."""
        mark = re.escape(self.decimal)
        plain = rf"(?:\d+(?:{mark}\d*)?|{mark}\d+){_EXPONENT}"
        grouped = rf"|[1-9]\d{{0,2}}(?:{_THOUSANDS[self.thousands]}\d{{3}})+(?:{mark}\d+)?" if self.thousands else ""
        return rf"^[+-]?(?:{plain}{grouped}|(?i:inf|infinity))$"

    def simple(self, cells: Any) -> Any:
        """Return cells that fit with a decimal point, nothing between thousands and no plus sign."""
        import pyarrow.compute as pc

        if self.thousands:
            cells = pc.replace_substring_regex(cells, _THOUSANDS[self.thousands], "")
        if self.decimal == ",":
            cells = pc.replace_substring(cells, ",", ".")
        return pc.replace_substring_regex(cells, r"^\+", "")


_WAYS = tuple(Way(decimal, thousands) for decimal in ".," for thousands in ("", ",", ".", " ", "'"))


def could_be_number(text: str) -> bool:
    """Return whether a text is a number in some way of writing."""
    return any(re.match(way.pattern, text) for way in _WAYS if way.decimal != way.thousands)


def ways_of(filled: Any) -> tuple[Way, ...]:
    """Return the ways in which every one of the filled cells is a number: none, one, or two."""
    marked = some(filled, _MARKS)
    comma, point = marked and some(filled, ","), some(filled, r"\.")
    apart = [mark for mark in " '" if marked and some(filled, _THOUSANDS[mark])]
    if apart:
        ways = [Way("," if comma else ".", apart[0])] if len(apart) == 1 and not (comma and point) else []
    elif comma and point:
        ways = [Way(".", ","), Way(",", ".")]
    elif comma:
        ways = [Way(","), Way(".", ",")]
    else:
        ways = [Way("."), Way(",", ".")] if point else [Way(".")]
    return tuple(way for way in ways if every(filled, way.pattern))


def every(cells: Any, pattern: str) -> bool:
    """Return whether there are cells and all of them match; a look at the first hundred saves the look at all."""
    import pyarrow.compute as pc

    def share(part: Any) -> float:
        return float(pc.mean(pc.match_substring_regex(part, pattern)).as_py() or 0.0)

    return share(cells[:100]) == 1 == share(cells)


def some(cells: Any, pattern: str) -> bool:
    """Return whether a cell matches."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(cells, pattern)).as_py())
