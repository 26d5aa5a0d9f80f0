"""The form of all rows and steps: names at the left, numbers with intervals on one axis, values at the right.

Rows have a fixed height and the columns of words a width in pixels, so that every screen has room; a value never stands
where a bar ends. What all rows are compared with is a row of its own, whose line crosses the others. A step is a row
whose bar begins where the one above ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.charts.drawing import Axis, Drawing, Sketch, cells, joined
from core.charts.theme import Palette
from core.charts.words import LINE, NARROW, fit, lines_of, plain, width
from core.estimates import Estimate

_PITCH, _TALL = 27, 44  # pixels of a row, and of one with a second line
_NAMES = (46, 200)  # pixels of the column of names
_LEAST = 92  # pixels of the plot on the narrowest screen


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
    name, estimate
        What it is called in the table, and its number there; it has no column without.
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
    thick: float = 0.56
    hollow: bool = False
    rim: str = ""
    name: str = ""
    estimate: Estimate | float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of numbers.

    Attributes
    ----------
    name, below : str
        At the left, and under it in grey: as they are, the form shortens them and makes them harmless.
    value, note : str
        At the right, and in the plot where there is no number.
    color : str
        Of name and value; ink when empty.
    bold : bool
        Whether the name is.
    join : str
        Colour of a line from the first number to the last; empty for none.
    dash : str
        How the line is drawn that crosses all rows at the first number; empty for none.
    shaded, apart : bool
        Whether the row is set off, and whether a line parts it from those above.
    facts : mapping
        What else the table has of it.
    """

    name: str
    marks: Sequence[Mark] = ()
    below: str = ""
    value: str = ""
    note: str = ""
    color: str = ""
    bold: bool = False
    join: str = ""
    dash: str = ""
    shaded: bool = False
    apart: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)


def measured(
    estimate: Estimate, color: str, symbol: str = "circle", *, name: str = "", scale: float = 1, **look: Any
) -> Mark:
    """Return the mark of a number with its interval."""
    value, low, high = (scale * part for part in (estimate.value, estimate.low, estimate.high))
    return Mark(at=value, ends=(low, high), color=color, symbol=symbol, name=name, estimate=estimate, **look)


def rate(estimate: Estimate, color: str, symbol: str = "circle", *, up: float = 0, name: str = "", **look: Any) -> Mark:
    """Return a rate in percent with its interval."""
    told = f"{100 * estimate.value:.1f}% of {estimate.n:,}"
    told = f"{name}: {told}" if name else told
    return measured(estimate, color, symbol, name=name, scale=100, up=up, told=told, **look)


def spans(rows: Iterable[Row]) -> list[float]:
    """Return all that an axis of these rows must hold."""
    return [v for row in rows for mark in row.marks for v in (mark.at, *mark.ends)]


def draw_rows(
    palette: Palette,
    title: str,
    rows: Sequence[Row],
    axis: Axis,
    *,
    first: str = "",
    value: str = "",
    sides: Sequence[tuple[str, str]] = (),
    least: int = 1,
    pitch: int = 0,
    empty: str = "being measured",
    table: Any = None,
) -> Drawing:
    """Draw rows from the top.

    Parameters
    ----------
    first : str
        What the rows are, which heads the first column of the table.
    value : str
        What stands at the right.
    sides : sequence of (words, colour)
        What stands over the plot: one beginning at its left end, a second ending at its right end.
    least : int
        There is room for so many rows.
    empty : str
        What is written where there is no row.
    table
        The numbers drawn; by default the rows' own.
    """
    pitch = pitch or (_TALL if any(row.below for row in rows) else _PITCH)
    many = max(least, len(rows))
    right = max([14, width(value, 12) + 14, *(width(row.value) + 14 for row in rows)])
    names = [width(f"<b>{fit(words, 9999)}</b>", size) + 14 for row in rows for words, size in _names(row)]
    left = min(max([_NAMES[0], *names]), _NAMES[1], NARROW - _LEAST - right)
    top = 8 + LINE * 12 * (len(sides) or bool(value))
    ends = Axis(ends=(many - 0.5, -0.5), marks=(), words=(), title="")
    sketch = Sketch(palette, height=pitch * many + round(top) + 46, x=axis, y=ends, margins=(left, right, top, 46))
    sketch.axes(levels=False)
    if axis.ends[0] <= 0 <= axis.ends[1]:
        sketch.segment(0, ends.ends, palette.grey, layer="below")
    for i, row in enumerate(rows):
        if row.shaded:
            sketch.shade_row(i, palette.pale)
        if row.apart:
            sketch.rule(i - 0.5)
        if row.dash:
            mark = row.marks[0]
            sketch.segment(mark.at, ends.ends, mark.color, width=2, dash=row.dash, layer="below")
        free = next((k for k, other in enumerate(rows[i + 1 :]) if other.marks or other.note), len(rows) - i - 1)
        _words(sketch, row, i, left, right, pitch, free)
        _marks(sketch, row, i, pitch)
    for i, (words, color) in enumerate(sides):
        room = sketch.room + (left if i else right) - 8
        shift = (0, 3 + LINE * 12 * (len(sides) - 1 - i))
        sketch.above(fit(words, room, 12), right=bool(i), shift=shift, color=color)
    if value:
        sketch.above(value, right=True, shift=(right - 4, 3))
    if not rows:
        sketch.in_the_middle(empty)
    said = [_said(row, axis) for row in rows if row.name or row.note] or [empty]
    said += [words for words, _ in sides]
    sketch.say(f"Rows, {axis.title}", value, said)
    return Drawing(title=title, sketch=sketch, rows=_rows(rows, first) if table is None else table)


