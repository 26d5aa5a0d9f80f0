"""Charts of AttriGuard: attackers' accuracy, utility and other defences by noise budget; the noise itself.

Grey are defense-unaware attackers, violet and orange adaptive ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.arrays import Floats
from core.attriguard import READERS, Compared, Concentration, Exposure, Point, attacker_label, knows_the_noise
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


_GLYPHS = {"circle": "●", "diamond": "◆", "square": "■"}
"""The markers of the attackers, in their order, and how they look in text."""

_OTHERS = {
    "blurme": ("BlurMe", "3 added"),
    "chisquare": ("ChiSquare", "3 added"),
    "qpm": ("QPM", "slack 0.5"),
    "local_dp": ("Local DP, ε = 8", "epsilon 8 an entry"),
}
"""What is drawn of each other defence, and what to call it; the other settings are among the numbers."""


def drawn_defences(made: Sequence[Compared]) -> list[Compared]:
    """Return those of the other defences that are drawn."""
    return [row for row in made if _OTHERS[row.method][1] == row.parameter]


def draw_defences(exposure: Exposure, budget: float, made: Sequence[Compared], palette: Palette) -> Drawing:
    """Draw each defence's accuracies, one marker an attacker, with what it changes in words; AttriGuard first.

    The baseline is a dotted line.
    """
    own = {point.attacker: point.accuracy for point in exposure.at(budget)}
    defences = [("AttriGuard", exposure.spent(budget).value, own)]
    for row in drawn_defences(made):
        knows = ", true value" if row.knows_truth else ", guessed"
        name = _OTHERS[row.method][0] + (knows if row.method in ("blurme", "chisquare") else "")
        defences.append((name, row.size.value, row.accuracy))
    lines = []
    for place, (name, size, rates) in enumerate(defences):
        color = palette.before if place else palette.leak
        marks = [
            measured(
                rates[reader],
                color,
                symbol,
                name=attacker_label(reader),
                scale=100,
                told=f"{attacker_label(reader)} {percent(rates[reader])}",
                rim=palette.background,
            )
            for reader, symbol in zip(READERS, _GLYPHS, strict=True)
            if reader in rates
        ]
        lines.append(
            Row(
                name=name,
                below=f"changes {size:.1f} {exposure.unit}",
                color="" if place else color,
                bold=not place,
                marks=marks,
                facts={f"{exposure.unit} changed": size},
            )
        )
    floor = exposure.majority
    mark = Mark(at=100 * floor.value, color=palette.chance, symbol="", told=percent(floor))
    lines.append(Row(name="baseline", value=percent(floor), color=palette.chance, marks=[mark], dash="dot"))
    key = "   ".join(f"{glyph} {attacker_label(name)}" for name, glyph in zip(READERS, _GLYPHS.values(), strict=True))
    axis, title = percents(spans(lines), _ACCURACY, zero=True), "Accuracy of each attacker against each defence"
    return draw_rows(palette, title, lines, axis, first="defence", sides=[(key, palette.grey)])


_MOST_VALUES = 12  # values that get a row each; of more, only those that take least and most are named
_ROOMY = 6  # of which a second line tells how often they are drawn
_NAMED = 4


class _Value(NamedTuple):
    """What it takes to be read as one value, over people who are read otherwise and for whom there is such noise."""

    name: str
    size: Estimate
    used: float  # how often this noise is drawn at the budget, on average over people, and how often it should be
    target: float
    missing: int  # people for whom there is no such noise

    @property
    def told(self) -> str:
        """What the pointer tells of it."""
        drawn = f"used for {100 * self.used:.1f}%, target {100 * self.target:.1f}%"
        return f"{short(self.name)}: {self.size.value:.2f}; {drawn}"


def draw_value_noise(exposure: Exposure, budget: float, palette: Palette) -> Drawing:
    """Draw the mean noise of each value, those that take the least first."""
    used, unit, attribute = exposure.mechanism(budget).mean(axis=0), exposure.unit, exposure.attribute
    rows = []
    for i, name in enumerate(exposure.values):
        others = exposure.predicted != i
        there = others & exposure.found[:, i]
        missing = int((others & ~there).sum())
        rows.append(_Value(name, mean(exposure.size[there, i]), float(used[i]), float(exposure.target[i]), missing))
    rows.sort(key=lambda row: (not row.size.n, row.size.value))
    title, axis, color = f"Perturbation size per target {attribute}", f"Mean {unit} changed", palette.before
    table = [
        {
            attribute: row.name,
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
        marks = [Mark(at=0.0, color=color, symbol=""), measured(row.size, color, told=row.told)] if row.size.n else []
        below = f"used {100 * row.used:.0f}%, target {100 * row.target:.0f}%" if roomy else ""
        value = f"<b>{row.size.value:.2f}</b>" if row.size.n else ""
        note = "" if row.size.n else "no noise found"
        lines.append(Row(name=row.name, below=below, value=value, note=note, marks=marks, join=color))
    return draw_rows(palette, title, lines, rounded([0.0, *spans(lines)], axis), table=table)


def _value_ranks(palette: Palette, title: str, known: Sequence[_Value], axis: str, table: Any) -> Drawing:
    """Draw one dot a value in their order, with the names of the first and the last."""
    color, sizes = palette.before, [row.size for row in known]
    steps = rounded([1, len(known)], "Values, those that take least first")
    x = Axis(ends=(0.5, len(known) + 0.5), marks=steps.marks[1:-1], words=steps.words[1:-1], title=steps.title)
    ranked = list(enumerate(known, start=1))
    dots = [Dot(x=rank, y=row.size.value, told=row.told) for rank, row in ranked]
    curves = [Curve.of([rank for rank, _ in ranked], sizes, scale=1.0, color=color, width=1, dots=dots)]
    for rank, row in ranked[:_NAMED] + ranked[_NAMED:][-_NAMED:]:
        curves.append(pointed(x, rank, row.size.value, color, row.name, f"{row.size.value:.2f}"))
    return draw_lines(palette, title, curves, x=x, y=rounded([0.0, *reach(curves)], axis), rows=table)


_MOST_BARS = 16
_MARKS = (0.5, 0.8, 0.9)


def draw_where(names: Sequence[str], carried: Concentration, palette: Palette, *, unit: str) -> Drawing:
    """Draw the share of all changes that each column carries, or the most used 1, 2, ... of many items.

    `names` are those of the columns or items (`unit`) that carry noise, the most used first.
    """
    title, axis = f"Noise concentration by {unit}", "Share of all changes (%)"
    total = np.cumsum(carried.share)
    table = {unit: list(names), "share of all changes": carried.share, "with those above": total}
    if len(names) > _MOST_BARS:
        x, curves = _concentration(palette, names, total, carried.n_entries, unit)
        return draw_lines(palette, title, curves, x=x, y=percents([0.0, 100.0], axis), rows=table)
    lines = []
    for name, share in zip(names, 100 * carried.share, strict=True):
        if share > 0:
            words = f"<b>{share:.0f}%</b>" if share >= 1 else "<b>under 1%</b>"
            mark = Mark(at=float(share), bar=0, symbol="", color=palette.before, told=words)
            lines.append(Row(name=name, value=words, marks=[mark]))
    return draw_rows(palette, title, lines, percents(spans(lines), axis, zero=True), table=table)


def _concentration(
    palette: Palette, names: Sequence[str], total: Floats, entries: int, unit: str
) -> tuple[Axis, list[Curve]]:
    """Return the share carried by the most used items, their number on a logarithmic axis."""
    last = math.log10(entries)
    marks = list(range(int(last) + 1))
    x = Axis(ends=(0, last), marks=marks, words=[f"{10**d:,}" for d in marks], title=f"{unit}, most used (log)")
    shown = np.unique(np.round(np.geomspace(1, total.size, 120)).astype(int))
    xs, ys = np.log10(shown).tolist(), (100 * total[shown - 1]).tolist()
    counts = [int(np.searchsorted(total, share - 1e-9)) + 1 for share in _MARKS]
    dots = [
        Dot(x=math.log10(k), y=100 * share, told=f"{short(names[k - 1], 60)} and the {k - 1:,} above it")
        for k, share in zip(counts, _MARKS, strict=True)
    ]
    curves = [Curve(x=[*xs, last], y=[*ys, 100], color=palette.leak, width=3, dots=dots, size=12)]
    for dot, k, share in zip(dots, counts, _MARKS, strict=True):
        carry = f"carr{'ies' if k == 1 else 'y'} {100 * share:.0f}%"
        curves.append(pointed(x, dot.x, dot.y, palette.before, carry, f"{k:,}"))
    return x, curves


_MOST_DRAWN = 10


def draw_mechanism(exposure: Exposure, person: int, budget: float, palette: Palette) -> Drawing:
    """Draw p against M* for one person, the values drawn most often first; the rarest are taken together."""
    used = exposure.mechanism(budget)[person].tolist()
    rows = list(zip(exposure.values, exposure.target.tolist(), used, exposure.size[person].tolist(), strict=True))
    ranked = sorted(rows, key=lambda row: -row[2])
    if len(ranked) > _MOST_DRAWN:
        rare = ranked[_MOST_DRAWN - 1 :]
        goal, often = sum(row[1] for row in rare), sum(row[2] for row in rare)
        ranked = [*ranked[: _MOST_DRAWN - 1], (f"{len(rare)} others", goal, often, -1)]
    lines = []
    for name, goal, often, size in ranked:
        changed = f", changes {size}" if size else ", unchanged"
        marks = [
            Mark(at=100 * share, color=color, symbol=symbol, told=f"{short(name)}, {words}: {100 * share:.1f}%")
            for share, color, symbol, words in (
                (goal, palette.before, "diamond-open", "target p"),
                (often, palette.leak, "circle", "used M*"),
            )
        ]
        value = f"{100 * goal:.0f}% → <b>{100 * often:.0f}%</b>{changed if size >= 0 else ''}"
        lines.append(Row(name=name, value=value, marks=marks, join=palette.before))
    columns = ("value", "target p", "used M*", f"{exposure.unit} changed")
    table = [dict(zip(columns, row, strict=True)) for row in rows]
    axis, title = percents(spans(lines), "How often (%)", zero=True), "Noise of one record, target p and used M*"
    return draw_rows(palette, title, lines, axis, table=table, value="p → M*")


def draw_transfer(attackers: Sequence[str], noises: Sequence[str], fooled: Floats, palette: Palette) -> Drawing:
    """Draw which noise fools which attacker, as a heat map with its numbers.

    `fooled` (attackers, noises) are shares in [0, 1] of noisy records that the attacker reads as the noise wants; nan
    where there are none.
    """
    rows = [attacker_label(name) for name in attackers]
    words = [[percent(float(rate), decimals=0) for rate in row] for row in fooled]
    table = [{"attacker": name, **dict(zip(noises, row, strict=True))} for name, row in zip(rows, fooled, strict=True)]
    return draw_heat(
        palette,
        "Transferability, share of noisy records read as the noise wants",
        fooled.tolist(),
        [[f"<b>{rate}</b>" for rate in row] for row in words],
        names=(noises, rows),
        titles=("Noise against", "Attacker"),
        colors=(mixed(palette.first, palette.background, 0.08), mixed(palette.first, palette.background, 0.5)),
        ends=(0.0, 1.0),
        told=[
            [f"{short(name)}, {short(column)}: {rate}" for column, rate in zip(noises, row, strict=True)]
            for name, row in zip(rows, words, strict=True)
        ],
        rows=table,
    )
