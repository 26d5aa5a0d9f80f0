"""Charts of AttriGuard over the budget: attackers' accuracy, cost, other defences.

Labels stand in a column of their own at the right of the curves, in the order of the values at the slider, which are
the bold numbers; a thin line leads each to the end of its curve. Grey are attackers who do not know of the noise,
violet and orange those who do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from core.attriguard import Point, attacker_label, knows_the_noise, strongest_point
from core.charts.drawing import Drawing, Palette, Sketch, bare, limits, round_step, short
from core.estimates import Estimate, percent

CURVES_SHARE = 0.6
"""Share of the plot's width in which the curves are; the slider under the chart is as wide."""

_HEIGHT = 310
_LEAST_TICKS = 3  # percentages that must be readable

_UNAWARE_DASHES = ("solid", "dash", "longdash", "dashdot", "longdashdot")
_AWARE_DASHES = ("dashdot", "dash", "longdash", "longdashdot")


@dataclass(frozen=True, slots=True)
class _Style:
    color: str
    dash: str
    width: float


def _styles(attackers: Sequence[str], palette: Palette) -> dict[str, _Style]:
    """Return a colour by what the attacker knows, and a dash of her own within it."""
    unaware = [name for name in attackers if not knows_the_noise(name)]
    others = [name for name in attackers if knows_the_noise(name) and not name.startswith("adversarial")]
    trained = sorted(name for name in attackers if name.startswith("adversarial"))
    return {
        **{n: _Style(palette.before, _UNAWARE_DASHES[i % 5], 2) for i, n in enumerate(unaware)},
        **{n: _Style(palette.strongest, _AWARE_DASHES[i % 4], 2) for i, n in enumerate(others)},
        **{n: _Style(palette.leak, ("solid", "dash")[i % 2], 3) for i, n in enumerate(trained)},
    }


def draw_budget(
    curves: Mapping[str, Sequence[Point]],
    now: Sequence[Point],
    floor: Estimate,
    palette: Palette,
    *,
    last: float,
    budget: float,
    unit: str,
    attribute: str,
    balanced: bool = False,
    published: Sequence[tuple[float, float]] = (),
) -> Drawing:
    """Draw every attacker's accuracy over the budget, with the majority guess as the floor.

    Parameters
    ----------
    curves : mapping of attacker to its points
        Sorted by budget; may be incomplete.
    now : sequence of Point
        The same attackers at the slider.
    floor : Estimate
        Accuracy of the majority guess.
    last : float
        Right end of the axis, in entries changed per person.
    budget : float
        Where the slider stands.
    unit, attribute : str
        What one entry is called, and what is private.
    balanced : bool
        Whether each value counts alike, not each person.
    published : sequence of (budget, accuracy)
        The paper's curve, drawn thin; empty where the paper has none.
    """
    low, high = _range(curves, now, floor, published, balanced=balanced)
    sketch = bare(palette, height=_HEIGHT, x=(0, last / CURVES_SHARE), y=(low, high))
    parts = 5 if last < 2 or last == 5 else 4
    marks = [last * i / parts for i in range(parts + 1)]
    sketch.ticks(marks, "{:g}", showline=False)
    sketch.segment((0, last), low, palette.grey)
    sketch.note(budget=budget)
    crowded = [
        [(p.budget, 100 * height) for p, height in zip(points, heights, strict=True)]
        for points in curves.values()
        for heights in zip(*(_heights(p, balanced=balanced) for p in points), strict=True)
    ]
    crowded += [[(0.0, 100 * floor.value)], [(x, 100 * rate) for x, rate in published]]
    _grid(sketch, (low, high, last), [points for points in crowded if points])
    if there := [(budget, 100 * rate) for budget, rate in published if budget <= last]:
        sketch.line([b for b, _ in there], [r for _, r in there], palette.muted, width=1.5, dash="dot")
    level = 100 * floor.value
    sketch.segment((0, last), level, palette.chance, width=2, dash="dot")
    styles = _styles(list(curves), palette)
    for name, points in curves.items():
        _curve(sketch, points, styles[name], unit, balanced=balanced)
    _marker(sketch, now, styles, budget, low, balanced=balanced)
    _labels(sketch, curves, now, floor, styles, last, published, budget, balanced=balanced)
    alt = _alt(now, floor, unit, attribute, budget, balanced=balanced)
    return Drawing.of(sketch, alt, _rows(curves, floor, published, unit))


