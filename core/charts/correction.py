"""Charts of the correction: recovered people by tolerance, where the leak comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import Axis, Drawing, Palette, Sketch, cells, limits, percents, short
from core.charts.lines import Curve, compared, draw_lines, reach
from core.charts.rows import Mark, Row, draw_rows, rate, spans
from core.correction import STEPS, Attribution, Disclosure, LeakAttribution
from core.estimates import Estimate, percent, points, tolerance_text


def tolerances(title: str) -> Axis:
    """Return the axis of tolerances from 0 to 0.2."""
    words = ("0", "0.05", "0.10", "0.15", "0.20")
    return Axis(ends=(0.0, 0.2), marks=(0, 0.05, 0.1, 0.15, 0.2), words=words, title=title)


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
    strong : Estimate or None
        Accuracy of the strong adversary, told nothing; None where the curve is its own.
    difference : float
        The model's difference between groups, for the table.
    """
    before, majority = curve[0].before, curve[0].majority
    x = tolerances("tolerance told (left: stricter)")
    curves = [compared(x, majority, palette.chance, "majority guess", dash="dot")]
    if strong is not None:
        curves.append(compared(x, strong, palette.strongest, "imputation", dash="dashdot"))
    curves.append(compared(x, before, palette.before, "before", dash="dash"))
    corrected = Curve.of(
        [d.told for d in curve],
        [d.after for d in curve],
        color=palette.leak,
        width=3,
        words=f"<b>{percent(marker.after)}</b> after" if marker.after is not None else "no correction",
        hover="told %{x:.3f}: %{y:.1f}%",
        now=100 * (marker.after or marker.before).value,
        hollow=marker.after is None,
    )
    curves.append(corrected)
    y = percents([*reach(curves), 100 * before.low, 100 * before.high], f"{attacker}: people recovered (%)")
    told = tolerance_text(marker.told)
    head = f"told {told} → {tolerance_text(marker.used)}" if marker.used > marker.told else f"told {told}"
    sketch = draw_lines(palette, curves, x=x, y=y, at=min(marker.told, x.ends[1]), head=head)
    sketch.note(told=marker.told)
    return Drawing.of(sketch, _alt(curve, marker, strong, attribute), _rows(curve, strong, difference))


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

    `curve`, all positions of the slider, fixes the range; `names` are by group.
    """
    rows = [(names[g.group], g.before, g.after) for g in marker.groups]
    rows += [("everybody", marker.before, marker.after), ("balanced", marker.balanced_before, marker.balanced_after)]
    every = [e for d in curve for g in d.groups for e in (g.before, g.after) if e is not None]
    sketch = dumbbells(rows, palette, every)
    sketch.note(told=marker.told)
    table = [
        {"people": name, "records": before.n, **cells("before", before), **cells("after", after)}
        for name, before, after in rows
    ]
    told = "; ".join(f"{name} {percent(b)} before, {percent(a) if a else 'no correction'} after" for name, b, a in rows)
    return Drawing.of(sketch, f"Share recognised before and after the correction: {told}.", table)


def dumbbells(
    rows: Sequence[tuple[str, Estimate, Estimate | None]], palette: Palette, every: Sequence[Estimate] = ()
) -> Sketch:
    """Draw one row a name, before as a ring and after as a dot, on a range that holds all of `every` as well."""
    lines = []
    for name, before, after in rows:
        marks = [rate(before, palette.before, "circle-open")]
        value = percent(before)
        if after is not None:
            marks.append(rate(after, palette.leak))
            value = f"{value} → <b>{percent(after)}</b>"
        lines.append(Row(name=short(name, 23), value=value, join=palette.leak, marks=marks))
    held = [100 * v for e in every for v in (e.low, e.high)]
    axis = percents([*held, *spans(lines)], "people recovered (%)")
    return draw_rows(palette, lines, axis, heads=("", "before → after"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing the attacker knows more, and the share of people named rightly with it."""

    name: str
    reached: Estimate
    change: Estimate | None = None  # against the row before, or against `base` where that is given
    promise: bool = False  # whether the row is the fairness promise, whose effect is the point of the chart
    base: float | None = None  # where the bar begins when it is no step of the path: drawn hollow, below a line


def rows_of_one(found: Attribution, now: Disclosure, *, share: str) -> list[Step]:
    """Return the rows of one audit, with the correction itself beside the path.

    `now` is the correction of the same attacker, told the same; `share` is what to call the groups' shares.
    """
    names = _names(share)
    if found.steps[0].accuracy.value != now.majority.value:  # among the people she knows another group is the largest
        names["majority"] = "Majority she knows"
    rows = [
        Step(
            name=names[step.step], reached=step.accuracy, change=step.accuracy_change, promise=step.step == "constraint"
        )
        for step in found.steps
        if step.step in STEPS and not step.reason
    ]
    if now.after is not None:
        name = "correction: promise alone"
        rows.append(Step(name=name, reached=now.after, change=now.gain, promise=True, base=now.before.value))
    return rows


def rows_over_seeds(found: LeakAttribution, *, share: str) -> list[Step]:
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
            Step(
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
    rows: Sequence[Step], strong: Estimate, palette: Palette, *, words: str, attribute: str, told: float | None = None
) -> Drawing:
    """Draw the rows from the top; the first is the control, a dot, because a bar from a cut axis would mislead.

    There are at least two. The last row and a vertical line are `strong`, the accuracy of the strong adversary, told
    nothing; `words` is what to call it. `told`, the tolerance the attacker is told, is noted for tests.
    """
    lines, before = [], rows[0].reached.value
    for i, row in enumerate(rows):
        start = before if row.base is None else row.base
        lines.append(_step(row, 100 * start, palette, first=i == 0))
        before = row.reached.value if row.base is None else before
    value, mark = f"<b>{percent(strong)}</b>", rate(strong, palette.strongest)
    lines.append(Row(name=short(words, 30), value=value, color=palette.strongest, marks=[mark], dash="dashdot"))
    axis = percents(spans(lines), "people recovered (%)")
    sketch = draw_rows(palette, lines, axis, heads=("", "points"))
    if told is not None:
        sketch.note(told=told)
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


def _step(row: Step, start: float, palette: Palette, *, first: bool) -> Row:
    """Return a row of the waterfall: a dot for the control, else a bar from where the one above ends."""
    if first:
        marks = [rate(row.reached, palette.chance)]
        return Row(name=short(row.name, 30), value=percent(row.reached), marks=marks, color=palette.grey)
    mark = Mark(
        at=100 * row.reached.value,
        ends=(100 * row.reached.low, 100 * row.reached.high),
        bar=start,
        hollow=row.base is not None,
        symbol="",
        color=palette.leak if row.promise else palette.before,
        told=f"{percent(row.reached)} of people",
    )
    known = row.change is not None and not math.isnan(row.change.value)
    return Row(
        name=short(row.name, 30),
        value=f"<b>{points(row.change).removesuffix(' points')}</b>" if known and row.change is not None else "",
        color=palette.grey if row.base is not None else "",
        marks=[mark],
        apart=row.base is not None,
    )
