"""What all charts share: colours by role, axes with round ends, bare layouts, labels instead of legends.

A colour is a role (what leaks, what was before, the strongest attacker, the control), and no role is told by colour
alone: each has its own dash or marker as well. Text in a role's colour has a contrast of at least 4.5:1. Columns of
words beside a plot have a width in pixels, so that every screen has room; what is inside the plot grows with the
screen.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from core.estimates import Estimate, gap

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis: its ends, marks with their words, what it shows with its unit, and where it is broken."""

    ends: tuple[float, float]
    marks: Sequence[float]
    words: Sequence[str]
    title: str = ""
    broken: tuple[float, ...] = ()


def rounded(
    values: Iterable[float],
    title: str = "",
    *,
    words: Callable[[float], str] = "{:g}".format,
    span: float = 1.0,
    parts: int = 4,
) -> Axis:
    """Return an axis with round ends that holds all known values, at least `span` long, in about so many parts."""
    known = [v for v in values if not math.isnan(v)] or [0.0]
    low, high = min(known), max(max(known), min(known) + span)
    step = next(
        s for e in range(-4, 8) for s in (10.0**e, 2 * 10.0**e, 5 * 10.0**e) if high - low <= (parts + 0.001) * s
    )
    marks = [round(step * i, 6) for i in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]
    return Axis(ends=(marks[0], marks[-1]), marks=marks, words=[words(mark) for mark in marks], title=title)


def percents(values: Iterable[float], title: str = "", *, zero: bool = False) -> Axis:
    """Return an axis of percentages that holds the known values, from 0 on where it must."""
    known = [v for v in values if not math.isnan(v)]
    return rounded([*known, 0.0 if zero else min([96.0, *known])], title, span=4.0)


