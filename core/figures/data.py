"""Charts of the dataset: how large the groups are and how often each has the positive label."""

from __future__ import annotations

from collections.abc import Sequence

from core.datasets.dataset import AuditDataset, GroupRow
from core.figures.drawing import Drawing, Palette, Sketch, bare, cells, dots, group_style, percent_axis, short
from core.wording import count, interval, percent


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
    sketch.xaxis(tickvals=[0, 25, 50, 75, 100], ticktext=["0", "25%", "50%", "75%", "100%"])
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
    sketch.segment((overall, overall), (0, 0.94), {"color": palette.ink, "width": 1.5, "dash": "dot"})
    sketch.write(overall, 0.97, f"everybody {overall:.1f}%", palette.ink, "middle center")
    return sketch


def _rows(groups: Sequence[GroupRow], overall: float, palette: Palette) -> Sketch:
    """Draw one row a group: who and how many at the left, the label rate with its interval at the right."""
    top = len(groups) - 1
    high = 1.04 * max(100 * g.label_rate.high for g in groups)
    sketch = bare(palette, height=70 + 42 * len(groups), x=(-0.85 * high, 1.02 * high), y=(-0.6, top + 1.1))
    percent_axis(sketch, 0, high)
    for i, group in enumerate(groups):
        y = top - i
        told = f"<b>{short(group.group, 24)}</b>, {count(group.count)} records"
        sketch.write(-0.84 * high, y, told, palette.ink, "middle right")
        _bar(sketch, y, 100 * group.label_rate.value, 0.56, palette.first, "")
        dots(sketch, [(y, group.label_rate)], palette.ink, "line-ns")
        sketch.write(0.3, y, f"<b>{percent(group.label_rate)}</b>", palette.background, "middle right")
    sketch.segment((overall, overall), (-0.5, top + 0.6), {"color": palette.ink, "width": 1.5, "dash": "dot"})
    sketch.write(overall, top + 0.85, f"everybody {overall:.1f}%", palette.ink, "middle center")
    return sketch


def _bar(sketch: Sketch, y: float, width: float, height: float, color: str, pattern: str) -> None:
    shape = {"shape": pattern, "size": 7, "solidity": 0.25, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,0.55)"}
    sketch.bar(
        x=[width],
        y=[y],
        width=[height],
        orientation="h",
        marker={"color": color, "pattern": shape, "line": {"width": 0}},
        hoverinfo="skip",
    )
