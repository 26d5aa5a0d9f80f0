"""Charts of membership attacks: gaps between groups, ROC curves, VD by probability, and curves over many targets.

The attack that calls more people of a group members is not yet one that knows more about them: it may call non-members
members as well. The vulnerability disparity (VD, Zhang et al. 2020) therefore stands above the same gap among
non-members, and below, shaded, stand the two gaps that speak of leakage.

The axis of epsilon is logarithmic; epsilon = infinity has a place of its own at the right end, behind a break, because
no line leads there. What is measured is drawn, every target with a dot and its interval over repeats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...charts.drawing import Axis, Drawing, Scale, decades, gap_text, gaps, percents, value_of
from ...charts.lines import Curve, Dot, draw_lines, level
from ...charts.rows import Mark, Row, draw_rows
from ...charts.theme import fit, group_style, plain_name, short
from ...stats.estimates import Estimate, count, epsilon_text, gap, not_measured, percent
from .attacks import REGISTRY
from .disparity import RANGE_EDGES, DisparityResult, GapTest, RangeTable
from .fairpick import FairPick
from .findings import EPSILONS, THETAS, CurveBand
from .result import MembershipResult
from .roc import Roc
from .tpr_gaps import GapResult

_CHANCE = "AUC not above 0.5"
_GAPS = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "Advantage gap"}


def draw_differences(result: MembershipResult) -> Drawing:
    """Draw the gaps between two groups, or of more than two each group's membership-advantage gap."""
    if result.subject.dataset.n_groups == 2:
        return draw_gaps_between(result)
    return draw_group_gaps(result)


def draw_gaps_between(result: MembershipResult) -> Drawing:
    """Draw VD, the FPR gap, their difference and the gap in TPR of two groups by the strongest attack."""
    complement, group = result.subject.dataset.group_names
    first = plain_name(group)
    second = plain_name(complement)
    rows = [*_verdict_rows(result), _low_row(result.gaps[result.strongest][0])]
    sides = [
        (f"← higher for {second}", group_style(0).color),
        (f"higher for {first} →", group_style(1).color),
    ]
    title = f"Group differences in membership inference, by {REGISTRY[result.strongest].title}"
    return draw_rows(title, rows, gaps(f"{first} − {second} (difference of rates)"), sides=sides)


def _gap_row(
    name: str,
    below: str,
    *,
    leaks: bool = True,
    estimate: Estimate | None = None,
    test: GapTest | None = None,
    note: str = "",
    muted: bool = False,
) -> Row:
    """Return a gap's row with its interval and value, or with the reason why there is none; shaded where it `leaks`."""
    look: dict[str, Any] = {"name": name, "bold": True, "below": below, "shaded": leaks}
    if estimate is None or math.isnan(estimate.value):
        return Row(value="n/a", note=note, **look)
    if test is not None:
        hover = f"{_detectable(test)}<br>p = {test.p_adjusted:.3g}"
    else:
        hover = ""
    mark = Mark(
        of=estimate,
        hover=hover,
        stroke=4,
        **_more_exposed(estimate, decided=estimate.low > 0 or estimate.high < 0),
    )
    if not muted:
        return Row(marks=[mark], **look)
    mark = replace(mark, color="muted", symbol="circle-open", stroke=2, dash="dot")
    return Row(value=gap(estimate.value), color="muted", marks=[mark], **look)


def _more_exposed(estimate: Estimate, *, decided: bool) -> dict[str, Any]:
    """Return the look of the group that a gap is larger for; grey where that is not decided."""
    style = group_style(int(estimate.value > 0))
    if decided:
        return {"color": style.color, "symbol": style.symbol}
    return {"color": "chance", "symbol": "circle"}


def _detectable(test: GapTest) -> str:
    return f"smallest gap found in four of five such samples: {test.smallest_detectable:.3f}"


