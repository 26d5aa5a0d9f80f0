"""Charts of membership attacks: gaps between groups, ROC curve, and where the flags fall.

The attack that calls more people of a group members is not yet one that knows more about them: it may call non-members
members as well. The vulnerability disparity (VD, Zhang et al. 2020) therefore stands above the same gap among
non-members, and below, shaded, stand the two gaps that speak of leakage.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.charts.drawing import Drawing, cells, decades, gaps, rounded
from core.charts.lines import Curve, Dot, draw_lines
from core.charts.rows import Mark, Row, draw_rows, measured, spans
from core.charts.theme import Palette, group_style, mixed
from core.charts.words import plain_name, short
from core.estimates import Estimate, gap, percent
from core.membership.attacks import ATTACK_TITLES
from core.membership.disparity import DisparityResult, GapTest, RangeTable
from core.membership.inference import AttackFindings, MembershipFindings
from core.membership.roc import Roc

_WAITING = "being measured"


def verdict_attack(findings: MembershipFindings) -> str:
    """Return the attack whose verdicts are compared: the paper's network once it is there, else the last that decided.

    Empty before the first.
    """
    decided = [name for name, found in findings.attacks.items() if found.disparities is not None]
    return "network" if "network" in decided else decided[-1] if decided else ""


def draw_gaps_between(findings: MembershipFindings, palette: Palette, *, group: int = 0, attack: str = "") -> Drawing:
    """Draw VD, the FPR gap, their difference and LiRA's gap with their intervals.

    `group` is which of the comparisons, in the order of `Disparities.results`; `attack` is whose verdicts, by default
    those of `verdict_attack`.
    """
    name = attack or verdict_attack(findings)
    found = findings.attacks.get(name)
    results = found.disparities.results if found is not None and found.disparities is not None else ()
    result = results[group] if group < len(results) else None
    every = findings.group_names
    names = (every[1], every[0]) if len(every) == 2 else (every[min(group, len(every) - 1)], "all others")
    names = (result.group, result.others) if result else names
    title = ATTACK_TITLES.get(name, name)
    rows = [*_verdict_rows(found, result, title, names, palette), _lira_row(findings, names, palette)]
    first, second = (plain_name(name) for name in names)
    sides = [
        (f"← higher for {second}", group_style(palette, 0).color),
        (f"higher for {first} →", group_style(palette, 1).color),
    ]
    axis = gaps(spans(rows), f"{first} − {second} (difference of rates)")
    title = f"Group differences in membership inference, verdicts by {title}" if title else "Group differences"
    return draw_rows(palette, title, rows, axis, first="gap", sides=sides)


def _verdict_rows(
    found: AttackFindings | None, result: DisparityResult | None, title: str, names: tuple[str, str], palette: Palette
) -> list[Row]:
    """Return the three gaps of an attack's verdicts."""
    muted, flagged, reason = found is not None and found.muted, "TPR gap", _WAITING
    if found is not None and found.muted:
        flagged = "muted: AUC below 0.5" if found.roc.auc.high < 0.5 else "muted: AUC contains 0.5"
    if found is not None and result is None:
        left = found.disparities.not_measured if found.disparities else ()
        reason = left[0][1] if left else "n/a, this attack gives scores alone"
    kinds = (
        ("vd", "VD", flagged),
        ("fpr_gap", "FPR gap", "non-members flagged"),
        ("advantage_gap", "Advantage gap", "net of false positives"),
    )
    rows = []
    for field, name, words in kinds:
        look: dict[str, Any] = {"name": name, "below": words, "attack": title, "leaks": field == "advantage_gap"}
        if result is None:
            look |= {"reason": reason, "note": reason if field == "vd" or reason == _WAITING else ""}
        else:
            rates = {"vd": result.recall, "fpr_gap": result.false_alarms}.get(field)
            look |= {"found": getattr(result, field), "test": result.tests.get(field), "rates": rates}
            look |= {"muted": muted and field == "vd"}
        rows.append(_gap_row(names, palette, **look))
    return rows


def _lira_row(findings: MembershipFindings, names: tuple[str, str], palette: Palette) -> Row:
    """Return LiRA's gap in TPR at 1% FPR."""
    lira = findings.attacks.get("lira")
    look: dict[str, Any] = {"name": "LiRA gap", "attack": ATTACK_TITLES["lira"]}
    found = None if lira is None else next((one for one in lira.low_fpr if one.group == names[0]), None)
    if found is None:
        reason = "n/a, the group is too small"
        if lira is None:
            reason = "not run" if "lira" in findings.not_run else _WAITING
        return _gap_row(names, palette, below="TPR at 1% FPR", reason=reason, note=reason, **look)
    look |= {"below": f"TPR at {100 * found.fpr:g}% FPR", "reason": found.reason, "note": found.reason}
    return _gap_row(names, palette, found=found.estimate, test=found.test, rates=found.rates, **look)