def _heights(point: Point, *, balanced: bool) -> tuple[float, ...]:
    """Return where an attacker's curve runs; of one who is drawn with a band, from its lower to its upper edge."""
    found = point.rate(balanced=balanced)
    if not point.attacker.startswith("adversarial"):
        return (found.value,)
    return tuple(np.linspace(found.low, found.high, 5))


def _range(
    curves: Mapping[str, Sequence[Point]],
    now: Sequence[Point],
    floor: Estimate,
    published: Sequence[tuple[float, float]],
    *,
    balanced: bool,
) -> tuple[float, float]:
    """Return the range of the axis in steps of five points; it does not depend on the slider once there are curves."""
    points = [p for row in curves.values() for p in row] or list(now)
    rates = [100 * p.rate(balanced=balanced).value for p in points]
    rates += [100 * p.rate(balanced=balanced).high for p in points if p.attacker.startswith("adversarial")]
    rates += [100 * floor.value, *(100 * rate for _, rate in published)]
    low, high = min(rates), max(rates)
    low = 0.0 if low < 20 else 5 * math.floor((low - 3) / 5)
    return low, min(104.0, 5 * math.ceil((high + 2) / 5))


def _grid(
    sketch: Sketch,
    frame: tuple[float, float, float],
    crowded: Sequence[Sequence[tuple[float, float]]],
) -> None:
    """Draw horizontal lines, each with its percentage above or below one of its ends, where no curve runs through."""
    low, high, last = frame
    for step, sides in product((20, 10, 5, 2), (("top",), ("top", "bottom"))):
        ticks = range(step * math.ceil((low + 1) / step), int(high), step)
        places = {tick: _free(tick, sides, frame, crowded, sketch.pixel) for tick in ticks}
        if sum(place != "" for place in places.values()) >= _LEAST_TICKS:
            break
    for tick, place in places.items():
        sketch.grid((0, last), tick)
        if place:
            sketch.write(0 if place.endswith("right") else last, tick, f"{tick}%", sketch.palette.grey, place, 12)


def _free(
    tick: int,
    sides: Sequence[str],
    frame: tuple[float, float, float],
    crowded: Sequence[Sequence[tuple[float, float]]],
    pixel: float,
) -> str:
    """Return on which side of a line's left or right end no curve is in the way; empty if there is none."""
    last = frame[2]
    for side, (toward, start, end) in product(sides, (("right", 0.0, 0.15 * last), ("left", 0.85 * last, last))):
        xs = np.linspace(start, end, 4)
        heights = np.concatenate([np.interp(xs, [x for x, _ in points], [y for _, y in points]) for points in crowded])
        away = (heights - tick) / pixel  # in pixels above the line
        least, most = (-2, 18) if side == "top" else (-18, 2)
        if not ((away > least) & (away < most)).any():
            return f"{side} {toward}"
    return ""


def _curve(sketch: Sketch, points: Sequence[Point], style: _Style, unit: str, *, balanced: bool) -> None:
    rates = [point.rate(balanced=balanced) for point in points]
    xs = [point.budget for point in points]
    if style.width > 2:
        sketch.band(xs, [100 * r.low for r in rates], [100 * r.high for r in rates], style.color)
    hover = f"{attacker_label(points[0].attacker)}, %{{x:.2f}} {unit}: %{{y:.1f}}%" if points else ""
    sketch.line(xs, [100 * r.value for r in rates], style.color, width=style.width, dash=style.dash, hover=hover)


