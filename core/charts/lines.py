"""The form of all curves, ROC curves among them: levels to compare with, bands, dots, and names in a gutter.

Names stand in a column right of the plot in the order of the curves' ends, moved apart where they would touch, and a
thin line leads to each from the end of its curve: so no words are where data can come, and no two of these lines cross.
ROC curves leave the corner under the diagonal free for their names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.charts.drawing import Axis, Drawing, Number, Scale, cells, ends_of, value_of
from core.charts.words import LINE, NARROW, fit, kept, known, spread, width

GUTTER = 152
"""Pixels right of the plot for the names of curves."""

_LEFT = 46
_LEADER = 12  # pixels from the end of a curve to its name
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
    band : bool
        Whether the intervals are drawn.
    name, value : str
        Its name at the right, nobody's when empty, and its value there: by itself that at the slider, or the last.
    here : number, optional
        At the slider, drawn as a dot.
    hollow : bool
        Whether that dot stands for nothing that was measured.
    level : bool
        Whether it is a straight line to compare with, behind all curves: from `x`, or from the left end, to the right.
    """

    x: Sequence[float]
    of: Sequence[Number | None]
    color: str
    band: bool = False
    dash: str = "solid"
    width: float = 2
    opacity: float = 1
    name: str = ""
    value: str | None = None
    here: Number | None = None
    hollow: bool = False
    level: bool = False
    dots: Sequence[Dot] = ()
    symbol: str = "circle"
    size: float = 7

    def reach(self) -> Iterable[float]:
        """Yield what an axis must hold."""
        for number in self.of:
            yield value_of(number)
            if self.band:
                yield from ends_of(number)
        for dot in self.dots:
            if dot.interval:
                yield from ends_of(dot.of)


def level(number: Number, color: str, name: str = "", value: str | None = None, *, dash: str = "dot") -> Curve:
    """Return a horizontal line to compare with."""
    return Curve(x=(), of=[number], color=color, name=name, value=value, dash=dash, width=1.5, level=True)


def pointed(at: float, number: Number, color: str, name: str, value: str | None = None) -> Curve:
    """Return what leads from a point to its name."""
    return Curve(x=[at], of=[number], color=color, name=name, value=value, dash="dot", width=1, level=True)


@dataclass(slots=True)
class _Placed:
    """A curve on its axes: where it is, where it ends, and its value in words."""

    curve: Curve
    x: list[float]
    y: list[float | None]
    end: float
    now: float | None
    value: str

    @property
    def last(self) -> float:
        """Where on the x axis it ends; a level ends nowhere."""
        there = [at for at, height in zip(self.x, self.y, strict=False) if height is not None]
        return math.inf if self.curve.level or not there else there[-1]

    @property
    def label(self) -> str:
        """Its value and name, as the gutter has them, on any width."""
        return f"{self.value} {self.curve.name}".strip()


def _place(curve: Curve, x: Axis, y: Axis) -> _Placed:
    heights = [y.place(value_of(number)) for number in curve.of]
    last = next((number for number in reversed(curve.of) if not math.isnan(value_of(number))), None)
    shown = last if curve.here is None else curve.here
    value = curve.value if curve.value is not None else "" if shown is None else y.write(shown)
    return _Placed(
        curve=curve,
        x=[x.place(at) for at in curve.x],
        y=[None if math.isnan(height) else height for height in heights],
        end=y.place(value_of(last)),
        now=None if curve.here is None else y.place(value_of(curve.here)),
        value=value,
    )


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
    placed = [_place(curve, x, y) for curve in curves]
    named = [one for one in placed if one.curve.name and not math.isnan(one.end)]
    above, set_off = 42 if shaded[0] else 32, f"shaded: {shaded[0]}" if shaded[0] and shaded[1] else ""
    below = 0 if gutter else _KEY * len(named)
    margins = (_LEFT, 18 if diagonal or not gutter else gutter, above, 48 + below)
    drawing = Drawing(title, height=height + below, x=x, y=y, margins=margins, narrow=narrow)
    drawing.rows = _rows(curves, x.title) if rows is None else rows
    for start, end in shaded[1]:
        drawing.shade((start, end), y.ends, "pale")
    drawing.axes()
    if diagonal:
        ends = (max(x.ends[0], y.ends[0]), min(x.ends[1], y.ends[1]))
        drawing.segment(ends, ends, "chance", width=1.5, dash="dot")
    for one in placed:
        _draw(drawing, one)
    if at is not None:
        _slider(drawing, x.place(at), [one for one in placed if one.now is not None])
    for one in placed:
        _dots(drawing, one.curve)
    if not named:
        drawing.in_the_middle("being measured")
    else:
        write = partial(_corner, head=head) if diagonal else partial(_gutter, head=head, gutter=gutter)
        (write if diagonal or gutter else _key)(drawing, named)
    if set_off:
        drawing.above(fit(set_off, drawing.room + _LEFT - 14, 12), shift=(10 - _LEFT, 25))
    said = [one.label for one in sorted(named, key=lambda one: -one.end)] + [set_off.replace(":", ",")] * bool(set_off)
    drawing.say(f"Line chart, {y.title} over {x.title}", head if named else "", said or ["being measured"])
    return drawing


