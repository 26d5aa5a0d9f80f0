"""Charts of the audited data and model: groups, rates on seen and unseen people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from core.charts.drawing import Drawing, Palette, Sketch, bare, cells, group_style, limits, short
from core.datasets.dataset import AuditDataset, GroupRow
from core.estimates import count, interval, percent
from core.fairness import GroupRate
from core.subject import ModelFindings


def draw_groups(dataset: AuditDataset, palette: Palette) -> Drawing:
    """Draw two groups as bars as tall as their share, filled as far as their label rate; more as one row each."""
    groups = dataset.groups()
    overall = 100 * float(dataset.labels.mean())
    sketch = (_tall_bars if len(groups) == 2 else _rows)(groups, overall, palette)
    rows = [
        {"group": g.group, "records": g.count, "share": g.share, **cells("label rate", g.label_rate)} for g in groups
    ]
    told = "; ".join(
        f"{g.group}: {count(g.count)} records, {percent(g.label_rate)} with the positive label "
        f"({interval(g.label_rate)})"
        for g in groups
    )
    number = "two" if len(groups) == 2 else str(len(groups))
    return Drawing.of(sketch, f"Bars of the {number} groups. {told}.", rows)


def _tall_bars(groups: Sequence[GroupRow], overall: float, palette: Palette) -> Sketch:
    sketch = bare(palette, height=290, x=(0, 103), y=(0, 1))
    sketch.ticks([0, 25, 50, 75, 100], ["0", "25%", "50%", "75%", "100%"])
    bottom, usable = 0.0, 0.90
    for group, code in zip(groups, (1, 0), strict=True):  # the first group first, see AuditDataset.groups
        style = group_style(palette, code)
        height = usable * group.share
        _bar(sketch, bottom + height / 2, 100.0, height, palette.grid, "")
        _bar(sketch, bottom + height / 2, 100 * group.label_rate.value, height, style.color, style.pattern)
        name = short(group.group, 40)
        middle = bottom + height / 2
        words = f"<b>{name}</b>, {count(group.count)} records<br>{percent(group.label_rate)} have the positive label"
        beside = max(overall, 100 * group.label_rate.value)
        if beside < 65:
            sketch.write(beside + 1, middle, words, palette.ink, "middle right")
        else:
            sketch.write(1, middle, words, palette.background, "middle right")
        bottom += height + 0.03
    sketch.segment(overall, (0, 0.94), palette.ink, width=1.5, dash="dot")
    sketch.write(overall, 0.97, f"everybody {overall:.1f}%", palette.ink, "middle center")
    return sketch


def _rows(groups: Sequence[GroupRow], overall: float, palette: Palette) -> Sketch:
    """Draw one row a group: who and how many at the left, the label rate with its interval at the right."""
    top = len(groups) - 1
    high = 1.04 * max(100 * g.label_rate.high for g in groups)
    sketch = bare(palette, height=70 + 42 * len(groups), x=(-0.85 * high, 1.02 * high), y=(-0.6, top + 1.1))
    sketch.percent_axis(0, high)
    for i, group in enumerate(groups):
        y = top - i
        told = f"<b>{short(group.group, 24)}</b>, {count(group.count)} records"
        sketch.write(-0.84 * high, y, told, palette.ink, "middle right")
        _bar(sketch, y, 100 * group.label_rate.value, 0.56, palette.first, "")
        sketch.dots([(y, group.label_rate)], palette.ink, "line-ns")
        sketch.write(0.3, y, f"<b>{percent(group.label_rate)}</b>", palette.background, "middle right")
    sketch.segment(overall, (-0.5, top + 0.6), palette.ink, width=1.5, dash="dot")
    sketch.write(overall, top + 0.85, f"everybody {overall:.1f}%", palette.ink, "middle center")
    return sketch


def _bar(sketch: Sketch, y: float, width: float, height: float, color: str, pattern: str) -> None:
    shape = {"shape": pattern, "size": 7, "solidity": 0.25, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,0.55)"}
    sketch.bars([width], [y], {"color": color, "pattern": shape, "line": {"width": 0}}, width=[height])


_LABELS = {"label 0": "negative label", "label 1": "positive label"}

SEEN = ("training", "unseen")
"""What to call the people the model learned from and the others."""


def draw_rates(
    model: ModelFindings, palette: Palette, *, names: Sequence[str], seen: tuple[str, str] = SEEN
) -> Drawing:
    """Draw each group's rate of positive predictions, on training and on test records, beside everybody's rate.

    Two groups stand together in one row a set of records; more have a row each, training above unseen. `seen` is what
    to call the two sets.
    """
    rows: list[_Rates] = []
    for told, found in zip(seen, (model.rates_train, model.rates_test), strict=True):
        for part in dict.fromkeys(rate.part for rate in found):
            rows.append(_Rates(told, part, [rate for rate in found if rate.part == part]))
    rows.sort(key=lambda row: row.part)
    sketch = _rates_of_two(rows, palette, names) if len(names) == 2 else _rates_of_many(rows, palette, names, seen)
    table = [
        {
            "records": told,
            "among": "everybody" if part == "all" else f"people with the {_LABELS[part]}",
            "group": names[int(r.group)],
            "n": r.count,
            "positive predictions": r.rate.value,
            **limits(r.rate),
            "everybody": r.overall.value,
            "difference": r.rate.value - r.overall.value,
        }
        for told, part, rates in rows
        for r in rates
    ]
    said = "; ".join(f"{names[int(r.group)]} {percent(r.rate)} ({told})" for told, _, rates in rows for r in rates)
    return Drawing.of(sketch, f"Rate of positive predictions by group: {said}.", table)


class _Rates(NamedTuple):
    """The groups' rates on one set of records, among everybody or the people of one label."""

    told: str
    part: str
    rates: list[GroupRate]


