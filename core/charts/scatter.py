"""The form of all points: each person at a place, of a colour and marker by kind, counted over the plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .drawing import Axis, Drawing
from .text import LINE, fit, lines_of

_BESIDE = 108  # pixels right of the plot for the counts of regions


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """People of one kind; `hover` is what the pointer shows of each."""

    x: Sequence[float]
    y: Sequence[float]
    color: str
    symbol: str = "circle"
    size: float = 8
    opacity: float = 1
    hover: Sequence[str] | None = None
    name: str = ""


Part = tuple[tuple[float, float], tuple[float, float]]
"""A part of the plot, from where to where on either axis."""


def draw_scatter(
    title: str,
    points: Sequence[Points],
    *,
    x: Axis,
    y: Axis,
    rows: Any,
    counts: Sequence[tuple[str, str]] = (),
    beside: Sequence[tuple[float, str, str]] = (),
    regions: Sequence[Part] = (),
    threshold: float | None = None,
    diagonal: bool = False,
    height: int = 344,
) -> Drawing:
    """Draw points, the later ones on top.

    Parameters
    ----------
    regions
        What is set off.
    counts : sequence of (words, colour)
        How many of each kind there are: a line each, over the plot, where no point can come.
    beside : sequence of (height, words, colour)
        How many are in a region: in a column right of the plot.
    threshold : float, optional
        A height at which a dashed line is drawn.
    diagonal : bool
        Whether the diagonal is drawn.
    """
    top = 30 + 18 * len(counts)
    margins = (46, _BESIDE if beside else 18, top, 48)
    drawing = Drawing(title, height=height + 18 * len(counts), x=x, y=y, margins=margins)
    for across, up in regions:
        drawing.shade(across, up, "leak", opacity=0.16)
    drawing.rows = rows
    drawing.axes()
    if diagonal:
        drawing.segment(x.ends, x.ends, "chance", width=1.5, dash="dot")
    if threshold is not None:
        drawing.segment(x.ends, threshold, "ink", width=1.5, dash="longdash")
    for group in points:
        rim = ("background", 1) if group.hover is not None else ("", 0)
        look: dict[str, Any] = {
            "size": group.size,
            "color": group.color,
            "symbol": group.symbol,
            "opacity": group.opacity,
        }
        places = [x.position(at) for at in group.x], [y.position(at) for at in group.y]
        drawing.markers(*places, **look, rim=rim, hover=group.hover, name=group.name)
    for i, (label, color) in enumerate(counts):
        line = 9 + LINE * 12 + 4 + 18 * (len(counts) - 1 - i)
        drawing.above(fit(label, drawing.room + 34, 12), shift=(4 - 46, line), color=color)
    for position, label, color in beside:
        look = {"refs": ("paper", "y"), "shift": (10, 0), "size": 12, "hover": fit(label, 9999)}
        drawing.remark(
            lines_of(label, pixels=_BESIDE - 14, size=12), color, x=1, y=position, **look
        )
    descriptions = [*(label for label, _ in counts), *(label for _, label, _ in beside)]
    drawing.say(f"Scatter plot, {y.title} by {x.title}", "", descriptions)
    return drawing
