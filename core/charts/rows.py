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

from .drawing import Axis, Drawing, Number, Scale, cells, ends_of, value_of
from .theme import LINE, NARROW, fit, foreign, lines_of, plain, width

# pixels of a row, and of one with a second line
_PITCH = 25
TALL = 46
_NAMES = (46, 200)  # pixels of the column of names
_NOTE = (16, 18)  # pixels of a line of a note, and of one with letters of other fonts
_LEAST = 86  # pixels of the plot on the narrowest screen


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A number of a row, with its interval where it has one.

    Attributes
    ----------
    symbol : str
        Of its marker; empty for none.
    name : str
        What it is called in the table, where it has no column without.
    hover : str
        What the pointer shows of it besides its name and number; None for nothing.
    bar : float, optional
        Where a bar begins that ends at the number.
    hollow : bool
        Whether the bar is an outline.
    up : float
        Pixels above the middle of its row.
    """

    of: Number
    color: str
    symbol: str = "circle"
    name: str = ""
    hover: str | None = ""
    size: float = 11
    stroke: float = 2
    dash: str = "solid"
    up: float = 0
    bar: float | None = None
    thick: float = 0.56
    hollow: bool = False
    rim: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of numbers.

    Attributes
    ----------
    name, below : str
        At the left, and under it in grey: as they are, the form shortens them and makes them harmless.
    value : str, optional
        At the right; by itself its numbers, the last in bold, and in a row of two lines the interval of one under it.
    note : str
        In the plot where there is no number.
    color : str
        Of name and value.
    bold : bool
        Whether the name is.
    join : str
        Colour of a line from the first number to the last; empty for none.
    dash : str
        How the line is drawn that crosses all rows at the first number; empty for none.
    shaded, separated : bool
        Whether the row is set off, and whether a line parts it from those above.
    facts : mapping
        What else the table has of it.
    """

    name: str
    marks: Sequence[Mark] = ()
    below: str = ""
    value: str | None = None
    note: str = ""
    color: str = "ink"
    bold: bool = False
    join: str = ""
    dash: str = ""
    shaded: bool = False
    separated: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)

    def reach(self) -> Iterable[float]:
        """Yield what an axis must hold."""
        for mark in self.marks:
            yield from (value_of(mark.of), *ends_of(mark.of))

    def written(self, axis: Axis) -> str:
        """Return its value in words."""
        if self.value is not None:
            return self.value
        texts = [axis.write(mark.of) for mark in self.marks]
        if texts and texts[-1]:
            texts[-1] = f"<b>{texts[-1]}</b>"
        return " → ".join(texts)

    def under(self, axis: Axis) -> str:
        """Return what stands under its value: the interval of its only number, where the row has two lines."""
        alone = self.below and self.value is None and len(self.marks) == 1
        if alone:
            return axis.interval(self.marks[0].of)[1:-1]
        return ""