def _fives(ends: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis of percentages in steps of five that holds these rates."""
    return 5 * math.floor((100 * min(ends) - 1) / 5), min(100.0, 5 * math.ceil((100 * max(ends) + 1) / 5))


def _rate_axis(
    rows: Sequence[_Rates], palette: Palette, *, height: int, top: float, left: float
) -> tuple[Sketch, float, float]:
    """Return an empty chart for rates with room for words at the left, its lowest rate and its span, in percent."""
    low, high = _fives([v for row in rows for r in row.rates for v in (r.rate.low, r.rate.high)])
    low = max(0.0, low)
    span = high - low
    sketch = bare(palette, height=height, x=(low - left * span, high + 0.03 * span), y=(-0.6, top))
    sketch.percent_axis(low, high)
    return sketch, low, span


def _rates_of_two(rows: Sequence[_Rates], palette: Palette, names: Sequence[str]) -> Sketch:
    top = len(rows) - 1
    sketch, low, span = _rate_axis(rows, palette, height=110 + 90 * len(rows), top=top + 0.75, left=0.45)
    for i, row in enumerate(rows):
        _rate_row(sketch, top - i, row, names, low - 0.44 * span)
    return sketch


def _rates_of_many(rows: Sequence[_Rates], palette: Palette, names: Sequence[str], seen: tuple[str, str]) -> Sketch:
    """Draw one row a group: training people as a dot, unseen people as a diamond below it, everybody dotted."""
    parts = list(dict.fromkeys(part for _, part, _ in rows))
    k, pitch = len(names), len(names) + 1
    top = pitch * len(parts) - 1
    sketch, low, span = _rate_axis(rows, palette, height=60 + 34 * (top + 1), top=top + 0.2, left=0.62)
    for told, part, rates in rows:
        trained = told == seen[0]
        first = top - 1 - pitch * parts.index(part)
        color, symbol, shift = (palette.ink, "circle", 0.14) if trained else (palette.grey, "diamond", -0.14)
        sketch.dots([(first - int(r.group) + shift, r.rate) for r in rates], color, symbol)
        if trained:
            overall = 100 * rates[0].overall.value
            sketch.segment(overall, (first - k + 0.6, first + 0.45), palette.ink, width=1.5, dash="dot")
            among = "everybody" if part == "all" else _LABELS[part]
            words = f"{among} {overall:.1f}%   <b>●</b> {seen[0]} people  <b>◆</b> {seen[1]} people"
            sketch.write(low - 0.6 * span, first + 0.85, words, palette.grey, "middle right")
            for r in rates:
                words = f"<b>{short(names[int(r.group)], 22)}</b> {percent(r.rate)}"
                sketch.write(low - 0.6 * span, first - int(r.group), words, palette.ink, "middle right")
    return sketch


def _rate_row(sketch: Sketch, y: float, row: _Rates, names: Sequence[str], left: float) -> None:
    palette, rates = sketch.palette, row.rates
    words = f"<b>{row.told} people</b>" + ("" if row.part == "all" else f"<br>{_LABELS[row.part]}")
    sketch.write(left, y, words, palette.ink, "middle right")
    overall = 100 * rates[0].overall.value
    sketch.segment(overall, (y - 0.3, y + 0.3), palette.ink, width=1.5, dash="dot")
    for rate in rates:
        side = 1 if int(rate.group) == 1 else -1
        offset = 0.14 * side
        style = group_style(palette, int(rate.group))
        sketch.dots([(y + offset, rate.rate)], style.color, style.symbol)
        words = f"{short(names[int(rate.group)], 22)} <b>{percent(rate.rate)}</b>"
        sketch.write(100 * rate.rate.value, y + offset + 0.2 * side, words, style.color, "middle center")


def draw_accuracy(model: ModelFindings, palette: Palette, *, seen: tuple[str, str] = SEEN) -> Drawing:
    """Draw the model's accuracy on training and unseen records above the majority guess; `seen` as in `draw_rates`."""
    rows = [
        (f"{seen[0]} people", model.accuracy_train, palette.leak, "circle"),
        (f"{seen[1]} people", model.accuracy_test, palette.leak, "circle"),
        ("majority guess", model.majority_test, palette.chance, "diamond-open"),
    ]
    low, high = _fives([v for _, e, _, _ in rows for v in (e.low, e.high)])
    span = high - low
    sketch = bare(palette, height=290, x=(low - 0.7 * span, high + 0.08 * span), y=(-0.6, 2.75))
    sketch.percent_axis(low, high, steps=(5, 10))
    for i, (name, estimate, color, symbol) in enumerate(rows):
        y = 2 - i
        sketch.write(low - 0.68 * span, y + 0.1, f"<b>{name}</b>", palette.ink, "middle right")
        told = f"{percent(estimate)} of {estimate.n:,}"
        sketch.write(low - 0.68 * span, y - 0.2, told, palette.grey, "middle right")
        sketch.dots([(y, estimate)], color, symbol)
    table = [{"records": name, "n": e.n, "right predictions": e.value, **limits(e)} for name, e, _, _ in rows]
    said = "; ".join(f"{name} {percent(e)}" for name, e, _, _ in rows)
    return Drawing.of(sketch, f"Accuracy of the model: {said}.", table)