def _names(row: Row) -> tuple[tuple[str, int], ...]:
    return (row.name, 13), (row.below, 12)


def _said(row: Row, axis: Axis) -> str:
    """Return a row in words, with its interval where it has one alone."""
    ends = [mark.ends for mark in row.marks if not math.isnan(mark.ends[0])]
    form = f"{'+' if ends and ends[0][0] < 0 else ''}.{1 if axis.ends[1] - axis.ends[0] > 5 else 3}f"
    interval = f"({ends[0][0]:{form}} to {ends[0][1]:{form}})".replace("-", "−") if len(ends) == 1 else ""
    told = row.note or plain(row.value) or ", ".join(mark.told for mark in row.marks if mark.told)
    return " ".join(filter(None, (row.name, row.below, told, interval)))


def _rows(rows: Sequence[Row], first: str) -> list[dict[str, Any]]:
    """Return a line a row: its name, its facts, and each of its numbers."""
    lines = []
    for row in rows:
        line: dict[str, Any] = {first: row.name, **row.facts}
        for mark in (mark for mark in row.marks if mark.name):
            found = mark.estimate
            line |= cells(mark.name, found) if isinstance(found, Estimate) else {mark.name: found}
        lines += [line] if len(line) > 1 else []
    return joined(lines)


def _words(sketch: Sketch, row: Row, y: int, left: float, right: float, pitch: int, free: int) -> None:
    """Write what stands in a row; a note may go on in so many free rows below."""
    palette, color, room = sketch.palette, row.color or sketch.palette.ink, left - 12
    place = 4 - math.ceil(left)
    name, whole = fit(row.name, room), fit(row.name, 9999)
    if name != whole and not row.below and pitch >= _TALL:
        name = lines_of(row.name, pixels=room)
    if name:
        words = f"<b>{name}</b>" if row.bold else name
        sketch.at_left(y, words, color, (place, 9 if row.below else 0), hover="" if name == whole else whole)
    if row.below:
        sketch.at_left(y, fit(row.below, room, 12), palette.grey, (place, -9), size=12)
    if row.value:
        sketch.at_right(y, row.value, color, right - 4)
    if row.note:
        most = int((pitch * (1 + free) + 2) / (LINE * 12))
        words = lines_of(row.note, pixels=sketch.room + 4, size=12, most=most)
        top = 0 if free else pitch / 2 - LINE * 6 * (words.count("<br>") + 1)
        fill, look = palette.pale if row.shaded else palette.background, {"size": 12, "anchor": ("left", "top")}
        sketch.at_left(y - 0.5, words, palette.grey, (0, -max(0.0, top)), fill=fill, hover=fit(row.note, 9999), **look)


def _marks(sketch: Sketch, row: Row, y: int, pitch: int) -> None:
    if row.join and len(row.marks) > 1:
        sketch.line([row.marks[0].at, row.marks[-1].at], [y, y], row.join, width=3)
    for mark in row.marks:
        at = y - mark.up / pitch
        if mark.bar is not None:
            sketch.bar(mark.at, at, mark.bar, mark.color, hollow=mark.hollow, width=mark.thick, told=mark.told)
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