def _verdict_rows(result: MembershipResult) -> Iterable[Row]:
    """Yield the three gaps between two groups in an attack's verdicts, or why there are none."""
    flagged = "TPR gap"
    if result.muted:
        flagged = f"greyed out: {_CHANCE}"
    captions = {
        "vd": flagged,
        "fpr_gap": "non-members flagged",
        "advantage_gap": "net of false positives",
    }
    for field, name in _GAPS.items():
        look: dict[str, Any] = {"leaks": field == "advantage_gap"}
        for measured in result.disparities:
            look |= {"estimate": getattr(measured, field), "test": measured.tests[field]}
            look["muted"] = result.muted and field == "vd"
        if field == "vd":
            look["note"] = "".join(reason for _, reason in result.too_small)
        yield _gap_row(name, captions[field], **look)


def _low_row(low: GapResult) -> Row:
    """Return the gap in TPR at a low FPR."""
    note = low.reason and "n/a, a group is too small"
    return _gap_row(
        "Gap in TPR", f"at {100 * low.fpr:g}% FPR", estimate=low.estimate, test=low.test, note=note
    )


def draw_group_gaps(result: MembershipResult) -> Drawing:
    """Draw the membership-advantage gap of every group that was measured, and VD as a thin mark beside it.

    Groups whose gap is significant, with all groups reckoned with, are in colour.
    """
    lines = [_group_line(gaps_of_group, muted=result.muted) for gaps_of_group in result.disparities]
    title = "Membership-advantage gap of each group"
    axis = gaps("Group − all others (difference of rates)", parts=3)
    return draw_rows(title, lines, axis, value="gap, p", pitch=46, empty="no group is large enough")


def _group_line(result: DisparityResult, *, muted: bool) -> Row:
    real = result.advantage_gap
    test = result.tests["advantage_gap"]
    clear = test.significant and not muted
    if test.p_adjusted >= 0.001:
        p = f"{test.p_adjusted:.2g}"
    else:
        p = "&lt; 0.001"
    look = _more_exposed(real, decided=test.significant)
    if not clear:
        look = look | {"color": "chance"}
    if muted:
        vd_color = "muted"
    else:
        vd_color = "before"
    vd = Mark(
        of=result.vd.value,
        color=vd_color,
        symbol="line-ns",
        size=13,
        name="VD",
        hover=fit(result.group, 9999),
    )
    if clear:
        value = f"<b>{gap(real.value)}</b> p {p}"
    else:
        value = f"{gap(real.value)} p {p}"
    return Row(
        name=result.group,
        value=value,
        marks=[
            vd,
            Mark(
                of=real,
                stroke=4,
                name="membership-advantage gap",
                hover=f"{fit(result.group, 9999)}, p {p}<br>{_detectable(test)}",
                **look,
            ),
        ],
    )


_LEAST = 0.001  # where the axes begin
_ALARMS = 10  # false positives an FPR should rest on
_SMALLEST = 100  # members and non-members of a group that gets a curve of its own
_POINTS = 300
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "first", "width": 2.5},
    {"color": "second", "dash": "dash", "symbol": "diamond", "width": 2.5},
    {"color": "leak", "width": 3.0},
)


def draw_roc(result: MembershipResult) -> Drawing:
    """Draw the strongest attack's curve: of both groups of two, or of everybody.

    Everybody stands alone where the groups are too small for curves of their own. Between two thresholds the curve
    shows what breaking ties at random reaches. Left of the point where a curve has fewer than ten false positives the
    plot is shaded, because there the sample says next to nothing.
    """
    rocs = _rocs(result)
    fewest = min(roc.n_outsiders for _, roc, _ in rocs)
    edge = min(1.0, _ALARMS / fewest)
    at = next((rate for rate in (0.01, 0.1) if edge <= rate * (1 + 1e-9)), math.nan)
    marks = (0.1, 1, 10, 100)
    ends = (math.log10(_LEAST) + 2, 2)
    look: dict[str, Any] = {"write": percent, "position": _decades_of_percent}
    x = decades(ends, marks, "False-positive rate (%, log)", **look)
    y = decades((ends[0], ends[1] + 0.04), marks, "True-positive rate (%, log)", **look)
    if edge > _LEAST:
        few = [(x.ends[0], math.log10(edge) + 2)]
    else:
        few = []
    head = ""
    if not math.isnan(at):
        head = f"TPR at {100 * at:g}% FPR"
    return draw_lines(
        f"ROC curve of {REGISTRY[result.strongest].title}",
        [_roc_curve(name, roc, look, at) for name, roc, look in reversed(rocs)],
        x=x,
        y=y,
        head=head,
        shaded=(f"fewer than {_ALARMS} false positives", few),
        diagonal=True,
    )


