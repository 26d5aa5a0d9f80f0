"""The forms of a plane: points, and a heat map.

Points are people, each of a colour and marker by kind, counted over the plot. A heat map has coloured cells with their
numbers, what the pointer shows of each, and a column beside them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .drawing import Axis, Drawing
from .theme import LINE, NARROW, fit, lines_of, plain, short, width

_BESIDE = 108  # pixels right of the plot for the counts of regions


Part = tuple[tuple[float, float], tuple[float, float]]
"""A part of the plot, from where to where on either axis."""


def draw_scatter(
    title: str,
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
    """Draw the plane of points, which `add_points` puts on it.

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
    right = _BESIDE if beside else 18
    margins = (46, right, top, 48)
    drawing = Drawing(title, height=height + 18 * len(counts), x=x, y=y, margins=margins)
    for across, up in regions:
        drawing.shade(across, up, "leak", opacity=0.16)
    drawing.rows = rows
    drawing.axes()
    if diagonal:
        drawing.segment(x.ends, x.ends, "chance", width=1.5, dash="dot")
    if threshold is not None:
        drawing.segment(x.ends, threshold, "ink", width=1.5, dash="longdash")
    for i, (label, color) in enumerate(counts):
        line = 9 + LINE * 12 + 4 + 18 * (len(counts) - 1 - i)
        drawing.above(fit(label, drawing.room + 34, 12), shift=(4 - 46, line), color=color)
    for position, label, color in beside:
        drawing.remark(
            lines_of(label, pixels=_BESIDE - 14, size=12),
            color,
            x=1,
            y=position,
            refs=("paper", "y"),
            shift=(10, 0),
            size=12,
            hover=fit(label, 9999),
        )
    descriptions = [*(label for label, _ in counts), *(label for _, label, _ in beside)]
    drawing.say(f"Scatter plot, {y.title} by {x.title}", "", descriptions)
    return drawing


def add_points(
    drawing: Drawing,
    x: Sequence[float],
    y: Sequence[float],
    *,
    color: str,
    symbol: str = "circle",
    size: float = 8,
    opacity: float = 1,
    hover: Sequence[str] | None = None,
    name: str = "",
) -> None:
    """Put people of one kind on top of those drawn before; `hover` is what the pointer shows of each."""
    rim = ("background", 1) if hover is not None else ("", 0)
    drawing.markers(
        [drawing.x.position(at) for at in x],
        [drawing.y.position(at) for at in y],
        size=size,
        color=color,
        symbol=symbol,
        opacity=opacity,
        rim=rim,
        hover=hover,
        name=name,
    )


_FEW = 20  # cells that are all put in words
_NAMES = 142  # pixels for the names of rows, at most


def draw_heat(
    title: str,
    values: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]],
    *,
    names: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str],
    ends: tuple[float, float],
    rows: Any,
    beside: tuple[str, Sequence[str]] | None = None,
) -> Drawing:
    """Draw cells, the names of columns under them and those of rows at the left.

    Parameters
    ----------
    values : sequence of sequence of float
        By row and column; nan is an empty cell.
    texts : sequence of sequence of str
        What is written in each cell; the pointer shows it with the names.
    names, titles : (columns, rows)
        As they are; the form shortens them and makes them harmless.
    ends : (low, high)
        Where the colour begins to grow, and where it ends.
    beside : (heading, words of each row), optional
        A column at the right that belongs to whole rows.
    """
    deep = len(values)
    wide = len(values[0])
    left = min(_NAMES, max(46, *(width(name, 12) + 14 for name in names[1])))
    heading, column = beside or ("", [""] * deep)
    right = max([14, *(width(text) + 20 for text in column if text)])
    room = (NARROW - left - right) / wide - 4
    across = [fit(name, room, 12) for name in names[0]]
    down = [fit(name, left - 12, 12) for name in names[1]]
    x = Axis(ends=(-0.5, wide - 0.5), marks=range(wide), labels=across, title=titles[0])
    y = Axis(ends=(deep - 0.5, -0.5), marks=range(deep), labels=down, title=titles[1])
    drawing = Drawing(title, height=34 * deep + 80, x=x, y=y, margins=(left, right, 32, 48))
    drawing.rows = rows
    drawing.axes()
    drawing.layout["xaxis"] |= {"ticks": ""}
    drawing.layout["shapes"] = []  # of a grid
    size = min(13, int(13 * room / max(1, *(width(text) for row in texts for text in row))))
    hover = [_hover(name, names[0], row) for name, row in zip(names[1], texts, strict=True)]
    drawing.trace(
        "heatmap",
        x=list(range(wide)),
        y=list(range(deep)),
        z=[_measured_or_none(row) for row in values],
        zmin=ends[0],
        zmax=ends[1],
        colorscale=[[0.0, "grid"], [1.0, "shade"]],
        xgap=2,
        ygap=2,
        text=[list(row) for row in texts],
        texttemplate="%{text}",
        textfont={"color": "ink", "size": size},
        customdata=hover,
        hoverlabel={"align": "left", "font": {"size": 12}},
        hovertemplate="%{customdata}<extra></extra>",
        showscale=False,
    )
    for i, text in enumerate(column):
        drawing.at_right(i, text, "ink", (right - 4, 0))
    if heading:
        drawing.above(heading, right=True, shift=(right - 4, 9))
    cells = [
        (values[i][j], i, j)
        for i in range(deep)
        for j in range(wide)
        if not math.isnan(values[i][j])
    ]
    head = ""
    if len(cells) > _FEW:
        head = "lowest and highest"
        cells = [min(cells), max(cells)]
    descriptions = [f"{names[1][i]}, {names[0][j]} {plain(texts[i][j])}" for _, i, j in cells]
    descriptions += [
        f"{names[1][i]}, {heading} {plain(text)}" for i, text in enumerate(column) if text
    ]
    drawing.say(f"Map of {titles[1]} by {titles[0]}", head, descriptions)
    return drawing


def _hover(name: str, columns: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return what the pointer shows of each cell of a row."""
    pairs = zip(columns, texts, strict=True)
    return [f"{short(name, 40)}, {short(column, 40)}: {text}" for column, text in pairs]


def _measured_or_none(row: Sequence[float]) -> list[float | None]:
    """Return a row's numbers, None in place of nan."""
    return [None if math.isnan(value) else value for value in row]
