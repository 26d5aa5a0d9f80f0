"""Charts of the correction: recovered people by tolerance, where the leak comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import (
    Drawing,
    Palette,
    Reference,
    Sketch,
    bare,
    cells,
    limits,
    short,
    whiskers,
)
from core.correction import STEPS, Attribution, Disclosure, LeakAttribution
from core.estimates import Estimate, percent, points, tolerance_text

_HEIGHT = 270
WIDEST = 0.2  # right end of the tolerance axis


def recovery_range(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return a percentage range that holds all estimates with some air."""
    values = [100 * v for e in estimates for v in (e.value, e.low, e.high) if not math.isnan(v)]
    low, high = min(values), max(values)
    air = max(1.0, 0.08 * (high - low))
    return max(0.0, math.floor(low - air)), min(103.0, math.ceil(high + air))


IMPUTATION = "Imputation, without the model"
"""What charts call gradient boosting from features and label; it is not stronger than every attacker everywhere."""


def ticks(low: float, high: float) -> list[float]:
    """Return round percentages inside the range."""
    step = 5 if high - low <= 20 else 10 if high - low <= 50 else 20
    first = int(math.floor(low / step) + 1) * step
    return [float(t) for t in range(first, int(high) + 1, step) if low + 1 < t < high - 1]


def tolerance_chart(palette: Palette, height: int, low: float, high: float, *, aside: float = 0.0) -> Sketch:
    """Return an empty chart over tolerances from 0 to 0.2, with room `aside` at both ends."""
    sketch = bare(palette, height=height, x=(0.0 - aside, WIDEST + aside), y=(low, high))
    sketch.ticks([0, 0.05, 0.1, 0.15, 0.2], ["0", "0.05", "0.10", "0.15", "0.20"])
    return sketch


def draw_disclosure(
    curve: Sequence[Disclosure],
    marker: Disclosure,
    strong: Estimate | None,
    palette: Palette,
    *,
    attribute: str,
    attacker: str,
    difference: float = math.nan,
) -> Drawing:
    """Draw the corrected accuracy over the tolerance the attacker is told, with a marker at one tolerance.

    Parameters
    ----------
    curve : sequence of Disclosure
        Sorted by tolerance told, from 0 to 0.2; fixes the ranges, which do not depend on the marker.
    marker : Disclosure
        Where the slider stands.
    strong : Estimate or None
        Accuracy of the strong adversary, told nothing; None where the curve is its own.
    attribute, attacker : str
        Name of the sensitive attribute, and of the attacker, as the labels say them.
    difference : float
        The model's difference between groups, for the table.
    """
    before, majority = curve[0].before, curve[0].majority
    known = [d for d in curve if d.after is not None]
    compared = [e for e in (before, majority, strong) if e is not None]
    low, high = recovery_range([*compared, *(d.after for d in known if d.after is not None)])
    sketch = tolerance_chart(palette, _HEIGHT, low, high)
    sketch.note(told=marker.told)
    pixel, levels = sketch.pixel, [100 * e.value for e in compared]
    sketch.value_axis(ticks(low, high), WIDEST, crowded=levels, room=16 * pixel)
    sketch.stripe(100 * before.low, 100 * before.high, palette.before, opacity=0.12)
    if after := [(d.told, d.after) for d in known if d.after is not None]:
        edges = [[100 * e.low for _, e in after], [100 * e.high for _, e in after]]
        sketch.band([x for x, _ in after], *edges, palette.leak)
    rates = [
        Reference(words=f"{attacker}, before", estimate=before, color=palette.before, dash="dash", below=True),
        Reference(
            words="Majority guess",
            estimate=majority,
            color=palette.chance,
            dash="dot",
            below=strong is not None and 0 < 100 * (strong.value - majority.value) < 28 * pixel,
        ),
    ]
    if strong is not None:
        rates.insert(0, Reference(words=IMPUTATION, estimate=strong, color=palette.strongest, dash="dashdot"))
    sketch.references(rates, end=WIDEST)
    sketch.line(
        [d.told for d in curve],
        [None if d.after is None else 100 * d.after.value for d in curve],
        palette.leak,
        width=3,
        hover="told %{x:.3f}: %{y:.1f}%",
    )
    _mark(sketch, curve, marker, low, attacker, levels)
    return Drawing.of(sketch, _alt(curve, marker, strong, attribute), _rows(curve, strong, difference))


