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
    Drawing,
    Palette,
    Sketch,
    cells,
    framed,
    group_style,
    mixed,
    plain_name,
    round_step,
    short,
)
from core.estimates import gap, percent
from core.membership.attacks import ATTACK_TITLES
from core.membership.disparity import RangeTable
from core.membership.inference import AttackFindings, MembershipFindings
from core.membership.roc import Roc

_HEIGHT = 300
_TOP = 24  # pixels for the head of the shaded part
_PLOT = _HEIGHT - _TOP - 48
_LEAST = -3.0  # decades: the axes begin at 0.1%
_PIXEL = -_LEAST / _PLOT
_LETTER, _DECADE = 6.3, 76.0  # pixels of a letter, and of a decade on a narrow screen
_LOW_RATE = 0.01
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
    _shade(sketch, edge)
    for curve in reversed(curves):
        _draw(sketch, curve)
    at = 0.01 if edge <= -2 + 1e-9 else 0.1 if edge <= -1 + 1e-9 else math.nan
    if not math.isnan(at):
        there = [curve for curve in curves if not math.isnan(curve.caught(at))]
        _mark(sketch, there, at)
        silent = [curve for curve in curves if math.isnan(curve.caught(at))]
        _silent(sketch, silent, above=18.0 * len(there) * (at > _LOW_RATE))
    else:
        _name(sketch, curves)
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
    sketch = framed(palette, height=_HEIGHT, x=(_LEAST, 0), y=(_LEAST, 0.04), margins=(46, 18, _TOP, 48))
    ticks = {"tickvals": [-3, -2, -1, 0], "ticktext": ["0.1%", "1%", "10%", "100%"]}
    sketch.xaxis(**ticks)
    sketch.yaxis(showticklabels=True, **ticks)
    for tick in (-2, -1, 0):
        sketch.grid((_LEAST, 0), tick)
    sketch.segment((_LEAST, 0), (_LEAST, 0), palette.chance, width=1.5, dash="dot")
    sketch.axis_title("False positive rate (FPR)", below=24)
    return sketch


def _shade(sketch: Sketch, edge: float) -> None:
    """Shade where an FPR rests on fewer than ten false positives."""
    if edge <= _LEAST:
        return
    sketch.shade((_LEAST, edge), (_LEAST, 0.04), sketch.palette.pale, opacity=1)
    sketch.above(f"under {_ALARMS} false positives", x=_LEAST)


def _points(roc: Roc) -> tuple[list[float], list[float]]:
    """Return the curve in decades from the left end of the axis on, no finer than can be seen."""
    grid = np.logspace(_LEAST, 0, _POINTS + 1)  # 1% is among them
    return np.log10(grid).tolist(), np.log10(np.maximum(roc.reached(grid), 10.0 ** (_LEAST - 1))).tolist()


def _draw(sketch: Sketch, curve: _Curve) -> None:
    x, y = _points(curve.roc)
    told = (f"{percent(10**b)} of members at {percent(10**a)} FPR" for a, b in zip(x, y, strict=True))
    sketch.scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": curve.color, "width": curve.width, "dash": curve.dash},
        text=[f"{short(curve.name)}: {words}" for words in told],
        hovertemplate="%{text}<extra></extra>",
    )


def _mark(sketch: Sketch, curves: Sequence[_Curve], at: float) -> None:
    """Draw the TPR at one FPR, with labels above the upper and below the lower curve."""
    x = math.log10(at)
    order = sorted(curves, key=lambda curve: curve.caught(at), reverse=True)
    for curve in order:
        sketch.markers(
            [x],
            [_decades(curve.caught(at))],
            size=13 if curve.symbol == "diamond" else 12,
            opacity=1,
            color=curve.color,
            symbol=curve.symbol,
            rim=(sketch.palette.background, 2),
            told=[f"{short(curve.name)}: {percent(curve.caught(at))} of members at {100 * at:g}% FPR"],
            cliponaxis=False,
        )
    if order:
        _labels(sketch, order, at)


def _silent(sketch: Sketch, curves: Sequence[_Curve], *, above: float) -> None:
    """Say of which curves no TPR can be read, because everybody has the same score."""
    if not curves:
        return
    words = [f"{short(curve.name, 16)}: one score for everybody" for curve in curves]
    _together(sketch, curves, words, x=0.0, y=_LEAST, shift=(-6.0, 8.0 + above), anchor=("right", "bottom"))