def draw_rows(
    title: str,
    rows: Sequence[Row],
    axis: Axis | Scale,
    *,
    first: str = "",
    value: str = "",
    head: str = "",
    sides: Sequence[tuple[str, str]] = (),
    holds: Sequence[float] = (),
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
    value, head : str
        What stands at the right, and what the rows or their markers mean, over the plot.
    sides : (words, colour) of the left and the right side, or nothing
        What the sides of the axis mean, under its title.
    holds : sequence of float
        What the axis holds besides.
    least : int
        There is room for so many rows.
    empty : str
        What is written where there is no row.
    table
        The numbers drawn; by default the rows' own.
    """
    axis = axis.over([*holds, *(number for row in rows for number in row.reach())])
    if not pitch:
        pitch = TALL if any(row.below for row in rows) else _PITCH
    many = max(least, len(rows))
    written = [row.written(axis) for row in rows]
    ranges = [row.under(axis) for row in rows]
    left, right = _margins(rows, written, ranges, value)
    top = 8 + LINE * 12 * (bool(head) + bool(value))
    below = 46 + 18 * bool(sides)
    y = Axis(ends=(many - 0.5, -0.5), marks=(), labels=(), title="")
    height = pitch * many + round(top) + below
    drawing = Drawing(title, height=height, x=axis, y=y, margins=(left, right, top, below))
    drawing.rows = _rows(rows, first) if table is None else table
    drawing.axes(levels=False)
    if axis.ends[0] <= 0 <= axis.ends[1]:
        drawing.segment(0, y.ends, "grey", layer="below")
    for i, row in enumerate(rows):
        if row.shaded:
            drawing.shade_row(i)
        if row.separated:
            drawing.rule(i - 0.5)
        if row.dash:
            mark = row.marks[0]
            position = axis.position(value_of(mark.of))
            drawing.segment(position, y.ends, mark.color, width=2, dash=row.dash, layer="below")
        later_rows = rows[i + 1 :]
        free = next(
            (k for k, later in enumerate(later_rows) if later.marks or later.note), len(later_rows)
        )
        _write_labels(drawing, row, i, left, pitch, free)
        up = 10 if ranges[i] else 0
        drawing.at_right(i, written[i], row.color, (right - 4, up))
        drawing.at_right(i, ranges[i], "grey", (right - 4, -10), size=12)
        _marks(drawing, row, i, pitch)
    if sides:
        _name_sides(drawing, sides, (left, right))
    if head:
        drawing.above(
            fit(head, drawing.room + left + right - 8, 12),
            shift=(4 - left, 3 + LINE * 12 * bool(value)),
        )
    if value:
        drawing.above(value, right=True, shift=(right - 4, 3))
    if not rows:
        drawing.in_the_middle(empty)
    pairs = zip(rows, written, strict=True)
    descriptions = [_alt_text(row, text, axis) for row, text in pairs if row.name or row.note]
    if not descriptions:
        descriptions.append(empty)
    if head:
        descriptions.append(head)
    descriptions += [label for label, _ in sides]
    drawing.say(f"Rows, {axis.title}", value, descriptions)
    return drawing


def _margins(
    rows: Sequence[Row], written: Sequence[str], ranges: Sequence[str], value: str
) -> tuple[float, float]:
    """Return the pixels that the names at the left take, and the values at the right with what is under them."""
    wide = [*(width(text) for text in written), *(width(text, 12) for text in ranges)]
    right = max([14, width(value, 12) + 14, *(size + 20 for size in wide)])
    lines = [pair for row in rows for pair in ((row.name, 13), (row.below, 12))]
    names = [width(f"<b>{fit(text, 9999)}</b>", size) + 14 for text, size in lines]
    return min(max([_NAMES[0], *names]), _NAMES[1], NARROW - _LEAST - right), right


def _name_sides(
    drawing: Drawing, sides: Sequence[tuple[str, str]], margins: tuple[float, float]
) -> None:
    """Say under the axis what its left and its right side mean."""
    for (label, color), margin, anchor, sign in zip(
        sides, margins, ("right", "left"), (-1, 1), strict=True
    ):
        drawing.remark(
            fit(label, drawing.room / 2 + margin - 12, 12),
            color,
            x=0.5,
            y=0,
            refs=("paper", "paper"),
            shift=(8 * sign, -43),
            anchor=(anchor, "top"),
            size=12,
        )


def _alt_text(row: Row, text: str, axis: Axis) -> str:
    """Return a row in words, with its interval where it has one alone."""
    intervals = list(filter(None, (axis.interval(mark.of) for mark in row.marks)))
    hovers = filter(None, (plain(_hover(mark, row, axis)) for mark in row.marks))
    text = row.note or plain(text) or ", ".join(hovers)
    parts = [row.name, row.below, text]
    if len(intervals) == 1:
        parts += intervals
    return " ".join(filter(None, parts))


def _hover(mark: Mark, row: Row, axis: Axis) -> str:
    """Return what the pointer shows of a number."""
    if mark.hover is None:
        return ""
    text = f"{fit(mark.name or row.name, 9999)} {axis.with_interval(mark.of)}"
    return "<br>".join(filter(None, (text, mark.hover)))


def _rows(rows: Sequence[Row], first: str) -> list[dict[str, Any]]:
    """Return a line a row: its name, its facts, and each of its numbers; without any of these, the last number."""
    lines = []
    for row in rows:
        line: dict[str, Any] = {first: row.name, **row.facts}
        for mark in row.marks:
            if mark.name:
                line |= cells(mark.name, mark.of)
        if len(line) == 1 and row.marks:
            line |= cells("value", row.marks[-1].of)
        if len(line) > 1:
            lines.append(line)
    empty = dict.fromkeys(name for line in lines for name in line)
    return [empty | line for line in lines]


def _write_labels(drawing: Drawing, row: Row, y: int, left: float, pitch: int, free: int) -> None:
    """Write what stands in a row; a note may go on in so many free rows below."""
    room = left - 12
    offset = 4 - math.ceil(left)
    name = fit(row.name, room)
    full_name = fit(row.name, 9999)
    if name != full_name and not row.below and pitch >= TALL and not foreign(name):
        name = lines_of(row.name, pixels=room)
    if name:
        text = f"<b>{name}</b>" if row.bold else name
        up = 10 if row.below else 0
        hover = "" if name == full_name else full_name
        drawing.at_left(y, text, row.color, (offset, up), hover=hover)
    if row.below:
        drawing.at_left(y, fit(row.below, room, 12), "grey", (offset, -10), size=12)
    if row.note:
        step = _NOTE[foreign(row.note)]
        most = int((pitch * (1 + free) + 2) / step)
        lines = lines_of(row.note, pixels=drawing.room + 4, size=12, most=most).split("<br>")
        top = 0 if free else max(0.0, pitch - step * len(lines)) / 2
        fill = "pale" if row.shaded else "background"
        full_note = fit(row.note, 9999)
        for i, line in enumerate(lines):
            drawing.at_left(
                y - 0.5,
                line,
                "grey",
                (0, -top - step * i),
                size=12,
                anchor=("left", "top"),
                fill=fill,
                hover=full_note,
            )


def _marks(drawing: Drawing, row: Row, y: int, pitch: int) -> None:
    axis = drawing.x
    places = [axis.position(value_of(mark.of)) for mark in row.marks]
    if row.join and len(places) > 1:
        drawing.line([places[0], places[-1]], [y, y], row.join, width=3)
    for mark, position in zip(row.marks, places, strict=True):
        at = y - mark.up / pitch
        hover = _hover(mark, row, axis)
        (low, high) = map(axis.position, ends_of(mark.of))
        if mark.bar is not None:
            base = axis.position(mark.bar)
            drawing.bar(
                position, at, base, mark.color, hollow=mark.hollow, width=mark.thick, hover=hover
            )
        if not math.isnan(low):
            color = mark.color if mark.bar is None else "ink"
            drawing.line((low, high), [at, at], color, width=mark.stroke, dash=mark.dash)
        if mark.symbol:
            ring = mark.symbol.endswith("-open")  # lets no interval through
            fill = "background" if ring else mark.color
            pointed = [hover] if hover else None
            drawing.markers(
                [position],
                [at],
                size=mark.size,
                color=fill,
                symbol=mark.symbol.removesuffix("-open"),
                rim=(mark.rim or mark.color, 2),
                hover=pointed,
            )
