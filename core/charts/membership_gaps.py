"""The gaps between groups: what an attack says of them, and what it really finds out.

The attack that calls more people of a group members is not yet one that knows more about them: it may call outsiders
members as well. The vulnerability disparity (VD, Zhang et al. 2020) therefore stands above the same gap among
outsiders, and below, shaded, stand the two gaps that speak of leakage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import Any

from core.charts.drawing import (
    Drawing,
    Palette,
    Sketch,
    cells,
    framed,
    gap_axis,
    gap_range,
    group_style,
    limits,
    lines_of,
    plain_name,
    short,
)
from core.estimates import Estimate, gap
from core.membership.attacks import ATTACK_TITLES
from core.membership.disparity import DisparityResult, GapTest
from core.membership.inference import AttackFindings, MembershipFindings

_HEIGHT = 332
_LEFT, _RIGHT = 138, 66  # pixels of the columns of names and values
_PLACES = (0.0, 1.0, 2.6, 3.6)  # of the rows; a head is above the first and the third
_TOP, _SHADED, _BOTTOM = -1.1, 1.5, 4.1  # of the y axis, in rows
_HEAD = 0.5  # of a head above its row, in rows
_ONE_LINE = (8, 12)  # letters of the groups' names that leave the heads on one line
_LETTERS = 28  # of a line in the plot of a narrow screen


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One gap: its name, what it means, its value, and why there is none."""

    name: str
    words: str
    attack: str
    estimate: Estimate | None = None
    test: GapTest | None = None
    rates: tuple[Estimate, Estimate] | None = None
    reason: str = ""
    muted: bool = False

    @property
    def measured(self) -> bool:
        return self.estimate is not None and not math.isnan(self.estimate.value)

    @property
    def flags(self) -> bool:
        """Whether the gap is one of flags alone, which says nothing of leakage."""
        return self.name in ("VD", "FPR gap")

    @property
    def clear(self) -> bool:
        """Whether the interval is known and does not hold 0."""
        e = self.estimate
        return e is not None and (e.low > 0 or e.high < 0)


def verdict_attack(findings: MembershipFindings) -> str:
    """Return the attack whose verdicts are compared: the paper's network once it is there, else the last that decided.

    Empty before the first.
    """
    decided = [name for name, found in findings.attacks.items() if found.disparities is not None]
    return "network" if "network" in decided else decided[-1] if decided else ""


def draw_gaps_between(findings: MembershipFindings, palette: Palette, *, group: int = 0, attack: str = "") -> Drawing:
    """Draw VD, the FPR gap, their difference and LiRA's gap with their intervals.

    Parameters
    ----------
    group : int
        Which of the comparisons, in the order of `Disparities.results`.
    attack : str
        Whose verdicts; by default those of `verdict_attack`.
    """
    name = attack or verdict_attack(findings)
    found = findings.attacks.get(name)
    result = _result(found, group)
    names = (result.group, result.others) if result else _names(findings, group)
    rows = [*_verdict_rows(found, result, ATTACK_TITLES.get(name, name)), _lira_row(findings, names[0])]
    ends = [v for r in rows if r.estimate for v in (r.estimate.low, r.estimate.value, r.estimate.high)]
    low, high = gap_range(ends)
    sketch = framed(palette, height=_HEIGHT, x=(low, high), y=(_BOTTOM, _TOP), margins=(_LEFT, _RIGHT, 8, 30))
    sketch.ticks(*gap_axis(low, high))
    sketch.shade_row((_SHADED, _BOTTOM), palette.pale, left=_LEFT - 2, right=_RIGHT - 2)
    if any(row.measured for row in rows):
        sketch.segment(0, (_PLACES[0] - _HEAD, _BOTTOM), palette.ink, width=1.5)
    _heads(sketch, names, "flagged more", _PLACES[0])
    _heads(sketch, names, "more exposed", _PLACES[2])
    for y, row in zip(_PLACES, rows, strict=True):
        _draw(sketch, row, y, palette.pale if y > _SHADED else palette.background)
    if found is not None and result is None:
        words = lines_of(rows[0].reason, width=_LETTERS, most=6)
        sketch.at_left(0.5, words, palette.grey, (0, 0), size=12, fill=palette.background)
    return Drawing.of(sketch, _alt(rows, names), _cells(rows, names))


