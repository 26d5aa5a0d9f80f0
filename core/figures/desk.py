"""The query desk drawn: answered gaps with their intervals, on the whole range a gap can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.estimates import Estimate
from core.figures.drawing import Drawing, Palette, Sketch, bare, short
from core.wording import gap

_ROW = 44
MOST_ROWS = 6
"""Answers that are drawn; earlier ones are in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    """One answered question.

    Attributes
    ----------
    words : str
        Who asked for what.
    price : float
        Epsilon it was charged; 0 where it followed from earlier answers.
    truth : float or None
        The exact gap, of invented people only.
    """

    words: str
    gap: Estimate
    price: float
    truth: float | None = None


def draw_gaps(rows: Sequence[GapRow], palette: Palette) -> Drawing:
    """Draw the last answers, the latest at the top and marked, with their 95% intervals from -1 to 1.

    Parameters
    ----------
    rows : sequence of GapRow
        In the order they were answered; at most the last six are drawn.
    """
    shown = list(reversed(rows))[:MOST_ROWS]
    bottom = -float(max(len(shown), 3))
    sketch = bare(palette, height=_ROW * int(-bottom) + 42, x=(-1.04, 1.04), y=(bottom, 0.1))
    marks = (-1.0, -0.5, 0.0, 0.5, 1.0)
    sketch.xaxis(tickvals=marks, ticktext=["−1", "−0.5", "0", "+0.5", "+1"])
    sketch.segment((0, 0), (bottom, 0.1), {"color": palette.chance, "width": 1.5, "dash": "dot"}, layer="below")
    for i, row in enumerate(shown):
        _draw_row(sketch, row, -i - 0.62, palette, latest=i == 0)
    told = "; ".join(_told(row) for row in shown)
    part = f", the last {len(shown)} of {len(rows)}" if len(shown) < len(rows) else ""
    alt = f"Answered gaps from −1 to 1, the latest first{part}, with 95% intervals: {told or 'none yet'}."
    known = ["truth"] if any(row.truth is not None for row in rows) else []
    table = [(r.words, r.gap.value, r.gap.low, r.gap.high, r.price, r.truth)[: 5 + len(known)] for r in rows]
    return Drawing.of(sketch, alt, table, ["question", "gap", "low", "high", "epsilon", *known])


def _draw_row(sketch: Sketch, row: GapRow, y: float, palette: Palette, *, latest: bool) -> None:
    color = palette.leak if latest else palette.before
    sketch.segment((-1, 1), (y, y), {"color": palette.grid, "width": 1}, layer="below")
    sketch.scatter(
        x=[row.gap.low, row.gap.high],
        y=[y, y],
        mode="lines",
        line={"color": color, "width": 5 if latest else 3},
        opacity=0.45,
        hoverinfo="skip",
    )
    sketch.markers(
        [row.gap.value], [y], size=11, color=color, symbol="diamond" if row.price == 0 else "circle", told=[_told(row)]
    )
    if row.truth is not None:
        sketch.markers([row.truth], [y], size=15, color=palette.ink, symbol="line-ns", rim=(palette.ink, 2))
    sketch.write(-1.04, y + 0.32, short(row.words, 44), palette.ink if latest else palette.grey, "middle right")
    cost = "free" if row.price == 0 else f"ε {row.price:g}"
    sketch.write(1.04, y + 0.32, f"{cost}  <b>{gap(row.gap.value)}</b>", color, "middle left")


def _told(row: GapRow) -> str:
    return f"{short(row.words, 60)} {gap(row.gap.value)} ({gap(row.gap.low)} to {gap(row.gap.high)})"
