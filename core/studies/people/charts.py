"""Chart of people at risk: which attacks find the same people, as rows of dots with bars (UpSet; Lex et al. 2014)."""

from __future__ import annotations

from typing import Any

from ...charts.drawing import Axis, Drawing, Scale
from ...stats.estimates import count
from . import ATTACKS, PeopleAtRisk
from .findings import tenths

SHORT = {"correction": "Correction", "queries": "Queries", "card": "Card", "membership": "Member."}
"""Attack -> the head of its column."""

# pixels of a row, and above and below all
_ROW = 26
_HEAD = 62
_BELOW = 46
_LINES = (44, 24, 6)  # pixels of the lines of the head above the plot
_BARS = len(ATTACKS) - 0.4  # where bars begin, the columns of dots being one apart
_WIDE = 1.3  # how long the longest axis of bars is
_NARROW = 330  # pixels that the chart has at least


def draw_sets(result: PeopleAtRisk) -> Drawing:
    """Draw a row for each set of attacks that finds somebody alone, one or more: attacks as dots, people as a bar."""
    sets = result.sets
    bars = Scale(title="", span=4.0, parts=2, start=0.0).over([n for _, n in sets])
    scale = _WIDE / bars.ends[1]
    axis = Axis(
        ends=(-0.55, _BARS + _WIDE),
        marks=[_BARS + scale * mark for mark in bars.marks],
        labels=bars.labels,
        title="People",
        position=lambda n: _BARS + scale * n,
    )
    y = Axis(ends=(len(sets) - 0.5, -0.5), marks=(), labels=(), title="")
    drawing = Drawing(
        "Which attacks find the same people",
        height=_HEAD + _ROW * len(sets) + _BELOW,
        x=axis,
        y=y,
        margins=(4, 38, _HEAD, _BELOW),
        narrow=_NARROW,
    )
    drawing.axes(levels=False)
    drawing.layout["annotations"][-1]["x"] = 1 - _WIDE / 2 / (
        axis.ends[1] - axis.ends[0]
    )  # its title, under the bars
    look: dict[str, Any] = {"y": 1, "refs": ("x", "paper"), "size": 12}
    for index, attack in enumerate(result.attacks):
        run = not attack.reason
        labels = (
            SHORT[attack.attack],
            f"<b>{count(int(attack.leak.sum()))}</b>",
            tenths(attack.chance).replace("none", "0"),
        )
        for up, text in zip(_LINES, labels if run else (labels[0], "not run", ""), strict=True):
            color = "grey" if up == _LINES[-1] else "ink"
            drawing.remark(text, color, x=index, shift=(0, up), anchor=("center", "bottom"), **look)
    for up, text in zip(_LINES[1:], ("found", "by chance"), strict=True):
        drawing.remark(text, "grey", x=_BARS, shift=(0, up), anchor=("left", "bottom"), **look)
    drawing.segment(_BARS, y.ends, "grey", layer="below")
    rows = []
    for i, (pattern, n) in enumerate(sets):
        many = sum(pattern) > 1
        if many:
            drawing.shade_row(i)
        hits = [index for index, hit in enumerate(pattern) if hit]
        misses = [index for index, hit in enumerate(pattern) if not hit]
        drawing.markers(misses, [i] * len(misses), size=5, color="grid")
        drawing.line([hits[0], hits[-1]], [i, i], "leak", width=2)
        names = [ATTACKS[name] for name, hit in zip(ATTACKS, pattern, strict=True) if hit]
        people = f"{' and '.join(names)}: {count(n)}"
        drawing.markers(hits, [i] * len(hits), size=11, color="leak", hover=[people] * len(hits))
        drawing.bar(
            axis.position(n), i, _BARS, "leak" if many else "leak 55", width=0.5, hover=people
        )
        drawing.at_right(i, f"<b>{count(n)}</b>" if many else count(n), "ink", (34, 0))
        rows.append({"attacks": " and ".join(names), "people": n})
    drawing.rows = rows
    drawing.say(
        "Rows of dots with bars",
        "people found by just these attacks",
        [f"{row['attacks']} {row['people']}" for row in rows],
    )
    return drawing
