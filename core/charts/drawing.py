"""What all charts are made of: axes with round ends, marks, words, and what is said of them.

Columns of words beside a plot have a width in pixels, so that every screen has room; what is inside the plot grows with
the screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.charts.theme import Palette, clear
from core.charts.words import NARROW, apart, fit, known, width
from core.estimates import Estimate, gap

if TYPE_CHECKING:
    import pandas
    import plotly.graph_objects as go

_FONT = "Source Sans, Source Sans Pro, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A chart with what stands beside it.

    Attributes
    ----------
    rows : sequence of mapping, mapping of columns, or pandas.DataFrame
        The numbers drawn.
    """

    title: str
    sketch: Sketch
    rows: Any

    @property
    def alt(self) -> str:
        """The chart in words, for those who do not see it: its form, axes, and all that is written on it."""
        return f"{self.title}. {self.sketch.told}"

    @property
    def table(self) -> pandas.DataFrame:
        """The numbers drawn."""
        import pandas as pd

        return pd.DataFrame(self.rows)

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
    title: str
    broken: tuple[float, ...] = ()


def rounded(
    values: Iterable[float],
    title: str,
    *,
    words: Callable[[float], str] = "{:g}".format,
    span: float = 1.0,
    parts: int = 4,
) -> Axis:
    """Return an axis with round ends that holds all known values, at least `span` long, in about so many parts."""
    there = known(list(values)) or [0.0]
    low, high = min(there), max(max(there), min(there) + span)
    step = next(
        s for e in range(-4, 18) for s in (10.0**e, 2 * 10.0**e, 5 * 10.0**e) if high - low <= (parts + 0.001) * s
    )
    marks = [round(step * i, 6) for i in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]
    return Axis(ends=(marks[0], marks[-1]), marks=marks, words=[words(mark) for mark in marks], title=title)


def percents(values: Iterable[float], title: str, *, zero: bool = False) -> Axis:
    """Return an axis of percentages that holds the known values, from 0 on where it must."""
    there = known(list(values))
    return rounded([*there, 0.0 if zero else min([96.0, *there])], title, span=4.0)


def gaps(values: Iterable[float], title: str, *, parts: int = 4) -> Axis:
    """Return an axis of gaps that holds these values, and always the usual ones, from -0.15 to 0.25."""

    def words(mark: float) -> str:
        return gap(mark, decimals=1) if mark else "0"

    return rounded([-0.15, 0.25, *values], title, words=words, span=0.4, parts=parts)


def decades(ends: tuple[float, float], marks: Sequence[float], title: str, *, suffix: str = "") -> Axis:
    """Return a logarithmic axis of places that are logarithms to base 10, with those of some numbers marked."""
    return Axis(ends=ends, marks=[math.log10(m) for m in marks], words=[f"{m:,g}{suffix}" for m in marks], title=title)


