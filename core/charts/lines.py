"""The form of all curves, ROC curves among them: levels to compare with, bands, dots, and names in a gutter.

Names stand in a column right of the plot, moved apart where they would touch, each at the height that its curve has at
the slider, whose value it tells; a hairline leads there from the curve's dot on the slider's line. Without a slider
they stand at the curves' ends. So no words are where data can come, and no two hairlines cross. ROC curves leave the
corner under the diagonal free for their names.

Only what is computed is drawn. A line joins two points that are neighbours on the curve's grid, a point without such a
neighbour is a dot with its interval, what lies between is shaded, and the end of an unfinished curve has no name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .drawing import Axis, Drawing, Number, Scale, cells, ends_of, value_of
from .theme import LINE, NARROW, fit, separate_labels, visible_labels, width

GUTTER = 152
"""Pixels right of the plot for the names of curves."""

_LEFT = 46
_LEADER = 12  # pixels from the end of the plot to a name
_HAIRLINE = 30  # percent of a curve's colour that leads to its name
_CLEAR = 0.012  # share of the axis that is not shaded beside a computed point
_PITCH = 18  # pixels from one name to the next; what has no room is left out
_MOST = 8  # names; of more only the finding's, what it is compared with, the highest and the lowest
_KEY = 18  # pixels of a name under the plot


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A measured point of a curve; what the pointer shows of it by itself are its name and number."""

    x: float
    of: Number
    hover: str = ""
    interval: bool = False
    hollow: bool = False
    color: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve through numbers.

    Attributes
    ----------
    of : sequence of number or None
        What it is drawn from; None and nan are gaps.
    grid : sequence of float
        All places it will have, where some may not be computed yet; those of `x` when left out.
    band : bool
        Whether the intervals are drawn.
    name, value : str
        Its name at the right, nobody's when empty, and its value there: by itself that at the slider, or the last.
    current : number, optional
        At the slider, where the curve has no point of its own there or another one.
    hollow : bool
        Whether the dot at the slider stands for nothing that was measured.
    level : bool
        Whether it is a straight line to compare with, behind all curves: from `x`, or from the left end, to the right.
    """

    x: Sequence[float]
    of: Sequence[Number | None]
    color: str
    grid: Sequence[float] = ()
    band: bool = False
    dash: str = "solid"
    width: float = 2
    opacity: float = 1
    name: str = ""
    value: str | None = None
    current: Number | None = None
    hollow: bool = False
    level: bool = False
    dots: Sequence[Dot] = ()
    symbol: str = "circle"
    size: float = 7

    @property
    def places(self) -> tuple[float, ...]:
        """Where it has points, or will have some."""
        if self.grid:
            return tuple(sorted({*self.x, *self.grid}))
        return tuple(self.x)

    @property
    def numbers(self) -> tuple[Number | None, ...]:
        """Its number at each of these places; None where there is none, or none yet."""
        if self.level or not self.grid:
            return tuple(self.of)
        computed = dict(zip(self.x, self.of, strict=True))
        return tuple(computed.get(position) for position in self.places)

    @property
    def unfinished(self) -> bool:
        """Whether places of its grid are not computed yet."""
        return not {*self.grid} <= {*self.x}

    def at(self, position: float | None) -> Number | None:
        """Return its number at the slider, or without one its last; None where that is not computed."""
        if self.current is not None:
            return self.current
        measured = [number for number in self.of if not math.isnan(value_of(number))]
        if not self.level and position is not None:
            pairs = zip(self.x, self.of, strict=True)
            close = [number for x, number in pairs if math.isclose(x, position, rel_tol=1e-6)]
            measured = [number for number in close if not math.isnan(value_of(number))]
        if measured:
            return measured[-1]
        return None

    def reach(self) -> Iterable[float]:
        """Yield what an axis must hold."""
        for number in self.of:
            yield value_of(number)
            if self.band or self.unfinished:
                yield from ends_of(number)
        for dot in self.dots:
            if dot.interval:
                yield from ends_of(dot.of)


def level(
    number: Number, color: str, name: str = "", value: str | None = None, *, dash: str = "dot"
) -> Curve:
    """Return a horizontal line to compare with."""
    return Curve(
        x=(), of=[number], color=color, name=name, value=value, dash=dash, width=1.5, level=True
    )


def pointed(at: float, number: Number, color: str, name: str, value: str | None = None) -> Curve:
    """Return what leads from a point to its name."""
    return Curve(
        x=[at], of=[number], color=color, name=name, value=value, dash="dot", width=1, level=True
    )


class _Placed:
    """A curve on its axes, with the slider at a place.

    `x` and `y` are its places and heights, None where it has no point, and `value` the number its name tells. The line
    to its name begins at `start`, at the slider or at its end; the name stands at `height` before names are moved
    apart, nowhere where that is nan. `dot` says whether it has a dot on the slider's line.
    """

    def __init__(self, curve: Curve, x: Axis, y: Axis, at: float | None) -> None:
        places = curve.x if curve.level else curve.places
        heights = [y.position(value_of(number)) for number in curve.numbers]
        number = curve.at(at)
        value = curve.value
        if value is None:
            value = "" if number is None else y.write(number)
        tells = curve.current is not None or bool(curve.name and value)
        self.curve = curve
        self.x = [x.position(position) for position in places]
        self.y = [None if math.isnan(height) else height for height in heights]
        self.start = math.inf  # right of all
        self.height = y.position(value_of(number))
        self.dot = at is not None and number is not None and tells and not curve.level
        self.value = value
        if at is not None:
            self.start = x.position(at)
        if number is None or (at is None and not curve.level):
            self.start, self.height = self._end(self.start)

    @property
    def label(self) -> str:
        """Its value and name, as the gutter has them, on any width."""
        return f"{self.value} {self.curve.name}".strip()

    def pieces(self) -> Iterator[range]:
        """Yield the parts without a gap, each as the range of its points."""
        begin = None
        for i, height in enumerate([*self.y, None]):
            if height is None and begin is not None:
                yield range(begin, i)
                begin = None
            elif height is not None and begin is None:
                begin = i

    def _end(self, at: float) -> tuple[float, float]:
        """Return where a curve that has no point at the slider is named: on its line there, or at the end next to it.

        That is nowhere where the curve has a gap, and while it is unfinished.
        """
        if self.curve.level:  # without a number, as it has a place everywhere
            return at, math.nan
        points = [(x, y) for x, y in zip(self.x, self.y, strict=True) if y is not None]
        for (left, low), (right, high) in pairwise(zip(self.x, self.y, strict=True)):
            if low is not None and high is not None and left < at < right:
                return at, low + (high - low) * (at - left) / (right - left)
        if self.curve.unfinished or not points or points[0][0] < at < points[-1][0]:
            return at, math.nan
        if at > points[0][0]:
            return points[-1]
        return points[0]


def draw_lines(
    title: str,
    curves: Sequence[Curve],
    *,
    x: Axis | Scale,
    y: Axis | Scale,
    rows: Any = None,
    at: float | None = None,
    head: str = "",
    holds: Sequence[float] = (),
    height: int = 310,
    gutter: int = GUTTER,
    narrow: float = NARROW,
    shaded: tuple[str, Sequence[tuple[float, float]]] = ("", ()),
    diagonal: bool = False,
) -> Drawing:
    """Draw curves, the later ones on top, and the slider's position `at`, which the names' `head` says.

    Parameters
    ----------
    rows : table, optional
        The numbers drawn; by default each curve's own.
    holds : sequence of float
        What the y axis holds besides.
    shaded : (words, parts of the x axis)
        What is set off, and what that means.
    gutter : int
        Pixels for the names; 0 sets them under the plot.
    narrow : float
        Pixels of the narrowest screen it is for.
    diagonal : bool
        Whether the diagonal is drawn, and names stand in the corner under it.
    """
    x = x.over(at for curve in curves for at in curve.x)
    y = y.over([*holds, *(value for curve in curves for value in curve.reach())])
    placed = [_Placed(curve, x, y, at) for curve in curves]
    labelled = [item for item in placed if item.curve.name and not math.isnan(item.height)]
    above = 42 if shaded[0] else 32
    set_off = f"shaded: {shaded[0]}" if shaded[0] and shaded[1] else ""
    below = 0 if gutter else _KEY * len(labelled)
    right = 18 if diagonal or not gutter else gutter
    margins = (_LEFT, right, above, 48 + below)
    drawing = Drawing(title, height=height + below, x=x, y=y, margins=margins, narrow=narrow)
    if rows is None:
        drawing.rows = _rows(curves, x.title, at)
    else:
        drawing.rows = rows
    for start, end in [*shaded[1], *_not_computed(curves, x)]:
        drawing.shade((start, end), y.ends, "pale")
    drawing.axes()
    if diagonal:
        ends = (max(x.ends[0], y.ends[0]), min(x.ends[1], y.ends[1]))
        drawing.segment(ends, ends, "chance", width=1.5, dash="dot")
    for item in placed:
        _draw(drawing, item)
    if at is not None:
        _slider(drawing, x.position(at), [item for item in placed if item.dot])
    for item in placed:
        _dots(drawing, item.curve)
    if not any(height is not None for item in placed for height in item.y):
        drawing.in_the_middle("being measured")
    if labelled:
        if diagonal:
            _corner(drawing, labelled, head)
        elif gutter:
            _gutter(drawing, labelled, head, gutter)
        else:
            _key(drawing, labelled)
    if set_off:
        drawing.above(fit(set_off, drawing.room + _LEFT - 14, 12), shift=(10 - _LEFT, 25))
    descriptions = [item.label for item in sorted(labelled, key=lambda item: -item.height)]
    if set_off:
        descriptions.append(set_off.replace(":", ","))
    grid, done = _computed(curves)
    if grid:
        descriptions.append(f"computed so far: {len(done)} of {len(grid)} places")
    heading = head if labelled else ""
    form = f"Line chart, {y.title} over {x.title}"
    drawing.say(form, heading, descriptions or ["being measured"])
    return drawing


def _computed(curves: Sequence[Curve]) -> tuple[list[float], list[float]]:
    """Return the places of the unfinished curves' grids, and those that all of these curves have."""
    growing = [curve for curve in curves if curve.unfinished]
    grid = sorted({position for curve in growing for position in curve.grid})
    done = set(grid).intersection(*(curve.x for curve in growing))
    return grid, sorted(done)