def _labels(sketch: Sketch, order: Sequence[_Curve], at: float) -> None:
    """Write what is caught at `at` above the upper and below the lower marker; together where these are too near."""
    rows = [_decades(curve.caught(at)) for curve in order]
    words = [f"{short(curve.name, 16)} <b>{percent(curve.caught(at))}</b>" for curve in order]
    if at > _LOW_RATE:  # the markers are far at the right: the corner below the diagonal has room
        where = {"x": 0.0, "y": _LEAST, "shift": (-6.0, 8.0), "anchor": ("right", "bottom")}
        _together(sketch, order, [f"{told} at {100 * at:g}%" for told in words], **where)
    elif len(order) == 1 or rows[0] - rows[-1] < 20 * _PIXEL:
        below = max(rows[-1], _LEAST + 24 * len(order) * _PIXEL)
        where = {"x": math.log10(at), "y": below, "shift": (10.0, -8.0), "anchor": ("left", "top")}
        _together(sketch, order, words, **where)
    else:
        over = _over(order[0], len(order[0].name[:16]) + 6, at)
        sketch.remark(words[0], order[0].color, x=_LEAST, y=over, shift=(6, 6), anchor=("left", "bottom"))
        below = max(rows[-1], _LEAST + 24 * _PIXEL)
        place = {"x": math.log10(at), "y": below, "shift": (10.0, -6.0), "anchor": ("left", "top")}
        _together(sketch, order[-1:], words[-1:], **place)


def _over(curve: _Curve, letters: int, at: float) -> float:
    """Return the height that words at the left end clear over their own length, on a narrow screen as well."""
    end = min(_LEAST + (10 + letters * _LETTER) / _DECADE, 0.0)
    height = _decades(curve.caught(10**end))
    near = end > math.log10(at) - 10 / _DECADE  # to the marker
    return max(height, _decades(curve.caught(at)) + 7 * _PIXEL) if near else height


def _together(sketch: Sketch, order: Sequence[_Curve], words: Sequence[str], **place: Any) -> None:
    """Write several labels as one, line under line, each in its colour."""
    lines = [f'<span style="color:{curve.color}">{told}</span>' for curve, told in zip(order, words, strict=True)]
    sketch.remark("<br>".join(lines), sketch.palette.ink, fill=sketch.palette.background, **place)


def _decades(rate: float) -> float:
    """Return the decimal logarithm of a rate, kept on the axis."""
    return max(math.log10(rate), _LEAST) if rate > 0 else _LEAST


def _name(sketch: Sketch, curves: Sequence[_Curve]) -> None:
    """Name the curves of a sample too small for any rate to be told."""
    for i, curve in enumerate(curves):
        words, side = f"<b>{short(curve.name, 24)}</b>", ("right", "bottom")
        sketch.remark(words, curve.color, x=0, y=_LEAST, shift=(-8, 12 + 17 * i), anchor=side)


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


_STEPS = (15.0, 25.0, 40.0, 60.0, 105.0)  # points
_END = 1.18  # right end, with room for the sum
_SUM = 1.09  # where it stands
_STEPS_PLOT = 170  # pixels of the steps
_BELOW = 76  # pixels of the axis and the two rows under it
_PAD = 18  # pixels for a step's label above and below
_HALF = 0.031  # of a bar's width


def draw_ranges(ranges: RangeTable, palette: Palette, *, muted: bool = False) -> Drawing:
    """Draw the ten steps up to VD and both groups' numbers under them.

    Parameters
    ----------
    muted : bool
        Whether VD says nothing, because the attack's AUC contains 0.5.
    """
    low, high = _ranges_axis(ranges)
    pixel = (high - low) / (_STEPS_PLOT - 2 * _PAD)
    bottom, top = low - _PAD * pixel, high + _PAD * pixel
    names = (short(ranges.group, 13), short(ranges.others, 13))
    left = min(100, max(56, round(6.6 * (max(map(len, (ranges.group[:13], ranges.others[:13]))) + 2))))
    sketch = framed(
        palette, height=_STEPS_PLOT + _BELOW + 8, x=(-0.012, _END), y=(bottom, top), margins=(left, 14, 8, _BELOW)
    )
    marks = [round(i / 10, 1) for i in range(11)]
    sketch.ticks(marks, "{:g}", showline=False, tickfont={"size": 11, "color": palette.grey})
    sketch.segment((-0.012, 1), bottom, palette.grey)
    _levels(sketch, low, high)
    reached = _steps(sketch, ranges, pixel, muted=muted)
    _sum(sketch, ranges, reached, muted=muted)
    _numbers(sketch, ranges, names, left)
    columns = ["from", "to", f"flagged of {ranges.group}", f"flagged of {ranges.others}", "difference"]
    rows = [(row.low, row.high, row.group, row.others, row.difference) for row in ranges.rows]
    return Drawing.of(sketch, _ranges_alt(ranges, muted=muted), rows, columns)


def _ranges_axis(ranges: RangeTable) -> tuple[float, float]:
    """Return the axis in points: from -15 to 15, wider in steps where the sums lie beyond."""
    sums, total = [0.0], 0.0
    for row in ranges.rows:
        total += 0.0 if math.isnan(row.difference) else 100 * row.difference
        sums.append(total)
    low, high = (next((s for s in _STEPS if s >= end), _STEPS[-1]) for end in (-min(sums), max(sums)))
    return -low, high