def _mark(
    sketch: Sketch,
    curve: Sequence[Disclosure],
    marker: Disclosure,
    low: float,
    attacker: str,
    levels: Sequence[float],
) -> None:
    """Draw the marker with its label, above the curve, or below it where a reference line is in the way."""
    palette, pixel = sketch.palette, sketch.pixel
    x = min(marker.told, WIDEST)
    shown = marker.after or marker.before
    y = 100 * shown.value
    solid = marker.after is not None
    hollow: dict[str, Any] = {"color": palette.muted, "rim": (palette.muted, 2)}
    sketch.slider(x, y, low, symbol="circle" if solid else "circle-open", **({} if solid else hollow))
    right = x < 0.1
    reach = (x, x + 0.09) if right else (x - 0.09, x)
    near = [100 * d.after.value for d in curve if d.after is not None and reach[0] <= d.told <= reach[1]]
    raised = f", raised to {tolerance_text(marker.used)}" if marker.used > marker.told else ""
    told = f"{attacker}, told {tolerance_text(marker.told)}{raised}"
    words = f"{told}  <b>{percent(shown)}</b>" if solid else "no correction"
    color = palette.leak if solid else palette.grey
    above, below = max([y, *near]) + 12 * pixel, min([y, *near]) - 16 * pixel
    blocked = any(abs(level - above) < 9 * pixel for level in levels)
    height = below if blocked and not any(abs(level - below) < 9 * pixel for level in levels) else above
    sketch.write(x + 0.002 if right else x - 0.002, height, words, color, "middle right" if right else "middle left")


def _alt(curve: Sequence[Disclosure], marker: Disclosure, strong: Estimate | None, attribute: str) -> str:
    told = (
        f"Told {tolerance_text(marker.told)}, the attacker infers the {attribute} of {percent(marker.after)} correctly"
        if marker.after is not None
        else f"At tolerance {tolerance_text(marker.told)} no correction exists"
    )
    other = "" if strong is None else f"imputation, without the model, {percent(strong)}, "
    return (
        f"Line chart of the people whose {attribute} is recovered, by the tolerance told, from 0 to 0.2. "
        f"{told}; before {percent(curve[0].before)}, {other}"
        f"majority guess {percent(curve[0].majority)}."
    )


def _rows(curve: Sequence[Disclosure], strong: Estimate | None, difference: float) -> list[dict[str, Any]]:
    return [
        {
            "tolerance told": d.told,
            "tolerance used": d.used,
            "model's unfairness": d.achieved,
            "model's difference between groups": difference,
            "majority guess": d.majority.value,
            "accuracy before": d.before.value,
            "accuracy after": d.after.value if d.after else None,
            "after, low": d.after.low if d.after else None,
            "after, high": d.after.high if d.after else None,
            "gain": d.gain.value if d.gain else None,
            "balanced before": d.balanced_before.value,
            "balanced after": d.balanced_after.value if d.balanced_after else None,
            "guesses changed": d.n_changed,
            "changed rightly": d.n_right,
            "exponent": d.exponent,
            "solver status": d.certificate.status,
            "imputation, without the model": strong.value if strong else None,
        }
        for d in curve
    ]


def draw_recognition(
    marker: Disclosure, curve: Sequence[Disclosure], palette: Palette, *, names: Sequence[str]
) -> Drawing:
    """Draw, for each group and for everybody, the share recognised before and after the correction.

    Parameters
    ----------
    marker : Disclosure
        What to draw.
    curve : sequence of Disclosure
        All positions of the slider; fixes the range.
    names : sequence of str
        Names by group.
    """
    rows = [(names[g.group], g.before, g.after) for g in marker.groups]
    rows += [("everybody", marker.before, marker.after), ("balanced", marker.balanced_before, marker.balanced_after)]
    every = [e for d in curve for g in d.groups for e in (g.before, g.after) if e is not None]
    sketch = dumbbells(rows, every, palette)
    sketch.note(told=marker.told)
    table = [
        {"people": name, "records": before.n, **cells("before", before), **cells("after", after)}
        for name, before, after in rows
    ]
    told = "; ".join(f"{name} {percent(b)} before, {percent(a) if a else 'no correction'} after" for name, b, a in rows)
    return Drawing.of(sketch, f"Share recognised before and after the correction: {told}.", table)


