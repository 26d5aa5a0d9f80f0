"""The form of all curves: levels named at the left, curves at the right, in the order of their values.

Names stand in a column right of the plot, moved apart where they would touch, and a thin line leads to each from the
end of its curve; so no words are where data can come.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import Axis, Palette, Sketch, bare, spread
from core.estimates import Estimate, percent

LEFT, GUTTER = 46, 132
"""Pixels left and right of the plot; a slider under it has the same margins."""

_PARTS = ("value", "low", "high")
_LEADER = 12  # pixels from the end of a curve to its name


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve with its interval.

    Attributes
    ----------
    y, low, high : sequence of float or None
        Its heights and the limits of its interval; None is a gap.
    words : str
        Its name at the right, the value at the slider first; empty without.
    now : float, optional
        Its height at the slider, drawn as a dot.
    hollow : bool
        Whether that dot stands for nothing that was measured.
    straight : bool
        Whether it is a straight line that is no data, behind all curves.
    """

    x: Sequence[float]
    y: Sequence[float | None]
    color: str
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    dash: str = "solid"
    width: float = 2
    opacity: float = 1
    words: str = ""
    hover: str = ""
    now: float | None = None
    hollow: bool = False
    straight: bool = False

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
        return cls(x=x, y=value, low=low if band else (), high=high if band else (), **look)

    @property
    def end(self) -> float:
        """Where it ends at the right; nan where it has no point."""
        return next((y for y in reversed(self.y) if y is not None), math.nan)


def level(axis: Axis, height: float, color: str, words: str = "", *, dash: str = "dot") -> Curve:
    """Return a height to compare with, drawn over the whole axis."""
    return Curve(x=axis.ends, y=[height, height], color=color, words=words, dash=dash, straight=True)


def compared(axis: Axis, estimate: Estimate, color: str, name: str, *, dash: str = "dot") -> Curve:
    """Return the line of a rate to compare with, named by its value."""
    words = f"<b>{percent(estimate)}</b> {name}"
    return level(axis, 100 * estimate.value, color, words, dash=dash)


def pointed(axis: Axis, x: float, y: float, color: str, words: str) -> Curve:
    """Return a dotted line from a point to its name at the right."""
    return Curve(x=[x, axis.ends[1]], y=[y, y], color=color, words=words, dash="dot", width=1, straight=True)


def reach(curves: Iterable[Curve]) -> list[float]:
    """Return all that an axis of these curves must hold."""
    return [v for curve in curves for side in (curve.y, curve.low, curve.high) for v in side if v is not None]


def draw_lines(
    palette: Palette,
    curves: Sequence[Curve],
    *,
    x: Axis,
    y: Axis,
    height: int = 300,
    gutter: int = GUTTER,
    at: float | None = None,
    head: str = "",
    shaded: Sequence[tuple[float, float]] = (),
) -> Sketch:
    """Draw curves, the later ones on top, and the slider's position `at`, which the names' `head` tells."""
    sketch = bare(palette, height=height, x=x.ends, y=y.ends, margins=(LEFT, gutter, 32, 48))
    for part in shaded:
        sketch.shade(part, y.ends, palette.pale, opacity=1)
    sketch.axes(x, y)
    for curve in curves:
        edges = zip(curve.x, curve.low, curve.high, strict=True) if curve.low else ()
        inside = [
            (place, max(low, y.ends[0]), min(high, y.ends[1]))
            for place, low, high in edges
            if low is not None and high is not None
        ]
        if len(inside) > 1:
            places, lows, highs = (list(side) for side in zip(*inside, strict=True))
            sketch.band(places, lows, highs, curve.color)
        if curve.straight:
            ends = (curve.x[0], curve.x[-1])
            sketch.segment(ends, curve.end, curve.color, width=curve.width, dash=curve.dash, layer="below")
    for curve in curves:
        look: dict[str, Any] = {
            "width": curve.width,
            "dash": curve.dash,
            "hover": curve.hover,
            "opacity": curve.opacity,
        }
        if not curve.straight and len(curve.y) - list(curve.y).count(None) > 1:
            sketch.line(curve.x, curve.y, curve.color, **look)
    if at is not None:
        _slider(sketch, at, [curve for curve in curves if curve.now is not None], y)
    _names(sketch, [curve for curve in curves if curve.words and not math.isnan(curve.end)], head, y)
    return sketch


def _slider(sketch: Sketch, at: float, curves: Sequence[Curve], y: Axis) -> None:
    """Draw a line up to the highest curve and a dot on each."""
    heights = [curve.now for curve in curves if curve.now is not None]
    back = sketch.palette.background
    sketch.segment(at, (y.ends[0], max(heights, default=y.ends[1])), sketch.palette.ink, layer="below")
    sketch.markers(
        [at] * len(heights),
        heights,
        size=[12 if curve.width > 2 else 9 for curve in curves],
        color=[back if curve.hollow else curve.color for curve in curves],
        rim=([curve.color if curve.hollow else back for curve in curves], 2),
        told=[re.sub("<.*?>", "", curve.words) for curve in curves],
        name="slider",
    )


def _names(sketch: Sketch, curves: Sequence[Curve], head: str, y: Axis) -> None:
    grey, pixel, (low, high) = sketch.palette.grey, sketch.pixel, y.ends
    if not curves:
        sketch.in_the_middle("being measured")
    if head:
        side, place = ("left", "bottom"), ("paper", "paper")
        sketch.remark(head, grey, x=1, y=1, refs=place, shift=(_LEADER + 2, 9), anchor=side, size=11)
    ends = [min(max(curve.end, low), high) for curve in curves]
    wanted = [end if curve.now is None else curve.now for curve, end in zip(curves, ends, strict=True)]
    heights = spread(wanted, 17 * pixel, low + 7 * pixel, high - 7 * pixel)
    for curve, end, height in zip(curves, ends, heights, strict=True):
        sketch.lead(end, height, curve.color, length=_LEADER)
        sketch.remark(curve.words, curve.color, x=1, y=height, refs=("paper", "y"), shift=(_LEADER + 2, 0))