def _rocs(result: MembershipResult) -> list[tuple[str, Roc, dict[str, Any]]]:
    """Return name, curve and look of each curve, the first group first."""
    rocs = result.curves_by_group
    names = result.subject.dataset.group_names
    large = [roc.n_outsiders >= _SMALLEST and roc.n_members >= _SMALLEST for roc in rocs]
    if len(rocs) == 2 and all(large):
        return [(names[1], rocs[1], _LOOKS[0]), (names[0], rocs[0], _LOOKS[1])]
    return [("all", result.curves[result.strongest], _LOOKS[2])]


def _decades_of_percent(rate: float) -> float:
    """Return where a rate stands on a logarithmic axis that begins at 0.1%; what is less just below its end."""
    if math.isnan(rate):
        return rate
    return math.log10(max(rate, _LEAST / 10)) + 2


def _roc_curve(name: str, roc: Roc, look: dict[str, Any], at: float) -> Curve:
    """Return a curve no finer than can be seen, with a dot at one FPR."""
    grid = np.logspace(math.log10(_LEAST), 0, _POINTS + 1)  # 1% is among them
    value = "" if math.isnan(at) else "one score for all"
    dots = []
    if roc.fpr.size > 2 and not math.isnan(at):
        caught = float(roc.reached(at))
        value = percent(caught)
        hover = f"{short(name)}: TPR at {100 * at:g}% FPR"
        dots = [Dot(x=at, of=caught, hover=hover)]
    x = grid.tolist()
    y = roc.reached(grid).tolist()
    return Curve(x=x, of=y, name=name, value=value, dots=dots, size=12, **look)


def draw_ranges(ranges: RangeTable, *, muted: bool = False) -> Drawing:
    """Draw the ten steps up to VD with both groups' numbers; greyed out where the attack is no better than chance.

    Each step is the first group's share of flagged members within one range of the probability the model gave to the
    true label, minus the others'.
    """
    lines = []
    reached = 0.0
    for (low, high), group_share, reference_share, difference in zip(
        pairwise(RANGE_EDGES),
        ranges.group_shares,
        ranges.reference_shares,
        ranges.differences,
        strict=True,
    ):
        end = reached + difference
        color = group_style(int(end > reached)).color
        text = _signed(difference)
        quiet = muted or text == "0"
        if not quiet:
            text = f"<b>{text}</b>"
        value = f"{100 * group_share:.1f}, {100 * reference_share:.1f}, {text}"
        if muted:
            mark_color = f"{color} 45"
        else:
            mark_color = color
        step = Mark(of=end, bar=reached, symbol="", color=mark_color)
        if quiet:
            text_color = "grey"
        else:
            text_color = color
        look: dict[str, Any] = {"color": text_color, "marks": [step]}
        lines.append(Row(name=f"{low:g} to {high:g}", value=value, **look))
        reached = end
    style = group_style(int(ranges.vd > 0))
    text = _signed(ranges.vd)
    color, symbol = ("muted", f"{style.symbol}-open") if muted else (style.color, style.symbol)
    mark = Mark(of=reached, color=color, symbol=symbol, size=13)
    name = f"VD, greyed out: {_CHANCE}" if muted else "VD"
    if muted:
        value = text
    else:
        value = f"<b>{text}</b>"
    lines.append(
        Row(
            name=name,
            bold=True,
            value=value,
            marks=[mark],
            separated=True,
        )
    )
    axis = Scale(
        title=f"{plain_name(ranges.group, 16)} − {plain_name(ranges.reference, 16)} (points)",
        span=30.0,
        holds=(-15.0, 15.0),
        position=lambda share: 100 * share,
        label=lambda mark: gap(mark, decimals=0) if mark else "0",
        write=lambda share: _signed(value_of(share)),
    )
    head = f"{short(ranges.group, 9)} %, {short(ranges.reference, 9)} %, points"
    return draw_rows("VD by predicted probability of the true label", lines, axis, value=head)


