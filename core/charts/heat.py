"""The form of all maps: coloured cells with their numbers, what the pointer shows of each, and the scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from core.charts.drawing import Axis, Drawing
from core.charts.words import NARROW, fit, plain, short, width

_FEW = 20  # cells that are all put in words


def draw_heat(
    title: str,
    values: Sequence[Sequence[float]],
    words: Sequence[Sequence[str]],
    *,
    names: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    colors: tuple[str, str],
    ends: tuple[float, float],
    rows: Any,
    hover: Sequence[Sequence[str]] = (),
    pitch: int = 34,
    scale: tuple[str, Mapping[float, str]] | None = None,
) -> Drawing:
    """Draw cells, the names of columns under them and those of rows at the left.

    Parameters
    ----------
    values : sequence of sequence of float
        By row and column; nan is an empty cell.
    words, hover : sequence of sequence of str
        What is written in each cell, and what the pointer shows of it: by itself its names and what is written.
    names, titles : (columns, rows)
        As they are; the form shortens them and makes them harmless.
    colors, ends : (low, high)
        The colour goes from one to the other between the ends.
    scale : (heading, mark -> words), optional
        A bar of the colours under the map.
    """
    deep, wide = len(values), len(values[0])
    left = min(124, max(46, *(width(name, 12) + 14 for name in names[1])))
    room = (NARROW - left - 14) / wide - 4
    under, beside = (
        [fit(name, pixels, 12) for name in side] for side, pixels in zip(names, (room, left - 12), strict=True)
    )
    x = Axis(ends=(-0.5, wide - 0.5), marks=range(wide), words=under, title=titles[0])
    y = Axis(ends=(deep - 0.5, -0.5), marks=range(deep), words=beside, title=titles[1])
    below = 48 + 76 * (scale is not None)
    drawing = Drawing(title, height=pitch * deep + below + 32, x=x, y=y, margins=(left, 14, 32, below))
    drawing.rows = rows
    drawing.axes()
    drawing.layout["xaxis"] |= {"ticks": ""}
    drawing.layout["shapes"] = []  # of a grid
    size = min(13, int(13 * room / max(width(one) for row in words for one in row)))
    own = [[f"{short(i, 40)}, {short(j, 40)}: {word}" for j, word in zip(names[0], row, strict=True)]
           for i, row in zip(names[1], words, strict=True)]  # fmt: skip
    drawing.trace(
        "heatmap",
        x=list(range(wide)),
        y=list(range(deep)),
        z=[[None if math.isnan(value) else value for value in row] for row in values],
        zmin=ends[0],
        zmax=ends[1],
        colorscale=[[0.0, colors[0]], [1.0, colors[1]]],
        xgap=2,
        ygap=2,
        text=[list(row) for row in words],
        texttemplate="%{text}",
        textfont={"color": "ink", "size": size},
        customdata=[list(row) for row in hover or own],
        hoverlabel={"align": "left", "font": {"size": 12}},
        hovertemplate="%{customdata}<extra></extra>",
        **({"showscale": False} if scale is None else _bar(*scale, down=54 / (pitch * deep))),
    )
    cells = [(values[i][j], i, j) for i in range(deep) for j in range(wide) if not math.isnan(values[i][j])]
    shown = cells if len(cells) <= _FEW else [min(cells), max(cells)]
    said = [f"{names[1][i]}, {names[0][j]} {plain(words[i][j])}" for _, i, j in shown]
    drawing.say(f"Map of {titles[1]} by {titles[0]}", "" if shown is cells else "lowest and highest", said)
    return drawing


def _bar(heading: str, marks: Mapping[float, str], *, down: float) -> dict[str, Any]:
    """Return a bar of the colours under the map, by that share of its height."""
    font = {"color": "grey", "size": 12}
    look = {"orientation": "h", "len": 0.62, "thickness": 13, "y": -down, "yanchor": "top", "outlinewidth": 0}
    look |= {"ticks": "outside", "tickcolor": "ink", "tickfont": font}
    look |= {"tickvals": list(marks), "ticktext": list(marks.values())}
    return {"colorbar": {**look, "title": {"text": heading, "side": "top", "font": font}}}
