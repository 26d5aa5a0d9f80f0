"""Charts of the noise itself: how much each value takes, where it sits, whom it fools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.attriguard import Study
from core.charts.drawing import Axis, Drawing, Palette, Sketch, limits, mixed, percents, rounded, short
from core.charts.heat import draw_heat
from core.charts.lines import Curve, draw_lines, pointed, reach
from core.charts.rows import Mark, Row, draw_rows, spans
from core.estimates import Estimate, mean, percent

_MOST_VALUES = 12  # values that get a row each; of more, only those that take least and most are named
_ROOMY = 6  # of which a second line tells how often they are drawn
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

    Those that take the least come first; `unit` is what one entry is called, `attribute` what is private.
    """
    known = [row for row in rows if row.size.n]
    title = f"{unit} changed, mean"
    if len(rows) <= _MOST_VALUES:
        lines = [_value_line(row, palette, roomy=len(rows) <= _ROOMY) for row in rows]
        sketch = draw_rows(palette, lines, rounded([0.0, *spans(lines)], title))
    else:
        sketch = _value_ranks(known, palette, title)
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


def _value_line(row: ValueNoise, palette: Palette, *, roomy: bool) -> Row:
    size, name = row.size, short(row.value, 18)
    drawn = f"drawn {100 * row.used:.0f}%, goal {100 * row.target:.0f}%" if roomy else ""
    if not size.n:
        return Row(name=name, below=drawn, note="no noise found")
    color = palette.before
    mark = Mark(at=size.value, ends=(size.low, size.high), color=color, told=_value_told(row))
    marks = [Mark(at=0.0, color=color, symbol=""), mark]
    return Row(name=name, below=drawn, value=f"<b>{size.value:.2f}</b>", marks=marks, join=color)


def _value_ranks(known: Sequence[ValueNoise], palette: Palette, title: str) -> Sketch:
    """Draw one dot a value in their order, with the names of the first and the last."""
    ranks, color = range(1, len(known) + 1), palette.before
    steps = rounded([1, len(known)], "values, those that take least first")
    x = Axis(ends=(0.5, len(known) + 0.5), marks=steps.marks[1:-1], words=steps.words[1:-1], title=steps.title)
    curves = [Curve.of(ranks, [row.size for row in known], scale=1.0, color=color, width=1)]
    ranked = list(zip(ranks, known, strict=True))
    for rank, row in ranked[:_NAMED] + ranked[_NAMED:][-_NAMED:]:
        words = f"<b>{row.size.value:.2f}</b> {short(row.value, 12)}"
        curves.append(pointed(x, rank, row.size.value, color, words))
    sketch = draw_lines(palette, curves, x=x, y=rounded([0.0, *reach(curves)], title))
    sizes = [row.size.value for row in known]
    sketch.markers(ranks, sizes, size=7, color=color, told=[_value_told(row) for row in known])
    return sketch


def _value_told(row: ValueNoise) -> str:
    drawn = f"drawn for {100 * row.used:.1f}%, goal {100 * row.target:.1f}%"
    return f"{short(row.value)}: {row.size.value:.2f}; {drawn}"


def _values_alt(known: Sequence[ValueNoise], unit: str, attribute: str) -> str:
    if not known:
        return f"No noise was found for any {attribute}."
    some = known if len(known) <= _MOST_VALUES else [known[0], known[-1]]
    told = "; ".join(f"{row.value} {row.size.value:.2f}" for row in some)
    return f"Mean number of {unit} changed for a person to be read as each {attribute}: {told}."


_MOST_BARS = 16
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
    lines = []
    for name, share in zip(names, 100 * shares, strict=True):
        if share > 0:
            words = f"<b>{share:.0f}%</b>" if share >= 1 else "<b>under 1%</b>"
            mark = Mark(at=float(share), bar=0, symbol="", color=palette.before, told=words)
            lines.append(Row(name=short(name, 20), value=words, marks=[mark]))
    return draw_rows(palette, lines, percents(spans(lines), "share of all changes (%)", zero=True))


def _curve_of(
    names: Sequence[str], total: npt.NDArray[np.float64], palette: Palette, entries: int, unit: str
) -> Sketch:
    """Draw the share carried by the most used items, their number on a logarithmic axis."""
    last = math.log10(entries)
    decades = list(range(int(last) + 1))
    x = Axis(ends=(0, last), marks=decades, words=[f"{10**d:,}" for d in decades], title=f"{unit}, most used (log)")
    number = np.arange(1, total.size + 1)
    shown = np.unique(np.round(np.geomspace(1, total.size, 120)).astype(int))
    xs, ys = np.log10(number[shown - 1]).tolist(), (100 * total[shown - 1]).tolist()
    curves = [Curve(x=[*xs, last], y=[*ys, 100], color=palette.leak, width=3)]
    marks = [int(np.searchsorted(total, share - 1e-9)) + 1 for share in _MARKS]
    for k, share in zip(marks, _MARKS, strict=True):
        words = f"<b>{k:,}</b> carr{'ies' if k == 1 else 'y'} {100 * share:.0f}%"
        curves.append(pointed(x, math.log10(k), 100 * share, palette.before, words))
    sketch = draw_lines(palette, curves, x=x, y=percents([0.0, 100.0], "share of all changes (%)"))
    sketch.markers(
        [math.log10(k) for k in marks],
        [100 * share for share in _MARKS],
        size=12,
        color=palette.leak,
        rim=(palette.background, 2),
        told=[f"{names[k - 1]} and the {k - 1:,} above it" for k in marks],
    )
    return sketch


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
    lines = []
    for row in shown:
        changed = f", changes {row.size}" if row.size else ", unchanged"
        marks = [
            Mark(at=100 * share, color=color, symbol=symbol, told=f"{short(row.value)}, {words}: {100 * share:.1f}%")
            for share, color, symbol, words in (
                (row.goal, palette.before, "diamond-open", "goal p"),
                (row.used, palette.leak, "circle", "drawn M*"),
            )
        ]
        value = f"<b>{100 * row.used:.0f}%</b>{changed if row.size >= 0 else ''}"
        lines.append(Row(name=short(row.value), value=value, marks=marks, join=palette.before))
    sketch = draw_rows(palette, lines, percents(spans(lines), "how often (%)", zero=True))
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

    letters = max(6, min(16, 40 // len(columns)))
    words = [[percent(float(rate), decimals=0) for rate in row] for row in fooled]
    sketch = draw_heat(
        palette,
        np.nan_to_num(fooled).tolist(),
        [[f"<b>{rate}</b>" for rate in row] for row in words],
        names=([short(name, letters) for name in columns], [short(name, 18) for name in rows]),
        colors=(mixed(palette.first, palette.background, 0.08), mixed(palette.first, palette.background, 0.5)),
        ends=(0.0, 1.0),
        told=[
            [f"{short(name)}, {short(column)}: {rate}" for column, rate in zip(columns, row, strict=True)]
            for name, row in zip(rows, words, strict=True)
        ],
        left=124,
        pitch=30,
    )
    table = pd.DataFrame(fooled, columns=list(columns))
    table.insert(0, corner, list(rows))
    told = "; ".join(
        f"{name}: " + ", ".join(f"{column} {rate}" for column, rate in zip(columns, row, strict=True))
        for name, row in zip(rows, words, strict=True)
    )
    return Drawing(sketch=sketch, alt=f"Heat map of the noisy records read as the noise wants. {told}.", table=table)
