"""The chart of how much of the noise sits in how few columns or items."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.figures.drawing import Drawing, Palette, Sketch, bare, line, percent_axis, short

_BAR = 25  # pixels
_MOST_BARS = 16
_CURVE_HEIGHT = 300
_MARKS = (0.5, 0.8, 0.9)


def draw_where(
    names: Sequence[str], shares: npt.NDArray[np.float64], palette: Palette, *, entries: int, unit: str
) -> Drawing:
    """Draw the share of all changes that each column carries, or the most used 1, 2, ... of many items.

    Parameters
    ----------
    names : sequence of str, length k
        Columns or items that carry noise, the most used first.
    shares : ndarray of shape (k,), in [0, 1]
        Share of all changes each of them carries.
    entries : int
        How many columns or items a record has, at least k.
    unit : str
        What they are called.
    """
    total = np.cumsum(shares)
    few = len(names) <= _MOST_BARS
    sketch = _entry_bars(names, shares, palette) if few else _curve_of(names, total, palette, entries, unit)
    carrying = [f"{int(np.searchsorted(total, share - 1e-9)) + 1} carry {100 * share:.0f}%" for share in _MARKS]
    alt = f"Share of all changes by {unit}, of {entries:,}: {', '.join(carrying)}. Most: {', '.join(names[:3])}."
    return Drawing.of(sketch, alt, {unit: list(names), "share of all changes": shares, "with those above": total})


def _entry_bars(names: Sequence[str], shares: npt.NDArray[np.float64], palette: Palette) -> Sketch:
    """Draw a bar for each column."""
    used = [(name, 100 * float(share)) for name, share in zip(names, shares, strict=True) if share > 0]
    end = max((share for _, share in used), default=1.0)
    left = -0.55 * end
    sketch = bare(palette, height=_BAR * len(used) + 46, x=(left, 1.15 * end), y=(len(used) - 0.4, -0.6))
    for mark in percent_axis(sketch, 0, end, most=4.5)[1:]:
        sketch.segment((mark, mark), (-0.5, len(used) - 0.5), {"color": palette.grid, "width": 1}, layer="below")
    sketch.bar(
        x=[share for _, share in used],
        y=list(range(len(used))),
        orientation="h",
        width=0.62,
        marker={"color": palette.before},
        hoverinfo="skip",
    )
    for y, (name, share) in enumerate(used):
        sketch.write(left, y, short(name, 16), palette.ink, "middle right")
        sketch.write(
            share, y, f" <b>{share:.0f}%</b>" if share >= 1 else " <b>under 1%</b>", palette.grey, "middle right"
        )
    return sketch


def _curve_of(
    names: Sequence[str], total: npt.NDArray[np.float64], palette: Palette, entries: int, unit: str
) -> Sketch:
    """Draw the share carried by the most used items, their number on a logarithmic axis."""
    last = math.log10(entries)
    sketch = bare(palette, height=_CURVE_HEIGHT, x=(0, last), y=(0, 108))
    decades = list(range(int(last) + 1))
    sketch.xaxis(tickvals=decades, ticktext=[f"{10**d:,} {unit[:-1] if d == 0 else unit}" for d in decades])
    for tick in (20, 40, 60, 80, 100):
        sketch.segment((0, last), (tick, tick), {"color": palette.grid, "width": 1}, layer="below")
        if tick < 100:
            sketch.write(last, tick, f"{tick}%", palette.grey, "top left", 12)
    number = np.arange(1, total.size + 1)
    shown = np.unique(np.round(np.geomspace(1, total.size, 120)).astype(int))
    xs = np.log10(number[shown - 1]).tolist()
    line(sketch, [*xs, last], [*(100 * total[shown - 1]).tolist(), 100], palette.leak, width=3)
    for share in _MARKS:
        k = int(np.searchsorted(total, share - 1e-9)) + 1
        x = math.log10(k)
        sketch.segment((x, x), (0, 100 * share), {"color": palette.ink, "width": 1})
        words = f"<b>{k:,}</b> carr{'ies' if k == 1 else 'y'} {100 * share:.0f}%"
        if x < 0.35 * last:
            sketch.write(x, 100 * share - 3, f"   {words}", palette.leak, "bottom right")
        else:
            sketch.write(x, 100 * share, f"{words}  ", palette.leak, "top left")
    marks = [int(np.searchsorted(total, share - 1e-9)) for share in _MARKS]
    sketch.markers(
        np.log10(number[marks]).tolist(),
        (100 * np.asarray(_MARKS)).tolist(),
        size=12,
        color=palette.leak,
        rim=(palette.background, 2),
        told=[f"{names[k]} and the {k:,} above it" for k in marks],
    )
    return sketch