def _gap_row(
    names: tuple[str, str],
    palette: Palette,
    *,
    name: str,
    below: str,
    attack: str,
    leaks: bool = True,
    found: Estimate | None = None,
    test: GapTest | None = None,
    rates: tuple[Estimate, Estimate] | None = None,
    reason: str = "",
    note: str = "",
    muted: bool = False,
) -> Row:
    """Return a gap's row with its interval and value, or with the reason why there is none; shaded where it `leaks`."""
    unknown = found is None or math.isnan(found.value)
    facts = {
        "attack": attack,
        **cells(f"{names[0]} minus {names[1]}", found),
        f"rate of {names[0]}": rates[0].value if rates else math.nan,
        f"rate of {names[1]}": rates[1].value if rates else math.nan,
        "smallest detectable gap": test.smallest_detectable if test else math.nan,
        "p-value": test.p_value if test else math.nan,
        "p-value after Holm": test.p_adjusted if test else math.nan,
        "note": reason or ("n/a" if unknown else below if muted else ""),
    }
    look: dict[str, Any] = {"name": name, "bold": True, "below": below, "shaded": leaks, "facts": facts}
    if found is None or unknown:
        return Row(value="…" if reason == _WAITING else "n/a", note=note, **look)
    told = f"{name} {gap(found.value)} ({gap(found.low)} to {gap(found.high)})"
    if test is not None:
        least = f"smallest gap found in four of five such samples: {test.smallest_detectable:.3f}"
        told = f"{told}<br>{least}<br>p = {test.p_adjusted:.3g}"
    if muted:
        mark = measured(found, palette.muted, "circle-open", told=told, stroke=2, dash="dot")
        return Row(value=gap(found.value), color=palette.muted, marks=[mark], **look)
    style = group_style(palette, int(found.value > 0))  # of the group that the gap is larger for; grey where it holds 0
    color, symbol = (style.color, style.symbol) if found.low > 0 or found.high < 0 else (palette.chance, "circle")
    return Row(value=f"<b>{gap(found.value)}</b>", marks=[measured(found, color, symbol, told=told, stroke=4)], **look)


def draw_group_gaps(found: AttackFindings, palette: Palette) -> Drawing:
    """Draw the membership-advantage gap of every group that was measured, and VD as a thin mark beside it.

    Groups whose gap is significant, with all groups reckoned with, are in colour. The attack gives verdicts.
    """
    results = found.disparities.results if found.disparities is not None else ()
    lines = [_group_line(result, palette, muted=found.muted) for result in results]
    title, axis = "Membership-advantage gap of each group", gaps(spans(lines), "Group − all others", parts=3)
    table, empty = _group_cells(found), "no group is large enough"
    return draw_rows(palette, title, lines, axis, value="gap, p", pitch=44, empty=empty, table=table)


def _group_line(result: DisparityResult, palette: Palette, *, muted: bool) -> Row:
    real, vd, test = result.advantage_gap, result.vd, result.tests["advantage_gap"]
    clear = test.significant and not muted
    least = f"smallest gap found in four of five such samples: {test.smallest_detectable:.3f}"
    p = f"{test.p_adjusted:.2g}" if test.p_adjusted >= 0.001 else "&lt; 0.001"
    told = f"{short(result.group, 40)} {gap(real.value)} ({gap(real.low)} to {gap(real.high)}, p {p})<br>{least}"
    color = group_style(palette, int(real.value > 0)).color if clear else palette.chance
    symbol = "circle" if real.value > 0 or not test.significant else "diamond"
    vd_told = f"VD {gap(vd.value)} ({gap(vd.low)} to {gap(vd.high)})"
    vd_color = palette.muted if muted else palette.before
    return Row(
        name=result.group,
        value=f"<b>{gap(real.value)}</b> p {p}" if clear else f"{gap(real.value)} p {p}",
        marks=[
            Mark(at=vd.value, color=vd_color, symbol="line-ns", size=13, told=vd_told),
            measured(real, color, symbol, stroke=4, told=told),
        ],
    )