def _rows(curves: Sequence[Curve], x: str) -> list[Mapping[str, Any]]:
    return [
        {"curve": curve.name, x: at, **cells("value", number)}
        for curve in curves
        if not curve.level
        for at, number in zip(curve.x, curve.of, strict=True)
    ]


def _draw(drawing: Drawing, placed: _Placed) -> None:
    """Draw a curve over its band, which is cut at the ends of the axis."""
    curve, (bottom, top) = placed.curve, drawing.y.ends
    look: dict[str, Any] = {"width": curve.width, "dash": curve.dash}
    if curve.level:
        start = placed.x[0] if placed.x else drawing.x.ends[0]
        drawing.segment((start, drawing.x.ends[1]), placed.end, curve.color, **look, layer="below")
        return
    limits = [[drawing.y.place(end) for end in ends_of(number)] for number in curve.of if curve.band]
    pairs = zip(placed.x, limits, strict=curve.band)
    inside = [(at, max(low, bottom), min(high, top)) for at, (low, high) in pairs if not math.isnan(low)]
    if len(inside) > 1:
        xs, lows, highs = zip(*inside, strict=True)
        drawing.band(xs, lows, highs, curve.color)
    if len(known([math.nan if y is None else y for y in placed.y])) > 1:
        name = fit(curve.name, 9999)
        hover = [
            "" if number is None else f"{name}, {at:.4g}: {drawing.y.write(number)}" if name else ""
            for at, number in zip(curve.x, curve.of, strict=True)
        ]
        drawing.line(placed.x, placed.y, curve.color, **look, opacity=curve.opacity, hover=hover if name else None)


def _slider(drawing: Drawing, at: float, placed: Sequence[_Placed]) -> None:
    """Draw a line up to the highest curve and a dot on each."""
    heights = [one.now for one in placed if one.now is not None]
    bottom, top = drawing.y.ends
    drawing.segment(at, (bottom, max(heights, default=top)), "ink", layer="below")
    drawing.markers(
        [at] * len(heights),
        heights,
        size=[12 if one.curve.width > 2 else 9 for one in placed],
        color=["background" if one.curve.hollow else one.curve.color for one in placed],
        rim=([one.curve.color if one.curve.hollow else "background" for one in placed], 2),
        hover=[fit(one.label, 9999) for one in placed],
        name="slider",
    )


def _dots(drawing: Drawing, curve: Curve) -> None:
    """Draw what was measured, with its interval where it shows one, kept between the ends of the axis."""
    if not curve.dots:
        return
    y, name = drawing.y, fit(curve.name, 9999)
    heights = [min(max(y.place(value_of(dot.of)), y.ends[0]), y.ends[1]) for dot in curve.dots]
    ends = []
    for dot, height in zip(curve.dots, heights, strict=True):
        low, high = (y.place(end) for end in ends_of(dot.of))
        shown = dot.interval and not math.isnan(low)
        ends.append((max(low, y.ends[0]), min(high, y.ends[1])) if shown else (height, height))
    colors = [dot.color or curve.color for dot in curve.dots]
    drawing.markers(
        [drawing.x.place(dot.x) for dot in curve.dots],
        heights,
        size=curve.size,
        color=["background" if dot.hollow else color for dot, color in zip(curve.dots, colors, strict=True)],
        symbol=curve.symbol,
        rim=([color if dot.hollow else "background" for dot, color in zip(curve.dots, colors, strict=True)], 1.5),
        hover=[f"{dot.hover or name} {y.with_interval(dot.of)}".strip() for dot in curve.dots],
        ends=ends if any(dot.interval for dot in curve.dots) else (),
        stroke=curve.color,
    )


