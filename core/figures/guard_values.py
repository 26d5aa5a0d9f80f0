"""The chart of how much noise it takes for a person to be read as each value of the private attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.attriguard import Study
from core.estimates import Estimate, mean
from core.figures.drawing import Drawing, Palette, Sketch, bare, error_bars, short, spread

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


def value_noise(study: Study, budget: float) -> list[ValueNoise]:
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
    step = next((s for s in (0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100) if end / s <= 4.5), 200)
    marks = [step * i for i in range(int(end / step) + 1)]
    sketch.xaxis(tickvals=marks, ticktext=[f"{mark:g}" for mark in marks], showline=False)
    sketch.segment((0, 0), (-0.6, len(rows) - 0.4), {"color": palette.grey, "width": 1})
    for mark in marks[1:]:
        sketch.segment((mark, mark), (-0.6, len(rows) - 0.4), {"color": palette.grid, "width": 1}, layer="below")
    (_value_rows if few else _value_ranks)(sketch, palette, rows, left)
    table = [
        {
            attribute: row.value,
            f"{unit} changed, mean": row.size.value,
            "low": row.size.low,
            "high": row.size.high,
            "people": row.size.n,
            "people without such noise": row.missing,
            "drawn for": row.used,
            "goal": row.target,
        }
        for row in rows
    ]
    return Drawing.of(sketch, _values_alt(known, unit, attribute), table)


def _value_rows(sketch: Sketch, palette: Palette, rows: Sequence[ValueNoise], left: float) -> None:
    """Draw a row with its words for each value."""
    line = len(rows) / _VALUES_PLOT  # one pixel
    roomy = 1 / line >= 30
    for y, row in enumerate(rows):
        sketch.write(left, y, short(row.value, 14), palette.ink, "middle right")
        if roomy:
            words = f" drawn {100 * row.used:.0f}%, goal {100 * row.target:.0f}%"
            sketch.write(0, y + 13 * line, words, palette.grey, "middle right", 11)
        if not row.size.n:
            sketch.write(0, y, "no noise found", palette.grey, "middle right", 12)
            continue
        sketch.segment((0, row.size.value), (y, y), {"color": palette.before, "width": 2})
        sketch.write(row.size.high, y, f"  <b>{row.size.value:.2f}</b>", palette.before, "middle right")
    _value_dots(sketch, palette, [(y, row) for y, row in enumerate(rows) if row.size.n], 10)


def _value_ranks(sketch: Sketch, palette: Palette, rows: Sequence[ValueNoise], left: float) -> None:
    """Draw one dot a value in their order, with the names of the first and the last."""
    known = [(y, row) for y, row in enumerate(rows) if row.size.n]
    for y, row in known:
        sketch.segment((left, row.size.value), (y, y), {"color": palette.grid, "width": 2}, layer="below")
    _value_dots(sketch, palette, known, 7)
    line = len(rows) / _VALUES_PLOT  # one pixel
    for some in (known[:_NAMED], known[_NAMED:][-_NAMED:]):
        heights = spread([float(y) for y, _ in some], 15 * line, -0.5, len(rows) - 0.6)
        for height, (_, row) in zip(heights, some, strict=True):
            words = f"  {short(row.value, 14)}  <b>{row.size.value:.2f}</b>"
            sketch.write(max(r.size.high for _, r in some), height, words, palette.before, "middle right", 12)


def _value_dots(sketch: Sketch, palette: Palette, rows: Sequence[tuple[int, ValueNoise]], size: int) -> None:
    sketch.markers(
        [row.size.value for _, row in rows],
        [y for y, _ in rows],
        size=size,
        color=palette.before,
        symbol="circle",
        told=[
            f"{short(r.value)}: {r.size.value:.2f}; drawn for {100 * r.used:.1f}%, goal {100 * r.target:.1f}%"
            for _, r in rows
        ],
        error_x=error_bars(
            [row.size.high - row.size.value for _, row in rows],
            [row.size.value - row.size.low for _, row in rows],
            palette.before,
            thickness=1.5,
        ),
    )


def _values_alt(known: Sequence[ValueNoise], unit: str, attribute: str) -> str:
    if not known:
        return f"No noise was found for any {attribute}."
    some = known if len(known) <= _MOST_VALUES else [known[0], known[-1]]
    told = "; ".join(f"{row.value} {row.size.value:.2f}" for row in some)
    return f"Mean number of {unit} changed for a person to be read as each {attribute}: {told}."
