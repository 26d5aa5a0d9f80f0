"""The report's charts and bullets as SVG: lines, rates of groups, numbers beside limits.

Every line has its own dash beside its colour, every group its own marker; labels stand at the lines, not in a legend.
Nothing is written but through `element`, which escapes every attribute and every text, so that a name from somebody's
table stays a name. No scripts, no links, no styles: presentation attributes only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from core.policy import bullet as places_of
from core.release_audit.fairness_checks import CORRECTED
from core.report.canonical import estimate_of, number_of
from core.report.document import CheckRow

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def clean(value: Any) -> Any:
    """Return a text without characters that are not seen but steer how others are shown; other values as they are."""
    return _UNSEEN.sub("\ufffd", value) if isinstance(value, str) and not isinstance(value, Markup) else value


def element(name: str, *inside: Any, **attributes: Any) -> Markup:
    """Return one element; underscores in attribute names become hyphens, None leaves an attribute out."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = Markup("").join(clean(part) for part in inside)
    return Markup(f"<{name}{told}>") + content + Markup(f"</{name}>")


def text(x: float, y: float, words: str, **attributes: Any) -> Markup:
    """Return words at a place."""
    return element("text", words, x=x, y=y, **attributes)


def drawing(*inside: Any, width: float, height: float, label: str, class_: str, description: str = "") -> Markup:
    """Return a whole drawing that says what it shows to those who do not see it."""
    title = element("title", label)
    desc = element("desc", description) if description else Markup("")
    return element(
        "svg",
        title,
        desc,
        *inside,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=clean(f"{label} {description}".strip()),
        class_=class_,
        fill="none",
    )


def _number(value: Any) -> Any:
    if isinstance(value, float):
        return f"{round(value, 2):g}"
    return clean(value)


INK, PAPER = "#22262D", "#FEFDFB"

COLOURS = {
    "fail": "#A01A13",
    "inconclusive": "#8F6400",
    "not_run": "#5B626D",
    "pass": "#1B7F4B",
    "not_asked": "#5B626D",
}
"""Verdict -> colour on paper; always beside its icon and its word."""

GLYPHS = {
    "fail": "M7 7l6 6M13 7l-6 6",
    "inconclusive": "M7.6 7.9c.2-3.3 5-3.1 4.8-.1-.1 1.8-2.4 1.8-2.4 3.5M10 14v.1",
    "not_run": "M6.5 10h7",
    "pass": "M6 10.4l2.8 2.8L14 7.4",
    "not_asked": "M7 10v.1M10 10v.1M13 10v.1",
}
"""Verdict -> path of its icon in a square of 20."""

BASIS_WORDS = {
    "measured": ("Measured", "an attack was run, or the model's answers were counted"),
    "combined": ("Combined", "rests on measurements and on what was declared"),
    "declared": ("Declared", "follows from what was declared; nothing was attacked"),
}
"""Basis -> its word, and what it means."""


_LEFT, _WIDTH, _MIDDLE, _HEIGHT = 10.0, 240.0, 11.0, 22.0

_ALLOWED, _FORBIDDEN, _NOTHING = "#CFE5D6", "#F3DEDA", "#EFEDE7"


def bullet(row: CheckRow, *, at_least: bool) -> Markup:
    """Return the bar of one check: limit in the middle, number with its interval, ▸ where it lies beyond."""
    if not row.limit:
        return Markup("")
    places = places_of(row.verdict)
    sides = (_FORBIDDEN, _ALLOWED) if at_least else (_ALLOWED, _FORBIDDEN)
    half = _WIDTH / 2
    parts = [
        element("rect", x=_LEFT + i * half, y=_MIDDLE - 4, width=half, height=8, fill=side if places else _NOTHING)
        for i, side in enumerate(sides)
    ]
    parts.append(element("path", d=f"M{_LEFT + half:g} 0.5v{_HEIGHT - 1:g}", stroke=INK, stroke_width=2))
    if places is not None:
        colour = COLOURS[row.verdict.verdict]
        start, stop = (_LEFT + _WIDTH * place for place in (places.low, places.high))
        if stop > start:
            parts.append(element("rect", x=start, y=_MIDDLE - 2.5, width=stop - start, height=5, fill=colour))
        at = _LEFT + _WIDTH * places.value
        parts.append(element("circle", cx=at, cy=_MIDDLE, r=6, fill=colour, stroke=PAPER, stroke_width=1.5))
        for right in places.arrows:
            tip = 2 * _LEFT + _WIDTH if right else 0.0
            parts.append(element("path", d=f"M{tip:g} {_MIDDLE:g}l{-6 if right else 6} -4v8z", fill=colour))
    told = f"{row.value}, {row.interval}" if row.interval else row.value
    label = f"{told}. Limit: {row.limit}."
    return drawing(*parts, width=2 * _LEFT + _WIDTH, height=_HEIGHT, label=label, class_="bullet")


