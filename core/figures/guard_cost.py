"""Charts of what noise costs: a quality of the records over the budget, and other defences beside AttriGuard."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.estimates import Estimate
from core.figures.drawing import Drawing, Palette, Sketch, band, bare, line, percent_axis, short, spread
from core.wording import percent

_COST_HEIGHT = 250
_LOOKS = (("before", "dash"), ("chance", "dot"))  # of the levels
_COST_PLOT = _COST_HEIGHT - 38
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
    sketch.xaxis(tickvals=marks, ticktext=[f"{mark:.3g}" for mark in marks], showline=False)
    sketch.segment((0, last), (low, low), {"color": palette.grey, "width": 1})
    for tick in _cost_ticks(low, high):
        sketch.segment((0, last), (tick, tick), {"color": palette.grid, "width": 1}, layer="below")
        sketch.write(0, tick, f"{tick:.2f} " if gap else f"{tick:g}% ", palette.grey, "middle left", 12)
    band(sketch, [x for x, _ in curve], *_cost_limits(curve, scale), palette.leak)
    line(sketch, [x for x, _ in curve], [scale * e.value for _, e in curve], palette.leak, width=3)
    x, y = now[0], scale * now[1].value
    sketch.segment((x, x), (low, y), {"color": palette.ink, "width": 1})
    sketch.markers([x], [y], size=12, color=palette.leak, rim=(palette.background, 2), cliponaxis=False)
    named = [("With noise", now[1], curve[-1][1], palette.leak)]
    for (name, level), (role, dash) in zip(levels.items(), _LOOKS, strict=False):
        color = getattr(palette, role)
        stroke = {"color": color, "width": 2, "dash": dash}
        sketch.segment((0, last), (scale * level.value, scale * level.value), stroke)
        named.append((name, level, level, color))
    pixel = (high - low) / _COST_PLOT
    sketch.write(1.06 * last, high, f"at {now[0]:g}", palette.grey, "bottom right", 11)
    heights = spread([scale * e.value for _, e, _, _ in named], 17 * pixel, low + 7 * pixel, high - 22 * pixel)
    for height, (name, here, end, color) in zip(heights, named, strict=True):
        sketch.segment((1.005 * last, 1.05 * last), (scale * end.value, height), {"color": color, "width": 1})
        sketch.write(1.06 * last, height, f"<b>{_written(here, gap)}</b> {name}", color, "middle right", 12)
    rows = [{f"{unit} changed": b, quality: e.value, "low": e.low, "high": e.high} for b, e in curve]
    rows += [{f"{unit} changed": math.nan, quality: e.value, "low": e.low, "high": e.high} for e in levels.values()]
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
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if (high - low) / s <= 5)
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
    for mark in percent_axis(sketch, 0, end, steps=(5, 10, 20, 25)):
        stroke = {"color": palette.grid if mark else palette.grey, "width": 1}
        sketch.segment((mark, mark), (-0.5, len(rows) - 0.4), stroke, layer="below")
    level = 100 * floor.value
    sketch.segment((level, level), (-0.5, len(rows) - 0.4), {"color": palette.chance, "width": 1.5, "dash": "dot"})
    _row_names(sketch, rows, palette, left=left, unit=unit)
    for (attacker, name), symbol in zip(labels.items(), _GLYPHS, strict=False):
        _attacker_marks(sketch, rows, attacker, name, symbol, palette)
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


def _row_names(sketch: Sketch, rows: Sequence[DefenceRow], palette: Palette, *, left: float, unit: str) -> None:
    """Write each defence's name, and under it what it changes."""
    pixel = (len(rows) + 0.8) / (_ROW * len(rows) + 32)
    for y, row in enumerate(rows):
        name, color = short(row.name, 24), palette.leak if row.ours else palette.ink
        sketch.write(left, y - 7 * pixel, f"<b>{name}</b>" if row.ours else name, color, "middle right")
        sketch.write(left, y + 9 * pixel, f"changes {row.size:.1f} {unit}", palette.grey, "middle right", 11)


def _attacker_marks(
    sketch: Sketch, rows: Sequence[DefenceRow], attacker: str, name: str, symbol: str, palette: Palette
) -> None:
    """Draw one attacker's accuracy against each defence she was tried on."""
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