class Sketch:
    """A chart in the making, as plain dicts.

    Building charts from plotly's own objects checks every property as it is set, which takes longer than all the rest
    of a slider's move. Here the checks are left to the tests, which build every drawing once with them.
    """

    def __init__(self, palette: Palette, layout: dict[str, Any]) -> None:
        self.palette = palette
        self._data: list[dict[str, Any]] = []
        self._layout = layout
        self._layout.setdefault("shapes", [])

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the y axis."""
        low, high = self._layout["yaxis"]["range"]
        return low, high

    @property
    def pixel(self) -> float:
        """How much of the y axis is one pixel high."""
        (low, high), margin = self.ends, self._layout["margin"]
        return float((high - low) / (self._layout["height"] - margin["t"] - margin["b"]))

    def trace(self, kind: str, **properties: Any) -> None:
        """Add a trace of one of plotly's kinds."""
        self._data.append({"type": kind, **properties})

    def markers(
        self,
        x: Sequence[float],
        y: Sequence[float],
        *,
        size: float | Sequence[float],
        color: str | Sequence[str],
        symbol: str | Sequence[str] = "circle",
        opacity: float = 1,
        rim: tuple[Any, Any] = ("", 0),
        told: Sequence[str] | None = None,
        ends: Sequence[tuple[float, float]] = (),
        stroke: str = "",
        name: str = "",
    ) -> None:
        """Add markers with a rim (colour, width) and intervals up and down, drawn in the colour `stroke`.

        `told` is what the pointer tells of each, nothing when left out.
        """
        look: dict[str, Any] = {"size": size, "color": color, "symbol": symbol, "opacity": opacity}
        look["line"] = {"width": rim[1], **({"color": rim[0]} if rim[0] else {})}
        trace: dict[str, Any] = {"hoverinfo": "skip"}
        if told is not None:
            trace = {"text": list(told), "hovertemplate": "%{text}<extra></extra>"}
        if ends:
            above = [high - at for at, (_, high) in zip(y, ends, strict=True)]
            below = [at - low for at, (low, _) in zip(y, ends, strict=True)]
            lengths = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
            trace["error_y"] = {**lengths, "color": stroke, "thickness": 2, "width": 0}
        place = {"x": list(x), "y": list(y), "cliponaxis": False, "name": name}
        self.trace("scatter", mode="markers", marker=look, **place, **trace)

    def line(
        self,
        x: Sequence[float],
        y: Sequence[float | None],
        color: str,
        *,
        width: float = 2,
        dash: str = "solid",
        hover: str = "",
        **trace: Any,
    ) -> None:
        """Draw a line without markers; the pointer tells nothing of it without `hover`, such as of an interval."""
        told = {"hovertemplate": hover + "<extra></extra>"} if hover else {"hoverinfo": "skip"}
        look = {"color": color, "width": width, "dash": dash}
        self.trace("scatter", x=list(x), y=list(y), mode="lines", line=look, **told, **trace)

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str) -> None:
        """Shade an interval, without an outline."""
        red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
        self.trace(
            "scatter",
            x=[*x, *reversed(list(x))],
            y=[*high, *reversed(list(low))],
            fill="toself",
            fillcolor=f"rgba({red},{green},{blue},0.18)",
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
        self.trace("bar", x=x, y=y, orientation="h", marker=marker, **hover, **trace)

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

    def shade(
        self, x: tuple[float, float], y: tuple[float, float], color: str, *, opacity: float = 0.5, **properties: Any
    ) -> None:
        """Fill a rectangle behind everything."""
        ends = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], **properties}
        look = {"fillcolor": color, "opacity": opacity, "line": {"width": 0}, "layer": "below"}
        self._layout["shapes"].append({"type": "rect", **ends, **look})

    def ticks(self, marks: Sequence[float], words: Sequence[str], **properties: Any) -> None:
        """Mark places below the x axis and name them."""
        self._layout["xaxis"] |= {"tickvals": list(marks), "ticktext": list(words), **properties}

    def axes(self, x: Axis, y: Axis | None = None) -> None:
        """Mark and name the axes; the levels of y are lines of the grid, and without y those of x are."""
        self.ticks(x.marks, x.words, showline=False)
        if x.title:
            self.axis_title(x.title)
        if y is None:
            for mark in x.marks:
                self.grid(mark, self.ends)
            return
        self.yaxis(showticklabels=True, tickvals=list(y.marks), ticktext=list(y.words))
        for mark in y.marks:
            self.rule(mark)
        places = (x.ends[0], *x.broken, x.ends[1])
        for start, end in zip(places[::2], places[1::2], strict=True):
            self.segment((start, end), 0, self.palette.grey, yref="paper")
        for at in x.broken:
            self.segment((at - 0.04, at + 0.04), (-0.018, 0.018), self.palette.grey, yref="paper")
        if y.title:
            self.above(y.title, x=x.ends[0], shift=(-36, 9))

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

    def above(self, words: str, *, x: float, right: bool = False, shift: tuple[float, float] = (0, 3)) -> None:
        """Write over the plot, beginning at x, or ending there (`right`), moved by pixels."""
        side = ("right" if right else "left", "bottom")
        self.remark(words, self.palette.grey, x=x, y=1, refs=("x", "paper"), shift=shift, anchor=side, size=12)

    def in_the_middle(self, words: str) -> None:
        """Write in the middle of an empty plot."""
        place, fill = ("paper", "paper"), self.palette.background
        self.remark(words, self.palette.grey, x=0.5, y=0.5, refs=place, anchor=("center", "middle"), fill=fill)

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

    def lead(self, start: float, end: float, color: str, *, length: int) -> None:
        """Draw a thin line from a height at the right end of the plot to another, `length` pixels beside it."""
        self.segment((1, length), (start, end), color, xref="paper", xsizemode="pixel", xanchor=1)

    def note(self, **facts: Any) -> None:
        """Leave facts in the chart for those who test it."""
        self._layout.setdefault("meta", {}).update(facts)

    def figure(self, *, check: bool = False) -> go.Figure:
        """Return the plotly figure."""
        return go.Figure({"data": self._data, "layout": self._layout}, _validate=check)


def bare(
    palette: Palette,
    *,
    height: int,
    x: tuple[float, float],
    y: tuple[float, float],
    margins: tuple[int, int, int, int] = (9, 14, 8, 30),
) -> Sketch:
    """Return an empty chart with fixed ranges, no legend and no decoration; margins are left, right, top, bottom."""
    return Sketch(
        palette,
        {
            "height": height,
            "margin": dict(zip("lrtb", margins, strict=True)),
            "annotations": [],
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
                "tickfont": {"color": palette.grey, "size": 12},
            },
        },
    )


def limits(estimate: Estimate | None) -> dict[str, float | None]:
    """Return a table's cells "low" and "high" of an estimate; nan where there is none."""
    return {"low": math.nan, "high": math.nan} if estimate is None else {"low": estimate.low, "high": estimate.high}


def cells(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return a table's three cells of an estimate: "name", "name, low" and "name, high"; None where there is none."""
    ends = (None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    return dict(zip((name, f"{name}, low", f"{name}, high"), ends, strict=True))


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


def gaps(values: Iterable[float], title: str = "", *, parts: int = 4) -> Axis:
    """Return an axis of gaps that holds these values, and always the usual ones, from -0.15 to 0.25."""

    def words(mark: float) -> str:
        return gap(mark, decimals=1) if mark else "0"

    return rounded([-0.15, 0.25, *values], title, words=words, span=0.4, parts=parts)


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
