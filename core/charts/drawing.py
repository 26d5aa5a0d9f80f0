"""What all charts share: colours by role, bare layouts, labels instead of legends.

A colour is a role (what leaks, what was before, the strongest attacker, the control), and no role is told by colour
alone: each has its own dash or marker as well. Text in a role's colour has a contrast of at least 4.5:1. Columns of
words beside a plot have a width in pixels, so that every screen has room; what is inside the plot grows with the
screen.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from core.estimates import Estimate, gap, percent

if TYPE_CHECKING:
    import pandas

_FONT = "Source Sans, Source Sans Pro, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of one theme, by role."""

    ink: str
    background: str
    grid: str
    leak: str
    before: str
    strongest: str
    prior: str
    chance: str
    first: str
    second: str
    muted: str
    grey: str
    fail: str

    @property
    def pale(self) -> str:
        """Behind rows and parts that are set off."""
        return mixed(self.grid, self.background, 0.5)


LIGHT = Palette(
    ink="#22262D",
    background="#FEFDFB",
    grid="#E9E6DF",
    leak="#B84A00",
    before="#6A7585",
    strongest="#6A3D9A",
    prior="#00594F",
    chance="#5B626D",
    first="#1F5FA8",
    second="#946500",
    muted="#A3A7AE",
    grey="#5B626D",
    fail="#A01A13",
)
DARK = Palette(
    ink="#E9E7E2",
    background="#14161B",
    grid="#2A2E36",
    leak="#F5965A",
    before="#8C9AAE",
    strongest="#BDA2EC",
    prior="#86EBD8",
    chance="#A9B0BA",
    first="#7FB2F0",
    second="#E3B34C",
    muted="#6C7480",
    grey="#A9B0BA",
    fail="#F2837B",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStyle:
    """How one of two groups is drawn."""

    color: str  # of marks and words
    symbol: str  # of markers
    pattern: str  # of bars


def group_style(palette: Palette, code: int) -> GroupStyle:
    """Return how one of two groups is drawn on every chart, by its code in the dataset: 1, the first group, or 0."""
    if code == 1:
        return GroupStyle(color=palette.first, symbol="circle", pattern="")
    return GroupStyle(color=palette.second, symbol="diamond", pattern="/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A chart with what stands beside it.

    Attributes
    ----------
    alt : str
        The chart in one or two sentences, for those who do not see it.
    table : pandas.DataFrame
        The numbers drawn.
    """

    sketch: Sketch
    alt: str
    table: pandas.DataFrame

    @classmethod
    def of(cls, sketch: Sketch, alt: str, rows: Any, columns: Sequence[str] | None = None) -> Drawing:
        """Return a chart with its table, of rows (dicts, or tuples with the names of the columns)."""
        import pandas as pd

        return cls(sketch=sketch, alt=alt, table=pd.DataFrame(rows, columns=columns))

    @property
    def figure(self) -> go.Figure:
        """The chart as a plotly figure."""
        return self.sketch.figure()


_Ends = float | tuple[float, float]

COLUMN = 1.06
"""Where labels begin that stand right of curves, in lengths of the axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A rate to compare with, told at the right end of a chart, above the rate or `below` it."""

    words: str
    estimate: Estimate
    color: str
    dash: str = ""  # of its line over the whole width; empty for a label alone
    below: bool = False


class Sketch:
    """A chart in the making, as plain dicts.

    Building charts from plotly's own objects checks every property as it is set, which takes longer than all the rest
    of a slider's move. Here the checks are left to the tests, which build every drawing once with them.
    """

    def __init__(self, palette: Palette, layout: dict[str, Any]) -> None:
        self.palette = palette
        self._data: list[dict[str, Any]] = []
        self._layout = layout
        self._words: list[tuple[float, float, str, str, str, int]] = []
        self._layout.setdefault("shapes", [])

    @property
    def pixel(self) -> float:
        """How much of the y axis is one pixel high."""
        (low, high), margin = self._layout["yaxis"]["range"], self._layout["margin"]
        return float((high - low) / (self._layout["height"] - margin["t"] - margin["b"]))

    def scatter(self, **properties: Any) -> None:
        """Add lines or markers."""
        self._data.append({"type": "scatter", **properties})

    def markers(
        self,
        x: Sequence[float],
        y: Sequence[float],
        *,
        size: float | Sequence[float],
        color: str | Sequence[str] | None = None,
        symbol: str | Sequence[str] | None = None,
        opacity: float | None = None,
        rim: tuple[Any, Any] | None = None,
        told: Sequence[str] | None = None,
        **trace: Any,
    ) -> None:
        """Add markers with a rim (colour, width); `told` is what the pointer tells of each, nothing when left out."""
        marker: dict[str, Any] = {"size": size}
        for name, value in (("color", color), ("symbol", symbol), ("opacity", opacity)):
            marker |= {} if value is None else {name: value}
        marker |= {} if rim is None else {"line": {"color": rim[0], "width": rim[1]}}
        hover: dict[str, Any] = {} if "hovertemplate" in trace else {"hoverinfo": "skip"}
        if told is not None:
            hover = {"text": told, "hovertemplate": "%{text}<extra></extra>"}
        self.scatter(x=x, y=y, mode="markers", marker=marker, **hover, **trace)

    def slider(self, x: float, y: float, low: float, *, size: int = 12, behind: bool = False, **look: Any) -> None:
        """Draw the slider's position: a line from `low` up to a marker at (x, y), `behind` the curves or not."""
        self.segment(x, (low, y), self.palette.ink, **({"layer": "below"} if behind else {}))
        look = {"color": self.palette.leak, "rim": (self.palette.background, 2), **look}
        self.markers([x], [y], size=size, cliponaxis=False, **look)

    def dots(self, rates: Sequence[tuple[float, Estimate]], color: str, symbol: str) -> None:
        """Draw rates, each at its height y, as markers with their intervals along the x axis."""
        estimates = [estimate for _, estimate in rates]
        self.markers(
            [100 * e.value for e in estimates],
            [y for y, _ in rates],
            size=11,
            color=color,
            symbol=symbol,
            rim=(color, 2),
            told=[f"{100 * e.value:.1f}% of {e.n:,}" for e in estimates],
            error_x=whiskers(estimates, color),
        )

    def line(
        self,
        x: Sequence[float],
        y: Sequence[float | None],
        color: str,
        *,
        width: float = 2,
        dash: str = "solid",
        hover: str = "",
    ) -> None:
        """Draw a line without markers."""
        told = {"hovertemplate": hover + "<extra></extra>"} if hover else {"hoverinfo": "skip"}
        self.scatter(x=list(x), y=list(y), mode="lines", line={"color": color, "width": width, "dash": dash}, **told)

    def bare_line(
        self, x: Sequence[float], y: Sequence[float | None], color: str, *, width: float, **trace: Any
    ) -> None:
        """Draw a line of which the pointer tells nothing, such as an interval."""
        self.scatter(x=x, y=y, mode="lines", line={"color": color, "width": width}, hoverinfo="skip", **trace)

    def band(
        self, x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str, *, opacity: float = 0.18
    ) -> None:
        """Shade an interval, without an outline."""
        red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
        self.scatter(
            x=[*x, *reversed(list(x))],
            y=[*high, *reversed(list(low))],
            fill="toself",
            fillcolor=f"rgba({red},{green},{blue},{opacity})",
            line={"width": 0},
            hoverinfo="skip",
            mode="lines",
        )

    def bars(
        self, x: Sequence[float], y: Sequence[float], marker: dict[str, Any], *, told: str = "", **trace: Any
    ) -> None:
        """Add horizontal bars; `told` is what the pointer tells of them, nothing when left out."""
        hover: dict[str, Any] = {"hoverinfo": "skip"}
        if told:
            hover = {"text": [told], "textposition": "none", "hovertemplate": "%{text}<extra></extra>"}
        self._data.append({"type": "bar", "x": x, "y": y, "orientation": "h", "marker": marker, **hover, **trace})

    def bar(self, **properties: Any) -> None:
        """Add bars."""
        self._data.append({"type": "bar", **properties})

    def heatmap(self, **properties: Any) -> None:
        """Add coloured cells."""
        self._data.append({"type": "heatmap", **properties})

    def write(self, x: float, y: float, words: str, color: str, place: str, size: int = 13) -> None:
        """Add words beside the point (x, y); `place` is plotly's text position, seen from the point.

        All words of a chart are one trace: plotly draws them several times faster than as many annotations.
        """
        self._words.append((x, y, words, color, place, size))

    def write_apart(
        self,
        x: float,
        wanted: Sequence[tuple[float, str, str]],
        place: str,
        *,
        pixels: tuple[float, float, float],
    ) -> None:
        """Write (height, words, colour) at x, moved apart: `pixels` between them, and above and below all of them."""
        (low, high), between = self._layout["yaxis"]["range"], [self.pixel * distance for distance in pixels]
        heights = spread([height for height, _, _ in wanted], between[0], low + between[1], high - between[2])
        for height, (_, words, color) in zip(heights, wanted, strict=True):
            self.write(x, height, words, color, place)

    def write_led(
        self,
        last: float,
        at: float,
        wanted: Sequence[tuple[float, float, str, str]],
        *,
        between: float,
        below: float,
        until: float = COLUMN - 0.012,
    ) -> None:
        """Write (height, end of the curve, words, colour) right of curves that end at `last`, under "at ...".

        The words are moved apart, `between` pixels, and a thin line leads from the end of each curve to its words.
        """
        low, high = self._layout["yaxis"]["range"]
        self.write(last * COLUMN, high, f"at {at:g}", self.palette.grey, "bottom right", 11)
        pixel = self.pixel
        heights = spread([w[0] for w in wanted], between * pixel, low + below * pixel, high - 22 * pixel)
        for height, (_, end, words, color) in zip(heights, wanted, strict=True):
            self.segment((last * 1.005, last * until), (end, height), color)
            self.write(last * COLUMN, height, words, color, "middle right", 12)

    def segment(self, x: _Ends, y: _Ends, color: str, *, width: float = 1, dash: str = "", **properties: Any) -> None:
        """Add a straight line that is no data; one number stands for both ends."""
        (x0, x1), (y0, y1) = (ends if isinstance(ends, tuple) else (ends, ends) for ends in (x, y))
        stroke = {"color": color, "width": width, **({"dash": dash} if dash else {})}
        self._layout["shapes"].append(
            {"type": "line", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": stroke, **properties}
        )

    def rule(self, y: float, color: str = "", *, width: float = 1, dash: str = "") -> None:
        """Draw a line over the whole width behind everything, in the colour of the grid when none is given."""
        self.segment((0, 1), y, color or self.palette.grid, width=width, dash=dash, xref="paper", layer="below")

    def grid(self, x: _Ends, y: _Ends, color: str = "") -> None:
        """Draw a line of the grid, behind everything."""
        self.segment(x, y, color or self.palette.grid, layer="below")

    def stripe(self, low: float, high: float, color: str, *, opacity: float) -> None:
        """Shade the whole width between two heights."""
        self.shade((0, 1), (low, high), color, opacity=opacity, xref="paper")

    def shade(
        self, x: tuple[float, float], y: tuple[float, float], color: str, *, opacity: float = 0.5, **properties: Any
    ) -> None:
        """Fill a rectangle behind everything."""
        ends = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], **properties}
        look = {"fillcolor": color, "opacity": opacity, "line": {"width": 0}, "layer": "below"}
        self._layout["shapes"].append({"type": "rect", **ends, **look})

    def xaxis(self, **properties: Any) -> None:
        """Set properties of the x axis."""
        self._layout["xaxis"].update(properties)

    def ticks(self, marks: Sequence[float], words: str | Sequence[str], **properties: Any) -> None:
        """Mark places below the x axis; `words` are their names, or the format that makes them of the numbers."""
        texts = [words.format(mark) for mark in marks] if isinstance(words, str) else list(words)
        self.xaxis(tickvals=marks, ticktext=texts, **properties)

    def no_xaxis(self) -> None:
        """Leave out the x axis with all its marks."""
        self.xaxis(showticklabels=False, ticks="", showline=False)

    def percent_axis(
        self, low: float, high: float, *, steps: Sequence[int] = (1, 2, 5, 10, 20, 25), most: float = 6
    ) -> list[int]:
        """Mark round percentages below the x axis, about `most` of them at most, and return them."""
        step = round_step(high - low, steps, most)
        marks = [mark for mark in range(0, 101, step) if low <= mark <= high]
        self.ticks(marks, "{}%", showline=False)
        return marks

    def value_axis(
        self, ticks: Sequence[float], end: float, *, crowded: Sequence[float] = (), room: float = 0.0
    ) -> None:
        """Draw horizontal grid lines with their percentage at the right end (x = `end`), above the line.

        A percentage is left out where a reference line of the chart (`crowded`) is within `room` of it.
        """
        for tick in ticks:
            self.rule(tick)
            if not any(abs(tick - line) < room for line in crowded):
                self.write(end, tick, f"{tick:g}%", self.palette.grey, "top left", 12)

    def references(self, rates: Sequence[Reference], *, end: float) -> None:
        """Draw horizontal lines from 0 to `end` with their labels, moved apart where they would overlap."""
        (low, high), pixel = self._layout["yaxis"]["range"], self.pixel
        wanted = [100 * r.estimate.value + (-11 if r.below else 10) * pixel for r in rates]
        heights = sorted(spread(wanted, 17 * pixel, low + 8 * pixel, high - 6 * pixel))
        for rate, height in zip(sorted(rates, key=lambda r: r.estimate.value), heights, strict=True):
            if rate.dash:
                width = 1.5 if rate.dash == "dot" else 2
                level = 100 * rate.estimate.value
                self.segment((0, end), level, rate.color, width=width, dash=rate.dash, layer="below")
            told = f"{rate.words}  <b>{percent(rate.estimate)}</b>"
            self.write(0.935 * end, height, told, rate.color, "middle left")

    def yaxis(self, **properties: Any) -> None:
        """Set properties of the y axis."""
        self._layout["yaxis"].update(properties)

    def margins(self, **pixels: int) -> None:
        """Set margins (l, r, t, b)."""
        self._layout["margin"].update(pixels)

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

    def at_left(self, y: float, words: str, color: str, shift: tuple[float, float], **look: Any) -> None:
        """Write at height y, `shift` pixels from the left end of the plot: into the margin where it is negative."""
        self.remark(words, color, x=0, y=y, refs=("paper", "y"), shift=shift, **look)

    def at_right(self, y: float, words: str, color: str, shift: float) -> None:
        """Write at height y, ending `shift` pixels right of the plot."""
        self.remark(words, color, x=1, y=y, refs=("paper", "y"), shift=(shift, 0), anchor=("right", "middle"))

    def axis_title(self, words: str, *, below: int = 25) -> None:
        """Say under the x axis what it shows, `below` pixels under the plot."""
        place, grey = ("paper", "paper"), self.palette.grey
        self.remark(words, grey, x=0.5, y=0, refs=place, shift=(0, -below), anchor=("center", "top"), size=12)

    def above(self, words: str, *, x: float, right: bool = False) -> None:
        """Write over the plot, beginning at x, or ending there (`right`)."""
        side = ("right" if right else "left", "bottom")
        self.remark(words, self.palette.grey, x=x, y=1, refs=("x", "paper"), shift=(0, 3), anchor=side, size=12)

    def in_the_middle(self, words: str) -> None:
        """Write in the middle of an empty plot."""
        place, fill = ("paper", "paper"), self.palette.background
        self.remark(words, self.palette.grey, x=0.5, y=0.5, refs=place, anchor=("center", "middle"), fill=fill)

    def label_column(self, wanted: Sequence[tuple[float, str, str]], *, head: str = "") -> None:
        """Write (height, words, colour) right of the plot, moved apart where they would overlap, `head` above them."""
        (low, high), pixel, place = self._layout["yaxis"]["range"], self.pixel, ("paper", "paper")
        if head:
            side = ("left", "bottom")
            self.remark(head, self.palette.grey, x=1, y=1, refs=place, shift=(8, 3), anchor=side, size=11)
        heights = spread([w[0] for w in wanted], 17 * pixel, low + 7 * pixel, high - 7 * pixel)
        for height, (_, words, color) in zip(heights, wanted, strict=True):
            self.remark(words, color, x=1, y=height, refs=("paper", "y"), shift=(8, 0))

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

    def note(self, **facts: Any) -> None:
        """Leave facts in the chart for those who test it."""
        self._layout.setdefault("meta", {}).update(facts)

    def figure(self, *, check: bool = False) -> go.Figure:
        """Return the plotly figure."""
        return go.Figure({"data": [*self._data, *self._written()], "layout": self._layout}, _validate=check)

    def _written(self) -> list[dict[str, Any]]:
        if not self._words:
            return []
        x, y, words, colors, places, sizes = (list(column) for column in zip(*self._words, strict=True))
        font = {"color": colors, "size": sizes}
        trace = {"type": "scatter", "mode": "text", "x": x, "y": y, "text": words, "textposition": places}
        return [{**trace, "textfont": font, "cliponaxis": False, "hoverinfo": "skip", "name": "words"}]


def bare(palette: Palette, *, height: int, x: tuple[float, float], y: tuple[float, float]) -> Sketch:
    """Return an empty chart with fixed ranges, no legend and no decoration."""
    return Sketch(
        palette,
        {
            "height": height,
            "margin": {"l": 9, "r": 14, "t": 8, "b": 30},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": _FONT, "size": 13, "color": palette.ink},
            "showlegend": False,
            "hovermode": "closest",
            "hoverlabel": {"bgcolor": palette.background, "font": {"color": palette.ink, "family": _FONT}},
            "dragmode": False,
            "barmode": "overlay",
            "xaxis": {
                "range": list(x),
                "fixedrange": True,
                "showgrid": False,
                "zeroline": False,
                "showline": True,
                "linecolor": palette.grey,
                "linewidth": 1,
                "ticks": "outside",
                "ticklen": 4,
                "tickcolor": palette.grey,
                "tickfont": {"color": palette.grey, "size": 12},
            },
            "yaxis": {
                "range": list(y),
                "fixedrange": True,
                "showgrid": False,
                "zeroline": False,
                "showticklabels": False,
                "ticks": "",
            },
        },
    )


def whiskers(estimates: Sequence[Estimate], color: str) -> dict[str, Any]:
    """Return the error bars of rates drawn in percent."""
    above, below = [100 * (e.high - e.value) for e in estimates], [100 * (e.value - e.low) for e in estimates]
    return error_bars(above, below, color, thickness=1.5)


def error_bars(above: Sequence[float], below: Sequence[float], color: str, *, thickness: float = 2) -> dict[str, Any]:
    """Return error bars without ends, by their lengths above and below the value."""
    lengths = {"array": above, "arrayminus": below}
    return {"type": "data", "symmetric": False, **lengths, "color": color, "thickness": thickness, "width": 0}


def limits(estimate: Estimate | None) -> dict[str, float | None]:
    """Return a table's cells "low" and "high" of an estimate; nan where there is none."""
    return {"low": math.nan, "high": math.nan} if estimate is None else {"low": estimate.low, "high": estimate.high}


def cells(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return a table's three cells of an estimate: "name", "name, low" and "name, high"; None where there is none."""
    ends = (None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    return dict(zip((name, f"{name}, low", f"{name}, high"), ends, strict=True))


def round_step(span: float, steps: Sequence[Any], most: float) -> Any:
    """Return the first step that divides a span into at most `most` parts; the last one where none does."""
    return next((step for step in steps if span / step <= most), steps[-1])


def short(name: str, longest: int = 18) -> str:
    """Return a name from the user's table as harmless text of bounded length; plotly would not read &quot; back."""
    return escape(name if len(name) <= longest else name[: longest - 1] + "…", quote=False)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move label positions apart until neighbours are `gap` apart, keeping their order and staying in [low, high]."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [min(max(wanted[i], low), high) for i in order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    overflow = max(0.0, placed[-1] - high) if placed else 0.0
    if overflow:
        placed[-1] -= overflow
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    result = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        result[i] = placed[rank]
    return result


_STEPS = (0.15, 0.25, 0.4, 0.6, 0.8, 1.05)
_NARROWEST = 0.45
"""Share of the longer side that the shorter side of an axis of gaps has at least."""


def framed(
    palette: Palette,
    *,
    height: int,
    x: tuple[float, float],
    y: tuple[float, float],
    margins: tuple[int, int, int, int] = (9, 14, 8, 30),
) -> Sketch:
    """Return an empty chart with fixed ranges, remarks outside the plot, and margins (left, right, top, bottom)."""
    sketch = bare(palette, height=height, x=x, y=y)
    sketch._layout |= {"margin": dict(zip("lrtb", margins, strict=True)), "annotations": []}
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
    step = round_step(high - low, (0.1, 0.2, 0.5), 7)
    marks = [round(step * i, 1) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return marks, [gap(mark, decimals=1) if mark else "0" for mark in marks]


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