def _group_cells(found: AttackFindings) -> list[dict[str, Any]]:
    """Return one row a group with everything measured; those too small with the reason."""
    low_fpr = {one.group: one for one in found.low_fpr}
    rows: list[dict[str, Any]] = []
    for result in found.disparities.results if found.disparities is not None else ():
        row: dict[str, Any] = {"group": result.group, "members": result.recall[0].n}
        row["non-members"] = result.false_alarms[0].n
        for field, name in (("vd", "VD"), ("fpr_gap", "FPR gap"), ("advantage_gap", "advantage gap")):
            e, test = getattr(result, field), result.tests[field]
            row |= cells(name, e) | {f"{name}, p (Holm)": test.p_adjusted}
            row[f"{name}, smallest detectable"] = test.smallest_detectable
        one = low_fpr.get(result.group)
        row["TPR gap at 1% FPR"] = one.estimate.value if one is not None else math.nan
        rows.append(row)
    left_out = found.disparities.not_measured if found.disparities is not None else ()
    return [*rows, *({"group": name, "not measured": reason} for name, reason in left_out)]


_LEAST = -3.0  # decades: the axes begin at 0.1%
_ALARMS = 10  # false positives an FPR should rest on
_SMALLEST = 100  # members and non-members of a group that gets a curve of its own
_POINTS = 300
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "first", "dash": "solid", "symbol": "circle", "width": 2.5},
    {"color": "second", "dash": "dash", "symbol": "diamond", "width": 2.5},
    {"color": "leak", "dash": "solid", "symbol": "circle", "width": 3.0},
)


def draw_roc(findings: MembershipFindings, palette: Palette, *, attack: str = "lira", group: int = 0) -> Drawing:
    """Draw an attack's curve: of both groups, of one group of many and all, or of all alone.

    All stand alone where the groups are too small for curves of their own. Between two thresholds the curve shows what
    breaking ties at random reaches. Left of the point where a curve rests on fewer than ten false positives the plot is
    shaded, because there the sample says next to nothing.

    Parameters
    ----------
    attack : str
        One of `core.membership.ATTACKS`; before it has finished the chart is empty and says so.
    group : int
        Of more than two groups, which one, in the order of the comparisons.
    """
    found = findings.attacks.get(attack)
    rocs = [] if found is None else _rocs(findings, found, group)
    fewest = min((roc.n_outsiders for _, roc, _ in rocs), default=0)
    edge = min(0.0, math.log10(_ALARMS / fewest)) if fewest else 0.0
    at = 0.01 if edge <= -2 + 1e-9 else 0.1 if edge <= -1 + 1e-9 else math.nan
    marks, ends = (0.1, 1, 10, 100), (_LEAST + 2, 2)
    x = decades(ends, marks, "False-positive rate (%, log)")
    y = decades((ends[0], ends[1] + 0.04), marks, "True-positive rate (%, log)")
    rows = [
        {  # nan where the TPR rests on fewer than ten false positives or on nothing but ties
            "people": name,
            "FPR": rate,
            "TPR": _reached(roc, rate) if rate * roc.n_outsiders >= _ALARMS - 1e-9 else math.nan,
            "members": roc.n_members,
            "non-members": roc.n_outsiders,
            **cells("AUC", roc.auc),
        }
        for name, roc, _ in rocs
        for rate in (0.001, 0.01, 0.1, 0.5)
    ]
    few = [(x.ends[0], edge + 2)] if rocs and edge > _LEAST else []
    return draw_lines(
        palette,
        f"ROC curve of {ATTACK_TITLES.get(attack, attack)}",
        [_roc_curve(name, roc, look, palette, at) for name, roc, look in reversed(rocs)],
        x=x,
        y=y,
        rows=rows,
        head="" if math.isnan(at) else f"TPR at {100 * at:g}% FPR",
        shaded=(f"fewer than {_ALARMS} false positives", few),
        diagonal=True,
    )


def _rocs(findings: MembershipFindings, found: AttackFindings, group: int) -> list[tuple[str, Roc, dict[str, Any]]]:
    """Return name, curve and look of each curve, the first group first."""
    names, rocs = findings.group_names, found.roc_by_group
    large = [roc.n_outsiders >= _SMALLEST and roc.n_members >= _SMALLEST for roc in rocs]
    everybody = ("all", found.roc, _LOOKS[2])
    if len(rocs) == 2 and all(large):
        return [(names[1], rocs[1], _LOOKS[0]), (names[0], rocs[0], _LOOKS[1])]
    compared = [one.group for one in found.low_fpr]
    for other in findings.attacks.values():
        compared = compared or [one.group for one in (other.disparities.results if other.disparities else ())]
    name = compared[group] if group < len(compared) else ""
    code = names.index(name) if name in names else min(group, len(rocs) - 1)
    if len(rocs) > 2 and large[code]:
        return [(names[code], rocs[code], _LOOKS[0]), everybody]
    return [everybody]