def _marker(
    sketch: Sketch,
    now: Sequence[Point],
    styles: Mapping[str, _Style],
    budget: float,
    low: float,
    *,
    balanced: bool,
) -> None:
    """Draw the slider's position: a line up to the highest attacker, a dot on every curve."""
    if not now:
        return
    heights = [100 * point.rate(balanced=balanced).value for point in now]
    highest = 100 * strongest_point(now, balanced=balanced).rate(balanced=balanced).value
    kinds = [styles[point.attacker] for point in now]
    sketch.segment(budget, (low, highest), sketch.palette.ink)
    sketch.markers(
        [budget] * len(now),
        heights,
        size=[12 if kind.width > 2 else 8 for kind in kinds],
        opacity=1,
        color=[kind.color for kind in kinds],
        rim=(sketch.palette.background, [2 if kind.width > 2 else 1 for kind in kinds]),
        told=[f"{attacker_label(p.attacker)}: {h:.1f}%" for p, h in zip(now, heights, strict=True)],
        cliponaxis=False,
    )


def _labels(
    sketch: Sketch,
    curves: Mapping[str, Sequence[Point]],
    now: Sequence[Point],
    floor: Estimate,
    styles: Mapping[str, _Style],
    last: float,
    published: Sequence[tuple[float, float]],
    budget: float,
    *,
    balanced: bool,
) -> None:
    """Write the names in a column at the right by their values at the slider, each led to the end of its curve."""
    level = 100 * floor.value
    wanted = [(level, level, f"<b>{percent(floor)}</b> Majority", sketch.palette.chance)]
    for point in now:
        found = point.rate(balanced=balanced)
        points = curves.get(point.attacker) or [point]
        end = 100 * points[-1].rate(balanced=balanced).value
        words = f"<b>{percent(found)}</b> {attacker_label(point.attacker)}"
        wanted.append((100 * found.value, end, words, styles[point.attacker].color))
    if there := [(x, 100 * rate) for x, rate in published if x <= last]:
        here = float(np.interp(budget, [x for x, _ in there], [y for _, y in there]))
        wanted.append((here, there[-1][1], "Paper's network", sketch.palette.grey))
    sketch.write_led(last, budget, wanted, between=16, below=6)


def _alt(now: Sequence[Point], floor: Estimate, unit: str, attribute: str, budget: float, *, balanced: bool) -> str:
    told = "; ".join(f"{attacker_label(p.attacker)} {percent(p.rate(balanced=balanced))}" for p in now)
    measure = "Balanced accuracy" if balanced else "Accuracy"
    best = f" Best: {attacker_label(strongest_point(now, balanced=balanced).attacker)}." if now else ""
    return (
        f"Line chart. {measure} of each attacker on {attribute}, by the {unit} changed per person on average. At "
        f"{budget:g}: {told or 'no attacker yet'}; baseline {percent(floor)}.{best}"
    )


def _rows(
    curves: Mapping[str, Sequence[Point]], floor: Estimate, published: Sequence[tuple[float, float]], unit: str
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "attacker": name,
            f"{unit} changed": point.budget,
            "named rightly": point.accuracy.value,
            **limits(point.accuracy),
            "balanced": point.balanced.value,
            "balanced low": point.balanced.low,
            "balanced high": point.balanced.high,
            "or majority": point.reported.value,
            "trained against": point.trained_at,
        }
        for name, points in curves.items()
        for point in points
    ]
    rows += [{"attacker": "majority", "named rightly": floor.value, **limits(floor)}]
    rows += [
        {"attacker": "paper, network against network", f"{unit} changed": budget, "named rightly": rate}
        for budget, rate in published
    ]
    return rows


_COST_HEIGHT = 250
_LOOKS = (("before", "dash"), ("chance", "dot"))  # of the levels
_LEFT, _RIGHT = 0.16, 1.66  # ends of the axis, with room for the numbers and the labels beside the curve
_ROW = 40


