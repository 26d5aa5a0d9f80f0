"""Charts with words beside the plot: the columns of words have a width in pixels, so that every screen has room.

What is inside the plot grows with the screen; names at its left and values at its right do not.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from core.figures.drawing import Palette, Sketch, bare, spread
from core.wording import gap

_STEPS = (0.15, 0.25, 0.4, 0.6, 0.8, 1.05)
_NARROWEST = 0.45
"""Share of the longer side that the shorter side of an axis of gaps has at least."""


class Framed(Sketch):
    """A sketch with remarks outside the plot and labelled ticks at its left."""

    def __init__(self, layout: dict[str, Any], *, width: dict[str, int]) -> None:
        super().__init__(layout)
        self._layout["margin"] = width
        self._layout["annotations"] = []

    def yaxis(self, **properties: Any) -> None:
        """Set properties of the y axis."""
        self._layout["yaxis"].update(properties)

    def remark(
        self,
        words: str,
        color: str,
        *,
        x: float,
        y: float,
        refs: tuple[str, str] = ("x", "y"),
        shift: tuple[float, float] = (0, 0),
        anchor: tuple[str, str] = ("left", "middle"),
        size: int = 13,
        fill: str = "rgba(0,0,0,0)",
    ) -> None:
        """Add words at (x, y), moved by `shift` pixels; `refs` are the axes or "paper", `fill` hides what is below."""
        self._layout["annotations"].append(
            {
                "text": words,
                "x": x,
                "y": y,
                "xref": refs[0],
                "yref": refs[1],
                "xshift": shift[0],
                "yshift": shift[1],
                "xanchor": anchor[0],
                "yanchor": anchor[1],
                "align": anchor[0],
                "showarrow": False,
                "borderpad": 0,
                "bgcolor": fill,
                "font": {"color": color, "size": size},
            }
        )

    def axis_title(self, words: str, palette: Palette, *, below: int = 25) -> None:
        """Say under the x axis what it shows, `below` pixels under the plot."""
        place = ("paper", "paper")
        self.remark(words, palette.grey, x=0.5, y=0, refs=place, shift=(0, -below), anchor=("center", "top"), size=12)

    def above(self, words: str, palette: Palette, *, x: float, right: bool = False) -> None:
        """Write over the plot, beginning at x, or ending there (`right`)."""
        side = ("right" if right else "left", "bottom")
        self.remark(words, palette.grey, x=x, y=1, refs=("x", "paper"), shift=(0, 3), anchor=side, size=12)

    def in_the_middle(self, words: str, palette: Palette) -> None:
        """Write in the middle of an empty plot."""
        place, fill = ("paper", "paper"), palette.background
        self.remark(words, palette.grey, x=0.5, y=0.5, refs=place, anchor=("center", "middle"), fill=fill)

    def shade_row(self, y: tuple[float, float], color: str, *, left: int, right: int) -> None:
        """Fill rows over the plot and over the columns at its left and right (their widths in pixels)."""
        side = {"type": "rect", "xref": "paper", "y0": y[0], "y1": y[1], "fillcolor": color, "layer": "below"}
        side["line"] = {"width": 0}
        pixels = {"xsizemode": "pixel"}
        self._layout["shapes"] += [
            {**side, "x0": 0, "x1": 1},
            {**side, **pixels, "xanchor": 0, "x0": -left, "x1": 1},
            {**side, **pixels, "xanchor": 1, "x0": -1, "x1": right},
        ]


def framed(
    palette: Palette,
    *,
    height: int,
    x: tuple[float, float],
    y: tuple[float, float],
    left: int = 9,
    right: int = 14,
    top: int = 8,
    bottom: int = 30,
) -> Framed:
    """Return an empty chart with fixed ranges and margins in pixels."""
    layout = bare(palette, height=height, x=x, y=y)._layout
    sketch = Framed(layout, width={"l": left, "r": right, "t": top, "b": bottom})
    sketch.yaxis(ticks="", tickfont={"color": palette.grey, "size": 12})
    return sketch


def gap_range(values: Iterable[float]) -> tuple[float, float]:
    """Return the range of an axis of gaps: from -0.15 to 0.25, wider in steps where a value lies beyond."""
    known = [v for v in values if not math.isnan(v)]
    below = _step(-min(known, default=0.0), first=0)
    above = _step(max(known, default=0.0), first=1)
    below, above = (_step(max(side, _NARROWEST * other), first=0) for side, other in ((below, above), (above, below)))
    return -below, above


def _step(reach: float, *, first: int) -> float:
    return next((step for step in _STEPS[first:] if step >= reach), _STEPS[-1])


def gap_axis(low: float, high: float) -> tuple[list[float], list[str]]:
    """Return round gaps within the range and how they are written."""
    step = next(s for s in (0.1, 0.2, 0.5) if (high - low) / s <= 7 or s == 0.5)
    marks = [round(step * i, 1) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return marks, [gap(mark, decimals=1) if mark else "0" for mark in marks]


def label_column(
    sketch: Framed,
    palette: Palette,
    wanted: Sequence[tuple[float, str, str]],
    *,
    low: float,
    high: float,
    pixels: int,
    head: str = "",
) -> None:
    """Write (height, words, colour) at the right of the plot, moved apart where they would overlap.

    Parameters
    ----------
    low, high : float
        Of the y axis, which is `pixels` long.
    head : str
        Written above them.
    """
    pixel = (high - low) / pixels
    if head:
        place = ("left", "bottom")
        sketch.remark(head, palette.grey, x=1, y=1, refs=("paper", "paper"), shift=(8, 3), anchor=place, size=11)
    heights = spread([w[0] for w in wanted], 17 * pixel, low + 7 * pixel, high - 7 * pixel)
    for height, (_, words, color) in zip(heights, wanted, strict=True):
        sketch.remark(words, color, x=1, y=height, refs=("paper", "y"), shift=(8, 0))


def plain_name(name: str, longest: int = 40) -> str:
    """Return a name from the user's table for a sentence: one line of bounded length, not escaped."""
    flat = " ".join(name.split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def lines_of(sentence: str, *, width: int, most: int) -> str:
    """Return a sentence in harmless lines of at most `width` letters; what is beyond `most` lines is cut."""
    lines = textwrap.wrap(sentence, width=width, max_lines=most, placeholder="…")
    return "<br>".join(escape(line, quote=False) for line in lines)


def mixed(color: str, background: str, share: float) -> str:
    """Return a colour laid over a background with this opacity."""
    pairs = [(int(color[i : i + 2], 16), int(background[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * over + (1 - share) * under):02X}" for over, under in pairs)