_GREY, _GRID = "#5B626D", "#E9E6DF"

_ATTACKERS = {
    CORRECTED["strong"]: "#6A3D9A",
    CORRECTED["strong_predictions"]: "#6A3D9A",
    CORRECTED["predictions"]: "#1F5FA8",
    CORRECTED["features"]: "#B84A00",
}
"""Attacker -> colour of its lines."""

_OTHERS = ("#00594F", "#946500", "#B0307A", "#7A4B2A")

_GROUPS = (("#1F5FA8", "circle"), ("#946500", "diamond"), ("#6A3D9A", "square"), ("#00594F", "triangle"))

_HALO = {"stroke": PAPER, "stroke_width": 3, "paint_order": "stroke"}
"""Keeps the grid out of words."""

_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)

_RATES = (
    ("test_rate", "Accepted, of all"),
    ("test_tpr", "Accepted, of those with a positive label"),
    ("test_fpr", "Accepted, of those with a negative label"),
)


_FORMS = ("wide", "narrow")
"""A drawing for paper and large screens, names beside the lines; and one for telephones, names below or above them."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """A rectangle with its two scales."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> str:
        """Return where a point lies, as a path has it."""
        return f"{self.across(x):.1f} {self.down(y):.1f}"

    def across(self, x: float) -> float:
        return self.left + self.width * (x - self.x[0]) / (self.x[1] - self.x[0])

    def down(self, y: float) -> float:
        return self.top + self.height * (self.y[1] - y) / (self.y[1] - self.y[0])


def line_chart(table: Mapping[str, Any]) -> Markup:
    """Return what every attacker reaches over the disclosed tolerance, before and after the correction.

    For a table with the columns tolerance, attacker, before and after; "after, low" and "after, high" are its
    interval. Empty for any other, and where there are fewer than three tolerances.
    """
    columns = table["columns"]
    if columns[:1] != ["tolerance"] or not {"attacker", "before", "after"} <= set(columns):
        return Markup("")
    rows = [dict(zip(columns, row, strict=True)) for row in table["rows"]]
    curves: dict[str, list[_Point]] = {}
    for row in rows:
        x, before, after = (_real(row[name]) for name in ("tolerance", "before", "after"))
        low, high = (_real(row.get(f"after, {name}")) for name in ("low", "high"))
        if all(map(math.isfinite, (x, before, after))):
            curves.setdefault(str(row["attacker"]), []).append(_Point(x, before, after, low, high))
    curves = {name: sorted(points, key=lambda p: p.x) for name, points in curves.items()}
    if not curves or len({point.x for points in curves.values() for point in points}) < 3:
        return Markup("")
    return Markup("").join(_curves(table["title"], curves, form) for form in _FORMS)


@dataclass(frozen=True, slots=True)
class _Point:
    x: float
    before: float
    after: float
    low: float
    high: float


