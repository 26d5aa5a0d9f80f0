"""Charts of one membership attack: its ROC curve by group, and where its flags fall.

Between two thresholds a ROC curve shows what breaking ties at random reaches. Left of the point where a curve rests on
fewer than ten false positives the plot is shaded, because there the sample says next to nothing. Each of the ten steps
up to the vulnerability disparity is the first group's share of flagged members within one range of the probability the
model gave to the true label, minus the others'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.charts.drawing import (
    Axis,
    Drawing,
    Palette,
    Sketch,
    bare,
    cells,
    group_style,
    mixed,
    plain_name,
    rounded,
    short,
)
from core.charts.rows import Mark, Row, draw_rows, spans
from core.estimates import gap, percent
from core.membership.attacks import ATTACK_TITLES
from core.membership.disparity import RangeRow, RangeTable
from core.membership.findings import AttackFindings, MembershipFindings
from core.membership.roc import Roc

_HEIGHT = 300
_LEAST = -3.0  # decades: the axes begin at 0.1%
_ALARMS = 10  # false positives an FPR should rest on
_SMALLEST = 100  # outsiders and members of a group that gets a curve of its own
_POINTS = 300
_LOOKS = (("first", "solid", "circle", 2.5), ("second", "dash", "diamond", 2.5), ("leak", "solid", "circle", 3.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    """A group's curve and its look."""

    name: str
    roc: Roc
    color: str
    dash: str
    symbol: str
    width: float

    def caught(self, rate: float) -> float:
        """Return the TPR at this FPR, ties broken at random; nan where everybody has the same score."""
        return math.nan if self.roc.fpr.size == 2 else float(self.roc.reached(rate))


def draw_roc(findings: MembershipFindings, palette: Palette, *, attack: str = "lira", group: int = 0) -> Drawing:
    """Draw an attack's curve: of both groups, of one group of many and everybody, or of everybody alone.

    Everybody stands alone where the groups are too small for curves of their own.

    Parameters
    ----------
    attack : str
        One of `core.membership.ATTACKS`; before it has finished the chart is empty and says so.
    group : int
        Of more than two groups, which one, in the order of the comparisons.
    """
    found = findings.attacks.get(attack)
    curves = [] if found is None else _curves(findings, found, palette, group)
    fewest = min((curve.roc.n_outsiders for curve in curves), default=0)
    sketch = _axes(palette)
    title = ATTACK_TITLES.get(attack, attack)
    if not curves:
        sketch.in_the_middle("being measured")
        return Drawing.of(sketch, f"ROC curve of {title}, TPR against FPR: being measured.", [], _ROC_COLUMNS)
    edge = min(0.0, math.log10(_ALARMS / fewest)) if fewest else 0.0
    if edge > _LEAST:  # an FPR on the left rests on fewer than ten false positives
        sketch.shade((_LEAST, edge), (_LEAST, 0.04), palette.pale, opacity=1)
        sketch.above(f"under {_ALARMS} false positives", x=_LEAST)
    for curve in reversed(curves):
        _draw(sketch, curve)
    at = 0.01 if edge <= -2 + 1e-9 else 0.1 if edge <= -1 + 1e-9 else math.nan
    if not math.isnan(at):
        _mark(sketch, [curve for curve in curves if not math.isnan(curve.caught(at))], at)
    _name(sketch, curves, at)
    return Drawing.of(sketch, _roc_alt(curves, title, at, fewest), _roc_rows(curves), _ROC_COLUMNS)


def _curves(findings: MembershipFindings, found: AttackFindings, palette: Palette, group: int) -> list[_Curve]:
    """Return the curves to draw, the first group first."""
    names, rocs = findings.group_names, found.roc_by_group
    large = [roc.n_outsiders >= _SMALLEST and roc.n_members >= _SMALLEST for roc in rocs]
    everybody = _curve("everybody", found.roc, palette, 2)
    if len(rocs) == 2 and all(large):
        return [_curve(names[1], rocs[1], palette, 0), _curve(names[0], rocs[0], palette, 1)]
    code = _code(findings, found, group)
    if len(rocs) > 2 and large[code]:
        return [_curve(names[code], rocs[code], palette, 0), everybody]
    return [everybody]


