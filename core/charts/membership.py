"""Charts of membership attacks: gaps between groups, ROC curves, where the flags fall, and curves over many targets.

The attack that calls more people of a group members is not yet one that knows more about them: it may call non-members
members as well. The vulnerability disparity (VD, Zhang et al. 2020) therefore stands above the same gap among
non-members, and below, shaded, stand the two gaps that speak of leakage.

The axis of epsilon is logarithmic; epsilon = infinity has a place of its own at the right end, behind a break, because
no line leads there. What is measured is drawn, every target with a dot and its interval over repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from core.charts.drawing import Axis, Drawing, decades, gaps, percents, rounded
from core.charts.lines import Curve, Dot, compared, draw_lines, level
from core.charts.rows import Mark, Row, draw_rows, measured, spans
from core.charts.theme import Palette, group_style, mixed
from core.charts.words import plain_name, short
from core.estimates import Estimate, count, epsilon_text, gap, not_measured, percent
from core.membership.attacks import REGISTRY
from core.membership.curves import CurveBand
from core.membership.disparity import DisparityResult, GapTest, RangeTable
from core.membership.fairpick import FairPickFindings
from core.membership.inference import AttackFindings, MembershipFindings
from core.membership.roc import Roc

_WAITING = "being measured"
_GAPS = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "Advantage gap"}


def draw_gaps_between(findings: MembershipFindings, palette: Palette, *, group: int = 0) -> Drawing:
    """Draw VD, the FPR gap, their difference and LiRA's gap with their intervals.

    The verdicts are those of the paper's network once it is there, else of the last attack that decided; `group` is
    which of the comparisons, in the order of `Disparities.results`.
    """
    decided = [name for name, found in findings.attacks.items() if found.disparities is not None]
    name = "network" if "network" in decided else decided[-1] if decided else ""
    found, title = findings.attacks.get(name), REGISTRY[name].title if name else ""
    results = found.disparities.results if found is not None and found.disparities is not None else ()
    result = results[group] if group < len(results) else None
    every = findings.group_names
    names = (every[1], every[0]) if len(every) == 2 else (every[min(group, len(every) - 1)], "all others")
    names = (result.group, result.others) if result else names
    row = partial(_gap_row, palette)
    rows = [*_verdict_rows(found, result, row), _lira_row(findings, names[0], row)]
    first, second = (plain_name(name) for name in names)
    sides = [
        (f"← higher for {second}", group_style(palette, 0).color),
        (f"higher for {first} →", group_style(palette, 1).color),
    ]
    axis = gaps(spans(rows), f"{first} − {second} (difference of rates)")
    title = f"Group differences in membership inference, verdicts by {title}" if title else "Group differences"
    return draw_rows(palette, title, rows, axis, sides=sides)


def _verdict_rows(
    found: AttackFindings | None, result: DisparityResult | None, row: Callable[..., Row]
) -> Iterable[Row]:
    """Yield the three gaps of an attack's verdicts."""
    flagged, reason = "TPR gap", _WAITING
    if found is not None and found.muted:
        flagged = "muted: AUC below 0.5" if found.roc.auc.high < 0.5 else "muted: AUC contains 0.5"
    if found is not None and found.disparities is not None and found.disparities.not_measured:
        reason = found.disparities.not_measured[0][1]
    words = {"vd": flagged, "fpr_gap": "non-members flagged", "advantage_gap": "net of false positives"}
    for field, name in _GAPS.items():
        look: dict[str, Any] = {"name": name, "below": words[field], "leaks": field == "advantage_gap"}
        if result is None:
            waiting = reason == _WAITING
            yield row(waiting=waiting, note=reason if field == "vd" or waiting else "", **look)
        else:
            muted = field == "vd" and found is not None and found.muted
            yield row(found=getattr(result, field), test=result.tests.get(field), muted=muted, **look)