def _curves(title: str, curves: Mapping[str, Sequence[_Point]], form: str) -> Markup:
    everything = [point for points in curves.values() for point in points]
    values = [value for point in everything for value in (point.before, point.after)]
    places = sorted({point.x for point in everything})
    low, high, step = _nice(min(values), max(values))
    wide = form == "wide"
    frame = _Frame(44, 12, 390 if wide else 322, 220, (places[0], places[-1]), (low, high))
    parts = [*_grid(frame, step), *_x_axis(frame, places, "disclosed tolerance")]
    ends: list[tuple[float, str, str]] = []
    told, spare = [], list(_OTHERS)
    for name, points in curves.items():
        colour = _ATTACKERS.get(name) or (spare.pop(0) if len(spare) > 1 else spare[0])
        parts += _interval(frame, points, colour)
        for kind, width, dash in (("before", 1.6, "5 4"), ("after", 2.6, None)):
            numbers = [getattr(point, kind) for point in points]
            path = "M" + "L".join(frame.at(p.x, v) for p, v in zip(points, numbers, strict=True))
            parts.append(element("path", d=path, stroke=colour, stroke_width=width, stroke_dasharray=dash))
        first, last = points[0], points[-1]
        ends.append((frame.down(last.after), f"{_short(name, 46)} {100 * last.after:.1f}%", colour))
        told.append(
            f"{name}: {100 * first.before:.1f}% before; after, {100 * first.after:.1f}% at {first.x:g} and "
            f"{100 * last.after:.1f}% at {last.x:g}"
        )
    parts += _end_labels(frame, ends) if wide else _key(frame, ends)
    return drawing(
        *parts,
        width=760 if wide else 380,
        height=278 if wide else 284 + 18 * len(ends),
        label=f"{title}.",
        description="; ".join(told) + ".",
        class_=f"chart {form}",
    )


def _grid(frame: _Frame, step: float) -> list[Markup]:
    parts = []
    ticks = round((frame.y[1] - frame.y[0]) / step)
    for k in range(ticks + 1):
        value = frame.y[0] + k * step
        y = frame.down(value)
        parts.append(element("path", d=f"M{frame.left:g} {y:.1f}h{frame.width:g}", stroke=_GRID))
        label = f"{100 * value:.3g}%".replace("-", "−")
        parts.append(text(frame.left - 6, y + 4, label, text_anchor="end", fill=_GREY))
    return parts


def _x_axis(frame: _Frame, x: Sequence[float], axis: str) -> list[Markup]:
    bottom = frame.top + frame.height
    parts = [element("path", d=f"M{frame.left:g} {bottom:g}h{frame.width:g}", stroke=_GREY)]
    shown: list[float] = []
    for value in sorted({x[0], x[-1], *x}, key=lambda v: (v not in (x[0], x[-1]), v)):
        place = frame.across(value)
        if all(abs(place - other) >= 34 for other in shown):
            shown.append(place)
            parts.append(element("path", d=f"M{place:.1f} {bottom:g}v4", stroke=_GREY))
            parts.append(text(place, bottom + 17, f"{value:g}", text_anchor="middle", fill=_GREY))
    parts.append(text(frame.left + frame.width / 2, bottom + 36, axis, text_anchor="middle", fill=_GREY))
    return parts


def _interval(frame: _Frame, points: Sequence[_Point], colour: str) -> list[Markup]:
    both = [point for point in points if math.isfinite(point.low) and math.isfinite(point.high)]
    if len(both) < 2:
        return []
    there = [frame.at(p.x, _inside(p.high, frame.y)) for p in both]
    back = [frame.at(p.x, _inside(p.low, frame.y)) for p in reversed(both)]
    return [element("path", d="M" + "L".join([*there, *back]) + "z", fill=colour, fill_opacity=0.14)]


def _inside(value: float, ends: tuple[float, float]) -> float:
    return min(max(value, ends[0]), ends[1])


def _end_labels(frame: _Frame, ends: Sequence[tuple[float, str, str]]) -> list[Markup]:
    """Return the lines' names at their right ends, moved apart where they would overlap."""
    placed = sorted(ends)
    heights = [y for y, _, _ in placed]
    for k in range(1, len(heights)):
        heights[k] = max(heights[k], heights[k - 1] + 16)
    over = heights[-1] - (frame.top + frame.height)
    heights = [y - max(0.0, over) for y in heights]
    return [
        text(frame.left + frame.width + 8, y + 4, words, fill=colour, font_weight=600)
        for y, (_, words, colour) in zip(heights, placed, strict=True)
    ]