def _code(findings: MembershipFindings, found: AttackFindings, group: int) -> int:
    """Return the code of the group that is compared as number `group`."""
    compared = [one.group for one in found.low_fpr]
    for other in findings.attacks.values():
        compared = compared or [one.group for one in (other.disparities.results if other.disparities else ())]
    name = compared[group] if group < len(compared) else ""
    return findings.group_names.index(name) if name in findings.group_names else min(group, len(found.roc_by_group) - 1)


def _curve(name: str, roc: Roc, palette: Palette, look: int) -> _Curve:
    role, dash, symbol, width = _LOOKS[look]
    return _Curve(name=name, roc=roc, color=getattr(palette, role), dash=dash, symbol=symbol, width=width)


def _axes(palette: Palette) -> Sketch:
    words = ["0.1%", "1%", "10%", "100%"]
    x, y = (
        Axis(ends=(_LEAST, end), marks=[-3, -2, -1, 0], words=words, title=title)
        for end, title in ((0, "False positive rate (FPR)"), (0.04, ""))
    )
    sketch = bare(palette, height=_HEIGHT, x=x.ends, y=y.ends, margins=(46, 18, 26, 48))
    sketch.axes(x, y)
    sketch.segment(x.ends, x.ends, palette.chance, width=1.5, dash="dot")
    return sketch


def _draw(sketch: Sketch, curve: _Curve) -> None:
    """Draw a curve in decades from the left end of the axis on, no finer than can be seen."""
    grid = np.logspace(_LEAST, 0, _POINTS + 1)  # 1% is among them
    x, y = np.log10(grid).tolist(), np.log10(np.maximum(curve.roc.reached(grid), 10.0 ** (_LEAST - 1))).tolist()
    told = (f"{percent(10**b)} of members at {percent(10**a)} FPR" for a, b in zip(x, y, strict=True))
    text = [f"{short(curve.name)}: {words}" for words in told]
    sketch.line(x, y, curve.color, width=curve.width, dash=curve.dash, hover="%{text}", text=text)


def _mark(sketch: Sketch, curves: Sequence[_Curve], at: float) -> None:
    """Draw the TPR at one FPR."""
    for curve in sorted(curves, key=lambda curve: curve.caught(at), reverse=True):
        caught = curve.caught(at)
        sketch.markers(
            [math.log10(at)],
            [max(math.log10(caught), _LEAST) if caught > 0 else _LEAST],
            size=13 if curve.symbol == "diamond" else 12,
            color=curve.color,
            symbol=curve.symbol,
            rim=(sketch.palette.background, 2),
            told=[f"{short(curve.name)}: {percent(caught)} of members at {100 * at:g}% FPR"],
        )


def _name(sketch: Sketch, curves: Sequence[_Curve], at: float) -> None:
    """Name the curves in the corner under the diagonal, with what is caught at `at` where that can be told."""
    lines = []
    for curve in curves:
        told = f"<b>{short(curve.name, 16)}</b>"
        if not math.isnan(at) and math.isnan(curve.caught(at)):
            told = f"{short(curve.name, 16)}: one score for everybody"
        elif not math.isnan(at):
            told = f"{short(curve.name, 16)} <b>{percent(curve.caught(at))}</b> at {100 * at:g}%"
        lines.append(f'<span style="color:{curve.color}">{told}</span>')
    place, side, fill = (-6, 8), ("right", "bottom"), sketch.palette.background
    sketch.remark("<br>".join(lines), sketch.palette.ink, x=0, y=_LEAST, shift=place, anchor=side, fill=fill)


def _roc_alt(curves: Sequence[_Curve], title: str, at: float, fewest: int) -> str:
    told = (
        ", ".join(f"{plain_name(curve.name)} {_caught_text(curve.caught(at))}" for curve in curves) if at == at else ""
    )
    names = " and ".join(plain_name(curve.name) for curve in curves)
    here = f"TPR at {100 * at:g}% FPR: {told}. " if told else ""
    return (
        f"ROC curve of {title}, TPR against FPR, both axes logarithmic, for {names}. {here}"
        f"Chance is the diagonal; the shaded part rests on fewer than {_ALARMS} false positives of {fewest:,} "
        "non-members."
    )


def _caught_text(caught: float) -> str:
    return "n/a, everybody has the same score" if math.isnan(caught) else percent(caught)


_ROC_COLUMNS = ("people", "FPR", "TPR", "members", "non-members", "AUC", "AUC, low", "AUC, high")


