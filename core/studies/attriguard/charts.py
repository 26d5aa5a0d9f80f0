"""Charts of AttriGuard: attackers' accuracy, utility and other defences by noise budget; the noise itself.

Grey are defense-unaware attackers, violet and orange adaptive ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...base.validation import Floats
from ...charts.drawing import Axis, Drawing, Scale, cells, percents, shares, value_of
from ...charts.lines import Curve, Dot, draw_lines, level, pointed
from ...charts.planes import draw_heat
from ...charts.rows import Mark, Row, draw_rows
from ...charts.theme import short
from ...stats.estimates import Estimate, percent
from . import (
    CLEAN_ATTACKERS,
    AttriGuardSettings,
    Compared,
    Concentration,
    Exposure,
    attacker_label,
    knows_the_noise,
)
from .findings import value_rows

_GUTTER = 180  # pixels for the names of attackers

_UNAWARE_DASHES = ("solid", "dash", "longdash", "dashdot", "longdashdot")
_AWARE_DASHES = ("dashdot", "dash", "longdash", "longdashdot")


def _looks(attackers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a colour by what the attacker knows, and a dash of their own within it."""
    unaware = [name for name in attackers if not knows_the_noise(name)]
    noise_aware = [
        name for name in attackers if knows_the_noise(name) and not name.startswith("adversarial")
    ]
    trained = sorted(name for name in attackers if name.startswith("adversarial"))
    return {
        name: {"color": color, "dash": dashes[i % len(dashes)], "width": width}
        for names, color, dashes, width in (
            (unaware, "before", _UNAWARE_DASHES, 2),
            (noise_aware, "strongest", _AWARE_DASHES, 2),
            (trained, "leak", ("solid", "dash"), 3),
        )
        for i, name in enumerate(names)
    }


def _over_budgets(
    title: str,
    curves: Sequence[Curve],
    y: Scale,
    rows: Any = None,
    *,
    last: float,
    at: float,
    unit: str,
    height: int = 310,
) -> Drawing:
    """Draw curves over the budget, from 0 to the last, and the slider."""
    marks = [mark for mark in Scale(title="", span=0.0).over([0, last]).marks if mark <= last]
    labels = [f"{mark:g}" for mark in marks]
    x = Axis(
        ends=(0, last), marks=marks, labels=labels, title=f"Noise budget β (mean {unit} changed)"
    )
    look: dict[str, Any] = {"height": height, "gutter": _GUTTER, "at": at, "head": f"at {at:g}"}
    return draw_lines(title, curves, x=x, y=y, rows=rows, **look)


def drawings(exposure: Exposure, settings: AttriGuardSettings) -> dict[str, Drawing]:
    """Return title -> chart: every attacker's accuracy by noise budget, and how much noise each value takes."""
    return {
        "Inference accuracy by noise budget": draw_budget(exposure, settings),
        "Perturbation size per target value": draw_value_noise(exposure, settings.budget),
    }


def draw_budget(exposure: Exposure, settings: AttriGuardSettings) -> Drawing:
    """Draw every attacker's accuracy over the budget, with the baseline as the floor."""
    balanced = settings.balanced
    attribute = exposure.attribute
    floor = exposure.baseline(balanced=balanced)
    looks = _looks(exposure.attackers)
    drawn = [level(floor, "chance", "Baseline")]
    current = {
        point.attacker: point.rate(balanced=balanced) for point in exposure.at(settings.budget)
    }
    for name, points in exposure.curves.items():
        xs = [point.budget for point in points]
        accuracies = [point.rate(balanced=balanced) for point in points]
        look = looks[name] | {"band": looks[name]["width"] > 2, "name": attacker_label(name)}
        drawn.append(Curve(x=xs, of=accuracies, current=current[name], **look))
    if balanced:
        axis_title = f"Balanced accuracy at inferring {attribute} (%)"
    else:
        axis_title = "Accuracy (%)"
    y = percents(axis_title)
    title = f"Accuracy at inferring {attribute} by noise budget"
    last = exposure.last_budget
    unit = exposure.unit
    return _over_budgets(title, drawn, y, last=last, at=settings.budget, unit=unit)


