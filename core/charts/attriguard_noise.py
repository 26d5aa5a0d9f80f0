"""Charts of the noise itself: how much each value takes, where it sits, whom it fools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.attriguard import Exposure
from core.charts.drawing import Drawing, Palette, Sketch, bare, error_bars, limits, round_step, short, spread
from core.estimates import Estimate, mean, percent

_VALUES_HEIGHT = 310
_VALUES_PLOT = _VALUES_HEIGHT - 38
_MOST_VALUES = 12  # values that get a row with words each; more are ranked dots, with names at both ends
_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueNoise:
    """What it takes to be read as one value.

    Attributes
    ----------
    size : Estimate
        Mean number of entries changed, over people who are read otherwise and for whom there is such noise.
    used, target : float
        How often this noise is drawn at the budget, on average over people, and how often it should be.
    missing : int
        People for whom there is no such noise.
    """

    value: str
    size: Estimate
    used: float
    target: float
    missing: int


def value_noise(study: Exposure, budget: float) -> list[ValueNoise]:
    """Return a row for each value, those that take the least noise first."""
    used = study.mechanism(budget).mean(axis=0)
    rows = []
    for i, name in enumerate(study.values):
        others = study.predicted != i
        there = others & study.found[:, i]
        rows.append(
            ValueNoise(
                value=name,
                size=mean(study.size[there, i]),
                used=float(used[i]),
                target=float(study.target[i]),
                missing=int((others & ~there).sum()),
            )
        )
    return sorted(rows, key=lambda row: (row.size.value != row.size.value, row.size.value))


def draw_value_noise(rows: Sequence[ValueNoise], palette: Palette, *, unit: str, attribute: str) -> Drawing:
    """Draw the mean noise of each value.

    Parameters
    ----------
    rows : sequence of ValueNoise
        The least noise first.
    unit, attribute : str
        What one entry is called, and what is private.
    """
    known = [row for row in rows if row.size.n]
    end = max((row.size.high for row in known), default=1.0)
    few = len(rows) <= _MOST_VALUES
    left, right = (-0.62 * end, 1.16 * end) if few else (0.0, 1.5 * end)
    sketch = bare(palette, height=_VALUES_HEIGHT, x=(left, right), y=(len(rows) - 0.35, -0.65))
    step = round_step(end, (0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200), 4.5)
    marks = [step * i for i in range(int(end / step) + 1)]
    sketch.ticks(marks, "{:g}", showline=False)
    sketch.segment(0, (-0.6, len(rows) - 0.4), palette.grey)
    for mark in marks[1:]:
        sketch.grid(mark, (-0.6, len(rows) - 0.4))
    (_value_rows if few else _value_ranks)(sketch, rows, left)
    table = [
        {
            attribute: row.value,
            f"{unit} changed, mean": row.size.value,
            **limits(row.size),
            "people": row.size.n,
            "people without such noise": row.missing,
            "drawn for": row.used,
            "goal": row.target,
        }
        for row in rows
    ]
    return Drawing.of(sketch, _values_alt(known, unit, attribute), table)


def _value_rows(sketch: Sketch, rows: Sequence[ValueNoise], left: float) -> None:
    """Draw a row with its words for each value."""
    palette, pixel = sketch.palette, len(rows) / _VALUES_PLOT
    roomy = 1 / pixel >= 30
    for y, row in enumerate(rows):
        sketch.write(left, y, short(row.value, 14), palette.ink, "middle right")
        if roomy:
            words = f" drawn {100 * row.used:.0f}%, goal {100 * row.target:.0f}%"
            sketch.write(0, y + 13 * pixel, words, palette.grey, "middle right", 11)
        if not row.size.n:
            sketch.write(0, y, "no noise found", palette.grey, "middle right", 12)
            continue
        sketch.segment((0, row.size.value), y, palette.before, width=2)
        sketch.write(row.size.high, y, f"  <b>{row.size.value:.2f}</b>", palette.before, "middle right")
    _value_dots(sketch, [(y, row) for y, row in enumerate(rows) if row.size.n], 10)


def _value_ranks(sketch: Sketch, rows: Sequence[ValueNoise], left: float) -> None:
    """Draw one dot a value in their order, with the names of the first and the last."""
    known = [(y, row) for y, row in enumerate(rows) if row.size.n]
    for y, row in known:
        sketch.segment((left, row.size.value), y, sketch.palette.grid, width=2, layer="below")
    _value_dots(sketch, known, 7)
    pixel = len(rows) / _VALUES_PLOT
    for some in (known[:_NAMED], known[_NAMED:][-_NAMED:]):
        heights = spread([float(y) for y, _ in some], 15 * pixel, -0.5, len(rows) - 0.6)
        for height, (_, row) in zip(heights, some, strict=True):
            words = f"  {short(row.value, 14)}  <b>{row.size.value:.2f}</b>"
            sketch.write(max(r.size.high for _, r in some), height, words, sketch.palette.before, "middle right", 12)


def _value_dots(sketch: Sketch, rows: Sequence[tuple[int, ValueNoise]], size: int) -> None:
    color = sketch.palette.before
    sketch.markers(
        [row.size.value for _, row in rows],
        [y for y, _ in rows],
        size=size,
        color=color,
        symbol="circle",
        told=[
            f"{short(r.value)}: {r.size.value:.2f}; drawn for {100 * r.used:.1f}%, goal {100 * r.target:.1f}%"
            for _, r in rows
        ],
        error_x=error_bars(
            [row.size.high - row.size.value for _, row in rows],
            [row.size.value - row.size.low for _, row in rows],
            color,
            thickness=1.5,
        ),
    )


def _values_alt(known: Sequence[ValueNoise], unit: str, attribute: str) -> str:
    if not known:
        return f"No noise was found for any {attribute}."
    some = known if len(known) <= _MOST_VALUES else [known[0], known[-1]]
    told = "; ".join(f"{row.value} {row.size.value:.2f}" for row in some)
    return f"Mean number of {unit} changed for a person to be read as each {attribute}: {told}."


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
    for mark in sketch.percent_axis(0, end, most=4.5)[1:]:
        sketch.grid(mark, (-0.5, len(used) - 0.5))
    sketch.bars([share for _, share in used], list(range(len(used))), {"color": palette.before}, width=0.62)
    for y, (name, share) in enumerate(used):
        sketch.write(left, y, short(name, 16), palette.ink, "middle right")
        words = f" <b>{share:.0f}%</b>" if share >= 1 else " <b>under 1%</b>"
        sketch.write(share, y, words, palette.grey, "middle right")
    return sketch


def _curve_of(
    names: Sequence[str], total: npt.NDArray[np.float64], palette: Palette, entries: int, unit: str
) -> Sketch:
    """Draw the share carried by the most used items, their number on a logarithmic axis."""
    last = math.log10(entries)
    sketch = bare(palette, height=_CURVE_HEIGHT, x=(0, last), y=(0, 108))
    decades = list(range(int(last) + 1))
    sketch.ticks(decades, [f"{10**d:,} {unit[:-1] if d == 0 else unit}" for d in decades])
    for tick in (20, 40, 60, 80, 100):
        sketch.grid((0, last), tick)
        if tick < 100:
            sketch.write(last, tick, f"{tick}%", palette.grey, "top left", 12)
    number = np.arange(1, total.size + 1)
    shown = np.unique(np.round(np.geomspace(1, total.size, 120)).astype(int))
    xs = np.log10(number[shown - 1]).tolist()
    sketch.line([*xs, last], [*(100 * total[shown - 1]).tolist(), 100], palette.leak, width=3)
    for share in _MARKS:
        k = int(np.searchsorted(total, share - 1e-9)) + 1
        x = math.log10(k)
        sketch.segment(x, (0, 100 * share), palette.ink)
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
    for mark in sketch.percent_axis(0, end, steps=(1, 2, 5, 10, 20, 25, 50), most=4.5):
        sketch.grid(mark, (-0.5, len(shown) - 0.5), palette.grid if mark else palette.grey)
    for y, row in enumerate(shown):
        sketch.segment((100 * row.goal, 100 * row.used), y, palette.before, width=1.5)
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
    sketch.no_xaxis()
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