def _roc_rows(curves: Sequence[_Curve]) -> list[dict[str, Any]]:
    """Return the TPR at round FPRs; nan where it rests on fewer than ten false positives or on nothing but ties."""
    return [
        {
            "people": curve.name,
            "FPR": rate,
            "TPR": curve.caught(rate) if rate * curve.roc.n_outsiders >= _ALARMS - 1e-9 else math.nan,
            "members": curve.roc.n_members,
            "non-members": curve.roc.n_outsiders,
            **cells("AUC", curve.roc.auc),
        }
        for curve in curves
        for rate in (0.001, 0.01, 0.1, 0.5)
    ]


def draw_ranges(ranges: RangeTable, palette: Palette, *, muted: bool = False) -> Drawing:
    """Draw the ten steps up to VD with both groups' numbers; muted where the attack's AUC contains 0.5."""
    lines, reached = [], 0.0
    for row in ranges.rows:
        change = 0.0 if math.isnan(row.difference) else 100 * row.difference
        lines.append(_step(row, reached, reached + change, palette, told=_range_told(ranges, row), muted=muted))
        reached += change
    quiet, style = muted or math.isnan(ranges.vd), group_style(palette, int(ranges.vd > 0))
    color, ring, words = palette.muted if quiet else style.color, "-open" if quiet else "", _signed(ranges.vd)
    mark = Mark(at=reached, color=color, symbol=f"{style.symbol}{ring}", size=13, told=f"VD {words}")
    lines.append(Row(name="<b>VD</b>", value=words if quiet else f"<b>{words}</b>", marks=[mark], apart=True))
    head = f"{short(ranges.group, 9)} %, {short(ranges.others, 9)} %, points"
    axis = rounded([-15.0, 15.0, *spans(lines)], "points, by the probability of the true label", words=_points_text)
    sketch = draw_rows(palette, lines, axis, heads=("", head))
    columns = ["from", "to", f"flagged of {ranges.group}", f"flagged of {ranges.others}", "difference"]
    rows = [(row.low, row.high, row.group, row.others, row.difference) for row in ranges.rows]
    return Drawing.of(sketch, _ranges_alt(ranges, muted=muted), rows, columns)


def _signed(difference: float, decimals: int = 1) -> str:
    if math.isnan(difference):
        return "n/a"
    told = gap(100 * difference, decimals=decimals)
    return "0" if float(told.replace("−", "-")) == 0 else told


def _points_text(points: float) -> str:
    return gap(points, decimals=0) if points else "0"


def _step(row: RangeRow, start: float, end: float, palette: Palette, *, told: str, muted: bool) -> Row:
    """Return one range: both groups' shares, and their difference as a bar from where the one above ends."""
    style, words = group_style(palette, int(end > start)), _signed(row.difference)
    quiet = muted or words in ("0", "n/a")
    color = mixed(style.color, palette.background, 0.45) if muted else style.color
    shares = f"{_share_text(row.group)}, {_share_text(row.others)}"
    return Row(
        name=f"{row.low:g} to {row.high:g}",
        value=f"{shares}, {words}" if quiet else f"{shares}, <b>{words}</b>",
        color=palette.grey if quiet else style.color,
        marks=[Mark(at=end, bar=start, symbol="", color=color, told=told)],
    )


def _range_told(ranges: RangeTable, row: RangeRow) -> str:
    first, second = short(ranges.group), short(ranges.others)
    return f"{row.low:g} to {row.high:g}: {_share_text(row.group)}% of {first}, {_share_text(row.others)}% of {second}"


def _share_text(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{100 * value:.1f}"


def _ranges_alt(ranges: RangeTable, *, muted: bool) -> str:
    first, second = plain_name(ranges.group), plain_name(ranges.others)
    known = [row for row in ranges.rows if not math.isnan(row.difference)]
    if not known or math.isnan(ranges.vd):
        return f"Flagged members by probability, {first} minus {second}: not measured."
    largest = max(known, key=lambda row: abs(row.difference))
    aside = ", muted because the attack's AUC contains 0.5" if muted else ""
    return (
        f"Flagged members, {first} minus {second}, in {len(ranges.rows)} steps by the probability the model gave to "
        f"the true label. Largest: {_signed(largest.difference)} points from {largest.low:g} to {largest.high:g}; "
        f"they make VD {_signed(ranges.vd)} points{aside}."
    )
