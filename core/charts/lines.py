"""The form of all curves, ROC curves among them: levels to compare with, bands, dots, and names in a gutter.

Names stand in a column right of the plot, moved apart where they would touch, and a thin line leads to each from the
end of its curve; so no words are where data can come. ROC curves leave the corner under the diagonal free for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import Axis, Drawing, Sketch, cells
from core.charts.theme import Palette
from core.charts.words import NARROW, fit, kept, spread, width
from core.estimates import Estimate, percent

GUTTER = 152
"""Pixels right of the plot for the names of curves."""

_LEFT = 46
_LEADER = 12  # pixels from the end of a curve to its name
_PITCH = 17  # pixels from one name to the next
_KEY = 18  # pixels of a name under the plot
_PARTS = ("value", "low", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A measured point of a curve; `ends` is the interval drawn at it, nan for none."""

    x: float
    y: float
    told: str = ""
    ends: tuple[float, float] = (math.nan, math.nan)
    hollow: bool = False
    color: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve with its interval.

    Attributes
    ----------
    y, low, high : sequence of float or None
        Its heights and the limits of its interval; None is a gap.
    name, value : str
        Its name at the right, nobody's when empty, and its value there at the slider.
    now : float, optional
        Its height at the slider, drawn as a dot.
    hollow : bool
        Whether that dot stands for nothing that was measured.
    level : bool
        Whether it is a straight line to compare with, behind all curves.
    estimates : sequence of Estimate or None
        What it is drawn from, for the table.
    """

    x: Sequence[float]
    y: Sequence[float | None]
    color: str
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    dash: str = "solid"
    width: float = 2
    opacity: float = 1
    name: str = ""
    value: str = ""
    hover: str = ""
    now: float | None = None
    hollow: bool = False
    level: bool = False
    dots: Sequence[Dot] = ()
    symbol: str = "circle"
    size: float = 7
    estimates: Sequence[Estimate | None] = ()

    @classmethod
    def of(
        cls,
        x: Sequence[float],
        estimates: Sequence[Estimate | None],
        *,
        scale: float = 100,
        band: bool = True,
        **look: Any,
    ) -> Curve:
        """Return the curve of estimates times `scale`, with their intervals where a `band` shows them."""
        parts = ([math.nan if e is None else scale * getattr(e, part) for e in estimates] for part in _PARTS)
        value, low, high = ([None if math.isnan(v) else v for v in part] for part in parts)
        look |= {"estimates": estimates, "low": low if band else (), "high": high if band else ()}
        return cls(x=x, y=value, **look)

    @property
    def end(self) -> float:
        """Where it ends at the right; nan where it has no point."""
        return next((y for y in reversed(self.y) if y is not None), math.nan)

    @property
    def label(self) -> str:
        """Its value and name, as the gutter has them, on any width."""
        return f"{self.value} {self.name}".strip()


def level(x: Axis, height: float, color: str, name: str = "", value: str = "", *, dash: str = "dash") -> Curve:
    """Return a horizontal line to compare with."""
    ends: dict[str, Any] = {"x": list(x.ends), "y": [height] * 2}
    return Curve(**ends, color=color, name=name, value=value, dash=dash, width=1.5, level=True)


def compared(x: Axis, rate: Estimate, color: str, name: str, *, dash: str = "dot") -> Curve:
    """Return the level of a rate, in percent."""
    return level(x, 100 * rate.value, color, name, percent(rate), dash=dash)


def pointed(x: Axis, at: float, height: float, color: str, name: str, value: str) -> Curve:
    """Return what leads from a point to its name."""
    ends: dict[str, Any] = {"x": [at, x.ends[1]], "y": [height] * 2}
    return Curve(**ends, color=color, name=name, value=value, dash="dot", width=1, level=True)


def reach(curves: Iterable[Curve]) -> list[float]:
    """Return all heights that an axis must hold; with intervals, also their limits."""
    return [v for curve in curves for side in (curve.y, curve.low, curve.high) for v in side if v is not None]


def draw_lines(
    palette: Palette,
    title: str,
    curves: Sequence[Curve],
    *,
    x: Axis,
    y: Axis,
    rows: Any = None,
    at: float | None = None,
    head: str = "",
    height: int = 310,
    gutter: int = GUTTER,
    narrow: float = NARROW,
    shaded: tuple[str, Sequence[tuple[float, float]]] = ("", ()),
    diagonal: bool = False,
) -> Drawing:
    """Draw curves, the later ones on top, and the slider's position `at`, which the names' `head` tells.

    Parameters
    ----------
    rows : table, optional
        The numbers drawn; by default each curve's own.
    shaded : (words, parts of the x axis)
        What is set off, and what that means.
    gutter : int
        Pixels for the names; 0 sets them under the plot.
    narrow : float
        Pixels of the narrowest screen it is for.
    diagonal : bool
        Whether the diagonal is drawn, and names stand in the corner under it.
    """
    above = 42 if shaded[0] else 32
    below = 0 if gutter else _KEY * sum(bool(curve.name) for curve in curves)
    margins = (_LEFT, 18 if diagonal or not gutter else gutter, above, 48 + below)
    sketch = Sketch(palette, height=height + below, x=x, y=y, margins=margins, narrow=narrow)
    for part in shaded[1]:
        sketch.shade(part, y.ends, palette.pale)
    sketch.axes()
    if diagonal:
        ends = (max(x.ends[0], y.ends[0]), min(x.ends[1], y.ends[1]))
        sketch.segment(ends, ends, palette.chance, width=1.5, dash="dot")
    for curve in curves:
        _draw(sketch, curve)
    if at is not None:
        _slider(sketch, at, [curve for curve in curves if curve.now is not None])
    for curve in curves:
        _dots(sketch, curve)
    named = [curve for curve in curves if curve.name and not math.isnan(curve.end)]
    if not named:
        sketch.in_the_middle("being measured")
    elif diagonal:
        _corner(sketch, named, head)
    elif gutter:
        _gutter(sketch, named, head, gutter)
    else:
        _key(sketch, named)
    if shaded[0] and shaded[1]:
        sketch.above(fit(f"shaded: {shaded[0]}", sketch.room + _LEFT - 14, 12), shift=(10 - _LEFT, 25))
    said = [curve.label for curve in sorted(named, key=lambda curve: -curve.end)]
    said += [f"shaded, {shaded[0]}"] if shaded[0] and shaded[1] else []
    form = f"Line chart, {y.title} over {x.title}"
    sketch.say(form, head if named else "", said or ["being measured"])
    return Drawing(title=title, sketch=sketch, rows=_rows(curves, x.title) if rows is None else rows)


def _rows(curves: Sequence[Curve], x: str) -> list[Mapping[str, Any]]:
    return [
        {"curve": curve.name, x: at, **cells("value", found)}
        for curve in curves
        for at, found in zip(curve.x, curve.estimates, strict=bool(curve.estimates))
    ]


def _draw(sketch: Sketch, curve: Curve) -> None:
    """Draw a curve over its band, which is cut at the ends of the axis."""
    bottom, top = sketch.y.ends
    edges = zip(curve.x, curve.low, curve.high, strict=True) if curve.low else ()
    inside = [(x, max(low, bottom), min(high, top)) for x, low, high in edges if low is not None and high is not None]
    if len(inside) > 1:
        places, lows, highs = (list(side) for side in zip(*inside, strict=True))
        sketch.band(places, lows, highs, curve.color)
    look: dict[str, Any] = {"width": curve.width, "dash": curve.dash}
    if curve.level:
        sketch.segment((curve.x[0], curve.x[-1]), curve.end, curve.color, **look, layer="below")
    elif len(curve.y) - list(curve.y).count(None) > 1:
        sketch.line(curve.x, curve.y, curve.color, **look, hover=curve.hover, opacity=curve.opacity)


def _slider(sketch: Sketch, at: float, curves: Sequence[Curve]) -> None:
    """Draw a line up to the highest curve and a dot on each."""
    heights = [curve.now for curve in curves if curve.now is not None]
    back, (bottom, top) = sketch.palette.background, sketch.y.ends
    sketch.segment(at, (bottom, max(heights, default=top)), sketch.palette.ink, layer="below")
    sketch.markers(
        [at] * len(heights),
        heights,
        size=[12 if curve.width > 2 else 9 for curve in curves],
        color=[back if curve.hollow else curve.color for curve in curves],
        rim=([curve.color if curve.hollow else back for curve in curves], 2),
        told=[fit(curve.label, 9999) for curve in curves],
        name="slider",
    )


def _dots(sketch: Sketch, curve: Curve) -> None:
    """Draw what was measured, with its interval where it has one."""
    if not curve.dots:
        return
    back, colors = sketch.palette.background, [dot.color or curve.color for dot in curve.dots]
    drawn = any(not math.isnan(dot.ends[0]) for dot in curve.dots)
    sketch.markers(
        [dot.x for dot in curve.dots],
        [dot.y for dot in curve.dots],
        size=curve.size,
        color=[back if dot.hollow else color for dot, color in zip(curve.dots, colors, strict=True)],
        symbol=curve.symbol,
        rim=([c if dot.hollow else back for dot, c in zip(curve.dots, colors, strict=True)], 1.5),
        told=[dot.told for dot in curve.dots],
        ends=[(dot.y, dot.y) if math.isnan(dot.ends[0]) else dot.ends for dot in curve.dots] if drawn else (),
        stroke=curve.color,
    )


def _gutter(sketch: Sketch, curves: Sequence[Curve], head: str, gutter: int) -> None:
    """Name the curves right of the plot, as many as have room, each with its value in bold."""
    room, (low, high), pixel = gutter - _LEADER - 6, sketch.y.ends, sketch.pixel
    if head:
        place: dict[str, Any] = {"x": 1, "y": 1, "refs": ("paper", "paper"), "anchor": ("left", "bottom")}
        words = fit(head, room, 11)
        sketch.remark(words, sketch.palette.grey, shift=(_LEADER + 2, 9), size=11, **place)
    ends = [min(max(curve.end, low), high) for curve in curves]
    wanted = [end if curve.now is None else curve.now for curve, end in zip(curves, ends, strict=True)]
    many = max(1, int((high - low) / pixel - 14) // _PITCH + 1)
    stay = kept(wanted, [curve.width > 2 for curve in curves], many)
    heights = spread([wanted[i] for i in stay], _PITCH * pixel, low + 7 * pixel, high - 7 * pixel)
    for i, height in zip(stay, heights, strict=True):
        curve = curves[i]
        left = room - (width(f"<b>{curve.value} </b>") if curve.value else 0)
        bold = f"<b>{curve.value}</b> " if curve.value else ""
        sketch.segment((1, _LEADER), (ends[i], height), curve.color, xref="paper", xsizemode="pixel", xanchor=1)
        words, place = bold + fit(curve.name, left), {"x": 1, "y": height, "refs": ("paper", "y")}
        hover = "" if words.endswith(fit(curve.name, 9999)) else fit(curve.name, 9999)
        sketch.remark(words, curve.color, shift=(_LEADER + 2, 0), hover=hover, **place)


def _key(sketch: Sketch, curves: Sequence[Curve]) -> None:
    """Name the curves in rows under the plot, the highest at its right end first."""
    room = sketch.room + _LEFT - 36 - _LEFT // 2
    for i, curve in enumerate(sorted(curves, key=lambda curve: -curve.end)):
        down, left = -54 - _KEY * i, 8 - _LEFT
        pixels: dict[str, Any] = {"xref": "paper", "xsizemode": "pixel", "xanchor": 0}
        pixels |= {"yref": "paper", "ysizemode": "pixel", "yanchor": 0}
        sketch.segment((left, left + 18), down, curve.color, width=curve.width, **pixels)
        words = f"<b>{curve.value}</b> {fit(curve.name, room - width(curve.value))}"
        place: dict[str, Any] = {"x": 0, "y": 0, "refs": ("paper", "paper"), "shift": (left + 26, down)}
        sketch.remark(words, curve.color, **place)


def _corner(sketch: Sketch, curves: Sequence[Curve], head: str) -> None:
    """Name the curves in the corner under the diagonal, with their values."""
    lines, room = [head] if head else [], 0.55 * sketch.room
    for curve in curves:
        words = f"{fit(curve.name, room - width(curve.value))} <b>{curve.value}</b>"
        lines.append(f'<span style="color:{curve.color}">{words}</span>')
    place: dict[str, Any] = {"x": 1, "y": 0, "refs": ("paper", "paper"), "anchor": ("right", "bottom")}
    sketch.remark("<br>".join(lines), sketch.palette.ink, shift=(-6, 8), fill=sketch.palette.background, **place)