def _gutter(drawing: Drawing, named: Sequence[_Placed], head: str, gutter: int) -> None:
    """Name the curves right of the plot, as many as have room, each with its value in bold."""
    room, (low, high), pixel = gutter - _LEADER - 6, drawing.y.ends, drawing.pixel
    if head:
        place: dict[str, Any] = {"x": 1, "y": 1, "refs": ("paper", "paper"), "anchor": ("left", "bottom")}
        drawing.remark(fit(head, room, 11), "grey", shift=(_LEADER + 2, 9), size=11, **place)
    ends = [min(max(one.end, low), high) for one in named]
    many = max(1, int((high - low) / pixel - 14) // _PITCH + 1)
    first = [one.curve.width > 2 or one.curve.color in ("strongest", "chance") for one in named]
    if len(named) > _MOST:
        outermost = (ends.index(max(ends)), ends.index(min(ends)))
        many = min(many, len({*(i for i, one in enumerate(first) if one), *outermost}))
    stay = kept(ends, first, many)
    heights = spread([ends[i] for i in stay], _PITCH * pixel, low + 7 * pixel, high - 7 * pixel)
    for i, height in zip(stay, heights, strict=True):
        curve, bold = named[i].curve, f"<b>{named[i].value}</b> " if named[i].value else ""
        left = room - (width(f"<b>{named[i].value} </b>") if bold else 0)
        if named[i].last < drawing.x.ends[1]:
            drawing.segment((named[i].last, drawing.x.ends[1]), ends[i], curve.color, layer="below")
        drawing.segment((1, _LEADER), (ends[i], height), curve.color, xref="paper", xsizemode="pixel", xanchor=1)
        words, place = bold + fit(curve.name, left), {"x": 1, "y": height, "refs": ("paper", "y")}
        hover = "" if words.endswith(fit(curve.name, 9999)) else fit(curve.name, 9999)
        drawing.remark(words, curve.color, shift=(_LEADER + 2, 0), hover=hover, **place)


def _key(drawing: Drawing, named: Sequence[_Placed]) -> None:
    """Name the curves in rows under the plot, the highest at its right end first."""
    room = drawing.room + _LEFT - 36 - _LEFT // 2
    for i, one in enumerate(sorted(named, key=lambda one: -one.end)):
        down, left = -54 - _KEY * i, 8 - _LEFT
        pixels: dict[str, Any] = {"xref": "paper", "xsizemode": "pixel", "xanchor": 0}
        pixels |= {"yref": "paper", "ysizemode": "pixel", "yanchor": 0}
        drawing.segment((left, left + 18), down, one.curve.color, width=one.curve.width, **pixels)
        words = f"<b>{one.value}</b> {fit(one.curve.name, room - width(one.value))}"
        place: dict[str, Any] = {"x": 0, "y": 0, "refs": ("paper", "paper"), "shift": (left + 26, down)}
        drawing.remark(words, one.curve.color, **place)


def _corner(drawing: Drawing, named: Sequence[_Placed], head: str) -> None:
    """Name the curves in the corner under the diagonal, with their values."""
    room = 0.55 * drawing.room
    lines = [(one.curve.color, f"{fit(one.curve.name, room - width(one.value))} <b>{one.value}</b>") for one in named]
    place: dict[str, Any] = {"x": 1, "y": 0, "refs": ("paper", "paper"), "anchor": ("right", "bottom")}
    for i, (color, words) in enumerate(reversed([("ink", head), *lines] if head else lines)):
        drawing.remark(words, color, shift=(-6, 8 + LINE * 13 * i), fill="background", **place)
