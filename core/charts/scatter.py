"""The form of all points: each person at a place, of a colour and marker by kind, counted over the plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import Axis, Drawing, Sketch
from core.charts.theme import Palette
from core.charts.words import LINE, fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """People of one kind; `told` is what the pointer tells of each."""

    x: Sequence[float]
    y: Sequence[float]
    color: str
    symbol: str = "circle"
    size: float = 8
    opacity: float = 1
    told: Sequence[str] | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A part of the plot that is set off."""

    x: tuple[float, float]
    y: tuple[float, float]


def draw_scatter(
    palette: Palette,
    title: str,
    points: Sequence[Points],
    *,
    x: Axis,
    y: Axis,
    counts: Sequence[tuple[str, str]],
    rows: Any,
    regions: Sequence[Region] = (),
    threshold: float | None = None,
    diagonal: bool = False,
    height: int = 344,
) -> Drawing:
    """Draw points, the later ones on top.

    Parameters
    ----------
    counts : sequence of (words, colour)
        How many of each kind there are: a line each, over the plot, where no point can come.
    threshold : float, optional
        A height at which a dashed line is drawn.
    diagonal : bool
        Whether the diagonal is drawn.
    """
    top = 30 + 18 * len(counts)
    sketch = Sketch(palette, height=height + 18 * len(counts), x=x, y=y, margins=(46, 18, top, 48))
    for region in regions:
        sketch.shade(region.x, region.y, palette.leak, opacity=0.16)
    sketch.axes()
    if diagonal:
        sketch.segment(x.ends, x.ends, palette.chance, width=1.5, dash="dot")
    if threshold is not None:
        sketch.segment(x.ends, threshold, palette.ink, width=1.5, dash="longdash")
    for some in points:
        rim = (palette.background, 1) if some.told is not None else ("", 0)
        look: dict[str, Any] = {"size": some.size, "color": some.color, "symbol": some.symbol, "opacity": some.opacity}
        sketch.markers(list(some.x), list(some.y), **look, rim=rim, told=some.told, name=some.name)
    for i, (words, color) in enumerate(counts):
        line = 9 + LINE * 12 + 4 + 18 * (len(counts) - 1 - i)
        sketch.above(fit(words, sketch.room + 20, 12), shift=(10 - 46, line), color=color)
    sketch.say(f"Scatter plot, {y.title} by {x.title}", "", [words for words, _ in counts])
    return Drawing(title=title, sketch=sketch, rows=rows)
