"""Charts over many targets of a membership attack: over epsilon, and over FairPick's theta.

The axis of epsilon is logarithmic; epsilon = infinity has a place of its own at the right end, behind a break, because
no line leads there. What is measured is drawn, every target with a dot and its interval over repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from core.charts.drawing import Axis, Drawing, cells, gaps, percents, rounded
from core.charts.lines import Curve, Dot, compared, draw_lines, level
from core.charts.rows import Mark, Row, draw_rows
from core.charts.theme import Palette, group_style
from core.charts.words import short
from core.estimates import Estimate, count, epsilon_text, gap, not_measured, percent
from core.membership.curves import CurveBand
from core.membership.fairpick import FairPickFindings

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
    told: Callable[[Estimate], str],
    columns: Sequence[str],
    scale: float = 1.0,
    shaded: tuple[str, Sequence[tuple[float, float]]] = ("", ()),
    fixed: Mapping[str, float] | None = None,
) -> Drawing:
    """Draw fields over epsilon; `now` is in (0, inf], `scale` leads from their unit to that of the axis.

    The table has a row for each budget: the `columns` with their intervals, and what is `fixed`.
    """
    done = sorted((b for b in bands if b.variant == "epsilon"), key=lambda b: b.at)
    axis = y([scale * v for b in done for field in fields for v in _held(b, field.field)])
    look: dict[str, Any] = {"now": now, "told": told, "place": _place, "scale": scale}
    curves = [curve for field in fields for curve in _curves(done, field, palette, axis, **look)]
    rows = [
        {"epsilon": epsilon_text(b.at), "repeats": b.repeats}
        | {k: v for field in columns for k, v in cells(field.replace("_", " "), _value(b, field)).items()}
        | dict(fixed or {})
        for b in done
    ]
    head = f"at ε = {epsilon_text(now)}" if any(curve.now is not None for curve in curves) else ""
    curves = [*(levels if curves else ()), *curves]
    drawing = draw_lines(palette, title, curves, x=_X, y=axis, rows=rows, at=_place(now), head=head, shaded=shaded)
    drawing.sketch.note(epsilon=now if math.isfinite(now) else "inf")
    return drawing


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
        told=lambda e: gap(e.value),
        columns=("vd", "fpr_gap", "advantage_gap", "auc"),
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
    return _rates(names, bands, fields, palette, now, rate, {"majority": rate.value})


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
    fixed: Mapping[str, float] | None = None,
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
        told=percent,
        columns=[field.field for field in fields],
        scale=100.0,
        fixed=fixed,
    )


_MEASURES = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "Advantage gap"}
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
    y = rounded([0.0, *held], f"{_MEASURES[measure]} (difference of rates)", words=mark, span=_SHORTEST)
    x = _thetas(min([0.4, now, *(b.at for b in done)]))
    curves = [level(x, 0.0, palette.ink, dash="solid")]
    if not math.isnan(before.value):
        curves.append(level(x, before.value, palette.before, "before", gap(before.value)))
    for variant, way in ways.items():
        some = [b for b in done if b.variant == variant]
        curves += _curves(some, way, palette, y, now=now, told=lambda e: gap(e.value), size=11)
    rows = [
        {"theta": b.at, "deletion": b.variant, "repeats": b.repeats}
        | cells(_MEASURES[measure], _value(b, measure))
        | {"rows deleted": _value(b, "deleted").value}
        for b in done
    ]
    head = f"at θ = {now:g}" if any(math.isclose(b.at, now) for b in done) else ""
    title = f"{_MEASURES[measure]} after FairPick and after random deletion"
    return draw_lines(palette, title, curves, x=x, y=y, rows=rows, at=now, head=head)


def _thetas(first: float) -> Axis:
    """Return the axis of theta, from the first or below it up to 1."""
    start = 0.2 * math.floor(first / 0.2 + 1e-9)
    marks = [round(start + 0.2 * i, 1) for i in range(round((1.0 - start) / 0.2) + 1)]
    room = 0.05 * (1.0 - start)
    title = "Share of the groups' differences kept (θ)"
    return Axis(ends=(start - room, 1 + room), marks=marks, words=[f"{mark:g}" for mark in marks], title=title)


def draw_deleted(found: FairPickFindings, palette: Palette, *, group_names: Sequence[str]) -> Drawing:
    """Draw the records deleted of each group; the names are by code, of two 1 is the first group, drawn above."""
    names = [name for name in reversed(group_names) if name in found.deleted]
    total, two, lines = sum(found.deleted[name] for name in names), len(group_names) == 2, []
    for name in names:
        number = found.deleted[name]
        color = group_style(palette, group_names.index(name)).color if two else palette.before
        share = f" ({100 * number / total:.0f}% of the records deleted)" if total else ""
        told = f"{short(name, 60)}: {count(number)}{share}"
        mark = Mark(at=number, bar=0, color=color, symbol="", told=told, name="records deleted", estimate=number)
        lines.append(Row(name=name, value=f"<b>{count(number)}</b>", color=color, marks=[mark]))
    axis = rounded([0, *found.deleted.values()], "Records deleted", words="{:,.0f}".format)
    title = f"Records deleted of each group at θ = {found.theta:g}"
    return draw_rows(palette, title, lines, axis, first="group", empty="none")
