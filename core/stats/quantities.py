"""Tables of what was found: rows made once, in words for a terminal and in full for files and pages.

A cell that was measured is a `Quantity`, which knows its interval and its unit. A file has three columns of it, as
plain numbers; a terminal one cell such as "76.3 [75.6, 77.0]" under a title with the unit, with as many digits as the
interval supports.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .estimates import Estimate, Spread, count, estimate_columns, number_text, plain_number

_UNMEASURED = "n/a"
_COARSE = 3.5
"""Half a unit of the last digit that is written: an interval of ±3.5 or more has no decimals."""

_UNITS = {"": (1, 0, 6), "%": (100, 0, 1), "points": (100, 1, 1), "bits": (1, 1, 1)}
"""Unit -> what a number is multiplied by, and its fewest and most decimals."""

_NO_WIDTH = 1e-9


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measured number as a cell, with or without an interval; None and nan stand for what was not measured."""

    value: Estimate | float | None
    unit: str = ""
    """ "%" for a share, "points" for a difference of shares, "bits" or none."""
    signed: bool = False

    @property
    def text(self) -> str:
        """The number and its interval in its unit."""
        measured = self.value
        if measured is None:
            return _UNMEASURED
        if isinstance(measured, Estimate):
            ends = (measured.value, measured.low, measured.high)
        else:
            ends = (measured, math.nan, math.nan)
        if math.isnan(ends[0]):
            return _UNMEASURED
        value, low, high = (_UNITS[self.unit][0] * number for number in ends)
        form = f"{'+' * self.signed},{self._digits((high - low) / 2)}"
        number_texts = [number_text(number, form) for number in (value, low, high)]
        if math.isnan(low):
            return number_texts[0]
        return f"{number_texts[0]} [{number_texts[1]}, {number_texts[2]}]"

    def _digits(self, half: float) -> str:
        """Return the format of numbers whose interval has this half width, nan without one."""
        if math.isnan(half) or half < _NO_WIDTH:
            if self.unit:
                return ".1f"
            return ".4g"
        _, least, most = _UNITS[self.unit]
        return f".{min(max(math.ceil(math.log10(_COARSE / half)), least), most)}f"


def share(measured: Estimate | float | None) -> Quantity:
    """Return a cell of a share, written in percent."""
    return Quantity(measured, "%")


def change(measured: Estimate | float | None) -> Quantity:
    """Return a cell of a difference of shares, written in points with its sign."""
    return Quantity(measured, "points", signed=True)


Row = Mapping[str, Any]
"""Column -> text, number, quantity or None."""

Tables = Mapping[str, Sequence[Row]]
"""Title -> rows."""

PlainRow = dict[str, str | float | int | None]


def plain_row(row: Row) -> PlainRow:
    """Return a row of plain numbers: three columns for each quantity."""
    plain_cells: PlainRow = {}
    for name, cell in row.items():
        if isinstance(cell, Quantity) and not isinstance(cell.value, float):
            plain_cells |= estimate_columns(name, cell.value)
            if isinstance(cell.value, Spread):
                plain_cells[f"{name}, sd"] = plain_number(cell.value.sd)
        else:
            plain_value: Any = cell.value if isinstance(cell, Quantity) else cell
            if isinstance(plain_value, float) and math.isnan(plain_value):
                plain_value = None
            plain_cells[name] = plain_value
    return plain_cells


def formatted_table(rows: Iterable[Row]) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the header and the cells of a table in words, and which columns hold texts."""
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    header = []
    texts = []
    for i, name in enumerate(columns):
        column = [row[name] for row in rows if name in row]
        unit = _unit(column)
        if unit:
            header.append(f"{name} ({unit})")
        else:
            header.append(name)
        if all(isinstance(cell, str) for cell in column):
            texts.append(i)
    cells = [[_cell_text(row.get(name)) for name in columns] for row in rows]
    return header, cells, texts


def _unit(cells: Iterable[Any]) -> str:
    return next((cell.unit for cell in cells if isinstance(cell, Quantity)), "")


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Quantity):
        return cell.text
    if isinstance(cell, float):
        if math.isinf(cell):
            return "∞"
        return number_text(cell, ".4g")
    if isinstance(cell, int):
        return count(cell)
    return str(cell)
