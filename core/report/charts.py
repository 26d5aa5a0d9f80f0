"""The report's charts and bullets as SVG: lines and rates of groups by the forms of all charts, numbers beside limits.

Nothing is written but through `element`, which escapes every attribute and every text, so that a name from somebody's
table stays a name. No scripts, no links, no styles: presentation attributes only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import unescape
from itertools import cycle
from typing import Any

from markupsafe import Markup, escape

from ..auditing.policy import CheckVerdict
from ..auditing.policy import bullet as places_of
from ..auditing.policy.verdict import Bullet
from ..auditing.result import GroupSummary
from ..charts.drawing import Axis, Drawing, percents, shares
from ..charts.lines import Curve, draw_lines
from ..charts.rows import Mark, Row, draw_rows
from ..charts.theme import LIGHT, LINE, group_style
from ..stats.estimates import Estimate, percent
from ..studies.correction import ATTACKERS
from .report import TitledTable, number_of

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def clean(value: Any) -> Any:
    """Return a text without characters that are not seen but steer how others are shown; other values as they are."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _UNSEEN.sub("\ufffd", value)
    return value


def element(name: str, *inside: Any, **attributes: Any) -> Markup:
    """Return one element; underscores in attribute names become hyphens, None leaves an attribute out."""
    attribute_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = Markup("").join(clean(part) for part in inside)
    return Markup(f"<{name}{attribute_text}>") + content + Markup(f"</{name}>")


def _number(value: Any) -> Any:
    if isinstance(value, float):
        return f"{round(value, 2):g}"
    return clean(value)


PAPER = LIGHT.background

SIDES = ("allowed", "forbidden")
"""What the left and the right side of a check's bar are."""

NO_NUMBER = ("empty", "empty")


def bullet(row: CheckVerdict) -> Markup:
    """Return the bar of a check with a limit, as wide as its place; empty for one without.

    The limit stands in the middle, the number with its interval beside it, ▸ where it lies beyond. It is made of boxes
    that bullet.css places and colours: a browser's page may show no drawing among foreign words.
    """
    if not row.limit:
        return Markup("")
    number = row.number if row.measured else row.value.capitalize()
    description = f"{number}. Limit: {row.limit_label}."
    return bar(places_of(row), description, row.verdict)


def bar(
    places: Bullet | None, description: str, kind: str, *, sides: tuple[str, str] = SIDES
) -> Markup:
    """Return a bar with its two sides, a value with its interval, and what it is called."""
    if places is None:
        sides = NO_NUMBER
    parts = [_box(f"side {side}") for side in sides] + [_box("limit")]
    if places is not None:
        if places.high > places.low:
            parts.append(_box("interval", left=places.low, width=places.high - places.low))
        parts.append(_box("dot", left=places.value))
        parts += [_arrow(right) for right in places.arrows]
    return element(
        "span", *parts, role="img", aria_label=clean(description), class_=f"bullet {kind}"
    )


def _arrow(right: bool) -> Markup:
    if right:
        return _box("right", "▸")
    return _box("left", "◂")


def _box(name: str, text: str = "", **places: float) -> Markup:
    style = "; ".join(f"{key}: {100 * share:.4g}%" for key, share in places.items())
    return element("span", text, class_=name, style=style or None)


_ATTACKERS = {
    ATTACKERS["strong"]: "strongest",
    ATTACKERS["strong_predictions"]: "strongest",
    ATTACKERS["predictions"]: "first",
    ATTACKERS["features"]: "leak",
}
"""Attacker -> colour of its lines."""

_SPARE_COLOURS = ("prior", "second", "#B0307A", "#7A4B2A")

_RATES = (
    ("test_rate", "Accepted, of all"),
    ("test_tpr", "Accepted, of those with a positive label"),
    ("test_fpr", "Accepted, of those with a negative label"),
)

_RATES_OF_ALL = (
    ("all_rate", "Accepted, of everybody, also without an answer"),
    ("test_rate", "Accepted, of all with an answer"),
    ("test_tpr", "Accepted, of those with an answer and a positive label"),
    ("test_fpr", "Accepted, of those with an answer and a negative label"),
)
"""The same where some people have no answer."""

_WIDE = 720
_NARROW = 380
"""Pixels of a drawing for paper and large screens, and of one for telephones."""