def _signed(difference: float) -> str:
    text = gap(100 * difference, decimals=1)
    if float(text.replace("−", "-")) == 0:
        return "0"
    return text


# ------------------------------------------------------------------------------------- over epsilon and theta

# decades of the finite budgets
_FIRST = -2.0
_LAST = 2.0
_INFINITY = 2.75
_EPSILONS = (0.01, 0.1, 1, 10, 100, math.inf)
_ENOUGH = 3  # repeats; the interval of two is so wide that it would squash the curves


def _budget_position(epsilon: float) -> float:
    """Return where a budget stands on the axis."""
    if math.isinf(epsilon):
        return _INFINITY
    return min(max(math.log10(epsilon), _FIRST), _LAST)


_X = Axis(
    ends=(-2.15, 2.95),
    marks=[_budget_position(e) for e in _EPSILONS],
    labels=[epsilon_text(e) for e in _EPSILONS],
    title="Privacy budget ε of the tree (log)",
    broken=(2.28, 2.44),
    position=_budget_position,
)


def _value(band: CurveBand, field: str) -> Estimate:
    """Return a field of a band; nan where it has none."""
    return band.values.get(field) or not_measured()


def _by_chance(band: CurveBand) -> bool:
    """Whether the interval of the attack's AUC is not above 0.5; unknown, and so False, without an interval."""
    return _value(band, "auc").low <= 0.5


def _held(bands: Iterable[CurveBand], *names: str) -> list[float]:
    """Return what an axis must hold: values, and their limits once they rest on enough repeats."""
    estimates = [(band.repeats >= _ENOUGH, _value(band, name)) for band in bands for name in names]
    return [
        number
        for enough, e in estimates
        for number in ((e.low, e.value, e.high) if enough else (e.value,))
    ]


def _curves(
    bands: Sequence[CurveBand],
    field: str,
    grid: Sequence[float],
    *,
    name: str,
    now: float,
    mutable: bool = False,
    size: float = 6,
    **look: Any,
) -> list[Curve]:
    """Return the curve of a field with a dot for each target; a dotted one without a band leads to infinity.

    `grid` has the places of all targets, also of those that are not measured yet. What is `mutable` says nothing where
    the attack is at chance.
    """
    measured = [(b, _value(b, field)) for b in bands if not math.isnan(_value(b, field).value)]
    if not measured:
        return []
    quiet = {b.at: mutable and _by_chance(b) for b, _ in measured}
    grey = {b.at: "muted" for b, _ in measured if quiet[b.at]}
    finite = [(b.at, e) for b, e in measured if math.isfinite(b.at)]
    dots = [
        Dot(
            x=b.at,
            of=e,
            hover=name,
            interval=len(measured) == 1 or math.isinf(b.at),
            hollow=quiet[b.at],
            color=grey.get(b.at, ""),
        )
        for b, e in measured
    ]
    current = next(
        ((b, e) for b, e in measured if b.at == now or math.isclose(b.at, now, rel_tol=1e-6)),
        None,
    )
    drawn = {"name": name, "size": size, **look}
    if current is not None:
        muted = quiet[current[0].at]
        drawn |= {"current": current[1], "hollow": muted}
        if muted:
            drawn["name"] = f"{name}, greyed out"
    places = [at for at in grid if math.isfinite(at)]
    x = [at for at, _ in finite]
    curve = Curve(x=x, of=[e for _, e in finite], grid=places, band=True, dots=dots, **drawn)
    ends = [dot for dot in dots if dot.x in (places[-1], math.inf)]
    if math.inf not in grid or len(ends) < 2:
        return [curve]
    x = [dot.x for dot in ends]
    of = [dot.of for dot in ends]
    return [curve, Curve(x=x, of=of, color=look["color"], width=1.5, dash="dot")]