def draw_cost(
    curve: Sequence[tuple[float, Estimate]],
    now: tuple[float, Estimate],
    levels: Mapping[str, Estimate],
    palette: Palette,
    *,
    last: float,
    quality: str,
    unit: str,
    gap: bool = False,
) -> Drawing:
    """Draw a quality over the budget, with what it was before and its control as horizontal lines.

    Parameters
    ----------
    curve : sequence of (budget, Estimate)
        Sorted; fixes the ranges together with the levels.
    now : (budget, Estimate)
        Where the slider stands.
    levels : mapping of words to Estimate
        "Before" first, then a control.
    last : float
        Right end of the axis.
    quality, unit : str
        What is drawn, and what one entry is called.
    gap : bool
        Whether it is a difference of rates, written as 0.131, and not a rate in percent.
    """
    scale = 1.0 if gap else 100.0
    low, high = _cost_range(curve, list(levels.values()), scale)
    sketch = bare(palette, height=_COST_HEIGHT, x=(-_LEFT * last, _RIGHT * last), y=(low, high))
    marks = [last * i / 5 for i in range(6)]
    sketch.ticks(marks, "{:.3g}", showline=False)
    sketch.segment((0, last), low, palette.grey)
    for tick in _cost_ticks(low, high):
        sketch.grid((0, last), tick)
        sketch.write(0, tick, f"{tick:.2f} " if gap else f"{tick:g}% ", palette.grey, "middle left", 12)
    sketch.band([x for x, _ in curve], *_cost_limits(curve, scale), palette.leak)
    sketch.line([x for x, _ in curve], [scale * e.value for _, e in curve], palette.leak, width=3)
    sketch.slider(now[0], scale * now[1].value, low)
    named = [("With noise", now[1], curve[-1][1], palette.leak)]
    for (name, level), (role, dash) in zip(levels.items(), _LOOKS, strict=False):
        color = getattr(palette, role)
        sketch.segment((0, last), scale * level.value, color, width=2, dash=dash)
        named.append((name, level, level, color))
    words = [
        (scale * here.value, scale * end.value, f"<b>{_written(here, gap)}</b> {name}", color)
        for name, here, end, color in named
    ]
    sketch.write_led(last, now[0], words, between=17, below=7, until=1.05)
    rows = [{f"{unit} changed": b, quality: e.value, **limits(e)} for b, e in curve]
    rows += [{f"{unit} changed": math.nan, quality: e.value, **limits(e)} for e in levels.values()]
    told = ", ".join(f"{name.lower()} {_written(level, gap)}" for name, level in levels.items())
    alt = f"{quality.capitalize()} by the {unit} changed per person: at {now[0]:g} {_written(now[1], gap)}; {told}."
    return Drawing.of(sketch, alt, rows)


def _cost_range(
    curve: Sequence[tuple[float, Estimate]], levels: Sequence[Estimate], scale: float
) -> tuple[float, float]:
    """Return a range that holds the band and the levels, with air above for the head of the labels."""
    below, above = _cost_limits(curve, scale)
    values = [v for v in (*below, *above, *(scale * e.value for e in levels)) if not math.isnan(v)]
    low, high = min(values), max(values)
    air = max(0.1 * (high - low), 0.01 * scale)
    return max(0.0, low - air), high + air


def _cost_ticks(low: float, high: float) -> list[float]:
    step = round_step(high - low, (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50), 5)
    return [step * i for i in range(math.ceil(low / step), int(high / step) + 1) if step * i < high - 0.1 * step]


def _cost_limits(curve: Sequence[tuple[float, Estimate]], scale: float) -> tuple[list[float], list[float]]:
    ends = [(e.low, e.high) if not math.isnan(e.low) else (e.value, e.value) for _, e in curve]
    return [scale * low for low, _ in ends], [scale * high for _, high in ends]