def draw_cost(
    curve: Sequence[tuple[float, Estimate]],
    now: tuple[float, Estimate],
    levels: Mapping[str, Estimate],
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
    looks = (("before", "dash"), ("chance", "dot"))
    drawn = [
        level(e, color, name, dash=dash)
        for (name, e), (color, dash) in zip(levels.items(), looks, strict=False)
    ]
    budgets = [budget for budget, _ in curve]
    values = [e for _, e in curve]
    drawn.append(
        Curve(
            x=budgets,
            of=values,
            band=True,
            color="ink",
            width=3,
            name="perturbed records",
            current=now[1],
        )
    )
    name = quality.capitalize()
    if gap:
        y = Scale(title=name, span=0.04, write=lambda e: f"{value_of(e):.3f}")
    else:
        y = percents(f"{name} (%)")
    rows = [{f"{unit} changed": b, **cells(quality, e)} for b, e in curve]
    rows += [{f"{unit} changed": math.nan, **cells(quality, e)} for e in levels.values()]
    return _over_budgets(
        f"{name} by noise budget", drawn, y, rows, last=last, at=now[0], unit=unit, height=250
    )


_GLYPHS = {"circle": "●", "diamond": "◆", "square": "■"}
"""The markers of the attackers, in their order, and how they look in text."""

_COMPARATORS = {
    "blurme": ("BlurMe", "3 added"),
    "chisquare": ("ChiSquare", "3 added"),
    "qpm": ("QPM", "slack 0.5"),
    "local_dp": ("Local DP, ε = 8", "epsilon 8 an entry"),
}
"""What is drawn of each other defence, and what to call it; the other settings are among the numbers."""


def drawn_defences(comparators: Sequence[Compared]) -> list[Compared]:
    """Return those of the other defences that are drawn."""
    return [row for row in comparators if _COMPARATORS[row.method][1] == row.parameter]


def draw_defences(exposure: Exposure, budget: float, comparators: Sequence[Compared]) -> Drawing:
    """Draw each defence's accuracies, one marker an attacker, with what it changes in words; AttriGuard first.

    The baseline is a dotted line.
    """
    accuracies = {point.attacker: point.accuracy for point in exposure.at(budget)}
    defences = [("AttriGuard", exposure.spent(budget).value, accuracies)]
    for row in drawn_defences(comparators):
        knows = ", true value" if row.knows_truth else ", guessed"
        name = _COMPARATORS[row.method][0]
        if row.method in ("blurme", "chisquare"):
            name += knows
        defences.append((name, row.size.value, row.accuracy))
    lines = []
    for index, (name, size, rates) in enumerate(defences):
        color = "before" if index else "leak"
        marks = [
            Mark(
                of=rates[attacker],
                color=color,
                symbol=symbol,
                name=attacker_label(attacker),
                rim="background",
            )
            for attacker, symbol in zip(CLEAN_ATTACKERS, _GLYPHS, strict=True)
            if attacker in rates
        ]
        if index:
            name_color = "ink"
        else:
            name_color = color
        look: dict[str, Any] = {"color": name_color, "bold": not index, "value": ""}
        below = f"changes {size:.1f} {exposure.unit}"
        facts = {f"{exposure.unit} changed": size}
        lines.append(Row(name=name, below=below, marks=marks, facts=facts, **look))
    floor = Mark(of=exposure.majority.value, color="chance", symbol="")
    value = f"<b>{percent(exposure.majority)}</b>"
    lines.append(Row(name="baseline", value=value, color="chance", marks=[floor], dash="dot"))
    glyphs = zip(CLEAN_ATTACKERS, _GLYPHS.values(), strict=True)
    key = "   ".join(f"{glyph} {attacker_label(name)}" for name, glyph in glyphs)
    axis = percents("Accuracy (%)", zero=True)
    title = "Accuracy of each attacker against each defence"
    return draw_rows(title, lines, axis, first="defence", head=key)


_MOST_VALUES = 8  # values that get a row each; of more, only those that take least and most do
_END_ROWS = 4


def draw_value_noise(exposure: Exposure, budget: float) -> Drawing:
    """Draw the mean noise of each value, those that take the least first; of many the first and the last."""
    rows = value_rows(exposure, budget)
    column = f"{exposure.unit} changed, mean"
    lines = []
    visible = rows if len(rows) <= _MOST_VALUES else [*rows[:_END_ROWS], *rows[-_END_ROWS:]]
    for index, row in enumerate(visible):
        used, target = (f"{100 * row[name].value:.0f}%" for name in ("drawn", "target share"))
        look: dict[str, Any] = {"note": "no noise found"}
        if row["noise found for"]:
            size = row[column].value
            marks = [Mark(of=0.0, color="before", symbol=""), Mark(of=size, color="before")]
            look = {"value": f"<b>{size.value:.2f}</b>", "marks": marks, "join": "before"}
        separated = len(visible) < len(rows) and index == _END_ROWS
        name = row[exposure.attribute]
        lines.append(
            Row(name=name, below=f"used {used}, target {target}", separated=separated, **look)
        )
    title = f"Perturbation size per target {exposure.attribute}"
    if len(visible) < len(rows):
        left_out = f", the first and last {_END_ROWS} of {len(rows)}"
    else:
        left_out = ""
    axis = Scale(
        title=f"Mean {exposure.unit} changed", start=0.0, write=lambda size: f"{value_of(size):.2f}"
    )
    return draw_rows(f"{title}{left_out}", lines, axis)


_MOST_BARS = 16
_MARKS = (0.5, 0.8, 0.9)


def draw_where(names: Sequence[str], carried: Concentration, *, unit: str) -> Drawing:
    """Draw the share of all changes that each column carries, or the most used 1, 2, ... of many items.

    `names` are those of the columns or items (`unit`) that carry noise, the most used first.
    """
    title = f"Noise concentration by {unit}"
    axis = "Share of all changes (%)"
    total = np.cumsum(carried.share)
    table = {unit: list(names), "share of all changes": carried.share, "with those above": total}
    if len(names) > _MOST_BARS:
        x, curves = _concentration(names, total, carried.n_entries, unit)
        return draw_lines(
            title, curves, x=x, y=shares("Cumulative share of changes (%)"), rows=table
        )
    lines = []
    for name, share in zip(names, carried.share.tolist(), strict=True):
        if share >= 0.01:
            value = f"<b>{100 * share:.0f}%</b>"
        else:
            value = "<b>under 1%</b>"
        lines.append(
            Row(name=name, value=value, marks=[Mark(of=share, bar=0, symbol="", color="before")])
        )
    return draw_rows(title, lines, percents(axis, zero=True), table=table)


def _concentration(
    names: Sequence[str], total: Floats, entries: int, unit: str
) -> tuple[Axis, list[Curve]]:
    """Return the share carried by the most used items, their number on a logarithmic axis."""
    marks = [10**power for power in range(int(math.log10(entries)) + 1)]
    labels = [f"{mark:,}" for mark in marks]
    x = Axis(
        ends=(0, math.log10(entries)),
        marks=np.log10(marks).tolist(),
        labels=labels,
        title=f"{unit.capitalize()}, most changed first (log)",
        position=math.log10,
    )
    indices = np.unique(np.round(np.geomspace(1, total.size, 120)).astype(int))
    least = dict.fromkeys(int(np.searchsorted(total, share - 1e-9)) + 1 for share in _MARKS)
    reached = [(k, float(total[k - 1])) for k in least]
    dots = [
        Dot(x=k, of=share, hover=f"{short(names[k - 1], 60)} and the {k - 1:,} above it:")
        for k, share in reached
    ]
    xs = [*indices.tolist(), entries]
    ys = [*total[indices - 1].tolist(), 1.0]
    curves = [Curve(x=xs, of=ys, color="leak", width=3, dots=dots, size=12)]
    for k, share in reached:
        curves.append(pointed(k, share, "before", f"{100 * share:.0f}% of the noise", f"{k:,}"))
    return x, curves


_MOST_DRAWN = 10


def draw_mechanism(exposure: Exposure, person: int, budget: float) -> Drawing:
    """Draw p against M* for one person, the values drawn most often first; the rarest are taken together."""
    used = exposure.mechanism(budget)[person].tolist()
    rows = list(
        zip(
            exposure.values,
            exposure.target.tolist(),
            used,
            exposure.size[person].tolist(),
            strict=True,
        )
    )
    ranked = sorted(rows, key=lambda row: -row[2])
    if len(ranked) > _MOST_DRAWN:
        rare = ranked[_MOST_DRAWN - 1 :]
        goal = sum(row[1] for row in rare)
        often = sum(row[2] for row in rare)
        ranked = [*ranked[: _MOST_DRAWN - 1], (f"{len(rare)} others", goal, often, -1)]
    lines = []
    for name, goal, often, size in ranked:
        changed = ""
        if size > 0:
            changed = f", changes {size}"
        elif size == 0:
            changed = ", unchanged"
        marks = [
            Mark(of=goal, color="before", symbol="diamond-open", name="target p"),
            Mark(of=often, color="leak", name="used M*"),
        ]
        value = f"{100 * goal:.0f}% → <b>{100 * often:.0f}%</b>{changed}"
        lines.append(Row(name=name, value=value, marks=marks, join="before"))
    columns = ("value", "target p", "used M*", f"{exposure.unit} changed")
    table = [dict(zip(columns, row, strict=True)) for row in rows]
    axis = percents("Probability (%)", zero=True)
    title = "Noise of one record, target p and used M*"
    return draw_rows(title, lines, axis, table=table, value="p → M*")


def draw_transfer(attackers: Sequence[str], noises: Sequence[str], fooled: Floats) -> Drawing:
    """Draw which noise fools which attacker, as a heat map with its numbers.

    `fooled` (attackers, noises) are shares in [0, 1] of noisy records that the attacker reads as the noise wants; nan
    where there are none.
    """
    rows = [attacker_label(name) for name in attackers]
    table = [
        {"attacker": name, **dict(zip(noises, row, strict=True))}
        for name, row in zip(rows, fooled, strict=True)
    ]
    return draw_heat(
        "Transferability, share of noisy records read as the noise wants",
        fooled.tolist(),
        [[f"<b>{percent(float(rate), decimals=0)}</b>" for rate in row] for row in fooled],
        names=(noises, rows),
        titles=("Noise against", "Attacker"),
        ends=(0.0, 1.0),
        rows=table,
    )
