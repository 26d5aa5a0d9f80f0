"""Charts of the audited data and model: groups and base rates, selection rates, accuracy."""

from __future__ import annotations

from collections.abc import Sequence

from core.charts.drawing import Axis, Drawing, percents, rounded
from core.charts.rows import Mark, Row, draw_rows, measured, rate, spans
from core.charts.theme import Palette, group_style
from core.charts.words import plain_name
from core.datasets.dataset import AuditDataset
from core.estimates import Estimate, count, percent
from core.fairness import GroupRate
from core.subject import ModelFindings

_TALL = 58  # pixels of a row whose bar is as high as its group is large


def draw_groups(dataset: AuditDataset, palette: Palette) -> Drawing:
    """Draw each group as a bar as high as its share, filled as far as its rate of the positive label."""
    groups, two = dataset.groups(), dataset.n_groups == 2
    largest = max(group.share for group in groups)
    overall = 100 * float(dataset.labels.mean())
    label = f"{plain_name(dataset.roles.label)} = {plain_name(dataset.roles.positive)}"
    lines = []
    for i, group in enumerate(groups):
        color = group_style(palette, 1 - i).color if two else palette.first  # the first group first
        thick = max(0.08, 0.84 * group.share / largest)
        filled = rate(group.label_rate, color, "", name="base rate", bar=0.0, thick=thick)
        lines.append(
            Row(
                name=group.group,
                bold=True,
                below=f"{count(group.count)} records",
                value=f"<b>{percent(group.label_rate)}</b>",
                marks=[Mark(at=100.0, bar=0.0, symbol="", color=palette.grid, thick=thick), filled],
                facts={"records": group.count, "share": group.share},
            )
        )
    mark = Mark(at=overall, color=palette.ink, symbol="", name="base rate", estimate=overall / 100)
    facts = {"records": dataset.labels.size, "share": 1.0}
    lines.append(Row(name="all", bold=True, value=f"<b>{overall:.1f}%</b>", marks=[mark], dash="dot", facts=facts))
    marks = (0, 25, 50, 75, 100)
    axis = Axis(ends=(0.0, 100.0), marks=marks, words=[f"{m}" for m in marks], title=f"Share with {label} (%)")
    return draw_rows(palette, "Group sizes and base rates", lines, axis, first="group", pitch=_TALL)


_LABELS = {"label 0": "negative label", "label 1": "positive label"}

SEEN = ("training", "test")
"""What to call the records the model learned from and the others."""


def draw_rates(
    model: ModelFindings, palette: Palette, *, names: Sequence[str], seen: tuple[str, str] = SEEN
) -> Drawing:
    """Draw each group's selection rate on training and test set, and the overall rate.

    Each group has a row, training above test. `seen` is what to call the two sets.
    """
    sets = list(zip(seen, (model.rates_train, model.rates_test), strict=True))
    parts = sorted({r.part for _, found in sets for r in found})
    lines = [line for part in parts for line in _part_rows(part, sets, names, palette)]
    axis = percents(spans(lines), "Selection rate (%)")
    table = [
        {
            "records": told,
            "among": "all" if part == "all" else f"people with the {_LABELS[part]}",
            "group": names[int(r.group)],
            "n": r.count,
            "selection rate": r.rate.value,
            "low": r.rate.low,
            "high": r.rate.high,
            "overall": r.overall.value,
            "difference": r.rate.value - r.overall.value,
        }
        for part in parts
        for told, found in sets
        for r in found
        if r.part == part
    ]
    value = f"{seen[0]} → {seen[1]}"
    return draw_rows(palette, "Selection rate by group", lines, axis, value=value, table=table)


def _part_rows(
    part: str, sets: Sequence[tuple[str, Sequence[GroupRate]]], names: Sequence[str], palette: Palette
) -> list[Row]:
    """Return a row for all and one a group, each set at a height of its own, a ring for the first."""
    inside = [(told, [r for r in found if r.part == part]) for told, found in sets]
    inside = [(told, found) for told, found in inside if found]
    among = "overall" if part == "all" else f"overall, {_LABELS[part]}"
    kinds = [(among, palette.ink, "circle", [found[0].overall for _, found in inside])]
    for code, name in reversed(list(enumerate(names))):
        style = group_style(palette, code)
        rates = [r.rate for _, found in inside for r in found if int(r.group) == code]
        look = (style.color, style.symbol) if len(names) == 2 else (palette.grey, "circle")
        kinds.append((name, *look, rates))
    return [
        Row(
            name=name,
            bold=True,
            value=" → ".join(percent(e) for e in rates),
            color=color,
            apart=i == 0,
            marks=[
                rate(e, color, f"{symbol}{ring}", up=up, name=f"{told} set")
                for e, (told, _), up, ring in zip(rates, inside, (6, -6), ("-open", ""), strict=False)
            ],
        )
        for i, (name, color, symbol, rates) in enumerate(kinds)
    ]


def draw_accuracy(model: ModelFindings, palette: Palette, *, seen: tuple[str, str] = SEEN) -> Drawing:
    """Draw the model's accuracy on training and test set above the majority class; `seen` as in `draw_rates`."""
    found: list[tuple[str, Estimate, str, str]] = [
        (f"{seen[0]} set", model.accuracy_train, palette.leak, "circle"),
        (f"{seen[1]} set", model.accuracy_test, palette.leak, "circle"),
        ("majority class", model.majority_test, palette.chance, "diamond-open"),
    ]
    lines = [
        Row(
            name=name,
            bold=True,
            below=f"of {e.n:,}",
            value=f"<b>{percent(e)}</b>",
            marks=[rate(e, color, symbol, name="accuracy")],
            facts={"n": e.n},
        )
        for name, e, color, symbol in found
    ]
    return draw_rows(palette, "Accuracy", lines, percents(spans(lines), "Accuracy (%)"), first="records")


_UNITS = {
    "points": (100.0, "Points"),
    "percent": (100.0, "Percent"),
    "gap": (1.0, "Difference"),
    "ratio": (1.0, "Ratio"),
    "bits": (1.0, "Bits a person"),
    "columns": (1.0, "Columns"),
}
"""Unit of a check -> by what its share is multiplied, and what the axis says."""


def draw_checks(found: Sequence[tuple[str, str, Estimate, Estimate | None]], palette: Palette, *, unit: str) -> Drawing:
    """Draw numbers of one unit with their intervals, and beside each its control, a hollow diamond.

    A number is its name, of which what stands before a colon goes below, itself in words, its estimate as a share, and
    its control where that is of the same unit.
    """
    scale, title = _UNITS[unit]
    lines = []
    for name, words, estimate, control in found:
        marks = [measured(estimate, palette.leak, name="estimate", scale=scale)]
        if control is not None:
            marks.append(measured(control, palette.chance, "diamond-open", name="control", scale=scale))
        whole, _, part = name.rpartition(": ")
        lines.append(
            Row(
                name=part,
                below=whole,
                bold=True,
                value=f"<b>{words}</b>",
                marks=marks,
                facts={"of": whole} if whole else {},
            )
        )
    axis = rounded([0.0, *spans(lines)], title, span=0.02 * scale)
    return draw_rows(palette, title, lines, axis, first="check")