def _reached(roc: Roc, rate: float) -> float:
    """Return the TPR at this FPR, ties broken at random; nan where all have the same score."""
    return math.nan if roc.fpr.size == 2 else float(roc.reached(rate))


def _roc_curve(name: str, roc: Roc, look: dict[str, Any], palette: Palette, at: float) -> Curve:
    """Return a curve in decades of percent, no finer than can be seen, with a dot at one FPR."""
    grid = np.logspace(_LEAST, 0, _POINTS + 1)  # 1% is among them
    tpr = np.maximum(roc.reached(grid), 10.0 ** (_LEAST - 1))
    color, caught = getattr(palette, look["color"]), math.nan if math.isnan(at) else _reached(roc, at)
    value, dots = "" if math.isnan(at) else "one score for all", []
    if not math.isnan(caught):
        value, height = percent(caught), max(math.log10(caught), _LEAST) if caught > 0 else _LEAST
        dots = [Dot(x=math.log10(at) + 2, y=height + 2, told=f"{short(name)}: {value} TPR at {100 * at:g}% FPR")]
    return Curve(
        x=(np.log10(grid) + 2).tolist(),
        y=(np.log10(tpr) + 2).tolist(),
        name=name,
        value=value,
        dots=dots,
        size=12,
        hover=f"{short(name)}",
        **look | {"color": color},
    )


def draw_ranges(ranges: RangeTable, palette: Palette, *, muted: bool = False) -> Drawing:
    """Draw the ten steps up to VD with both groups' numbers; muted where the attack's AUC contains 0.5.

    Each step is the first group's share of flagged members within one range of the probability the model gave to the
    true label, minus the others'.
    """
    first, second = short(ranges.group), short(ranges.others)
    lines, reached = [], 0.0
    for row in ranges.rows:
        end = reached + (0.0 if math.isnan(row.difference) else 100 * row.difference)
        style, words = group_style(palette, int(end > reached)), _signed(row.difference)
        quiet = muted or words in ("0", "n/a")
        color = mixed(style.color, palette.background, 0.45) if muted else style.color
        shares = [_share(row.group), _share(row.others)]
        name = f"{row.low:g} to {row.high:g}"
        told = f"{name}: {shares[0]}% of {first}, {shares[1]}% of {second}"
        value = ", ".join([*shares, words if quiet else f"<b>{words}</b>"])
        tint = palette.grey if quiet else style.color
        step = Mark(at=end, bar=reached, symbol="", color=color, told=told)
        lines.append(Row(name=name, value=value, color=tint, marks=[step]))
        reached = end
    quiet, style, words = muted or math.isnan(ranges.vd), group_style(palette, int(ranges.vd > 0)), _signed(ranges.vd)
    color, symbol = (palette.muted, f"{style.symbol}-open") if quiet else (style.color, style.symbol)
    mark, value = Mark(at=reached, color=color, symbol=symbol, size=13, told=f"VD {words}"), f"<b>{words}</b>"
    name = "VD, muted: AUC contains 0.5" if muted else "VD"
    lines.append(Row(name=name, bold=True, value=words if quiet else value, marks=[mark], apart=True))
    points = f"{plain_name(ranges.group, 16)} − {plain_name(ranges.others, 16)} (points)"
    axis = rounded([-15.0, 15.0, *spans(lines)], points, words=lambda v: gap(v, decimals=0) if v else "0")
    heads = (f"flagged of {ranges.group}", f"flagged of {ranges.others}")
    table = [
        dict(zip(("from", "to", *heads, "difference"), (r.low, r.high, r.group, r.others, r.difference), strict=True))
        for r in ranges.rows
    ]
    title = "VD by predicted probability of the true label"
    head = f"{short(ranges.group, 9)} %, {short(ranges.others, 9)} %, points"
    return draw_rows(palette, title, lines, axis, value=head, table=table)


def _signed(difference: float) -> str:
    if math.isnan(difference):
        return "n/a"
    told = gap(100 * difference, decimals=1)
    return "0" if float(told.replace("−", "-")) == 0 else told


def _share(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{100 * value:.1f}"
