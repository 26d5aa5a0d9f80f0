"""Text columns that hold numbers, however an office writes them: 1,234.56, 1.234,56, 1 234,56, 1'234.56, 12 %, € 5.

A mark between thousands is one of comma, point, blank (also the no-break and the narrow one) and apostrophe. Blanks and
apostrophes say what they are; a comma or a point may be either.

A column is numbers only if every filled cell is one in the same way of writing, and a percent sign or currency stands
in all of them or in none. Where a column can be read in two ways ("1,234" alone: 1.234 or 1234) the other columns of
the file decide; then a comma between the cells, which a program with decimal commas would not put there. Where nothing
decides, a column with the mark in every number is read as decimals, as the two readings then differ by one factor, and
any other stays text. What was decided is noted. Codes (with leading zeros, or long ones in groups of three, each
another) and whole numbers beyond 64 bits stay text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.datasets.columns import listed

BLANKS = "[ \u00a0\u2007\u2009\u202f]"
_THOUSANDS = {",": ",", ".": r"\.", " ": BLANKS, "'": "['\u2019]"}
_MARKS = "|".join(_THOUSANDS[mark] for mark in ", '")
_EXPONENT = r"(?:[eE][+-]?\d+)?"


@dataclass(frozen=True)
class Way:
    """One way of writing numbers: the decimal mark, "." or ",", and the one between thousands, "" for none."""

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


_WHOLE, _CODE, _NONZERO_WHOLE = r"^-?\d+$", r"^[+-]?0\d", r"^[+-]?0*[1-9]\d*$"
_PERCENT = f"{BLANKS}?%$"
_CODES = "(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|JPY|CAD|AUD)"
_BEFORE = rf"^([+-]?)(?:\p{{Sc}}{BLANKS}?|{_CODES}{BLANKS})"
_AFTER = rf"(?:{BLANKS}?\p{{Sc}}|{BLANKS}{_CODES})$"
_MONEY = rf"{_BEFORE}[+-]?[\d.,]|\d[.,]?{_AFTER}"
_LONG_CODE = 9
_EXAMPLES = {",": "1,234", ".": "1.234", " ": "1 234", "'": "1’234"}


@dataclass(frozen=True)
class _Column:
    """A column of text that holds numbers: its cells without unit, and the ways of writing that fit them."""

    cells: Any
    filled: Any
    unit: str
    ways: tuple[Way, ...]

    @property
    def shows(self) -> str:
        """The decimal mark that the column leaves no doubt of, or ""."""
        if len(self.ways) != 1 or not (self.ways[0].thousands in (",", ".") or some(self.filled, "[.,]")):
            return ""
        return self.ways[0].decimal


def number_columns(names: Sequence[str], columns: Sequence[Any], separator: str, notes: list[str]) -> list[Any]:
    """Return the columns (trimmed cells), those of numbers as such; adds to `notes` what was decided.

    `separator` is what stands between the cells of the file.
    """
    decisions: dict[str, list[str]] = defaultdict(list)  # sentence with a place for the names -> columns
    found = [_looked_at(name, column, decisions) for name, column in zip(names, columns, strict=True)]
    marks = {column.shows for column in found if column is not None} - {""}
    if not marks and separator == ",":
        marks = {"."}
    read = []
    for name, column, seen in zip(names, columns, found, strict=True):
        if seen is None:
            read.append(column)
            continue
        way, sentence = _way(seen, marks, separator)
        numbers = None if way is None else _numbers(seen, way)
        read.append(column if numbers is None else numbers)
        if sentence and (numbers is not None or way is None):
            decisions[sentence].append(name)
        if numbers is not None and seen.unit == "%":
            decisions["Percentages are read as shares ('12%' is 0.12) in: COLUMNS."].append(name)
        elif numbers is not None and seen.unit:
            decisions[f"Amounts of money are read as numbers, without their {seen.unit}, in: COLUMNS."].append(name)
    notes.extend(sentence.replace("COLUMNS", listed(told)) for sentence, told in decisions.items())
    return read


def _looked_at(name: str, column: Any, decisions: dict[str, list[str]]) -> _Column | None:
    """Return the column as numbers in one or two ways of writing, or None if it is text."""
    import pyarrow.compute as pc

    filled = column.drop_null()
    sample = filled[:100].to_pylist()
    if not sample or not all(re.search(r"\d|[iI][nN][fF]", cell) for cell in sample):
        return None
    cells, unit = column, ""
    if pc.any(pc.match_substring(filled, "\u2212")).as_py():
        cells, filled = (pc.replace_substring(one, "\u2212", "-") for one in (cells, filled))
    if some(filled[:100], _PERCENT):
        unit = "%" if every(filled, _PERCENT) and not some(filled, "[eE]") else "mixed"
        told = "some numbers have a percent sign and some have none"
        cells, filled = (pc.replace_substring_regex(one, _PERCENT, "") for one in (cells, filled))
    elif some(filled[:100], _MONEY):
        unit = _currency(filled)
        told = "amounts in several currencies, or without one, stand in it"
        cells, filled = (
            pc.replace_substring_regex(pc.replace_substring_regex(one, _BEFORE, r"\1"), _AFTER, "")
            for one in (cells, filled)
        )
    ways = ways_of(filled)
    if ways and unit == "mixed":
        decisions[f"Kept as text because {told}: COLUMNS."].append(name)
    return _Column(cells, filled, unit, ways) if ways and unit != "mixed" else None


def _currency(filled: Any) -> str:
    """Return the one currency that stands in every cell, or "mixed"."""
    import pyarrow.compute as pc

    if not every(filled, _MONEY):
        return "mixed"
    signs = pc.unique(pc.replace_substring_regex(filled, r"[^\p{Sc}A-Z]", "")).to_pylist()
    return str(signs[0]) if len(signs) == 1 else "mixed"


def _way(column: _Column, marks: set[str], separator: str) -> tuple[Way | None, str]:
    """Return the way in which a column is read, None for as text, and a sentence if that needs saying."""
    ways = column.ways
    if len(ways) == 1:
        return ways[0], _said(ways[0], column, separator)
    plain, grouped = (_EXAMPLES[way.thousands or way.decimal] for way in ways)
    if len(marks) == 1:
        way = next(way for way in ways if way.decimal in marks)
        return way, _said(way, column, separator)
    both = all(way.thousands for way in ways)
    if both or some(column.filled, _NONZERO_WHOLE):
        mark = plain if both else grouped
        doubt = f"'{mark}' may mean 1.234 or 1234"
        return None, f"Kept as text because {doubt}, and no other column tells: COLUMNS."
    return ways[0], f"'{plain}' is read as 1.234, though it may mean 1234, in: COLUMNS."


def _said(way: Way, column: _Column, separator: str) -> str:
    if way.thousands:
        return f"A mark between thousands is taken as one ('{_EXAMPLES[way.thousands]}' is read as 1234) in: COLUMNS."
    if way.decimal == "," and separator == "," and some(column.filled, ","):
        return "A decimal comma is taken as one ('1,5' is read as 1.5) in: COLUMNS."
    return ""


def _numbers(column: _Column, way: Way) -> Any:
    """Return the cells as numbers, or None if they are codes or too long."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if some(column.filled, _CODE) or (way.thousands and _is_long_code(column.filled)):
        return None
    cells = way.simple(column.cells)
    try:
        if column.unit == "%":
            return pc.binary_join_element_wise(cells, "e-2", "").cast(pa.float64())
        return cells.cast(pa.int64() if every(cells.drop_null(), _WHOLE) else pa.float64())
    except pa.ArrowInvalid:  # a whole number beyond 64 bits
        return None


def _is_long_code(filled: Any) -> bool:
    """Return whether every cell is another number of the same, large number of digits (123 456 789)."""
    import pyarrow.compute as pc

    lengths = pc.unique(pc.utf8_length(filled))
    digits = len(re.sub(r"\D", "", filled[0].as_py()))
    return len(lengths) == 1 and digits >= _LONG_CODE and len(filled) == len(pc.unique(filled)) > 1