def _not_computed(curves: Sequence[Curve], x: Axis) -> list[tuple[float, float]]:
    """Return the parts of the axis in which places are not computed yet."""
    grid, done = _computed(curves)
    clear = _CLEAR * (x.ends[1] - x.ends[0])
    parts: list[tuple[float, float]] = []
    for left, right in pairwise(grid):
        if left in done and right in done:
            continue
        start = x.position(left)
        end = x.position(right)
        if left in done:
            start += clear
        if right in done:
            end -= clear
        if parts and parts[-1][1] == start:
            start = parts.pop()[0]
        if start < end:
            parts.append((start, end))
    return parts


def _rows(curves: Sequence[Curve], x: str, at: float | None) -> list[Mapping[str, Any]]:
    """Return the points of all curves, with their dots and what stands at the slider where a curve has no point."""
    rows: list[Mapping[str, Any]] = []
    for curve in curves:
        if curve.level:
            continue
        points = list(zip(curve.x, curve.of, strict=True))
        beside = [(dot.x, dot.of) for dot in curve.dots]
        if at is not None and curve.current is not None and not curve.hollow:
            beside.append((at, curve.current))
        for position, number in beside:
            if not any(math.isclose(position, x_point) for x_point, _ in points):
                points.append((position, number))
        rows += [
            {"curve": curve.name, x: position, **cells("value", number)}
            for position, number in points
        ]
    return rows