def _key(frame: _Frame, ends: Sequence[tuple[float, str, str]]) -> list[Markup]:
    """Return the lines' names under the axis, the highest at its right end first."""
    parts = []
    for place, (_, words, colour) in enumerate(sorted(ends)):
        y = frame.top + frame.height + 60 + 18 * place
        parts.append(element("path", d=f"M2 {y - 4:g}h18", stroke=colour, stroke_width=2.6))
        parts.append(text(28, y, words, fill=colour, font_weight=600))
    return parts


def _nice(low: float, high: float) -> tuple[float, float, float]:
    """Return round ends of an axis and the step of its grid."""
    span = max(high - low, 0.02)
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2) if s * 6 >= span or s == 0.2)
    return math.floor(low / step - 1e-9) * step, math.ceil(high / step + 1e-9) * step, step


def _real(value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number_of(value) if number or value in ("inf", "-inf") else math.nan


def _short(words: str, longest: int) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1]}…"


def group_chart(groups: Sequence[Mapping[str, Any]]) -> Markup:
    """Return the groups' rates of acceptance on the test records with their intervals; empty without any."""
    return Markup("").join(_rates(groups, form) for form in _FORMS)


def _rates(groups: Sequence[Mapping[str, Any]], form: str) -> Markup:
    told: list[str] = []
    wide = form == "wide"
    frame = _Frame(190, 22, 380, 0, (0.0, 1.0), (0.0, 1.0)) if wide else _Frame(10, 22, 308, 0, (0.0, 1.0), (0.0, 1.0))
    parts: list[Markup] = []
    grid: list[Markup] = []
    y = 16.0
    for name, title in _RATES:
        rates = [(group["group"], estimate_of(group[name])) for group in groups]
        there = [(i, g, e) for i, (g, e) in enumerate(rates) if e is not None and e.value == e.value]
        if not there:
            continue
        parts.append(text(0, y, title, fill=INK, font_weight=600))
        top = y + 7
        for i, group, estimate in there:
            y += 21 if wide else 38
            parts += _rate_row(frame, y, i, str(group), estimate, wide=wide)
            told.append(
                f"{title.lower()}, {group}: {100 * estimate.value:.1f}%, "
                f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}%"
            )
        grid += [
            element("path", d=f"M{frame.across(tick):.1f} {top:g}V{y + 5:g}", stroke=_GRID if tick else _GREY)
            for tick in _QUARTERS
        ]
        y += 28
    if not told:
        return Markup("")
    bottom = y - 20
    grid += [
        text(frame.across(tick), bottom + 15, f"{100 * tick:g}%", text_anchor="middle", fill=_GREY)
        for tick in _QUARTERS
    ]
    return drawing(
        *grid,
        *parts,
        width=660 if wide else 380,
        height=bottom + 22,
        label="Rates of acceptance by group, with 95% intervals.",
        description="; ".join(told) + ".",
        class_=f"chart {form}",
    )


def _rate_row(frame: _Frame, y: float, place: int, group: str, estimate: Any, *, wide: bool) -> list[Markup]:
    colour, marker = _GROUPS[place % len(_GROUPS)]
    at, low, high = (frame.across(_inside(v, (0.0, 1.0))) for v in (estimate.value, estimate.low, estimate.high))
    middle = y - 4
    beside = text(180, y, _short(group, 24), text_anchor="end", fill=INK)
    return [
        beside if wide else text(frame.left + 6, y - 15, _short(group, 46), fill=_GREY, **_HALO),
        element("path", d=f"M{low:.1f} {middle:g}H{high:.1f}", stroke=colour, stroke_width=2),
        _marker(marker, at, middle, colour),
        text(frame.left + frame.width + 14, y, f"{100 * estimate.value:.1f}%", fill=INK, font_weight=600),
    ]


def _marker(kind: str, x: float, y: float, colour: str) -> Markup:
    ring = {"fill": colour, "stroke": PAPER, "stroke_width": 1.2}
    if kind == "circle":
        return element("circle", cx=x, cy=y, r=5.5, **ring)
    paths = {
        "diamond": f"M{x:.1f} {y - 6.5:g}l6.5 6.5l-6.5 6.5l-6.5 -6.5z",
        "square": f"M{x - 5:.1f} {y - 5:g}h10v10h-10z",
        "triangle": f"M{x:.1f} {y - 6:g}l6 11h-12z",
    }
    return element("path", d=paths[kind], **ring)
