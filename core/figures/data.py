"""Charts of the dataset: how large the groups are and how often each has the positive label."""

from __future__ import annotations

from core.datasets.dataset import AuditDataset
from core.figures.drawing import Drawing, Palette, Sketch, bare, short
from core.wording import count, interval, percent

__all__ = ["draw_groups"]


def draw_groups(dataset: AuditDataset, palette: Palette) -> Drawing:
    """Draw each group as a bar as tall as its share, filled as far as its label rate."""
    import pandas as pd

    groups = dataset.groups()
    sketch = bare(palette, height=290, x=(0, 103), y=(0, 1))
    sketch.xaxis(tickvals=[0, 25, 50, 75, 100], ticktext=["0", "25%", "50%", "75%", "100%"])
    overall = 100 * float(dataset.labels.mean())
    bottom, usable = 0.0, 0.90
    for group, color, pattern in zip(groups, (palette.first, palette.second), ("", "/"), strict=True):
        height = usable * group.share
        _bar(sketch, bottom + height / 2, 100.0, height, palette.grid, "")
        _bar(sketch, bottom + height / 2, 100 * group.label_rate.value, height, color, pattern)
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
    table = pd.DataFrame(
        [
            {
                "group": g.group,
                "records": g.count,
                "share": g.share,
                "label rate": g.label_rate.value,
                "label rate, low": g.label_rate.low,
                "label rate, high": g.label_rate.high,
            }
            for g in groups
        ]
    )
    told = "; ".join(
        f"{g.group}: {count(g.count)} records, {percent(g.label_rate)} with the positive label "
        f"({interval(g.label_rate)})"
        for g in groups
    )
    return Drawing(sketch=sketch, alt=f"Bars of the two groups. {told}.", table=table)


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