def line_chart(table: TitledTable) -> Markup:
    """Return what every attacker reaches over the disclosed tolerance, before and after the correction.

    For a table with the columns tolerance, attacker, before and after; "after, low" and "after, high" are its
    interval. Empty for any other, and where there are fewer than three tolerances.
    """
    columns = table.columns
    if columns[:1] != ("tolerance",) or not {"attacker", "before", "after"} <= set(columns):
        return Markup("")
    points: dict[str, list[dict[str, float]]] = {}
    for cells in table.rows:
        row = dict(zip(columns, cells, strict=True))
        point = {
            name: _real(row.get(name))
            for name in ("tolerance", "before", "after", "after, low", "after, high")
        }
        if all(math.isfinite(point[name]) for name in ("tolerance", "before", "after")):
            points.setdefault(str(row["attacker"]), []).append(point)
    places = sorted({point["tolerance"] for series in points.values() for point in series})
    if len(places) < 3:
        return Markup("")
    curves = []
    spare = list(_SPARE_COLOURS)
    y = percents("Accuracy (%), dashed: before")
    for name, series in points.items():
        series.sort(key=lambda point: point["tolerance"])
        if name in _ATTACKERS:
            color = _ATTACKERS[name]
        elif len(spare) > 1:
            color = spare.pop(0)
        else:
            color = spare[0]
        x = [point["tolerance"] for point in series]
        before = [point["before"] for point in series]
        estimates = [
            Estimate(value=point["after"], low=point["after, low"], high=point["after, high"], n=0)
            for point in series
        ]
        curves.append(Curve(x=x, of=before, color=color, width=1.6, dash="dash"))
        look = {"name": clean(name), "value": percent(series[-1]["after"]), "width": 2.6}
        curves.append(Curve(x=x, of=estimates, color=color, band=True, **look))
    ends = (places[0], places[-1])
    head = f"at {places[-1]:g}"
    x_axis = Axis(
        ends=ends, marks=places, labels=[f"{v:g}" for v in places], title="Disclosed tolerance"
    )
    wide, narrow = (
        draw_lines(
            table.title, curves, x=x_axis, y=y, rows=[], head=head, gutter=gutter, narrow=pixels
        )
        for gutter, pixels in ((300, _WIDE), (0, _NARROW))
    )
    return svg(wide, _WIDE, "wide") + svg(narrow, _NARROW, "narrow")