def _result(found: AttackFindings | None, group: int) -> DisparityResult | None:
    if found is None or found.disparities is None or group >= len(found.disparities.results):
        return None
    return found.disparities.results[group]


def _names(findings: MembershipFindings, group: int) -> tuple[str, str]:
    every = findings.group_names
    return (every[1], every[0]) if len(every) == 2 else (every[min(group, len(every) - 1)], "all others")


def _verdict_rows(found: AttackFindings | None, result: DisparityResult | None, title: str) -> list[_Row]:
    """Return the three gaps of an attack's verdicts."""
    muted, flagged, reason = found is not None and found.muted, "members flagged", "being measured"
    if found is not None and found.muted:
        flagged = "muted: AUC below 0.5" if found.roc.auc.high < 0.5 else "muted: AUC contains 0.5"
    if found is not None and result is None:
        left = found.disparities.not_measured if found.disparities else ()
        reason = left[0][1] if left else "n/a, this attack gives scores alone"
    kinds = (
        ("vd", "VD", flagged),
        ("fpr_gap", "FPR gap", "outsiders flagged"),
        ("advantage_gap", "TPR − FPR gap", "net of false positives"),
    )
    if result is None:
        return [_Row(name=name, words=words, attack=title, reason=reason) for _, name, words in kinds]
    rates = {"vd": result.recall, "fpr_gap": result.false_alarms}
    return [
        _Row(
            name=name,
            words=words,
            attack=title,
            estimate=getattr(result, field),
            test=result.tests.get(field),
            rates=rates.get(field),
            reason="n/a" if math.isnan(getattr(result, field).value) else "",
            muted=muted and field == "vd",
        )
        for field, name, words in kinds
    ]


def _lira_row(findings: MembershipFindings, group: str) -> _Row:
    """Return LiRA's gap in TPR at 1% FPR."""
    title, lira = ATTACK_TITLES["lira"], findings.attacks.get("lira")
    words = "TPR at 1% FPR"
    if lira is None:
        reason = "not run" if "lira" in findings.not_run else "being measured"
        return _Row(name="LiRA gap", words=words, attack=title, reason=reason)
    found = next((one for one in lira.low_fpr if one.group == group), None)
    if found is None:
        return _Row(name="LiRA gap", words=words, attack=title, reason="n/a, the group is too small")
    return _Row(
        name="LiRA gap",
        words=f"TPR at {100 * found.fpr:g}% FPR",
        attack=title,
        estimate=found.estimate,
        test=found.test,
        rates=found.rates,
        reason=found.reason or ("n/a" if math.isnan(found.estimate.value) else ""),
    )


def _heads(sketch: Sketch, names: tuple[str, str], what: str, above: float) -> None:
    """Write above a row, on either side of 0, who is flagged more or more exposed there."""
    first, second = (short(name, 16) for name in names)
    gap_of = "<br>" if len(names[0]) > _ONE_LINE[0] or len(names[1]) > _ONE_LINE[1] else " "
    place: dict[str, Any] = {"x": 0, "y": above - _HEAD, "size": 12}
    left, right = (group_style(sketch.palette, code).color for code in (0, 1))
    sketch.remark(f"← {second}{gap_of}{what}", left, shift=(-7, 0), anchor=("right", "bottom"), **place)
    sketch.remark(f"{first}{gap_of}{what} →", right, shift=(7, 0), anchor=("left", "bottom"), **place)


