"""Where the leak comes from: a waterfall in which each row adds one thing the attacker knows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.correction import STEPS, Attribution, Disclosure, LeakAttribution
from core.estimates import Estimate
from core.figures.correction import recovery_range
from core.figures.drawing import Drawing, Palette, Sketch, bare, cells, percent_axis, short, whiskers
from core.wording import percent, points

_ROW = 40  # pixels
_ALONE = "promise without the share"
_CORRECTION = "correction: promise alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing the attacker knows more.

    Attributes
    ----------
    reached : Estimate
        Share of people named rightly with it.
    change : Estimate or None
        Change against the row before (against `base` where that is given); None for the first row.
    promise : bool
        Whether the row is the fairness promise, whose effect is the point of the chart.
    base : float or None
        Where the bar begins when it is no step of the path: it is then drawn hollow, below a line.
    """

    name: str
    reached: Estimate
    change: Estimate | None = None
    promise: bool = False
    base: float | None = None


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
            name=names[step.step],
            reached=step.accuracy,
            change=step.accuracy_change,
            promise=step.step == "constraint",
        )
        for step in found.steps
        if step.step in STEPS and not step.reason
    ]
    if now.after is not None:
        rows.append(
            Row(name=_CORRECTION, reached=now.after, change=now.gain, promise=True, base=now.before.value),
        )
    return rows


def rows_over_seeds(found: LeakAttribution, *, share: str) -> list[Row]:
    """Return the rows of several seeds, with the promise alone and the permuted predictions beside the path."""
    names = _names(share) | {"constraint_without_shares": _ALONE, "permuted_predictions": "permuted predictions"}
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
    percent_axis(sketch, low, high)
    if told is not None:
        sketch.note(told=told)
    level = 100 * strong.value
    sketch.segment((level, level), (-0.5, top + 0.55), {"color": palette.strongest, "width": 2, "dash": "dashdot"})
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
        _row(sketch, palette, row, y, 100 * start, low, span, first=i == 0)
        before = row.reached.value if row.base is None else before
    if aside:
        sketch.segment((low - 0.6 * span, high), (aside - 0.5, aside - 0.5), {"color": palette.grid, "width": 1})
    table = [
        {
            "attacker knows": row.name,
            "people named rightly": row.reached.value,
            "low": row.reached.low,
            "high": row.reached.high,
            **cells("change", row.change),
        }
        for row in rows
    ]
    said = "; ".join(
        f"{row.name} {percent(row.reached)}" + (f" ({points(row.change)})" if row.change else "") for row in rows
    )
    alt = f"Waterfall of the people whose {attribute} is recovered, by what the attacker knows: {said}."
    return Drawing.of(sketch, alt, table)


def _row(
    sketch: Sketch, palette: Palette, row: Row, y: float, start: float, low: float, span: float, *, first: bool
) -> None:
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
    sketch.bar(
        base=[min(start, end)],
        x=[width],
        y=[y],
        width=[0.52],
        orientation="h",
        marker={"color": fill, "line": {"width": 2 if row.base is not None else 0, "color": color}},
        hoverinfo="skip",
    )
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