class Sketch:
    """A chart in the making, as plain dicts.

    Building charts from plotly's own objects checks every property as it is set, which takes longer than all the rest
    of a slider's move. Here the checks are left to the tests, which build every drawing once with them.

    Attributes
    ----------
    told : str
        What the chart shows, in sentences.
    """

    def __init__(
        self,
        palette: Palette,
        *,
        height: float,
        x: Axis,
        y: Axis,
        margins: tuple[float, ...],
        narrow: float = NARROW,
    ) -> None:
        """Begin with fixed ranges, no legend and no decoration; margins are left, right, top, bottom."""
        self.palette, self.x, self.y, self.told, self._narrow = palette, x, y, "", narrow
        self.data: list[dict[str, Any]] = []
        sides = [width(words, 12) / 2 + 2 for words in (*x.words[:1], *x.words[-1:])]  # of the marks at both ends
        margins = (*(max(pair) for pair in zip(margins, sides, strict=False)), *margins[len(sides) :])
        look: dict[str, Any] = {"fixedrange": True, "showgrid": False, "zeroline": False}
        look |= {"tickfont": {"color": palette.grey, "size": 12}}
        self.layout: dict[str, Any] = {
            "height": height,
            "margin": dict(zip("lrtb", map(math.ceil, margins), strict=True)),
            "annotations": [],
            "shapes": [],
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": _FONT, "size": 13, "color": palette.ink},
            "showlegend": False,
            "hovermode": "closest",
            "hoverlabel": {"bgcolor": palette.background, "font": {"color": palette.ink, "family": _FONT}},
            "dragmode": False,
            "barmode": "overlay",
            "xaxis": {"range": list(x.ends), "ticks": "outside", "ticklen": 4, "tickcolor": palette.grey, **look},
            "yaxis": {"range": list(y.ends), "ticks": "", "showticklabels": False, **look},
        }

    @property
    def pixel(self) -> float:
        """How much of the y axis is one pixel high."""
        (low, high), margin = self.y.ends, self.layout["margin"]
        return float((high - low) / (self.layout["height"] - margin["t"] - margin["b"]))

    @property
    def room(self) -> float:
        """The pixels that the plot is wide on the narrowest screen."""
        return float(self._narrow - self.layout["margin"]["l"] - self.layout["margin"]["r"])

    def trace(self, kind: str, **properties: Any) -> None:
        """Add a trace of one of plotly's kinds."""
        self.data.append({"type": kind, **properties})

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
        place = {"x": [*x, *reversed(list(x))], "y": [*high, *reversed(list(low))]}
        look = {"fill": "toself", "fillcolor": clear(color, 0.18), "line": {"width": 0}}
        self.trace("scatter", mode="lines", hoverinfo="skip", **place, **look)

    def bar(
        self, x: float, y: float, base: float, color: str, *, hollow: bool = False, width: float = 0.56, told: str = ""
    ) -> None:
        """Add a horizontal bar from `base` to x; `told` is what the pointer tells of it."""
        fill = "rgba(0,0,0,0)" if hollow else color
        hover: dict[str, Any] = {"hoverinfo": "skip"}
        if told:
            hover = {"text": [told], "textposition": "none", "hovertemplate": "%{text}<extra></extra>"}
        look = {"color": fill, "line": {"width": 2 if hollow else 0, "color": color}}
        self.trace("bar", x=[x - base], y=[y], base=[base], width=[width], orientation="h", marker=look, **hover)

    def segment(self, x: _Ends, y: _Ends, color: str, *, width: float = 1, dash: str = "", **properties: Any) -> None:
        """Draw a straight line that is no data; one number stands for both ends."""
        (x0, x1), (y0, y1) = (ends if isinstance(ends, tuple) else (ends, ends) for ends in (x, y))
        stroke = {"color": color, "width": width, **({"dash": dash} if dash else {})}
        self.layout["shapes"].append(
            {"type": "line", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": stroke, **properties}
        )

    def rule(self, y: float, color: str = "") -> None:
        """Draw a line over the whole width behind everything, in the colour of the grid when none is given."""
        self.segment((0, 1), y, color or self.palette.grid, xref="paper", layer="below")

    def shade(self, x: tuple[float, float], y: tuple[float, float], color: str, *, opacity: float = 1) -> None:
        """Fill a rectangle behind everything."""
        ends = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1]}
        look = {"fillcolor": color, "opacity": opacity, "line": {"width": 0}, "layer": "below"}
        self.layout["shapes"].append({"type": "rect", **ends, **look})

    def shade_row(self, y: float, color: str) -> None:
        """Fill a row over the plot and over the columns at its left and right."""
        left, right = self.layout["margin"]["l"], self.layout["margin"]["r"]
        side = {"type": "rect", "xref": "paper", "y0": y - 0.5, "y1": y + 0.5, "fillcolor": color, "layer": "below"}
        side["line"] = {"width": 0}
        pixels = {"xsizemode": "pixel"}
        self.layout["shapes"] += [
            {**side, "x0": 0, "x1": 1},
            {**side, **pixels, "xanchor": 0, "x0": -left, "x1": 1},
            {**side, **pixels, "xanchor": 1, "x0": -1, "x1": right},
        ]

    def axes(self, *, levels: bool = True) -> None:
        """Mark and name the axes: the levels of y are lines of the grid, or else the places of x.

        A mark that is too near to another on the narrowest screen is not named, whatever the screen.
        """
        x, y, grey, margin = self.x, self.y, self.palette.grey, self.layout["margin"]
        places = [(mark - x.ends[0]) / (x.ends[1] - x.ends[0]) for mark in x.marks]
        named = apart(places, x.words, pixels=self.room)
        self.layout["xaxis"] |= {"tickvals": [x.marks[i] for i in named], "ticktext": [x.words[i] for i in named]}
        wide = self.room + 2 * min(margin["l"], margin["r"]) - 8
        below: dict[str, Any] = {"refs": ("paper", "paper"), "size": 12, "anchor": ("center", "top")}
        self.remark(fit(x.title, wide, 12), grey, x=0.5, y=0, shift=(0, -25), **below)
        if not levels:
            for mark in x.marks:
                self.segment(mark, y.ends, self.palette.grid, layer="below")
            return
        self.layout["yaxis"] |= {"showticklabels": True, "tickvals": list(y.marks), "ticktext": list(y.words)}
        for mark in y.marks:
            self.rule(mark)
        parts = (x.ends[0], *x.broken, x.ends[1])
        for start, end in zip(parts[::2], parts[1::2], strict=True):
            self.segment((start, end), 0, grey, yref="paper")
        for at in x.broken:
            self.segment((at - 0.04, at + 0.04), (-0.018, 0.018), grey, yref="paper")
        self.above(fit(y.title, self.room + margin["l"] - 14, 12), shift=(10 - margin["l"], 9))

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
        hover: str = "",
    ) -> None:
        """Add words at (x, y), moved by `shift` pixels; `refs` are the axes or "paper", `fill` hides what is below."""
        note = {"text": words, "x": x, "y": y, "xref": refs[0], "yref": refs[1]}
        note |= {"xshift": shift[0], "yshift": shift[1], "xanchor": anchor[0], "yanchor": anchor[1]}
        note |= {"align": anchor[0], "showarrow": False, "borderpad": 0, "bgcolor": fill}
        if hover:
            note["hovertext"] = hover
        self.layout["annotations"].append({**note, "font": {"color": color, "size": size}})

    def at_left(self, y: float, words: str, color: str, shift: tuple[float, float], **look: Any) -> None:
        """Write at height y, `shift` pixels from the left end of the plot: into the margin where it is negative."""
        self.remark(words, color, x=0, y=y, refs=("paper", "y"), shift=shift, **look)

    def at_right(self, y: float, words: str, color: str, shift: float) -> None:
        """Write at height y, ending `shift` pixels right of the plot."""
        self.remark(words, color, x=1, y=y, refs=("paper", "y"), shift=(shift, 0), anchor=("right", "middle"))

    def above(self, words: str, *, right: bool = False, shift: tuple[float, float] = (0, 3), color: str = "") -> None:
        """Write over the plot from its left end on, or up to its right end, moved by pixels."""
        place: dict[str, Any] = {"x": float(right), "y": 1, "refs": ("paper", "paper"), "shift": shift}
        side = ("right" if right else "left", "bottom")
        self.remark(words, color or self.palette.grey, anchor=side, size=12, **place)

    def in_the_middle(self, words: str) -> None:
        """Write in the middle of an empty plot."""
        place, fill = ("paper", "paper"), self.palette.background
        self.remark(words, self.palette.grey, x=0.5, y=0.5, refs=place, anchor=("center", "middle"), fill=fill)

    def note(self, **facts: Any) -> None:
        """Leave facts in the chart for those who test it."""
        self.layout.setdefault("meta", {}).update(facts)

    def say(self, form: str, head: str, parts: Iterable[str]) -> None:
        """Say what is drawn, and all that is written."""
        told = "; ".join(" ".join(part.split()) for part in parts)
        self.told = f"{form}. {head + ': ' if head else ''}{told}."

    def figure(self, *, check: bool = False) -> go.Figure:
        """Return the plotly figure."""
        import plotly.graph_objects as go

        return go.Figure({"data": self.data, "layout": self.layout}, _validate=check)


def cells(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return a table's three cells of an estimate: "name", "name, low" and "name, high"; None where there is none."""
    ends = (None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    return dict(zip((name, f"{name}, low", f"{name}, high"), ends, strict=True))


def joined(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of a table that all have the columns of all; None where a row has none."""
    listed = [dict(row) for row in rows]
    columns = dict.fromkeys(name for row in listed for name in row)
    return [{name: row.get(name) for name in columns} for row in listed]