def _lira_row(findings: MembershipFindings, group: str, row: Callable[..., Row]) -> Row:
    """Return LiRA's gap in TPR at 1% FPR."""
    lira, reason = findings.attacks.get("lira"), "n/a, the group is too small"
    found = None if lira is None else next((one for one in lira.low_fpr if one.group == group), None)
    if found is not None:
        below = f"TPR at {100 * found.fpr:g}% FPR"
        return row(name="LiRA gap", below=below, found=found.estimate, test=found.test, note=found.reason)
    if lira is None:
        reason = "not run" if "lira" in findings.not_run else _WAITING
    return row(name="LiRA gap", below="TPR at 1% FPR", waiting=reason == _WAITING, note=reason)


def _gap_row(
    palette: Palette,
    *,
    name: str,
    below: str,
    leaks: bool = True,
    found: Estimate | None = None,
    test: GapTest | None = None,
    waiting: bool = False,
    note: str = "",
    muted: bool = False,
) -> Row:
    """Return a gap's row with its interval and value, or with the reason why there is none; shaded where it `leaks`."""
    look: dict[str, Any] = {"name": name, "bold": True, "below": below, "shaded": leaks}
    if found is None or math.isnan(found.value):
        return Row(value="…" if waiting else "n/a", note=note, **look)
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
    return draw_rows(palette, title, lines, axis, value="gap, p", pitch=44, empty="no group is large enough")


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
    few = [(x.ends[0], edge + 2)] if rocs and edge > _LEAST else []
    return draw_lines(
        palette,
        f"ROC curve of {REGISTRY[attack].title}",
        [_roc_curve(name, roc, look, palette, at) for name, roc, look in reversed(rocs)],
        x=x,
        y=y,
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
    if len(rocs) > 2:
        code = names.index(found.low_fpr[group].group)
        if large[code]:
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
        end = reached + 100 * row.difference
        style, words = group_style(palette, int(end > reached)), _signed(row.difference)
        quiet = muted or words == "0"
        color = mixed(style.color, palette.background, 0.45) if muted else style.color
        shares = [f"{100 * share:.1f}" for share in (row.group, row.others)]
        name = f"{row.low:g} to {row.high:g}"
        told = f"{name}: {shares[0]}% of {first}, {shares[1]}% of {second}"
        value = ", ".join([*shares, words if quiet else f"<b>{words}</b>"])
        tint = palette.grey if quiet else style.color
        step = Mark(at=end, bar=reached, symbol="", color=color, told=told)
        lines.append(Row(name=name, value=value, color=tint, marks=[step]))
        reached = end
    style, words = group_style(palette, int(ranges.vd > 0)), _signed(ranges.vd)
    color, symbol = (palette.muted, f"{style.symbol}-open") if muted else (style.color, style.symbol)
    mark, value = Mark(at=reached, color=color, symbol=symbol, size=13, told=f"VD {words}"), f"<b>{words}</b>"
    name = "VD, muted: AUC contains 0.5" if muted else "VD"
    lines.append(Row(name=name, bold=True, value=words if muted else value, marks=[mark], apart=True))
    points = f"{plain_name(ranges.group, 16)} − {plain_name(ranges.others, 16)} (points)"
    axis = rounded([-15.0, 15.0, *spans(lines)], points, words=lambda v: gap(v, decimals=0) if v else "0")
    title = "VD by predicted probability of the true label"
    head = f"{short(ranges.group, 9)} %, {short(ranges.others, 9)} %, points"
    return draw_rows(palette, title, lines, axis, value=head)


def _signed(difference: float) -> str:
    told = gap(100 * difference, decimals=1)
    return "0" if float(told.replace("−", "-")) == 0 else told


# ------------------------------------------------------------------------------------- over epsilon and theta

_FIRST, _LAST = -2.0, 2.0  # decades of the finite budgets
_INFINITY = 2.75
_EPSILONS = (0.01, 0.1, 1, 10, 100, math.inf)
_ENOUGH = 3  # repeats; the interval of two is so wide that it would squash the curves


def _value(found: CurveBand, field: str) -> Estimate:
    """Return a field of a band; nan where it has none."""
    return found.values.get(field) or not_measured()


def _by_chance(found: CurveBand) -> bool:
    """Whether the interval of the attack's AUC holds 0.5; unknown, and so False, without an interval."""
    auc = _value(found, "auc")
    return auc.low <= 0.5 <= auc.high


def _ends(e: Estimate) -> tuple[float, float, float]:
    """Return lower limit, value and upper limit; the value where there is no interval."""
    return (e.value if math.isnan(e.low) else e.low, e.value, e.value if math.isnan(e.high) else e.high)


def _held(found: CurveBand, field: str) -> tuple[float, ...]:
    """Return what an axis must hold of a band: its value, and its limits once they rest on enough repeats."""
    e = _value(found, field)
    return _ends(e) if found.repeats >= _ENOUGH else (e.value,)


def _place(epsilon: float) -> float:
    """Return where a budget stands on the axis."""
    return _INFINITY if math.isinf(epsilon) else min(max(math.log10(epsilon), _FIRST), _LAST)


_X = Axis(
    ends=(-2.15, 2.95),
    marks=[_place(e) for e in _EPSILONS],
    words=[epsilon_text(e) for e in _EPSILONS],
    title="Privacy budget ε of the tree (log)",
    broken=(2.28, 2.44),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """What is drawn of the bands: its name, its look, and whether it says nothing where AUC holds 0.5."""

    field: str
    name: str
    color: str
    dash: str = "solid"
    symbol: str = "circle"
    width: float = 2
    mutable: bool = False


def _curves(
    bands: Sequence[CurveBand],
    field: _Field,
    palette: Palette,
    y: Axis,
    *,
    now: float,
    told: Callable[[Estimate], str],
    place: Callable[[float], float] = float,
    scale: float = 1.0,
    size: float = 6,
) -> list[Curve]:
    """Return a field's curve with a dot for each target; a dotted one without a band leads to infinity."""
    there = [(b, _value(b, field.field)) for b in bands if not math.isnan(_value(b, field.field).value)]
    if not there:
        return []
    dots = []
    for b, e in there:
        low, middle, high = (scale * v for v in _ends(e))
        cut = (min(max(low, y.ends[0]), middle), max(min(high, y.ends[1]), middle))
        limits = (told(replace(e, value=v)) for v in (e.low, e.high))
        over = "one repeat" if math.isnan(e.low) else f"{' to '.join(limits)}, {b.repeats} repeats"
        words, quiet = f"{field.name} {told(e)} ({over})", field.mutable and _by_chance(b)
        ends = cut if len(there) == 1 or math.isinf(b.at) else (math.nan, math.nan)
        color = palette.muted if quiet else ""
        dots.append(Dot(x=place(b.at), y=middle, told=words, ends=ends, hollow=quiet, color=color))
    finite = [(b, e) for b, e in there if math.isfinite(b.at)]
    estimates = [replace(e, low=_ends(e)[0], high=_ends(e)[2]) for _, e in finite]
    look: dict[str, Any] = {"color": field.color, "dash": field.dash, "symbol": field.symbol, "size": size}
    curves = [Curve.of([place(b.at) for b, _ in finite], estimates, scale=scale, width=field.width, dots=dots, **look)]
    if len(finite) < len(there):
        last = dots[-2:]
        curves.append(Curve(x=[d.x for d in last], y=[d.y for d in last], color=field.color, width=1.5, dash="dot"))
    here = next(((b, e) for b, e in there if b.at == now or math.isclose(b.at, now, rel_tol=1e-6)), None)
    name, value, muted = field.name, "", False
    if here is not None:
        value, muted = told(here[1]), field.mutable and _by_chance(here[0])
        name = f"{name}, muted" if muted else name
    height = None if here is None else scale * here[1].value
    curves[-1] = replace(curves[-1], name=name, value=value, now=height, hollow=muted)
    return curves


def _over_epsilon(
    title: str,
    bands: Iterable[CurveBand],
    fields: Sequence[_Field],
    palette: Palette,
    *,
    now: float,
    y: Callable[[list[float]], Axis],
    levels: Sequence[Curve],
    rates: bool = False,
    shaded: tuple[str, Sequence[tuple[float, float]]] = ("", ()),
) -> Drawing:
    """Draw fields over epsilon, `rates` in percent or gaps; `now` is in (0, inf]."""
    scale, told = (100.0, percent) if rates else (1.0, _gap_of)
    done = sorted((b for b in bands if b.variant == "epsilon"), key=lambda b: b.at)
    axis = y([scale * v for b in done for field in fields for v in _held(b, field.field)])
    look: dict[str, Any] = {"now": now, "told": told, "place": _place, "scale": scale}
    curves = [curve for field in fields for curve in _curves(done, field, palette, axis, **look)]
    head = f"at ε = {epsilon_text(now)}" if any(curve.now is not None for curve in curves) else ""
    curves = [*(levels if curves else ()), *curves]
    drawing = draw_lines(palette, title, curves, x=_X, y=axis, at=_place(now), head=head, shaded=shaded)
    drawing.sketch.note(epsilon=now if math.isfinite(now) else "inf")
    return drawing


def _gap_of(e: Estimate) -> str:
    return gap(e.value)


def _chance_spans(bands: Iterable[CurveBand]) -> list[tuple[float, float]]:
    """Return the parts of the axis that belong to budgets no better than chance: up to halfway to the next budget."""
    done = sorted((b for b in bands if b.variant == "epsilon"), key=lambda b: b.at)
    places = [_place(b.at) for b in done]
    edges = [_X.ends[0], *((a + b) / 2 for a, b in pairwise(places)), _X.ends[1]]
    joined: list[tuple[float, float]] = []
    for found, (start, end) in zip(done, pairwise(edges), strict=True) if done else ():
        if _by_chance(found):
            begin = joined.pop()[0] if joined and joined[-1][1] == start else start
            joined.append((begin, end))
    return joined


def draw_epsilon_curve(bands: Sequence[CurveBand], palette: Palette, *, now: float) -> Drawing:
    """Draw VD, the FPR gap and their difference over epsilon, with intervals over repeats.

    Where the interval of the attack's AUC holds 0.5 the plot is shaded and VD is muted.

    Parameters
    ----------
    bands : sequence of CurveBand
        What is finished, in any order; only those of the variant "epsilon" are drawn.
    now : float
        Where the slider stands, in (0, inf].
    """
    fields = (
        _Field(field="vd", name="VD", color=palette.before, mutable=True),
        _Field(field="fpr_gap", name="FPR gap", color=palette.prior, dash="dash"),
        _Field(field="advantage_gap", name="advantage gap", color=palette.leak, width=3),
    )
    return _over_epsilon(
        "Gaps between the groups over epsilon",
        bands,
        fields,
        palette,
        now=now,
        y=lambda reach: gaps(reach, "Difference of rates"),
        levels=[level(_X, 0.0, palette.ink, dash="solid")],
        shaded=("AUC contains 0.5", _chance_spans(bands)),
    )


def draw_accuracy_by_epsilon(
    bands: Sequence[CurveBand], palette: Palette, *, now: float, majority: Estimate | None = None
) -> Drawing:
    """Draw the target's accuracy on training and test set over epsilon.

    `majority` is the accuracy of the more frequent label on the test set, a dotted line; the rest as in
    `draw_epsilon_curve`.
    """
    fields = (
        _Field(field="accuracy_train", name="training", color=palette.before, dash="dash"),
        _Field(field="accuracy_test", name="test", color=palette.leak, width=3),
    )
    rate = majority or not_measured()
    names = ("Accuracy of the target", "Accuracy (%)", "majority class")
    return _rates(names, bands, fields, palette, now, rate)


def draw_attack_by_epsilon(bands: Sequence[CurveBand], palette: Palette, *, now: float) -> Drawing:
    """Draw the attack's precision and recall over epsilon beside random guessing; as `draw_epsilon_curve`."""
    fields = (
        _Field(field="recall", name="recall", color=palette.before, dash="dash"),
        _Field(field="precision", name="precision", color=palette.leak, width=3),
    )
    toss = Estimate(value=0.5, low=0.5, high=0.5, n=0)
    names = ("Precision and recall of the attack", "Precision, recall (%)", "random guess")
    return _rates(names, bands, fields, palette, now, toss)


def _rates(
    names: tuple[str, str, str],
    bands: Iterable[CurveBand],
    fields: Sequence[_Field],
    palette: Palette,
    now: float,
    rate: Estimate,
) -> Drawing:
    """Draw rates with a dotted one to compare with, which is left out where it is nan; names: title, y axis, its."""
    known = not math.isnan(rate.value)
    return _over_epsilon(
        f"{names[0]} over epsilon",
        bands,
        fields,
        palette,
        now=now,
        y=lambda reach: percents([*reach, 100 * rate.value], names[1]),
        levels=[compared(_X, rate, palette.chance, names[2])] if known else [],
        rates=True,
    )


_SHORTEST = 0.15  # how long the axis of gaps is at least


def draw_fairpick(bands: Sequence[CurveBand], palette: Palette, *, now: float, measure: str = "vd") -> Drawing:
    """Draw a gap over theta after FairPick and after deleting as many rows at random, with intervals over repeats.

    Parameters
    ----------
    bands : sequence of CurveBand
        Of the variants "fairpick" and "random", in any order; theta = 1 deletes nobody and is the gap before.
    now : float
        Where the slider stands, in (0, 1].
    measure : {"vd", "fpr_gap", "advantage_gap"}
    """
    look: dict[str, Any] = {"field": measure}
    ways = {
        "random": _Field(name="random", color=palette.prior, dash="dash", symbol="diamond", **look),
        "fairpick": _Field(name="FairPick", color=palette.leak, width=3, **look),
    }
    done = sorted((b for b in bands if b.variant in ways), key=lambda b: b.at)
    before = next((_value(b, measure) for b in reversed(done) if b.at == 1.0), not_measured())

    def mark(height: float) -> str:
        return gap(height, decimals=2) if abs(height) > 1e-9 else "0"

    held = [v for b in done for v in _held(b, measure)]
    y = rounded([0.0, *held], f"{_GAPS[measure]} (difference of rates)", words=mark, span=_SHORTEST)
    x = _thetas(min([0.4, now, *(b.at for b in done)]))
    curves = [level(x, 0.0, palette.ink, dash="solid")]
    if not math.isnan(before.value):
        curves.append(level(x, before.value, palette.before, "before", gap(before.value)))
    for variant, way in ways.items():
        some = [b for b in done if b.variant == variant]
        curves += _curves(some, way, palette, y, now=now, told=_gap_of, size=11)
    head = f"at θ = {now:g}" if any(math.isclose(b.at, now) for b in done) else ""
    title = f"{_GAPS[measure]} after FairPick and after random deletion"
    return draw_lines(palette, title, curves, x=x, y=y, at=now, head=head)


def _thetas(first: float) -> Axis:
    """Return the axis of theta, from the first or below it up to 1."""
    start = 0.2 * math.floor(first / 0.2 + 1e-9)
    marks = [round(start + 0.2 * i, 1) for i in range(round((1.0 - start) / 0.2) + 1)]
    room = 0.05 * (1.0 - start)
    title = "Share of the groups' differences kept (θ)"
    return Axis(ends=(start - room, 1 + room), marks=marks, words=[f"{mark:g}" for mark in marks], title=title)


def draw_deleted(found: FairPickFindings, palette: Palette) -> Drawing:
    """Draw the records deleted of each group, the first group above."""
    total, lines = sum(found.deleted.values()), []
    for code, (name, number) in reversed(list(enumerate(found.deleted.items()))):
        color = group_style(palette, code).color
        share = f" ({100 * number / total:.0f}% of the records deleted)" if total else ""
        told = f"{short(name, 60)}: {count(number)}{share}"
        mark = Mark(at=number, bar=0, color=color, symbol="", told=told, name="records deleted", estimate=number)
        lines.append(Row(name=name, value=f"<b>{count(number)}</b>", color=color, marks=[mark]))
    axis = rounded([0, *found.deleted.values()], "Records deleted", words="{:,.0f}".format)
    title = f"Records deleted of each group at θ = {found.theta:g}"
    return draw_rows(palette, title, lines, axis, first="group", empty="none")