def _levels(sketch: Sketch, low: float, high: float) -> None:
    """Draw the zero line and round levels."""
    step = round_step(high - low, (10, 20, 25, 50), 5)
    ticks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    sketch.yaxis(showticklabels=True, tickvals=ticks, ticktext=[_signed(t / 100, 0) for t in ticks])
    for tick in ticks:
        if tick:
            sketch.rule(tick)
    sketch.segment((0, 1), 0, sketch.palette.ink, width=1.5, xref="paper")


def _signed(difference: float, decimals: int = 1) -> str:
    if math.isnan(difference):
        return "n/a"
    told = gap(100 * difference, decimals=decimals)
    return "0" if float(told.replace("−", "-")) == 0 else told


def _steps(sketch: Sketch, ranges: RangeTable, pixel: float, *, muted: bool) -> float:
    """Draw the bars, each from where the one before ended; returns where the last one ends."""
    palette, before = sketch.palette, 0.0
    for i, row in enumerate(ranges.rows):
        middle = (row.low + row.high) / 2
        change = 0.0 if math.isnan(row.difference) else 100 * row.difference
        role = group_style(palette, int(change > 0)).color
        color = mixed(role, palette.background, 0.45) if muted else role
        after = before + change
        sketch.bar(
            x=[middle],
            base=[min(before, after)],
            y=[abs(change)],
            width=[2 * _HALF],
            marker={"color": color, "line": {"width": 0}},
            text=[_range_told(ranges, i)],
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
        )
        beyond = ranges.rows[i + 1].low + 0.05 - _HALF if i + 1 < len(ranges.rows) else _SUM - 0.03
        sketch.segment((middle + _HALF, beyond), after, palette.muted)
        told = _signed(row.difference)
        ink = palette.grey if muted or told in ("0", "n/a") else role
        up = change > 0
        edge = max(before, after) + pixel if up else min(before, after) - 3 * pixel
        place = "top center" if up else "bottom center"
        sketch.write(middle, edge, told if ink == palette.grey else f"<b>{told}</b>", ink, place, 11)
        before = after
    return before


def _range_told(ranges: RangeTable, i: int) -> str:
    row = ranges.rows[i]
    first, second = short(ranges.group), short(ranges.others)
    return f"{row.low:g} to {row.high:g}: {_share_text(row.group)}% of {first}, {_share_text(row.others)}% of {second}"


def _share_text(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{100 * value:.1f}"


def _sum(sketch: Sketch, ranges: RangeTable, reached: float, *, muted: bool) -> None:
    """Draw VD where the steps end, its label on the side that the last step's label leaves free."""
    palette, known, first = sketch.palette, not math.isnan(ranges.vd), ranges.vd > 0
    quiet = muted or not known
    color = palette.muted if quiet else group_style(palette, int(first)).color
    level = 100 * ranges.vd if known else reached
    marker: dict[str, Any] = {"size": 13, "opacity": 1, "color": color, "symbol": "circle" if first else "diamond"}
    marker["line"] = {"width": 0}
    if quiet:
        marker |= {"size": 11, "color": palette.background, "line": {"width": 2, "color": color}}
    words = f"VD {_signed(ranges.vd)}"
    told = {"text": [words], "hovertemplate": "%{text}<extra></extra>"}
    sketch.scatter(x=[_SUM], y=[level], mode="markers", cliponaxis=False, marker=marker, **told)
    below = bool(ranges.rows) and ranges.rows[-1].difference > 0
    side = ("center", "top" if below else "bottom")
    ink, shown = (palette.grey, words) if quiet else (color, f"<b>{words}</b>")
    shift, fill = (0, -9 if below else 9), palette.background  # the zero line may pass
    sketch.remark(shown, ink, x=_SUM, y=level, shift=shift, anchor=side, fill=fill)


def _numbers(sketch: Sketch, ranges: RangeTable, names: tuple[str, str], left: int) -> None:
    """Write both groups' shares under the axis."""
    for i, name in enumerate(names):
        color = group_style(sketch.palette, 1 - i).color
        y = -28 - 15 * i
        place = ("paper", "paper")
        sketch.remark(f"<b>{name} %</b>", color, x=0, y=0, refs=place, shift=(4 - left, y), size=12)
        for row in ranges.rows:
            middle = (row.low + row.high) / 2
            value = _share_text(row.others if i else row.group)
            place, side = ("x", "paper"), ("center", "middle")
            sketch.remark(value, color, x=middle, y=0, refs=place, shift=(0, y), anchor=side, size=11)
    sketch.axis_title("probability the model gave to the true label", below=54)


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