def _draw(drawing: Drawing, placed: _Placed) -> None:
    """Draw a curve over its band."""
    curve = placed.curve
    if curve.level:
        start = placed.x[0] if placed.x else drawing.x.ends[0]
        drawing.segment(
            (start, drawing.x.ends[1]),
            placed.y[-1] or 0.0,
            curve.color,
            width=curve.width,
            dash=curve.dash,
            layer="below",
        )
        return
    numbers = curve.numbers
    pieces = list(placed.pieces())
    limits = [_ends(drawing.y, number) for number in numbers]
    if curve.band:
        for piece in pieces:
            inside = [(placed.x[i], *limits[i]) for i in piece if not math.isnan(limits[i][0])]
            if len(inside) > 1:
                places, low, high = zip(*inside, strict=True)
                drawing.band(places, low, high, curve.color)
    hover = _hover(drawing, curve)
    if any(len(piece) > 1 for piece in pieces):
        pointed = hover if fit(curve.name, 9999) else None
        drawing.line(
            placed.x,
            placed.y,
            curve.color,
            width=curve.width,
            dash=curve.dash,
            opacity=curve.opacity,
            hover=pointed,
        )
    alone = []
    if not curve.dots:
        alone = [piece[0] for piece in pieces if len(piece) == 1]
    if alone:
        _draw_points(drawing, placed, alone, limits, hover)