def _draw(sketch: Sketch, row: _Row, y: float, fill: str) -> None:
    """Draw a row: its two names, its interval, its value."""
    palette = sketch.palette
    ink = palette.muted if row.muted else palette.ink
    sketch.at_left(y, f"<b>{row.name}</b>", ink, (4 - _LEFT, 9))
    sketch.at_left(y, row.words, palette.grey, (4 - _LEFT, -8), size=12)
    if not row.measured or row.estimate is None:
        waiting = row.reason == "being measured"
        if waiting or y == _PLACES[3] or row.reason == "n/a":
            words = lines_of(row.reason, width=_LETTERS, most=4)
            sketch.at_left(y, words, palette.grey, (0, 0), size=12, fill=fill)
        told = "…" if waiting else "n/a"
    else:
        told = gap(row.estimate.value) if row.muted else f"<b>{gap(row.estimate.value)}</b>"
        _mark(sketch, row, row.estimate, y)
    sketch.at_right(y, told, ink, _RIGHT - 8)


def _look(row: _Row, palette: Palette) -> tuple[str, str]:
    """Return colour and marker by the group that the gap is larger for; grey where the interval holds 0."""
    if row.muted:
        return palette.muted, "circle-open"
    if not row.clear or row.estimate is None:
        return palette.chance, "circle"
    style = group_style(palette, int(row.estimate.value > 0))
    return style.color, style.symbol


def _mark(sketch: Sketch, row: _Row, found: Estimate, y: float) -> None:
    color, symbol = _look(row, sketch.palette)
    if not math.isnan(found.low):
        stroke = {"color": color, "width": 2 if row.muted else 4, "dash": "dot" if row.muted else "solid"}
        sketch.scatter(x=[found.low, found.high], y=[y, y], mode="lines", line=stroke, hoverinfo="skip")
    look: dict[str, Any] = {"color": color, "symbol": symbol}
    if row.muted:  # a ring that lets no interval through
        look = {"symbol": "circle", "color": sketch.palette.background, "rim": (color, 2)}
    size = 14 if symbol == "diamond" else 13
    sketch.markers([found.value], [y], size=size, opacity=1, **look, told=[_hover(row)])


def _hover(row: _Row) -> str:
    """Return a row in full: the interval, the smallest gap that would have been found, the test."""
    e = row.estimate
    told = f"{row.name} {gap(e.value)} ({gap(e.low)} to {gap(e.high)})" if e else row.name
    if row.test is None:
        return told
    return (
        f"{told}<br>smallest gap found in four of five such samples: {row.test.smallest_detectable:.3f}"
        f"<br>p = {row.test.p_adjusted:.3g}"
    )


def _alt(rows: list[_Row], names: tuple[str, str]) -> str:
    first, second = (plain_name(name) for name in names)
    told = "; ".join(_said(row, first, second) for row in rows)
    return f"Four gaps, {first} minus {second}, with intervals; verdicts by {rows[0].attack}. {told}."


def _said(row: _Row, first: str, second: str) -> str:
    if not row.measured or row.estimate is None:
        return f"{row.name}: {plain_name(row.reason, 160).rstrip('.')}"
    e = row.estimate
    value = f"{row.name} {gap(e.value)} ({gap(e.low)} to {gap(e.high)})"
    if row.muted:
        return f"{value}, muted because the attack's {row.words.removeprefix('muted: ')}"
    if not row.clear:
        return f"{value}, which contains 0"
    return f"{value}, {first if e.value > 0 else second} {'flagged more' if row.flags else 'more exposed'}"


def _cells(rows: list[_Row], names: tuple[str, str]) -> list[dict[str, Any]]:
    nan = math.nan
    return [
        {
            "gap": row.name,
            "attack": row.attack,
            f"{names[0]} minus {names[1]}": row.estimate.value if row.estimate else nan,
            **limits(row.estimate),
            f"rate of {names[0]}": row.rates[0].value if row.rates else nan,
            f"rate of {names[1]}": row.rates[1].value if row.rates else nan,
            "smallest detectable gap": row.test.smallest_detectable if row.test else nan,
            "p-value": row.test.p_value if row.test else nan,
            "p-value after Holm": row.test.p_adjusted if row.test else nan,
            "note": row.reason or (row.words if row.muted else ""),
        }
        for row in rows
    ]


_GROUP_ROW, _VALUES = 46, 118
_LONGEST = 44  # letters of a group's name, which stands above its row


