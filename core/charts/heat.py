"""The form of all maps: coloured cells with their numbers, what the pointer tells of each, and the scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.charts.drawing import Palette, Sketch, bare


def draw_heat(
    palette: Palette,
    values: Sequence[Sequence[float | None]],
    words: Sequence[Sequence[str]],
    *,
    names: tuple[Sequence[str], Sequence[str]],
    colors: tuple[str, str],
    ends: tuple[float, float],
    told: Sequence[Sequence[str]],
    left: int,
    pitch: int,
    title: str = "",
    scale: tuple[str, dict[float, str]] | None = None,
) -> Sketch:
    """Draw cells, the names of columns under them and those of rows at the left, in `left` pixels.

    The colour goes from one to the other between the ends; `scale` is its heading and what its marks are called.
    """
    deep, wide = len(values), len(values[0])
    x, y = (-0.5, wide - 0.5), (deep - 0.5, -0.5)
    below = 28 + 22 * bool(title) + 76 * (scale is not None)
    sketch = bare(palette, height=pitch * deep + below + 8, x=x, y=y, margins=(left, 14, 8, below))
    sketch.ticks(range(wide), names[0], showline=False, ticks="")
    sketch.yaxis(showticklabels=True, tickvals=list(range(deep)), ticktext=list(names[1]))
    if title:
        sketch.axis_title(title)
    look: dict[str, Any] = {"showscale": False}
    if scale is not None:
        font = {"color": palette.grey, "size": 12}
        look = {
            "colorbar": {
                "orientation": "h",
                "len": 0.62,
                "thickness": 13,
                "y": -52 / (pitch * deep),
                "yanchor": "top",
                "outlinewidth": 0,
                "ticks": "outside",
                "tickcolor": palette.ink,
                "tickvals": list(scale[1]),
                "ticktext": list(scale[1].values()),
                "tickfont": font,
                "title": {"text": scale[0], "side": "top", "font": font},
            }
        }
    sketch.trace(
        "heatmap",
        x=list(range(wide)),
        y=list(range(deep)),
        z=[list(row) for row in values],
        zmin=ends[0],
        zmax=ends[1],
        colorscale=[[0.0, colors[0]], [1.0, colors[1]]],
        xgap=2,
        ygap=2,
        text=[list(row) for row in words],
        texttemplate="%{text}",
        textfont={"color": palette.ink, "size": 13},
        customdata=[list(row) for row in told],
        hoverlabel={"align": "left", "font": {"size": 12}},
        hovertemplate="%{customdata}<extra></extra>",
        **look,
    )
    return sketch