def _real(value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number or value in ("inf", "-inf"):
        return number_of(value)
    return math.nan


def group_chart(groups: Sequence[GroupSummary]) -> Markup:
    """Return the groups' rates of acceptance on the test records with their intervals; empty without any."""
    rows: list[Row] = []
    rates_drawn: tuple[tuple[str, str], ...] = _RATES
    if any(group.all_rate is not None for group in groups):
        rates_drawn = _RATES_OF_ALL
    for field, title in rates_drawn:
        rates = [(i, group.group, getattr(group, field)) for i, group in enumerate(groups)]
        measured_rates = [(i, name, e) for i, name, e in rates if e.value == e.value]
        if measured_rates:
            rows.append(Row(name="", note=title, separated=bool(rows)))
        for i, name, e in measured_rates:
            color, symbol = group_style(1 - i) if len(groups) == 2 else ("ink", "circle")
            value = f"<b>{percent(e.value)}</b>"
            rows.append(
                Row(name=clean(name), value=value, marks=[Mark(of=e, color=color, symbol=symbol)])
            )
    if not rows:
        return Markup("")
    chart = draw_rows("Rates of acceptance by group, with 95% intervals", rows, shares("Share (%)"))
    return svg(chart, _WIDE, "wide") + svg(chart, _NARROW, "narrow")


_DASHES = {"dash": "5 4", "dot": "1.5 3", "dashdot": "7 3 1.5 3", "longdash": "10 4"}


def _share(value: float, ref: str, ends: tuple[float, float]) -> float:
    """Return where a value lies between the ends of its axis; on the paper it is that itself."""
    if ref == "paper":
        return value
    low, high = ends
    return (value - low) / (high - low)


class _Paper:
    """A chart on paper: where its places are in pixels, and its parts as elements."""

    def __init__(self, chart: Drawing, width: float) -> None:
        layout = LIGHT.painted(chart.layout)
        data = LIGHT.painted(chart.data)
        margin = layout["margin"]
        self.left = margin["l"]
        self.top = margin["t"]
        self.height = layout["height"]
        self.wide = width - margin["l"] - margin["r"]
        self.high = layout["height"] - margin["t"] - margin["b"]
        self.ends = (chart.x.ends, chart.y.ends)
        self.layout = layout
        self.data = data

    def across(self, x: float, ref: str = "x") -> float:
        """Return where a place of the x axis lies."""
        return self.left + self.wide * _share(x, ref, self.ends[0])

    def down(self, y: float, ref: str = "y") -> float:
        """Return where a height lies."""
        return self.top + self.high * (1 - _share(y, ref, self.ends[1]))

    def shape(self, shape: Mapping[str, Any]) -> Markup:
        """Return a line or a rectangle that is no data."""
        x0, x1, y0, y1 = (self._end(shape, end) for end in ("x0", "x1", "y0", "y1"))
        if shape["type"] == "rect":
            box = {
                "x": min(x0, x1),
                "y": min(y0, y1),
                "width": abs(x1 - x0),
                "height": abs(y1 - y0),
            }
            return element(
                "rect", fill=shape["fillcolor"], fill_opacity=shape.get("opacity"), **box
            )
        look = shape["line"]
        dash = _DASHES.get(shape["line"].get("dash", ""))
        path = f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"
        return element(
            "path", d=path, stroke=look["color"], stroke_width=look["width"], stroke_dasharray=dash
        )

    def _end(self, shape: Mapping[str, Any], end: str) -> float:
        """Return where a shape ends, which may be so many pixels right of or above a place of the paper."""
        axis = end[0]
        (to_pixels, sign) = (self.across, 1) if end[0] == "x" else (self.down, -1)
        if shape.get(f"{axis}sizemode") == "pixel":
            return to_pixels(shape[f"{axis}anchor"], "paper") + sign * shape[end]
        return to_pixels(shape[end], shape.get(f"{axis}ref", axis))

    def trace(self, trace: Mapping[str, Any]) -> Markup:
        """Return a curve, a band or markers."""
        places = [
            (self.across(x), self.down(y))
            for x, y in zip(trace["x"], trace["y"], strict=True)
            if y is not None
        ]
        if trace["mode"] == "markers":
            look = trace["marker"]
            return Markup("").join(_marker(look["symbol"], x, y, look["color"]) for x, y in places)
        if trace.get("fill"):
            return element("path", d=_path(places) + "z", fill=trace["fillcolor"])
        look = trace["line"]
        path = "".join(map(_path, self._pieces(trace)))
        dash = _DASHES.get(look["dash"])
        return element(
            "path", d=path, stroke=look["color"], stroke_width=look["width"], stroke_dasharray=dash
        )

    def _pieces(self, trace: Mapping[str, Any]) -> list[list[tuple[float, float]]]:
        """Return the parts of a line between its gaps."""
        pieces: list[list[tuple[float, float]]] = [[]]
        for x, y in zip(trace["x"], trace["y"], strict=True):
            if y is None:
                pieces.append([])
            else:
                pieces[-1].append((self.across(x), self.down(y)))
        return [piece for piece in pieces if piece]

    def annotation(self, annotation: Mapping[str, Any]) -> Markup:
        """Return words with their bold parts, a line for each."""
        lines = annotation["text"].split("<br>")
        size = annotation["font"]["size"]
        x = self.across(annotation["x"], annotation["xref"]) + annotation["xshift"]
        y = self.down(annotation["y"], annotation["yref"]) - annotation["yshift"]
        y -= (
            LINE
            * size
            * len(lines)
            * {"top": 0.0, "middle": 0.5, "bottom": 1.0}[annotation["yanchor"]]
        )
        side = {"left": "start", "center": "middle", "right": "end"}[annotation["xanchor"]]
        look = {"text_anchor": side, "fill": annotation["font"]["color"], "font_size": size}
        parts = []
        for i, line in enumerate(lines):
            pieces = zip(re.split("</?b>", line), cycle((None, 600)))  # every second one is bold
            inside = [
                element("tspan", unescape(piece), font_weight=weight)
                for piece, weight in pieces
                if piece
            ]
            parts.append(element("text", *inside, x=x, y=y + LINE * size * (i + 0.78), **look))
        return Markup("").join(parts)

    def ticks(self) -> list[Markup]:
        """Return the words of both axes."""
        x = self.layout["xaxis"]
        y = self.layout["yaxis"]
        look = {"fill": LIGHT.grey, "font_size": 12}
        bottom = self.top + self.high + 16
        labels = zip(x["tickvals"], x["ticktext"], strict=True)
        parts = [
            element("text", label, x=self.across(at), y=bottom, text_anchor="middle", **look)
            for at, label in labels
        ]
        if y["showticklabels"]:
            labels = zip(y["tickvals"], y["ticktext"], strict=True)
            left = self.left - 6
            look["text_anchor"] = "end"
            parts += [
                element("text", label, x=left, y=self.down(at) + 4, **look) for at, label in labels
            ]
        return parts


def _path(places: Sequence[tuple[float, float]]) -> str:
    """Return straight lines from place to place."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)


def svg(chart: Drawing, width: float, form: str) -> Markup:
    """Return a chart drawn on paper of this width: for large screens or for telephones, as `form` says."""
    paper = _Paper(chart, width)
    shapes = [paper.shape(shape) for shape in paper.layout["shapes"]]
    traces = [paper.trace(part) for part in paper.data]
    texts = [paper.annotation(part) for part in paper.layout["annotations"]]
    description = Markup("")
    if chart.description:
        description = element("desc", chart.description)
    return element(
        "svg",
        element("title", f"{chart.title}."),
        description,
        *shapes,
        *traces,
        *paper.ticks(),
        *texts,
        viewBox=f"0 0 {width:g} {paper.height:g}",
        role="img",
        aria_label=clean(f"{chart.title}. {chart.description}".strip()),
        class_=f"chart {form}",
        fill="none",
    )


def _marker(kind: str, x: float, y: float, colour: str) -> Markup:
    ring = {"fill": colour, "stroke": PAPER, "stroke_width": 1.2}
    if kind == "diamond":
        return element("path", d=f"M{x:.1f} {y - 6.5:.1f}l6.5 6.5l-6.5 6.5l-6.5 -6.5z", **ring)
    return element("circle", cx=x, cy=y, r=5.5, **ring)
