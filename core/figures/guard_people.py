"""The charts about one person and about pairs of classifiers: how often each noise is drawn, which noise fools whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.figures.drawing import Drawing, Palette, bare, percent_axis, short
from core.wording import percent

_DRAWN_ROW = 27  # pixels of a row
_MOST_DRAWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """How often one noise is drawn for one person.

    Attributes
    ----------
    goal, used : float
        Share p it should have, and share M* it has within the budget.
    size : int
        Entries it changes.
    """

    value: str
    goal: float
    used: float
    size: int


def draw_mechanism(rows: Sequence[Drawn], palette: Palette, *, unit: str) -> Drawing:
    """Draw p against M* for one person, the values drawn most often first; the rarest are taken together."""
    ranked = sorted(rows, key=lambda row: -row.used)
    shown = ranked if len(ranked) <= _MOST_DRAWN else [*ranked[: _MOST_DRAWN - 1], _rarest(ranked[_MOST_DRAWN - 1 :])]
    end = 100 * max(max(row.goal, row.used) for row in shown)
    left = -0.62 * end
    sketch = bare(palette, height=_DRAWN_ROW * len(shown) + 46, x=(left, 1.6 * end), y=(len(shown) - 0.4, -0.6))
    for mark in percent_axis(sketch, 0, end, steps=(1, 2, 5, 10, 20, 25, 50), most=4.5):
        stroke = {"color": palette.grid if mark else palette.grey, "width": 1}
        sketch.segment((mark, mark), (-0.5, len(shown) - 0.5), stroke, layer="below")
    for y, row in enumerate(shown):
        sketch.segment((100 * row.goal, 100 * row.used), (y, y), {"color": palette.before, "width": 1.5})
        sketch.write(left, y, short(row.value), palette.ink, "middle right")
        changed = f", changes {row.size}" if row.size else ", unchanged"
        words = f"    <b>{100 * row.used:.0f}%</b>{changed if row.size >= 0 else ''}"
        sketch.write(100 * max(row.goal, row.used), y, words, palette.grey, "middle right", 12)
    for rate, color, fill, words in (
        ("goal", palette.before, False, "goal p"),
        ("used", palette.leak, True, "drawn M*"),
    ):
        sketch.markers(
            [100 * getattr(row, rate) for row in shown],
            list(range(len(shown))),
            size=10,
            color=color,
            symbol="circle" if fill else "diamond-open",
            told=[f"{short(row.value)}, {words}: {100 * getattr(row, rate):.1f}%" for row in shown],
            cliponaxis=False,
        )
    table = [{"value": r.value, "goal p": r.goal, "drawn M*": r.used, f"{unit} changed": r.size} for r in rows]
    told = "; ".join(f"{row.value} {100 * row.goal:.0f}% and {100 * row.used:.0f}%" for row in shown)
    return Drawing.of(sketch, f"How often each noise should be drawn and is drawn for her: {told}.", table)


def _rarest(rows: Sequence[Drawn]) -> Drawn:
    goal, used = sum(row.goal for row in rows), sum(row.used for row in rows)
    return Drawn(value=f"{len(rows)} others", goal=goal, used=used, size=-1)


def draw_transfer(
    rows: Sequence[str], columns: Sequence[str], fooled: npt.NDArray[np.float64], palette: Palette, *, corner: str
) -> Drawing:
    """Draw which noise fools which attacker, as a heat map with its numbers.

    Parameters
    ----------
    rows, columns : sequence of str, lengths a and b
        Attackers and noises, or the other way round.
    fooled : ndarray of shape (a, b), in [0, 1]
        Share of noisy records that the attacker reads as the noise wants; nan where there are none.
    corner : str
        What the rows are.
    """
    import pandas as pd

    wide = len(columns)
    left = -0.62 * wide
    sketch = bare(palette, height=30 * len(rows) + 62, x=(left, wide), y=(len(rows), -0.8))
    sketch.xaxis(showline=False, showticklabels=False, ticks="")
    for j, name in enumerate(columns):
        sketch.write(j + 0.5, -0.4, short(name, max(6, min(16, 40 // wide))), palette.ink, "middle center", 12)
    for i, name in enumerate(rows):
        sketch.write(left, i + 0.5, short(name, 22), palette.ink, "middle right", 12)
        for j in range(wide):
            rate = float(fooled[i, j])
            depth = 0.0 if rate != rate else rate
            sketch.shade((j + 0.02, j + 0.98), (i + 0.06, i + 0.94), palette.first, opacity=0.08 + 0.42 * depth)
            sketch.write(j + 0.5, i + 0.5, f"<b>{percent(rate, decimals=0)}</b>", palette.ink, "middle center")
    table = pd.DataFrame(fooled, columns=list(columns))
    table.insert(0, corner, list(rows))
    told = "; ".join(
        f"{name}: " + ", ".join(f"{c} {percent(float(f), decimals=0)}" for c, f in zip(columns, row, strict=True))
        for name, row in zip(rows, fooled, strict=True)
    )
    return Drawing(sketch=sketch, alt=f"Heat map of the noisy records read as the noise wants. {told}.", table=table)