def draw_group_gaps(found: AttackFindings, palette: Palette) -> Drawing:
    """Draw the TPR − FPR gap of every group that was measured, and VD as a thin mark beside it.

    Groups whose gap can be told from none, with all groups reckoned with, are in colour.

    Parameters
    ----------
    found : AttackFindings
        Of an attack that gives verdicts.
    """
    results = found.disparities.results if found.disparities is not None else ()
    reach = [v for r in results for v in (r.advantage_gap.low, r.advantage_gap.high, r.vd.value)]
    low, high = gap_range(reach)
    rows = max(len(results), 1)
    y = (rows - 0.6, -0.8)
    sketch = framed(palette, height=_GROUP_ROW * rows + 66, x=(low, high), y=y, margins=(14, _VALUES, 8, 48))
    sketch.ticks(*gap_axis(low, high))
    sketch.axis_title("group minus all others")
    sketch.segment(0, y, palette.ink, width=1.5)
    for i, result in enumerate(results):
        _group_row(sketch, result, i, muted=found.muted)
    if not results:
        sketch.in_the_middle("no group is large enough")
    told = "; ".join(_group_said(result) for result in results) or "no group is large enough"
    alt = f"What leaks more about each group than about all others (TPR − FPR gap), with 95% intervals: {told}."
    return Drawing.of(sketch, alt, _group_cells(found))


def _group_row(sketch: Sketch, result: DisparityResult, y: int, *, muted: bool) -> None:
    palette = sketch.palette
    real, test = result.advantage_gap, result.tests["advantage_gap"]
    color = palette.chance
    if test.significant and not muted:
        color = group_style(palette, int(real.value > 0)).color
    sketch.at_left(y, short(result.group, _LONGEST), palette.ink, (0, 17), fill=palette.background)
    sketch.bare_line([real.low, real.high], [y, y], color, width=4)
    sketch.markers(
        [result.vd.value],
        [y],
        size=13,
        symbol="line-ns",
        rim=(palette.muted if muted else palette.before, 2),
        told=[f"VD {gap(result.vd.value)} ({gap(result.vd.low)} to {gap(result.vd.high)})"],
    )
    least = f"smallest gap found in four of five such samples: {test.smallest_detectable:.3f}"
    sketch.markers(
        [real.value],
        [y],
        size=12,
        color=color,
        opacity=1,
        symbol="circle" if real.value > 0 or not test.significant else "diamond",
        told=[f"{escape(_group_said(result), quote=False)}<br>{least}"],
    )
    told = f"<b>{gap(real.value)}</b>" if test.significant and not muted else gap(real.value)
    words = f"{told} <span style='font-size:11px'>p {escape(_p(test.p_adjusted), quote=False)}</span>"
    sketch.at_right(y, words, palette.ink, _VALUES - 6)


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 0.001 else "< 0.001"


def _group_said(result: DisparityResult) -> str:
    real, test = result.advantage_gap, result.tests["advantage_gap"]
    limits = f"{gap(real.low)} to {gap(real.high)}"
    return f"{plain_name(result.group)} {gap(real.value)} ({limits}, p {_p(test.p_adjusted)})"


def _group_cells(found: AttackFindings) -> list[dict[str, Any]]:
    """Return one row a group with everything measured; those too small with the reason."""
    low_fpr = {one.group: one for one in found.low_fpr}
    rows: list[dict[str, Any]] = []
    for result in found.disparities.results if found.disparities is not None else ():
        row: dict[str, Any] = {"group": result.group, "members": result.recall[0].n}
        row["outsiders"] = result.false_alarms[0].n
        for field, name in (("vd", "VD"), ("fpr_gap", "FPR gap"), ("advantage_gap", "TPR − FPR gap")):
            e, test = getattr(result, field), result.tests[field]
            row |= cells(name, e) | {f"{name}, p (Holm)": test.p_adjusted}
            row[f"{name}, smallest detectable"] = test.smallest_detectable
        one = low_fpr.get(result.group)
        row["TPR gap at 1% FPR"] = one.estimate.value if one is not None else math.nan
        rows.append(row)
    left_out = found.disparities.not_measured if found.disparities is not None else ()
    return [*rows, *({"group": name, "not measured": reason} for name, reason in left_out)]
