"""Where the words of a chart stand on a screen of a given width, in pixels, so that tests can see them collide."""

from __future__ import annotations

import re
from html import unescape
from itertools import combinations
from typing import Any, NamedTuple

import plotly.graph_objects as go

from core.charts import Drawing
from core.charts.words import LINE, width

__all__ = ["Box", "assert_readable", "boxes", "check", "dots", "plain", "written"]

_SLACK = 2.0  # pixels by which boxes may touch


class Box(NamedTuple):
    """Words and the rectangle they take."""

    words: str
    left: float
    top: float
    right: float
    bottom: float


def plain(words: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", words)).strip()


def check(drawing: Drawing) -> go.Figure:
    """Build the chart with plotly's checks; check its text, and that its words can be read on every screen."""
    figure = drawing.sketch.figure(check=True)
    assert drawing.alt.endswith(".") and "\n" not in drawing.alt and "nan" not in drawing.alt
    assert figure.layout.xaxis.fixedrange and figure.layout.yaxis.fixedrange
    assert "<script" not in figure.to_json().replace("\\u003c", "<")
    assert_readable(figure)
    return figure


def written(figure: go.Figure) -> list[str]:
    """Return all words of a chart, as they are read."""
    return [box.words for box in boxes(figure, 1240)]


def dots(figure: go.Figure) -> list[go.Scatter]:
    """Return the traces of markers."""
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers"]


def assert_readable(figure: go.Figure, widths: tuple[int, ...] = (360, 400, 700, 1240)) -> None:
    """Check that at every width no words are cut at the chart's border and no two overlap."""
    plain_figure = figure.to_plotly_json()
    height = plain_figure["layout"]["height"]
    for wide in widths:
        found = _boxes(plain_figure, wide)
        for box in found:
            assert box.left >= -_SLACK and box.right <= wide + _SLACK, (wide, box)
            assert box.top >= -_SLACK and box.bottom <= height + _SLACK, (wide, box)
        for a, b in combinations(found, 2):
            across = min(a.right, b.right) - max(a.left, b.left)
            along = min(a.bottom, b.bottom) - max(a.top, b.top)
            assert across <= _SLACK or along <= _SLACK, (wide, a, b)


def boxes(figure: go.Figure, width: int) -> list[Box]:
    """Return the words of a chart that is drawn `width` pixels wide: labels, remarks and ticks."""
    return _boxes(figure.to_plotly_json(), width)


def _boxes(figure: dict[str, Any], width: int) -> list[Box]:
    plot = _plot(figure["layout"], width)
    return [*_cells(figure, plot), *_remarks(figure, plot), *_ticks(figure, plot)]


class _Plot(NamedTuple):
    """The plot in pixels."""

    left: float
    top: float
    wide: float
    high: float
    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, x: float, ref: str = "x") -> float:
        share = x if ref == "paper" else (x - self.x[0]) / (self.x[1] - self.x[0])
        return self.left + share * self.wide

    def down(self, y: float, ref: str = "y") -> float:
        share = y if ref == "paper" else (y - self.y[0]) / (self.y[1] - self.y[0])
        return self.top + (1 - share) * self.high


def _plot(layout: dict[str, Any], width: int) -> _Plot:
    margin, (x, y) = layout["margin"], (tuple(layout[axis]["range"]) for axis in ("xaxis", "yaxis"))
    high = layout["height"] - margin["t"] - margin["b"]
    return _Plot(margin["l"], margin["t"], width - margin["l"] - margin["r"], high, x, y)


def _box(words: str, x: float, y: float, size: float, across: str, along: str) -> Box:
    lines = [plain(line) for line in words.split("<br>")]
    wide, high = width(words, size), LINE * size * len(lines)
    left = x - {"left": 0.0, "center": wide / 2, "right": wide}[across]
    top = y - {"top": 0.0, "middle": high / 2, "bottom": high}[along]
    return Box(" ".join(lines), left, top, left + wide, top + high)


def _cells(figure: dict[str, Any], plot: _Plot) -> list[Box]:
    return [
        _box(words, plot.across(x), plot.down(y), trace["textfont"]["size"], "center", "middle")
        for trace in figure["data"]
        if trace["type"] == "heatmap"
        for y, row in zip(trace["y"], trace["text"], strict=True)
        for x, words in zip(trace["x"], row, strict=True)
    ]


def _remarks(figure: dict[str, Any], plot: _Plot) -> list[Box]:
    return [
        _box(
            a["text"],
            plot.across(a["x"], a["xref"]) + a["xshift"],
            plot.down(a["y"], a["yref"]) - a["yshift"],
            a["font"]["size"],
            a["xanchor"],
            a["yanchor"],
        )
        for a in figure["layout"].get("annotations", ())
    ]


def _ticks(figure: dict[str, Any], plot: _Plot) -> list[Box]:
    found, bottom = [], plot.top + plot.high + 8
    x, y = figure["layout"]["xaxis"], figure["layout"]["yaxis"]
    if x.get("showticklabels") is not False:
        for at, words in zip(x.get("tickvals", ()), x.get("ticktext", ()), strict=True):
            found.append(_box(words, plot.across(at), bottom, x["tickfont"]["size"], "center", "top"))
    if y.get("showticklabels"):
        for at, words in zip(y.get("tickvals", ()), y.get("ticktext", ()), strict=True):
            found.append(_box(words, plot.left - 2, plot.down(at), y["tickfont"]["size"], "right", "middle"))
    return found
