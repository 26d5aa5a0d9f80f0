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

from core.estimates import Estimate, Spread, count, estimate_columns, number_text, plain_number

_UNMEASURED = "n/a"
_COARSE = 3.5
"""Half a unit of the last digit that is written: an interval of ±3.5 or more has no decimals."""

_UNITS = {"": (1, 0, 6), "%": (100, 0, 1), "points": (100, 1, 1), "bits": (1, 1, 1)}
"""Unit -> what a number is multiplied by, and its fewest and most decimals."""

_NO_WIDTH = 1e-9


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measured number as a cell, with or without an interval; None and nan stand for what was not measured."""

    found: Estimate | float | None
    unit: str = ""
    """ "%" for a share, "points" for a difference of shares, "bits" or none."""
    signed: bool = False

    @property
    def text(self) -> str:
        """The number and its interval in its unit."""
        own = self.found
        if own is None:
            return _UNMEASURED
        ends = (own.value, own.low, own.high) if isinstance(own, Estimate) else (own, math.nan, math.nan)
        if math.isnan(ends[0]):
            return _UNMEASURED
        value, low, high = (_UNITS[self.unit][0] * number for number in ends)
        form = f"{'+' * self.signed},{self._digits((high - low) / 2)}"
        told = [number_text(number, form) for number in (value, low, high)]
        return told[0] if math.isnan(low) else f"{told[0]} [{told[1]}, {told[2]}]"

    def _digits(self, half: float) -> str:
        """Return the format of numbers whose interval has this half width, nan without one."""
        if math.isnan(half) or half < _NO_WIDTH:
            return ".1f" if self.unit else ".4g"
        _, least, most = _UNITS[self.unit]
        return f".{min(max(math.ceil(math.log10(_COARSE / half)), least), most)}f"


def share(found: Estimate | float | None) -> Quantity:
    """Return a cell of a share, written in percent."""
    return Quantity(found, "%")


def change(found: Estimate | float | None) -> Quantity:
    """Return a cell of a difference of shares, written in points with its sign."""
    return Quantity(found, "points", signed=True)


Row = Mapping[str, Any]
"""Column -> text, number, quantity or None."""

Tables = Mapping[str, Sequence[Row]]
"""Title -> rows."""

PlainRow = dict[str, str | float | int | None]


def plain_row(row: Row) -> PlainRow:
    """Return a row of plain numbers: three columns for each quantity."""
    made: PlainRow = {}
    for name, cell in row.items():
        if isinstance(cell, Quantity) and not isinstance(cell.found, float):
            made |= estimate_columns(name, cell.found)
            if isinstance(cell.found, Spread):
                made[f"{name}, sd"] = plain_number(cell.found.sd)
        else:
            own: Any = cell.found if isinstance(cell, Quantity) else cell
            made[name] = None if isinstance(own, float) and math.isnan(own) else own
    return made


def in_words(rows: Iterable[Row]) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the header and the cells of a table in words, and which columns hold texts."""
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    units = {name: _unit(row.get(name) for row in rows) for name in columns}
    header = [f"{name} ({unit})" if (unit := units[name]) else name for name in columns]
    texts = [i for i, name in enumerate(columns) if all(isinstance(row.get(name, ""), str) for row in rows)]
    cells = [[_words(row.get(name)) for name in columns] for row in rows]
    return header, cells, texts


def _unit(cells: Iterable[Any]) -> str:
    return next((cell.unit for cell in cells if isinstance(cell, Quantity)), "")


def _words(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Quantity):
        return cell.text
    if isinstance(cell, float):
        return "∞" if math.isinf(cell) else number_text(cell, ".4g")
    return count(cell) if isinstance(cell, int) else str(cell)