def _over_epsilon(
    title: str,
    bands: Iterable[CurveBand],
    fields: Mapping[str, dict[str, Any]],
    y: Scale,
    compared: Curve,
    *,
    now: float,
    shaded: str = "",
) -> Drawing:
    """Draw fields, each with its look, over epsilon; `now` is in (0, inf].

    What they are compared with is drawn where that is known.
    What is shaded follows from all budgets, and is left out until they are measured.
    """
    done = sorted((b for b in bands if b.variant == "epsilon"), key=lambda b: b.at)
    curves = [
        curve
        for field, look in fields.items()
        for curve in _curves(done, field, EPSILONS, now=now, **look)
    ]
    floor = value_of(compared.of[0])
    if any(curve.current is not None for curve in curves):
        head = f"at ε = {epsilon_text(now)}"
    else:
        head = ""
    axis = y.over([*_held(done, *fields), floor])
    if curves and not math.isnan(floor):
        curves = [compared, *curves]
    complete = {*EPSILONS} <= {b.at for b in done}
    spans = []
    if shaded and complete:
        spans = _chance_spans(done)
    part = (shaded, spans)
    return draw_lines(f"{title} over epsilon", curves, x=_X, y=axis, at=now, head=head, shaded=part)


def _chance_spans(done: Sequence[CurveBand]) -> list[tuple[float, float]]:
    """Return the parts of the axis that belong to budgets no better than chance: up to halfway to the next budget."""
    places = [_budget_position(b.at) for b in done]
    edges = [_X.ends[0], *((a + b) / 2 for a, b in pairwise(places)), _X.ends[1]]
    joined: list[tuple[float, float]] = []
    for band, (start, end) in zip(done, pairwise(edges), strict=True) if done else ():
        if _by_chance(band):
            if joined and joined[-1][1] == start:
                begin = joined.pop()[0]
            else:
                begin = start
            joined.append((begin, end))
    return joined


def draw_epsilon_curve(bands: Sequence[CurveBand], *, now: float) -> Drawing:
    """Draw VD, the FPR gap and their difference over epsilon, with intervals over repeats.

    Where the interval of the attack's AUC is not above 0.5 the plot is shaded and VD is greyed out.

    Parameters
    ----------
    bands : sequence of CurveBand
        What is finished, in any order; only those of the variant "epsilon" are drawn.
    now : float
        Where the slider stands, in (0, inf].
    """
    fields: dict[str, dict[str, Any]] = {
        "vd": {"name": "VD", "color": "before", "mutable": True},
        "fpr_gap": {"name": "FPR gap", "color": "chance", "dash": "dash"},
        "advantage_gap": {"name": "advantage gap", "color": "leak", "width": 3},
    }
    title = "Gaps between the groups"
    zero = level(0.0, "ink", dash="solid")
    y = gaps("Difference of rates")
    return _over_epsilon(title, bands, fields, y, zero, now=now, shaded=_CHANCE)


def draw_accuracy_by_epsilon(
    bands: Sequence[CurveBand], *, now: float, majority: Estimate | None = None
) -> Drawing:
    """Draw the target's accuracy on training and test set over epsilon.

    `majority` is the accuracy of the more frequent label on the test set, a dotted line; the rest as in
    `draw_epsilon_curve`.
    """
    fields: dict[str, dict[str, Any]] = {
        "accuracy_train": {"name": "training", "color": "grey", "dash": "dash"},
        "accuracy_test": {"name": "test", "color": "ink", "width": 3},
    }
    line = level(majority or not_measured(), "chance", "majority class")
    return _over_epsilon(
        "Accuracy of the target", bands, fields, percents("Accuracy (%)"), line, now=now
    )


