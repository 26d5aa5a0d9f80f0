"""The form of all rows: names at the left, numbers with their intervals on one axis, values at the right.

Rows have a fixed height and the columns of words a width in pixels, so that every screen has room; a value never stands
where a bar ends. What all rows are compared with is a row of its own, whose line crosses the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape

from core.charts.drawing import Axis, Palette, Sketch, bare
from core.estimates import Estimate

_PITCH, _TALL = 27, 44  # pixels of a row, and of one with a second line
_LETTER = 0.49  # width of a letter, in font sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A number of a row.

    Attributes
    ----------
    ends : (low, high)
        Its interval; nan where there is none.
    symbol : str
        Of its marker; empty for none.
    bar : float, optional
        Where a bar begins that ends at the number.
    hollow : bool
        Whether the bar is an outline.
    up : float
        Pixels above the middle of its row.
    """

    at: float
    color: str
    ends: tuple[float, float] = (math.nan, math.nan)
    symbol: str = "circle"
    told: str = ""
    size: float = 11
    stroke: float = 2
    dash: str = "solid"
    up: float = 0
    bar: float | None = None
    hollow: bool = False
    rim: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of numbers.

    Attributes
    ----------
    name, below, value, note : str
        At the left, under it in grey, at the right, and in the plot where there is no number. Harmless: of a stranger's
        names as `short` returns them.
    color : str
        Of name and value; ink when empty.
    join : str
        Colour of a line from the first number to the last; empty for none.
    dash : str
        How the line is drawn that crosses all rows at the first number; empty for none.
    shaded, apart : bool
        Whether the row is set off, and whether a line parts it from those above.
    """

    name: str
    marks: Sequence[Mark] = ()
    below: str = ""
    value: str = ""
    note: str = ""
    color: str = ""
    join: str = ""
    dash: str = ""
    shaded: bool = False
    apart: bool = False


def rate(estimate: Estimate, color: str, symbol: str = "circle", *, up: float = 0, name: str = "") -> Mark:
    """Return a rate in percent with its interval."""
    told = f"{100 * estimate.value:.1f}% of {estimate.n:,}"
    return Mark(
        at=100 * estimate.value,
        ends=(100 * estimate.low, 100 * estimate.high),
        color=color,
        symbol=symbol,
        up=up,
        told=f"{name}: {told}" if name else told,
    )


def spans(rows: Iterable[Row]) -> list[float]:
    """Return all that an axis of these rows must hold."""
    return [v for row in rows for mark in row.marks for v in (mark.at, *mark.ends)]


def draw_rows(
    palette: Palette, rows: Sequence[Row], axis: Axis, *, heads: tuple[str, str] = ("", ""), least: int = 1
) -> Sketch:
    """Draw rows from the top; `heads` stand over plot and values, and there is room for `least` rows."""
    pitch = _TALL if any(row.below or "<br>" in row.name for row in rows) else _PITCH
    many = max(least, len(rows))
    left = max([46, *(_wide(row.name, 13) for row in rows), *(_wide(row.below, 12) for row in rows)])
    right = max([14, _wide(heads[1], 12), *(_wide(row.value, 13) for row in rows)])
    top, bottom = 24 if any(heads) else 8, 46 if axis.title else 28
    y = (many - 0.5, -0.5)
    margins = (left, right, top, bottom)
    sketch = bare(palette, height=pitch * many + top + bottom, x=axis.ends, y=y, margins=margins)
    sketch.axes(axis)
    if axis.ends[0] <= 0 <= axis.ends[1]:
        sketch.segment(0, y, palette.grey, layer="below")
    for i, row in enumerate(rows):
        if row.shaded:
            sketch.shade_row((i - 0.5, i + 0.5), palette.pale, left=left, right=right)
        if row.apart:
            sketch.rule(i - 0.5)
        if row.dash:
            sketch.segment(row.marks[0].at, y, row.marks[0].color, width=2, dash=row.dash, layer="below")
        _words(sketch, row, i, left, right)
        _marks(sketch, row, i, pitch)
    if heads[0]:
        sketch.above(heads[0], x=axis.ends[0])
    if heads[1]:
        edge, side = ("paper", "paper"), ("right", "bottom")
        sketch.remark(heads[1], palette.grey, x=1, y=1, refs=edge, shift=(right - 4, 3), anchor=side, size=12)
    return sketch


def _wide(words: str, size: int) -> int:
    """Return the pixels that words take, with room beside them."""
    letters = max(len(unescape(re.sub("<.*?>", "", line))) for line in words.split("<br>"))
    return round(_LETTER * size * letters) + 14 if letters else 0


def _words(sketch: Sketch, row: Row, y: int, left: int, right: int) -> None:
    palette, color = sketch.palette, row.color or sketch.palette.ink
    if row.name:
        sketch.at_left(y, row.name, color, (4 - left, 9 if row.below else 0))
    if row.below:
        sketch.at_left(y, row.below, palette.grey, (4 - left, -9), size=12)
    if row.value:
        sketch.at_right(y, row.value, color, right - 4)
    if row.note:
        fill = palette.pale if row.shaded else palette.background
        sketch.at_left(y, row.note, palette.grey, (0, 0), size=12, fill=fill)


def _marks(sketch: Sketch, row: Row, y: int, pitch: int) -> None:
    if row.join and len(row.marks) > 1:
        ends = [row.marks[0].at, row.marks[-1].at]
        sketch.line(ends, [y, y], row.join, width=3)
    for mark in row.marks:
        at = y - mark.up / pitch
        if mark.bar is not None:
            fill = "rgba(0,0,0,0)" if mark.hollow else mark.color
            look = {"color": fill, "line": {"width": 2 if mark.hollow else 0, "color": mark.color}}
            sketch.bars([mark.at - mark.bar], [at], look, base=[mark.bar], width=[0.56], told=mark.told)
        if not math.isnan(mark.ends[0]):
            color = mark.color if mark.bar is None else sketch.palette.ink
            sketch.line(mark.ends, [at, at], color, width=mark.stroke, dash=mark.dash)
        if mark.symbol:
            ring = mark.symbol.endswith("-open")  # lets no interval through
            sketch.markers(
                [mark.at],
                [at],
                size=mark.size,
                color=sketch.palette.background if ring else mark.color,
                symbol=mark.symbol.removesuffix("-open"),
                rim=(mark.rim or mark.color, 2),
                told=[mark.told] if mark.told else None,
            )
