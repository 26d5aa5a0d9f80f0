"""Charts of AttriGuard: attackers' accuracy, utility and other defences by noise budget; the noise itself.

Grey are defense-unaware attackers, violet and orange adaptive ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard import Exposure, Point, attacker_label, knows_the_noise
from core.charts.drawing import Axis, Drawing, cells, percents, rounded
from core.charts.heat import draw_heat
from core.charts.lines import Curve, Dot, compared, draw_lines, level, pointed, reach
from core.charts.rows import Mark, Row, draw_rows, measured, spans
from core.charts.theme import Palette, mixed
from core.charts.words import short
from core.estimates import Estimate, mean, percent

_GUTTER = 180  # pixels for the names of attackers
_ACCURACY = "Accuracy (%)"

_UNAWARE_DASHES = ("solid", "dash", "longdash", "dashdot", "longdashdot")
_AWARE_DASHES = ("dashdot", "dash", "longdash", "longdashdot")


def _looks(attackers: Sequence[str], palette: Palette) -> dict[str, dict[str, Any]]:
    """Return a colour by what the attacker knows, and a dash of their own within it."""
    unaware = [name for name in attackers if not knows_the_noise(name)]
    others = [name for name in attackers if knows_the_noise(name) and not name.startswith("adversarial")]
    trained = sorted(name for name in attackers if name.startswith("adversarial"))
    return {
        name: {"color": color, "dash": dashes[i % len(dashes)], "width": width}
        for names, color, dashes, width in (
            (unaware, palette.before, _UNAWARE_DASHES, 2),
            (others, palette.strongest, _AWARE_DASHES, 2),
            (trained, palette.leak, ("solid", "dash"), 3),
        )
        for i, name in enumerate(names)
    }


def _budgets(last: float, unit: str) -> Axis:
    """Return the axis of budgets from 0 to the largest, of which five parts are marked."""
    marks = [last * i / 5 for i in range(6)]
    words = [f"{mark:.3g}" for mark in marks]
    return Axis(ends=(0, last), marks=marks, words=words, title=f"Noise budget β (mean {unit} changed)")


def draw_budget(
    curves: Mapping[str, Sequence[Point]],
    now: Sequence[Point],
    floor: Estimate,
    palette: Palette,
    *,
    last: float,
    budget: float,
    unit: str,
    attribute: str,
    balanced: bool = False,
    published: Sequence[tuple[float, float]] = (),
) -> Drawing:
    """Draw every attacker's accuracy over the budget, with the baseline as the floor.

    Parameters
    ----------
    curves : mapping of attacker to its points
        Sorted by budget; may be incomplete.
    now : sequence of Point
        The same attackers at the slider, which stands at `budget`.
    last : float
        Right end of the axis, in entries changed per person.
    unit, attribute : str
        What one entry is called, and what is private.
    balanced : bool
        Whether each value counts alike, not each person.
    published : sequence of (budget, accuracy)
        The paper's curve, drawn thin; empty where the paper has none.
    """
    x, looks = _budgets(last, unit), _looks(list(curves), palette)
    drawn = [compared(x, floor, palette.chance, "Baseline")]
    if there := [(b, 100 * rate) for b, rate in published if b <= last]:
        xs, ys = ([point[i] for point in there] for i in (0, 1))
        drawn.append(Curve(x=xs, y=ys, color=palette.muted, width=1.5, dash="dot", name="Paper's network"))
    for name, points in curves.items():
        found = [point.rate(balanced=balanced) for point in points]
        look, here = looks[name], next((p.rate(balanced=balanced) for p in now if p.attacker == name), None)
        label = attacker_label(name)
        if here is not None:
            look |= {"now": 100 * here.value, "value": percent(here)}
        hover = f"{label}, %{{x:.2f}} {unit}: %{{y:.1f}}%"
        banded = look["width"] > 2
        drawn.append(Curve.of([p.budget for p in points], found, band=banded, name=label, hover=hover, **look))
    y = percents(reach(drawn), f"Balanced accuracy at inferring {attribute} (%)" if balanced else _ACCURACY)
    title, rows = f"Accuracy at inferring {attribute} by noise budget", _attacks(curves, floor, published, unit)
    drawing = draw_lines(palette, title, drawn, x=x, y=y, rows=rows, gutter=_GUTTER, at=budget, head=f"at {budget:g}")
    drawing.sketch.note(budget=budget)
    return drawing


def _attacks(
    curves: Mapping[str, Sequence[Point]], floor: Estimate, published: Sequence[tuple[float, float]], unit: str
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "attacker": name,
            f"{unit} changed": point.budget,
            **cells("accuracy", point.accuracy),
            **cells("balanced", point.balanced),
            "or baseline": point.reported.value,
            "trained against": point.trained_at,
        }
        for name, points in curves.items()
        for point in points
    ]
    rows += [{"attacker": "baseline", **cells("accuracy", floor)}]
    paper = "paper, network against network"
    return rows + [{"attacker": paper, f"{unit} changed": budget, "accuracy": rate} for budget, rate in published]


_LOOKS = (("before", "dash"), ("chance", "dot"))  # of the levels


def draw_cost(
    curve: Sequence[tuple[float, Estimate]],
    now: tuple[float, Estimate],
    levels: Mapping[str, Estimate],
    palette: Palette,
    *,
    last: float,
    quality: str,
    unit: str,
    gap: bool = False,
) -> Drawing:
    """Draw a quality over the budget, with what it was before and its baseline as horizontal lines.

    Parameters
    ----------
    curve : sequence of (budget, Estimate)
        Sorted; fixes the ranges together with the levels.
    now : (budget, Estimate)
        Where the slider stands.
    levels : mapping of words to Estimate
        "Before" first, then a baseline.
    last : float
        Right end of the axis.
    quality, unit : str
        What is drawn, and what one entry is called.
    gap : bool
        Whether it is a difference of rates, written as 0.131, and not a rate in percent.
    """
    scale, x = 1.0 if gap else 100.0, _budgets(last, unit)

    def written(estimate: Estimate) -> str:
        return f"{estimate.value:.3f}" if gap else percent(estimate)

    drawn = [
        level(x, scale * e.value, getattr(palette, role), name, written(e), dash=dash)
        for (name, e), (role, dash) in zip(levels.items(), _LOOKS, strict=False)
    ]
    look: dict[str, Any] = {"color": palette.leak, "width": 3, "name": "With noise", "value": written(now[1])}
    budgets, values = [budget for budget, _ in curve], [e for _, e in curve]
    drawn.append(Curve.of(budgets, values, scale=scale, now=scale * now[1].value, **look))
    name = quality.capitalize()
    y = rounded(reach(drawn), name, span=0.04) if gap else percents(reach(drawn), f"{name} (%)")
    table = [
        {f"{unit} changed": b, **cells(quality, e)} for b, e in [*curve, *((math.nan, e) for e in levels.values())]
    ]
    look = {"height": 250, "gutter": _GUTTER, "at": now[0], "head": f"at {now[0]:g}"}
    return draw_lines(palette, f"{name} by noise budget", drawn, x=x, y=y, rows=table, **look)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefenceRow:
    """One way to defend.

    Attributes
    ----------
    size : float
        Entries changed per person.
    rates : mapping of attacker to Estimate
        How often each attacker infers the true value.
    ours : bool
        Whether it is AttriGuard.
    """

    name: str
    size: float
    rates: Mapping[str, Estimate]
    ours: bool = False


_GLYPHS = {"circle": "●", "diamond": "◆", "square": "■", "triangle-up": "▲", "x": "✖"}
"""The markers of the attackers, in their order, and how they look in text."""


def draw_defences(
    rows: Sequence[DefenceRow], floor: Estimate, palette: Palette, *, unit: str, labels: Mapping[str, str]
) -> Drawing:
    """Draw each defence's accuracies, one marker an attacker, with what it changes in words.

    `floor` is the baseline, a dotted line; `labels` name the attackers, in the order of the markers.
    """
    lines = []
    for row in rows:
        color = palette.leak if row.ours else palette.before
        marks = [
            measured(
                row.rates[attacker],
                color,
                symbol,
                name=labels[attacker],
                scale=100,
                told=f"{labels[attacker]} {percent(row.rates[attacker])}",
                rim=palette.background,
            )
            for attacker, symbol in zip(labels, _GLYPHS, strict=False)
            if attacker in row.rates
        ]
        lines.append(
            Row(
                name=row.name,
                below=f"changes {row.size:.1f} {unit}",
                color=palette.leak if row.ours else "",
                bold=row.ours,
                marks=marks,
                facts={f"{unit} changed": row.size},
            )
        )
    mark = Mark(at=100 * floor.value, color=palette.chance, symbol="", told=percent(floor))
    lines.append(Row(name="baseline", value=percent(floor), color=palette.chance, marks=[mark], dash="dot"))
    key = "   ".join(f"{glyph} {name}" for name, glyph in zip(labels.values(), _GLYPHS.values(), strict=False))
    axis, title = percents(spans(lines), _ACCURACY, zero=True), "Accuracy of each attacker against each defence"
    return draw_rows(palette, title, lines, axis, first="defence", sides=[(key, palette.grey)])


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

    @property
    def told(self) -> str:
        """What the pointer tells of it."""
        drawn = f"used for {100 * self.used:.1f}%, target {100 * self.target:.1f}%"
        return f"{short(self.value)}: {self.size.value:.2f}; {drawn}"


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
    """Draw the mean noise of each value, those that take the least first."""
    title, axis, color = f"Perturbation size per target {attribute}", f"Mean {unit} changed", palette.before
    table = [
        {
            attribute: row.value,
            **cells(f"{unit} changed, mean", row.size),
            "people": row.size.n,
            "people without such noise": row.missing,
            "used for": row.used,
            "target": row.target,
        }
        for row in rows
    ]
    if len(rows) > _MOST_VALUES:
        return _value_ranks(palette, title, [row for row in rows if row.size.n], axis, table)
    roomy, lines = len(rows) <= _ROOMY, []
    for row in rows:
        mark = measured(row.size, color, told=row.told)
        marks = [Mark(at=0.0, color=color, symbol=""), mark] if row.size.n else []
        below = f"used {100 * row.used:.0f}%, target {100 * row.target:.0f}%" if roomy else ""
        value = f"<b>{row.size.value:.2f}</b>" if row.size.n else ""
        note = "" if row.size.n else "no noise found"
        lines.append(Row(name=row.value, below=below, value=value, note=note, marks=marks, join=color))
    return draw_rows(palette, title, lines, rounded([0.0, *spans(lines)], axis), table=table)


def _value_ranks(palette: Palette, title: str, known: Sequence[ValueNoise], axis: str, table: Any) -> Drawing:
    """Draw one dot a value in their order, with the names of the first and the last."""
    color, sizes = palette.before, [row.size for row in known]
    steps = rounded([1, len(known)], "Values, those that take least first")
    marks, words = steps.marks[1:-1], steps.words[1:-1]
    x = Axis(ends=(0.5, len(known) + 0.5), marks=marks, words=words, title=steps.title)
    ranks = list(range(1, len(known) + 1))
    dots = [Dot(x=rank, y=row.size.value, told=row.told) for rank, row in zip(ranks, known, strict=True)]
    curves = [Curve.of(ranks, sizes, scale=1.0, color=color, width=1, dots=dots)]
    ranked = list(zip(ranks, known, strict=True))
    for rank, row in ranked[:_NAMED] + ranked[_NAMED:][-_NAMED:]:
        curves.append(pointed(x, rank, row.size.value, color, row.value, f"{row.size.value:.2f}"))
    return draw_lines(palette, title, curves, x=x, y=rounded([0.0, *reach(curves)], axis), rows=table)


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
    total, title, axis = np.cumsum(shares), f"Noise concentration by {unit}", "Share of all changes (%)"
    table = {unit: list(names), "share of all changes": shares, "with those above": total}
    if len(names) > _MOST_BARS:
        return _concentration(palette, title, names, total, axis, entries, unit, table)
    lines = []
    for name, share in zip(names, 100 * shares, strict=True):
        if share > 0:
            words = f"<b>{share:.0f}%</b>" if share >= 1 else "<b>under 1%</b>"
            mark = Mark(at=float(share), bar=0, symbol="", color=palette.before, told=words)
            lines.append(Row(name=name, value=words, marks=[mark]))
    return draw_rows(palette, title, lines, percents(spans(lines), axis, zero=True), table=table)


def _concentration(
    palette: Palette,
    title: str,
    names: Sequence[str],
    total: npt.NDArray[np.float64],
    axis: str,
    entries: int,
    unit: str,
    table: Any,
) -> Drawing:
    """Draw the share carried by the most used items, their number on a logarithmic axis."""
    last = math.log10(entries)
    marks = list(range(int(last) + 1))
    x = Axis(ends=(0, last), marks=marks, words=[f"{10**d:,}" for d in marks], title=f"{unit}, most used (log)")
    number = np.arange(1, total.size + 1)
    shown = np.unique(np.round(np.geomspace(1, total.size, 120)).astype(int))
    xs, ys = np.log10(number[shown - 1]).tolist(), (100 * total[shown - 1]).tolist()
    counts = [int(np.searchsorted(total, share - 1e-9)) + 1 for share in _MARKS]
    dots = [
        Dot(x=math.log10(k), y=100 * share, told=f"{short(names[k - 1], 60)} and the {k - 1:,} above it")
        for k, share in zip(counts, _MARKS, strict=True)
    ]
    curves = [Curve(x=[*xs, last], y=[*ys, 100], color=palette.leak, width=3, dots=dots, size=12)]
    for dot, k, share in zip(dots, counts, _MARKS, strict=True):
        carry = f"carr{'ies' if k == 1 else 'y'} {100 * share:.0f}%"
        curves.append(pointed(x, dot.x, dot.y, palette.before, carry, f"{k:,}"))
    return draw_lines(palette, title, curves, x=x, y=percents([0.0, 100.0], axis), rows=table)


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
    if len(ranked) > _MOST_DRAWN:
        rare = ranked[_MOST_DRAWN - 1 :]
        goal, used = sum(row.goal for row in rare), sum(row.used for row in rare)
        ranked = [*ranked[: _MOST_DRAWN - 1], Drawn(value=f"{len(rare)} others", goal=goal, used=used, size=-1)]
    lines = []
    for row in ranked:
        changed = f", changes {row.size}" if row.size else ", unchanged"
        marks = [
            Mark(at=100 * share, color=color, symbol=symbol, told=f"{short(row.value)}, {words}: {100 * share:.1f}%")
            for share, color, symbol, words in (
                (row.goal, palette.before, "diamond-open", "target p"),
                (row.used, palette.leak, "circle", "used M*"),
            )
        ]
        value = f"{100 * row.goal:.0f}% → <b>{100 * row.used:.0f}%</b>{changed if row.size >= 0 else ''}"
        lines.append(Row(name=row.value, value=value, marks=marks, join=palette.before))
    table = [{"value": r.value, "target p": r.goal, "used M*": r.used, f"{unit} changed": r.size} for r in rows]
    axis, title = percents(spans(lines), "How often (%)", zero=True), "Noise of one record, target p and used M*"
    return draw_rows(palette, title, lines, axis, table=table, value="p → M*")


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
    words = [[percent(float(rate), decimals=0) for rate in row] for row in fooled]
    return draw_heat(
        palette,
        "Transferability, share of noisy records read as the noise wants",
        fooled.tolist(),
        [[f"<b>{rate}</b>" for rate in row] for row in words],
        names=(columns, rows),
        titles=("Noise against", corner.capitalize()),
        colors=(mixed(palette.first, palette.background, 0.08), mixed(palette.first, palette.background, 0.5)),
        ends=(0.0, 1.0),
        told=[
            [f"{short(name)}, {short(column)}: {rate}" for column, rate in zip(columns, row, strict=True)]
            for name, row in zip(rows, words, strict=True)
        ],
        rows=[{corner: name, **dict(zip(columns, row, strict=True))} for name, row in zip(rows, fooled, strict=True)],
    )