def _ends(y: Axis, number: Number | None) -> tuple[float, float]:
    """Return the heights of an interval's ends, cut at those of the axis; nan where there is none."""
    low, high = map(y.position, ends_of(number))
    return max(low, y.ends[0]), min(high, y.ends[1])


def _hover(drawing: Drawing, curve: Curve) -> list[str]:
    """Return what the pointer shows at each of a curve's places; "" where it has no number."""
    name = fit(curve.name, 9999)
    texts = []
    for position, number in zip(curve.places, curve.numbers, strict=True):
        if number is None:
            texts.append("")
        else:
            texts.append(f"{name}, {position:.4g}: {drawing.y.write(number)}")
    return texts


def _draw_points(
    drawing: Drawing,
    placed: _Placed,
    points: Sequence[int],
    limits: Sequence[tuple[float, float]],
    hover: Sequence[str],
) -> None:
    """Draw points without a line to a neighbour, each with its interval; hollow where the line is dashed."""
    curve = placed.curve
    heights = [height for height in map(placed.y.__getitem__, points) if height is not None]
    ends = [
        (height, height) if math.isnan(limits[i][0]) else limits[i]
        for i, height in zip(points, heights, strict=True)
    ]
    fill = curve.color if curve.dash == "solid" else "background"
    pointed = [hover[i] for i in points] if curve.name else None
    drawing.markers(
        [placed.x[i] for i in points],
        heights,
        size=7,
        color=fill,
        opacity=curve.opacity,
        rim=(curve.color, 1.5),
        hover=pointed,
        ends=ends,
        stroke=curve.color,
        name="computed",
    )


def _slider(drawing: Drawing, at: float, placed: Sequence[_Placed]) -> None:
    """Draw a line up to the highest curve and a dot on each."""
    heights = [item.height for item in placed]
    curves = [item.curve for item in placed]
    colors = [_dot_colors(curve.color, curve.hollow) for curve in curves]
    bottom, top = drawing.y.ends
    drawing.segment(at, (bottom, max(heights, default=top)), "ink", layer="below")
    drawing.markers(
        [at] * len(heights),
        heights,
        size=[12 if curve.width > 2 else 8 for curve in curves],
        color=[fill for fill, _ in colors],
        rim=([rim for _, rim in colors], 2),
        hover=[fit(item.label, 9999) for item in placed],
        name="slider",
    )


def _dot_colors(color: str, hollow: bool) -> tuple[str, str]:
    """Return the colours inside and around a dot."""
    if hollow:
        return "background", color
    return color, "background"


def _dots(drawing: Drawing, curve: Curve) -> None:
    """Draw what was measured, with its interval where it shows one, kept between the ends of the axis."""
    if not curve.dots:
        return
    y = drawing.y
    name = fit(curve.name, 9999)
    heights = [min(max(y.position(value_of(dot.of)), y.ends[0]), y.ends[1]) for dot in curve.dots]
    ends = []
    for dot, height in zip(curve.dots, heights, strict=True):
        low, high = _ends(y, dot.of)
        if dot.interval and not math.isnan(low):
            ends.append((low, high))
        else:
            ends.append((height, height))
    if not any(dot.interval for dot in curve.dots):
        ends = []
    colors = [_dot_colors(dot.color or curve.color, dot.hollow) for dot in curve.dots]
    drawing.markers(
        [drawing.x.position(dot.x) for dot in curve.dots],
        heights,
        size=curve.size,
        color=[fill for fill, _ in colors],
        symbol=curve.symbol,
        rim=([rim for _, rim in colors], 1.5),
        hover=[f"{dot.hover or name} {y.with_interval(dot.of)}".strip() for dot in curve.dots],
        ends=ends,
        stroke=curve.color,
    )


