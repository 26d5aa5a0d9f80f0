"""What all charts are made of: axes with round ends, marks, words, and what is said of them.

Columns of words beside a plot have a width in pixels, so that every screen has room; what is inside the plot grows with
the screen. Numbers are given as they were measured: an axis knows where each stands and how it is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..stats.estimates import (
    Estimate,
    ends_of,
    ends_text,
    estimate_columns,
    gap,
    percent,
    value_of,
)
from ..stats.estimates import Number as Number
from .theme import NARROW, Palette, fit, measured, visible_ticks, width

if TYPE_CHECKING:
    import pandas
    import plotly.graph_objects as go

_FONT = "Source Sans, Source Sans Pro, sans-serif"

_Ends = float | tuple[float, float]


def plain_text(number: Number) -> str:
    """Write a number with the digits it has."""
    return f"{value_of(number):,.4g}"


def _mark_text(mark: float) -> str:
    return f"{mark:g}".replace("-", "−")


def gap_text(number: Number) -> str:
    """Write a difference of rates."""
    return gap(value_of(number))


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis with its ends, marks and their words, title with unit, and where it is broken.

    `position` says where a number stands on it, `write` how one is written.
    """

    ends: tuple[float, float]
    marks: Sequence[float]
    labels: Sequence[str]
    title: str
    broken: tuple[float, ...] = ()
    position: Callable[[float], float] = float
    write: Callable[[Number], str] = plain_text

    def over(self, values: Iterable[float]) -> Axis:
        """Return the axis itself, which stays as it is whatever is drawn."""
        return self

    def interval(self, number: Number) -> str:
        """Write an interval in brackets; "" where there is none."""
        low, high = (self.position(end) for end in ends_of(number))
        if math.isnan(low):
            return ""
        is_change = low < 0 or self.write(number).startswith("+")
        sign = "+" if is_change else ""
        places = 1 if self.ends[1] - self.ends[0] > 5 else 3
        return f"({ends_text(low, high, f'{sign}.{places}f')})"

    def with_interval(self, number: Number) -> str:
        """Return a number as the pointer shows it, with its interval."""
        return f"{self.write(number)} {self.interval(number)}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An axis in the making, whose ends are round and hold what is drawn.

    It is `span` long at least, in so many `parts` at most, begins at `start` at the latest and always holds `holds`.
    `label` writes its marks; `position` and `write` are those of `Axis`.
    """

    title: str
    span: float = 1.0
    parts: int = 4
    start: float = math.inf
    holds: Sequence[float] = ()
    label: Callable[[float], str] = _mark_text
    position: Callable[[float], float] = float
    write: Callable[[Number], str] = plain_text

    def over(self, values: Iterable[float]) -> Axis:
        """Return the axis that holds all known values."""
        present = [*measured([self.position(value) for value in values]), *self.holds]
        start = 0.0 if math.isinf(self.start) else self.start
        if not present or min(present) > self.start:
            present.append(start)
        low = min(present)
        high = max(max(present), min(present) + self.span)
        sizes = (size * 10.0**power for power in range(-4, 18) for size in (1, 2, 5))
        every = (
            (size, math.floor(low / size + 1e-9), math.ceil(high / size - 1e-9)) for size in sizes
        )
        step, first, last = next(
            division for division in every if division[2] - division[1] <= self.parts
        )
        steps = range(first, last + 1)
        marks = [round(step * i, 6) for i in steps]
        labels = [self.label(mark) for mark in marks]
        ends = marks[0], marks[-1]
        return Axis(
            ends=ends,
            marks=marks,
            labels=labels,
            title=self.title,
            position=self.position,
            write=self.write,
        )


def _hundredfold(share: float) -> float:
    return 100 * share


def percents(title: str, *, zero: bool = False) -> Scale:
    """Return an axis of percentages of shares, from 0 on where it must."""
    start = 0.0 if zero else 96.0
    return Scale(title=title, span=4.0, start=start, position=_hundredfold, write=percent)


def shares(
    title: str,
    marks: Sequence[float] = (0, 25, 50, 75, 100),
    *,
    ends: tuple[float, float] = (0, 100),
) -> Axis:
    """Return an axis of all percentages."""
    labels = [f"{mark:g}" for mark in marks]
    return Axis(
        ends=ends, marks=marks, labels=labels, title=title, position=_hundredfold, write=percent
    )


def gaps(title: str, *, parts: int = 4) -> Scale:
    """Return an axis of gaps, which always holds the usual ones, from -0.15 to 0.25."""

    def label(mark: float) -> str:
        if mark:
            return gap(mark, decimals=1)
        return "0"

    return Scale(
        title=title, span=0.4, parts=parts, holds=(-0.15, 0.25), label=label, write=gap_text
    )


def decades(ends: tuple[float, float], marks: Sequence[float], title: str, **look: Any) -> Axis:
    """Return a logarithmic axis between powers of 10, some numbers marked; what is beyond stands at its ends."""

    def position(number: float) -> float:
        if math.isnan(number):
            return math.nan
        if number:
            return min(max(math.log10(number), ends[0]), ends[1])
        return ends[0]

    labels = [f"{mark:,g}" for mark in marks]
    return Axis(
        ends=ends,
        marks=[math.log10(m) for m in marks],
        labels=labels,
        title=title,
        **{"position": position, **look},
    )


class Drawing:
    """A chart, as plain dicts with roles for colours, with what is said of it and the numbers drawn.

    Building charts from plotly's own objects checks every property as it is set, which takes longer than all the rest
    of a slider's move. Here the checks are left to the tests, which build every drawing once with them.

    Attributes
    ----------
    description : str
        What the chart shows, in sentences.
    rows : sequence of mapping, mapping of columns, or pandas.DataFrame
        The numbers drawn.
    """

    def __init__(
        self,
        title: str,
        *,
        height: float,
        x: Axis,
        y: Axis,
        margins: tuple[float, ...],
        narrow: float = NARROW,
    ) -> None:
        """Begin with fixed ranges, no legend and no decoration; margins are left, right, top, bottom."""
        self.title = title
        self.x = x
        self.y = y
        self.description = ""
        self._narrow = narrow
        self.rows: Any = ()
        self.data: list[dict[str, Any]] = []
        ends = (*x.labels[:1], *x.labels[-1:])
        sides = [width(label, 12) / 2 + 2 for label in ends]
        margins = (*map(max, margins, sides), *margins[len(sides) :])
        look: dict[str, Any] = {"fixedrange": True, "showgrid": False, "zeroline": False}
        look |= {"tickfont": {"color": "grey", "size": 12}}
        self.layout: dict[str, Any] = {
            "height": height,
            "margin": dict(zip("lrtb", map(math.ceil, margins), strict=True)),
            "annotations": [],
            "shapes": [],
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": _FONT, "size": 13, "color": "ink"},
            "showlegend": False,
            "hovermode": "closest",
            "hoverlabel": {"bgcolor": "background", "font": {"color": "ink", "family": _FONT}},
            "dragmode": False,
            "barmode": "overlay",
            "xaxis": {
                "range": list(x.ends),
                "ticks": "outside",
                "ticklen": 4,
                "tickcolor": "grey",
                **look,
            },
            "yaxis": {
                "range": list(y.ends),
                "ticks": "",
                "ticklen": 5,
                "showticklabels": False,
                **look,
            },
        }

    @property
    def alt(self) -> str:
        """The chart in words, for those who do not see it: its form, axes, and all that is written on it."""
        return f"{self.title}. {self.description}"

    @property
    def table(self) -> pandas.DataFrame:
        """The numbers drawn."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def figure(self, palette: Palette, *, check: bool = False) -> go.Figure:
        """Return the chart in a palette's colours."""
        import plotly.graph_objects as go

        return go.Figure(
            palette.painted({"data": self.data, "layout": self.layout}), _validate=check
        )

    @property
    def pixel(self) -> float:
        """How much of the y axis is one pixel high."""
        (low, high) = self.y.ends
        margin = self.layout["margin"]
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
        hover: Sequence[str] | None = None,
        ends: Sequence[tuple[float, float]] = (),
        stroke: str = "",
        name: str = "",
    ) -> None:
        """Add markers with a rim (colour, width) and intervals up and down, drawn in the colour `stroke`.

        `hover` is what the pointer shows of each, nothing when left out.
        """
        look: dict[str, Any] = {"size": size, "color": color, "symbol": symbol, "opacity": opacity}
        look["line"] = {"width": rim[1]}
        if rim[0]:
            look["line"]["color"] = rim[0]
        more = _pointed(hover)
        if ends:
            more["error_y"] = {
                "type": "data",
                "symmetric": False,
                "array": [high - at for at, (_, high) in zip(y, ends, strict=True)],
                "arrayminus": [at - low for at, (low, _) in zip(y, ends, strict=True)],
                "color": stroke,
                "thickness": 2,
                "width": 0,
            }
        self.trace(
            "scatter",
            mode="markers",
            marker=look,
            x=list(x),
            y=list(y),
            cliponaxis=False,
            name=name,
            **more,
        )

    def line(
        self,
        x: Sequence[float],
        y: Sequence[float | None],
        color: str,
        *,
        width: float = 2,
        dash: str = "solid",
        opacity: float = 1,
        hover: Sequence[str] | None = None,
    ) -> None:
        """Draw a line without markers; the pointer shows nothing of it, such as of an interval, without `hover`."""
        self.trace(
            "scatter",
            x=list(x),
            y=list(y),
            mode="lines",
            line={"color": color, "width": width, "dash": dash},
            opacity=opacity,
            **_pointed(hover),
        )

    def band(
        self, x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str
    ) -> None:
        """Shade an interval, without an outline."""
        self.trace(
            "scatter",
            mode="lines",
            hoverinfo="skip",
            x=[*x, *reversed(x)],
            y=[*high, *reversed(low)],
            fill="toself",
            fillcolor=f"{color}/18",
            line={"width": 0},
        )

    def bar(
        self,
        x: float,
        y: float,
        base: float,
        color: str,
        *,
        hollow: bool = False,
        width: float = 0.56,
        hover: str = "",
    ) -> None:
        """Add a horizontal bar from `base` to x; `hover` is what the pointer shows of it."""
        fill, rim = ("rgba(0,0,0,0)", 2) if hollow else (color, 0)
        pointed = [hover] if hover else None
        self.trace(
            "bar",
            marker={"color": fill, "line": {"width": rim, "color": color}},
            textposition="none",
            x=[x - base],
            y=[y],
            base=[base],
            width=[width],
            orientation="h",
            **_pointed(pointed),
        )

    def segment(
        self, x: _Ends, y: _Ends, color: str, *, width: float = 1, dash: str = "", **properties: Any
    ) -> None:
        """Draw a straight line that is no data."""
        stroke: dict[str, Any] = {"color": color, "width": width}
        if dash:
            stroke["dash"] = dash
        self._shape("line", x, y, line=stroke, **properties)

    def _shape(self, kind: str, x: _Ends, y: _Ends, **properties: Any) -> None:
        """Add a line or a rectangle; one number stands for both ends."""
        x0, x1 = x if isinstance(x, tuple) else (x, x)
        y0, y1 = y if isinstance(y, tuple) else (y, y)
        self.layout["shapes"].append(
            {"type": kind, "x0": x0, "x1": x1, "y0": y0, "y1": y1, **properties}
        )

    def rule(self, y: float) -> None:
        """Draw a line of the grid over the whole width behind everything."""
        self.segment((0, 1), y, "grid", xref="paper", layer="below")

    def shade(
        self, x: tuple[float, float], y: tuple[float, float], color: str, *, opacity: float = 1
    ) -> None:
        """Fill a rectangle behind everything."""
        self._shape(
            "rect", x, y, fillcolor=color, opacity=opacity, line={"width": 0}, layer="below"
        )

    def shade_row(self, y: float) -> None:
        """Set off a row over the plot and over the columns at its left and right."""
        margin = self.layout["margin"]
        for x, sizing in (
            ((0, 1), {}),
            ((-margin["l"], 1), {"xsizemode": "pixel", "xanchor": 0}),
            ((-1, margin["r"]), {"xsizemode": "pixel", "xanchor": 1}),
        ):
            self._shape(
                "rect",
                x,
                (y - 0.5, y + 0.5),
                xref="paper",
                fillcolor="pale",
                line={"width": 0},
                layer="below",
                **sizing,
            )

    def axes(self, *, levels: bool = True) -> None:
        """Mark and name the axes: the levels of y are lines of the grid, or else the places of x.

        A mark that is too near to another on the narrowest screen is not named, whatever the screen.
        """
        x = self.x
        y = self.y
        margin = self.layout["margin"]
        places = [(mark - x.ends[0]) / (x.ends[1] - x.ends[0]) for mark in x.marks]
        visible = visible_ticks(places, x.labels, pixels=self.room)
        self.layout["xaxis"] |= {
            "tickvals": [x.marks[i] for i in visible],
            "ticktext": [x.labels[i] for i in visible],
        }
        wide = self.room + 2 * min(margin["l"], margin["r"]) - 8
        self.remark(
            fit(x.title, wide, 12),
            "grey",
            x=0.5,
            y=0,
            refs=("paper", "paper"),
            shift=(0, -25),
            anchor=("center", "top"),
            size=12,
        )
        if not levels:
            for mark in x.marks:
                self.segment(mark, y.ends, "grid", layer="below")
            return
        self.layout["yaxis"] |= {
            "showticklabels": True,
            "tickvals": list(y.marks),
            "ticktext": list(y.labels),
            "ticks": "outside",
            "tickcolor": "rgba(0,0,0,0)",  # keeps the words off the plot
        }
        for mark in y.marks:
            self.rule(mark)
        parts = (x.ends[0], *x.broken, x.ends[1])
        for start, end in zip(parts[::2], parts[1::2], strict=True):
            self.segment((start, end), 0, "grey", yref="paper")
        for at in x.broken:
            self.segment((at - 0.04, at + 0.04), (-0.018, 0.018), "grey", yref="paper")
        self.above(fit(y.title, self.room + margin["l"] - 8, 12), shift=(4 - margin["l"], 9))

    def remark(
        self,
        text: str,
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
        note = {"text": text, "x": x, "y": y, "xref": refs[0], "yref": refs[1]}
        note |= {"xshift": shift[0], "yshift": shift[1], "xanchor": anchor[0], "yanchor": anchor[1]}
        note |= {"align": anchor[0], "showarrow": False, "borderpad": 0, "bgcolor": fill}
        if hover:
            note["hovertext"] = hover
        self.layout["annotations"].append({**note, "font": {"color": color, "size": size}})

    def at_left(
        self, y: float, text: str, color: str, shift: tuple[float, float], **look: Any
    ) -> None:
        """Write at height y, `shift` pixels from the left end of the plot: into the margin where it is negative."""
        self.remark(text, color, x=0, y=y, refs=("paper", "y"), shift=shift, **look)

    def at_right(
        self, y: float, text: str, color: str, shift: tuple[float, float], **look: Any
    ) -> None:
        """Write at height y, ending `shift` pixels right of the plot; nothing where there are no words."""
        if text:
            self.remark(
                text,
                color,
                x=1,
                y=y,
                refs=("paper", "y"),
                shift=shift,
                anchor=("right", "middle"),
                **look,
            )

    def above(
        self,
        text: str,
        *,
        right: bool = False,
        shift: tuple[float, float] = (0, 3),
        color: str = "grey",
    ) -> None:
        """Write over the plot from its left end on, or up to its right end, moved by pixels."""
        side = "right" if right else "left"
        self.remark(
            text,
            color,
            x=float(right),
            y=1,
            refs=("paper", "paper"),
            shift=shift,
            anchor=(side, "bottom"),
            size=12,
        )

    def in_the_middle(self, text: str) -> None:
        """Write in the middle of an empty plot."""
        self.remark(
            text,
            "grey",
            x=0.5,
            y=0.5,
            refs=("paper", "paper"),
            anchor=("center", "middle"),
            fill="background",
        )

    def note(self, **facts: Any) -> Drawing:
        """Leave facts in the chart for those who test it."""
        self.layout.setdefault("meta", {}).update(facts)
        return self

    def say(self, form: str, head: str, parts: Iterable[str]) -> None:
        """Say what is drawn, and all that is written."""
        text = "; ".join(" ".join(part.split()) for part in parts)
        if head:
            text = f"{head}: {text}"
        self.description = f"{form}. {text}."


def _pointed(hover: Sequence[str] | None) -> dict[str, Any]:
    """Return what makes the pointer show something of each point, or nothing."""
    if hover is None:
        return {"hoverinfo": "skip"}
    return {"text": list(hover), "hovertemplate": "%{text}<extra></extra>"}


def cells(name: str, number: Number | None) -> dict[str, float | None]:
    """Return a table's cells of a number: "name", and of an estimate also "name, low" and "name, high"."""
    if isinstance(number, Estimate) or number is None:
        return estimate_columns(name, number)
    return {name: number}