def dumbbells(
    rows: Sequence[tuple[str, Estimate, Estimate | None]], every: Sequence[Estimate], palette: Palette
) -> Sketch:
    """Draw one row a name, before as a ring and after as a dot, on a range that holds all of `every`."""
    low, high = recovery_range(every)
    top = len(rows) - 0.4
    height = _HEIGHT if len(rows) <= 4 else _HEIGHT + 52 * (len(rows) - 4)
    sketch = bare(palette, height=height, x=(low - 0.62 * (high - low), high + 0.06 * (high - low)), y=(-0.75, top))
    for tick in sketch.percent_axis(low, high):
        sketch.grid(tick, (-0.75, top - 0.15))
    top, left = len(rows) - 1, low - 0.6 * (high - low)
    before = [(top - i, b) for i, (_, b, _) in enumerate(rows)]
    after = [(top - i, a) for i, (_, _, a) in enumerate(rows) if a is not None]
    for (y, start), (_, end) in zip(before, after, strict=False):
        sketch.segment((100 * start.value, 100 * end.value), y, palette.leak, width=3)
    sketch.dots(before, palette.before, "circle-open")
    sketch.dots(after, palette.leak, "circle")
    for i, (name, b, a) in enumerate(rows):
        words = percent(b) if a is None else f"{percent(b)} → <b>{percent(a)}</b>"
        sketch.write(left, top - i, f"<b>{short(name, 23)}</b>", palette.ink, "middle right")
        sketch.write(left, top - i - 0.36, words, palette.grey, "middle right")
    return sketch