def _gutter(drawing: Drawing, labelled: Sequence[_Placed], head: str, gutter: int) -> None:
    """Name the curves right of the plot, as many as have room, each with its value in bold."""
    room = gutter - _LEADER - 6
    (low, high) = drawing.y.ends
    pixel = drawing.pixel
    if head:
        drawing.remark(
            fit(head, room, 11),
            "grey",
            x=1,
            y=1,
            refs=("paper", "paper"),
            shift=(_LEADER + 2, 9),
            anchor=("left", "bottom"),
            size=11,
        )
    ends = [min(max(item.height, low), high) for item in labelled]
    many = max(1, int((high - low) / pixel - 14) // _PITCH + 1)
    first = [
        item.curve.width > 2 or item.curve.color in ("strongest", "chance") for item in labelled
    ]
    if len(labelled) > _MOST:
        outermost = {ends.index(max(ends)), ends.index(min(ends))}
        deciding = {i for i, is_first in enumerate(first) if is_first}
        many = min(many, len(deciding | outermost))
    stay = visible_labels(ends, first, many)
    heights = separate_labels(
        [ends[i] for i in stay], _PITCH * pixel, low + 7 * pixel, high - 7 * pixel
    )
    for i, height in zip(stay, heights, strict=True):
        curve = labelled[i].curve
        bold = ""
        left: float = room
        if labelled[i].value:
            bold = f"<b>{labelled[i].value}</b> "
            left -= width(f"<b>{labelled[i].value} </b>")
        if labelled[i].start < drawing.x.ends[1] and not curve.level:
            drawing.segment(
                (labelled[i].start, drawing.x.ends[1]),
                ends[i],
                f"{curve.color}/{_HAIRLINE}",
                layer="below",
            )
        drawing.segment(
            (1, _LEADER), (ends[i], height), curve.color, xref="paper", xsizemode="pixel", xanchor=1
        )
        text = bold + fit(curve.name, left)
        full_name = fit(curve.name, 9999)
        hover = "" if text.endswith(full_name) else full_name
        drawing.remark(
            text,
            curve.color,
            x=1,
            y=height,
            refs=("paper", "y"),
            shift=(_LEADER + 2, 0),
            hover=hover,
        )


def _key(drawing: Drawing, labelled: Sequence[_Placed]) -> None:
    """Name the curves in rows under the plot, the highest first."""
    room = drawing.room + _LEFT - 36 - _LEFT // 2
    for i, item in enumerate(sorted(labelled, key=lambda item: -item.height)):
        down = -54 - _KEY * i
        left = 8 - _LEFT
        drawing.segment(
            (left, left + 18),
            down,
            item.curve.color,
            width=item.curve.width,
            xref="paper",
            xsizemode="pixel",
            xanchor=0,
            yref="paper",
            ysizemode="pixel",
            yanchor=0,
        )
        text = f"<b>{item.value}</b> {fit(item.curve.name, room - width(item.value))}"
        drawing.remark(
            text, item.curve.color, x=0, y=0, refs=("paper", "paper"), shift=(left + 26, down)
        )


def _corner(drawing: Drawing, labelled: Sequence[_Placed], head: str) -> None:
    """Name the curves in the corner under the diagonal, with their values."""
    room = 0.55 * drawing.room
    lines = [
        (item.curve.color, f"{fit(item.curve.name, room - width(item.value))} <b>{item.value}</b>")
        for item in labelled
    ]
    if head:
        lines.insert(0, ("ink", head))
    for i, (color, text) in enumerate(reversed(lines)):
        drawing.remark(
            text,
            color,
            x=1,
            y=0,
            refs=("paper", "paper"),
            shift=(-6, 8 + LINE * 13 * i),
            anchor=("right", "bottom"),
            fill="background",
        )