def draw_attack_by_epsilon(bands: Sequence[CurveBand], *, now: float) -> Drawing:
    """Draw the attack's precision and recall over epsilon beside random guessing; as `draw_epsilon_curve`."""
    fields: dict[str, dict[str, Any]] = {
        "recall": {"name": "recall", "color": "before", "dash": "dash"},
        "precision": {"name": "precision", "color": "leak", "width": 3},
    }
    title = "Precision and recall of the attack"
    line = level(0.5, "chance", "random guess")
    return _over_epsilon(title, bands, fields, percents("Precision, recall (%)"), line, now=now)


_SHORTEST = 0.15  # how long the axis of gaps is at least


def draw_fairpick(bands: Sequence[CurveBand], *, now: float, measure: str = "vd") -> Drawing:
    """Draw a gap over theta after FairPick and after deleting as many rows at random, with intervals over repeats.

    Parameters
    ----------
    bands : sequence of CurveBand
        Of the variants "fairpick" and "random", in any order; theta = 1 deletes nobody and is the gap before.
    now : float
        Where the slider stands, in (0, 1].
    measure : {"vd", "fpr_gap", "advantage_gap"}
    """
    ways: dict[str, dict[str, Any]] = {
        "random": {"name": "random", "color": "chance", "dash": "dash", "symbol": "square"},
        "fairpick": {"name": "FairPick", "color": "leak", "width": 3},
    }
    done = sorted((b for b in bands if b.variant in ways), key=lambda b: b.at)
    before = next((_value(b, measure) for b in reversed(done) if b.at == 1.0), not_measured())
    y = Scale(
        title=f"{_GAPS[measure]} (difference of rates)",
        span=_SHORTEST,
        start=0.0,
        label=lambda height: gap(height, decimals=2) if abs(height) > 1e-9 else "0",
        write=gap_text,
    )
    curves = [level(0.0, "ink", dash="solid")]
    if not math.isnan(before.value):
        curves.append(level(before, "before", "before", dash="dash"))
    for variant, look in ways.items():
        bands_of_way = [b for b in done if b.variant == variant]
        curves += _curves(bands_of_way, measure, THETAS, now=now, size=11, **look)
    if any(math.isclose(b.at, now) for b in done):
        head = f"at θ = {now:g}"
    else:
        head = ""
    title = f"{_GAPS[measure]} after FairPick and after random deletion"
    x = _thetas([*THETAS, now])
    return draw_lines(title, curves, x=x, y=y.over(_held(done, measure)), at=now, head=head)


def _thetas(values: Sequence[float]) -> Axis:
    """Return the axis of theta, from the first value or below it up to 1, with some room at both ends."""
    start = 0.2 * math.floor(min(values) / 0.2 + 1e-9)
    axis = Scale(title="Share of the groups' differences kept (θ)", span=0.0, parts=5).over(
        [start, 1.0]
    )
    room = 0.05 * (1.0 - start)
    return replace(axis, ends=(start - room, 1 + room))


def draw_deleted(picked: FairPick) -> Drawing:
    """Draw the records deleted of each group, the first group above."""
    total = sum(picked.deleted_by_group.values())
    lines = []
    for code, (name, number) in reversed(list(enumerate(picked.deleted_by_group.items()))):
        color = group_style(code).color
        if total:
            hover = f"{100 * number / total:.0f}% of the records deleted"
        else:
            hover = ""
        mark = Mark(of=number, bar=0, color=color, symbol="", hover=hover, name="records deleted")
        lines.append(Row(name=name, value=f"<b>{count(number)}</b>", color=color, marks=[mark]))
    axis = Scale(title="Records deleted", start=0.0, label="{:,.0f}".format)
    return draw_rows(
        f"Records deleted of each group at θ = {picked.theta:g}",
        lines,
        axis,
        first="group",
        empty="none",
    )
