"""Charts of the audited data and model: groups, rates on seen and unseen people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from core.charts.drawing import Drawing, Palette, Sketch, bare, cells, group_style, limits, percents, short
from core.charts.rows import Mark, Row, draw_rows, rate, spans
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
            sketch.remark(words, palette.ink, x=beside + 1, y=middle)
        else:
            sketch.remark(words, palette.background, x=1, y=middle)
        bottom += height + 0.03
    sketch.segment(overall, (0, 0.94), palette.ink, width=1.5, dash="dot")
    sketch.remark(f"everybody {overall:.1f}%", palette.ink, x=overall, y=0.97, anchor=("center", "middle"))
    return sketch


def _rows(groups: Sequence[GroupRow], overall: float, palette: Palette) -> Sketch:
    """Draw one row a group: who and how many at the left, the label rate with its interval at the right."""
    lines = [
        Row(
            name=f"<b>{short(group.group, 24)}</b>",
            below=f"{count(group.count)} records",
            value=f"<b>{percent(group.label_rate)}</b>",
            marks=[replace(rate(group.label_rate, palette.first), bar=0, symbol="")],
        )
        for group in groups
    ]
    mark = Mark(at=overall, color=palette.ink, symbol="", told=f"{overall:.1f}%")
    lines.append(Row(name="everybody", value=f"{overall:.1f}%", marks=[mark], dash="dot"))
    return draw_rows(palette, lines, percents(spans(lines), "positive label (%)", zero=True))


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

    Each group has a row, training above unseen. `seen` is what to call the two sets.
    """
    rows: list[_Rates] = []
    for told, found in zip(seen, (model.rates_train, model.rates_test), strict=True):
        for part in dict.fromkeys(r.part for r in found):
            rows.append(_Rates(told, part, [r for r in found if r.part == part]))
    rows.sort(key=lambda row: row.part)
    parts = [[row for row in rows if row.part == part] for part in dict.fromkeys(row.part for row in rows)]
    lines = [line for sets in parts for line in _part_lines(sets, names, palette)]
    axis = percents(spans(lines), "positive predictions (%)")
    sketch = draw_rows(palette, lines, axis, heads=("", f"{seen[0]} → {seen[1]}"))
    for i, sets in enumerate(parts):
        top = i * (len(names) + 1) - 0.5
        for row in sets:  # everybody's rate goes through the rows of its part
            overall = 100 * row.rates[0].overall.value
            sketch.segment(overall, (top, top + len(names) + 1), palette.ink, width=1.5, dash="dot", layer="below")
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


def _part_lines(sets: Sequence[_Rates], names: Sequence[str], palette: Palette) -> list[Row]:
    """Return a row for everybody and one a group, each set at a height of its own, a ring for the first."""
    among = "everybody" if sets[0].part == "all" else f"all, {_LABELS[sets[0].part]}"
    kinds = [(f"<b>{among}</b>", palette.ink, "circle", [row.rates[0].overall for row in sets])]
    for code, name in reversed(list(enumerate(names))):
        style, two = group_style(palette, code), len(names) == 2
        found = [r.rate for row in sets for r in row.rates if int(r.group) == code]
        color, symbol = (style.color, style.symbol) if two else (palette.grey, "circle")
        kinds.append((f"<b>{short(name, 22)}</b>", color, symbol, found))
    return [
        Row(
            name=name,
            value=" → ".join(percent(e) for e in found),
            color=color,
            apart=i == 0,
            marks=[
                rate(e, color, f"{symbol}{ring}", up=up, name=f"{row.told} people")
                for e, row, up, ring in zip(found, sets, (6, -6), ("-open", ""), strict=False)
            ],
        )
        for i, (name, color, symbol, found) in enumerate(kinds)
    ]


def draw_accuracy(model: ModelFindings, palette: Palette, *, seen: tuple[str, str] = SEEN) -> Drawing:
    """Draw the model's accuracy on training and unseen records above the majority guess; `seen` as in `draw_rates`."""
    rows = [
        (f"{seen[0]} people", model.accuracy_train, palette.leak, "circle"),
        (f"{seen[1]} people", model.accuracy_test, palette.leak, "circle"),
        ("majority guess", model.majority_test, palette.chance, "diamond-open"),
    ]
    lines = [
        Row(name=f"<b>{name}</b>", below=f"of {e.n:,}", value=f"<b>{percent(e)}</b>", marks=[rate(e, color, symbol)])
        for name, e, color, symbol in rows
    ]
    sketch = draw_rows(palette, lines, percents(spans(lines), "right predictions (%)"))
    table = [{"records": name, "n": e.n, "right predictions": e.value, **limits(e)} for name, e, _, _ in rows]
    said = "; ".join(f"{name} {percent(e)}" for name, e, _, _ in rows)
    return Drawing.of(sketch, f"Accuracy of the model: {said}.", table)