_ROW = 40  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing the attacker knows more, and the share of people named rightly with it."""

    name: str
    reached: Estimate
    change: Estimate | None = None  # against the row before, or against `base` where that is given
    promise: bool = False  # whether the row is the fairness promise, whose effect is the point of the chart
    base: float | None = None  # where the bar begins when it is no step of the path: drawn hollow, below a line


def rows_of_one(found: Attribution, now: Disclosure, *, share: str) -> list[Row]:
    """Return the rows of one audit, with the correction itself beside the path.

    Parameters
    ----------
    now : Disclosure
        The correction of the same attacker, told the same.
    share : str
        What to call the groups' shares.
    """
    names = _names(share)
    if found.steps[0].accuracy.value != now.majority.value:  # among the people she knows another group is the largest
        names["majority"] = "Majority she knows"
    rows = [
        Row(
            name=names[step.step], reached=step.accuracy, change=step.accuracy_change, promise=step.step == "constraint"
        )
        for step in found.steps
        if step.step in STEPS and not step.reason
    ]
    if now.after is not None:
        name = "correction: promise alone"
        rows.append(Row(name=name, reached=now.after, change=now.gain, promise=True, base=now.before.value))
    return rows


def rows_over_seeds(found: LeakAttribution, *, share: str) -> list[Row]:
    """Return the rows of several seeds, with the promise alone and the permuted predictions beside the path."""
    names = _names(share)
    names |= {"constraint_without_shares": "promise without the share", "permuted_predictions": "permuted predictions"}
    rows = []
    for step in found.steps:
        if step.step not in names or not step.n_seeds:
            continue
        aside = step.step not in STEPS
        change = step.changes["accuracy"].estimate if step.changes else None
        base = found.step(step.builds_on).values["accuracy"].estimate.value if aside and step.builds_on else None
        rows.append(
            Row(
                name=names[step.step],
                reached=step.values["accuracy"].estimate,
                change=change,
                promise=step.step.startswith("constraint"),
                base=base,
            )
        )
    return rows


def _names(share: str) -> dict[str, str]:
    return {
        "majority": "Majority guess",
        "features": "and features",
        "predictions": "and predictions",
        "shares": f"and {share}",
        "constraint": "and fairness promise",
    }


def draw_waterfall(
    rows: Sequence[Row], strong: Estimate, palette: Palette, *, words: str, attribute: str, told: float | None = None
) -> Drawing:
    """Draw the rows from the top; the first is the control, a dot, because a bar from a cut axis would mislead.

    Parameters
    ----------
    rows : sequence of Row
        At least two.
    strong : Estimate
        Accuracy of the strong adversary, told nothing, drawn as a vertical line.
    words : str
        What to call that line.
    attribute : str
        Name of the sensitive attribute.
    told : float, optional
        Tolerance the attacker is told, noted for tests.
    """
    low, high = recovery_range([strong, *(row.reached for row in rows)])
    span = high - low
    top = len(rows) - 1
    aside = sum(row.base is not None for row in rows)
    sketch = bare(
        palette, height=66 + _ROW * len(rows), x=(low - 0.62 * span, high + 0.08 * span), y=(-0.7, top + 1.25)
    )
    sketch.percent_axis(low, high)
    if told is not None:
        sketch.note(told=told)
    level = 100 * strong.value
    sketch.segment(level, (-0.5, top + 0.55), palette.strongest, width=2, dash="dashdot")
    right = level < low + 0.55 * span
    sketch.write(
        level,
        top + 0.95,
        f"{words} <b>{percent(strong)}</b>",
        palette.strongest,
        f"middle {'right' if right else 'left'}",
    )
    before = rows[0].reached.value
    for i, row in enumerate(rows):
        y = top - i
        start = row.base if row.base is not None else before
        _row(sketch, row, y, 100 * start, low, span, first=i == 0)
        before = row.reached.value if row.base is None else before
    if aside:
        sketch.segment((low - 0.6 * span, high), (aside - 0.5, aside - 0.5), palette.grid)
    table = [
        {
            "attacker knows": row.name,
            "people named rightly": row.reached.value,
            **limits(row.reached),
            **cells("change", row.change),
        }
        for row in rows
    ]
    said = "; ".join(
        f"{row.name} {percent(row.reached)}" + (f" ({points(row.change)})" if row.change else "") for row in rows
    )
    alt = f"Waterfall of the people whose {attribute} is recovered, by what the attacker knows: {said}."
    return Drawing.of(sketch, alt, table)


def _row(sketch: Sketch, row: Row, y: float, start: float, low: float, span: float, *, first: bool) -> None:
    palette = sketch.palette
    end = 100 * row.reached.value
    color = palette.leak if row.promise else palette.before
    ink = palette.grey if row.base is not None else palette.ink
    sketch.write(low - 0.6 * span, y, short(row.name, 30), ink, "middle right")
    if first:
        sketch.markers([end], [y], size=10, color=palette.chance, symbol="circle")
        side = 1 if end < low + 0.75 * span else -1
        place = "middle right" if side > 0 else "middle left"
        sketch.write(end + 0.03 * span * side, y, percent(row.reached), palette.grey, place)
        return
    width = max(abs(end - start), 0.004 * span)
    inside = palette.background if row.base is None else color  # of words within a wide bar
    fill = "rgba(0,0,0,0)" if row.base is not None else color
    look = {"color": fill, "line": {"width": 2 if row.base is not None else 0, "color": color}}
    sketch.bars([width], [y], look, base=[min(start, end)], width=[0.52])
    sketch.markers(
        [end],
        [y],
        size=1,
        color=color,
        told=[f"{percent(row.reached)} of people"],
        error_x=whiskers([row.reached], palette.ink),
    )
    if row.change is not None and not math.isnan(row.change.value):
        left, right = min(start, end, 100 * row.reached.low), max(start, end, 100 * row.reached.high)
        told = f"<b>{points(row.change).removesuffix(' points')}</b>"
        if width > 0.3 * span:
            sketch.write(min(start, end) + 0.01 * span, y, told, inside, "middle right")
        elif left - 0.14 * span > low:
            sketch.write(left - 0.015 * span, y, told, color, "middle left")
        else:  # there is no room between the name and the bar
            sketch.write(right + 0.015 * span, y, told, color, "middle right")