def _written(estimate: Estimate, gap: bool) -> str:
    return f"{estimate.value:.3f}" if gap else percent(estimate)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefenceRow:
    """One way to defend.

    Attributes
    ----------
    size : float
        Entries changed per person.
    rates : mapping of attacker to Estimate
        How often each attacker names the true value.
    ours : bool
        Whether it is AttriGuard.
    """

    name: str
    size: float
    rates: Mapping[str, Estimate]
    ours: bool = False


_GLYPHS = {"circle": "●", "diamond": "◆", "square": "■", "triangle-up": "▲", "x": "✖"}
"""The markers of the attackers, in their order, and how they look in text."""


def draw_defences(
    rows: Sequence[DefenceRow], floor: Estimate, palette: Palette, *, unit: str, labels: Mapping[str, str]
) -> Drawing:
    """Draw each defence's accuracies, one marker an attacker, with what it changes in words.

    Parameters
    ----------
    rows : sequence of DefenceRow
        From the top.
    floor : Estimate
        The majority guess, a dotted line.
    labels : mapping of attacker to what to call it
        In the order of the markers.
    """
    end = 100 * max(e.value for row in rows for e in row.rates.values()) * 1.12
    left = -0.72 * end
    sketch = bare(palette, height=_ROW * len(rows) + 70, x=(left, end), y=(len(rows) - 0.35, -1.15))
    for mark in sketch.percent_axis(0, end, steps=(5, 10, 20, 25)):
        sketch.grid(mark, (-0.5, len(rows) - 0.4), palette.grid if mark else palette.grey)
    level = 100 * floor.value
    sketch.segment(level, (-0.5, len(rows) - 0.4), palette.chance, width=1.5, dash="dot")
    _row_names(sketch, rows, left=left, unit=unit)
    for (attacker, name), symbol in zip(labels.items(), _GLYPHS, strict=False):
        _attacker_marks(sketch, rows, attacker, name, symbol)
    key = "   ".join(f"{glyph} {name}" for name, glyph in zip(labels.values(), _GLYPHS.values(), strict=False))
    sketch.write(left, -0.95, f"{key}   ┊ majority {percent(floor)}", palette.grey, "middle right", 12)
    told = "; ".join(f"{row.name} changes {row.size:.1f}: {_rates_told(row, labels)}" for row in rows)
    alt = f"How often each attacker is right against each defence. {told}."
    table = [
        {"defence": row.name, f"{unit} changed": row.size}
        | {labels[a]: e.value for a, e in row.rates.items() if a in labels}
        for row in rows
    ]
    return Drawing.of(sketch, alt, table)


def _row_names(sketch: Sketch, rows: Sequence[DefenceRow], *, left: float, unit: str) -> None:
    """Write each defence's name, and under it what it changes."""
    pixel, palette = (len(rows) + 0.8) / (_ROW * len(rows) + 32), sketch.palette
    for y, row in enumerate(rows):
        name, color = short(row.name, 24), palette.leak if row.ours else palette.ink
        sketch.write(left, y - 7 * pixel, f"<b>{name}</b>" if row.ours else name, color, "middle right")
        sketch.write(left, y + 9 * pixel, f"changes {row.size:.1f} {unit}", palette.grey, "middle right", 11)


def _attacker_marks(sketch: Sketch, rows: Sequence[DefenceRow], attacker: str, name: str, symbol: str) -> None:
    """Draw one attacker's accuracy against each defence she was tried on."""
    palette = sketch.palette
    there = [(y, row) for y, row in enumerate(rows) if attacker in row.rates]
    sketch.markers(
        [100 * row.rates[attacker].value for _, row in there],
        [y for y, _ in there],
        size=11,
        opacity=1,
        symbol=symbol,
        color=[palette.leak if row.ours else palette.before for _, row in there],
        rim=(palette.background, 1),
        told=[f"{short(row.name)}, {name}: {percent(row.rates[attacker])}" for _, row in there],
    )


def _rates_told(row: DefenceRow, labels: Mapping[str, str]) -> str:
    return ", ".join(f"{labels[a]} {percent(e)}" for a, e in row.rates.items() if a in labels)
