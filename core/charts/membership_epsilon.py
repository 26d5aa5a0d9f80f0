"""What differential privacy changes: gaps, accuracy and attack over epsilon.

The axis is logarithmic; epsilon = infinity has a place of its own at the right end, behind a break, because no line
leads there. What is measured is drawn, every budget with a dot and its interval over repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.charts.drawing import (
    Drawing,
    Palette,
    Sketch,
    error_bars,
    framed,
    gap_axis,
    gap_range,
    round_step,
)
from core.estimates import Estimate, epsilon_text, gap, not_measured, percent
from core.membership.curves import CurveBand

_FIRST, _LAST = -2.0, 2.0  # decades of the finite budgets
_INFINITY = 2.75
_AXIS = (-2.15, 2.95)
_BREAK = (2.28, 2.44)
_ENOUGH = 3  # repeats; the interval of two is so wide that it would squash the curves
_LATE = 0.5  # words over a shaded part that begins here or later end with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One curve: which field of the bands, its name, its look, and whether it says nothing where AUC holds 0.5."""

    field: str
    name: str
    color: str
    dash: str
    width: float
    mutable: bool = False

    def muted(self, found: CurveBand) -> bool:
        """Whether the curve says nothing at this budget."""
        return self.mutable and no_better_than_chance(found)


def drawn_bands(bands: Iterable[CurveBand]) -> list[CurveBand]:
    """Return the bands over epsilon, sorted."""
    return sorted((b for b in bands if b.variant == "epsilon"), key=lambda b: b.at)


def value_of(found: CurveBand, field: str) -> Estimate:
    """Return a field of a band; nan where it has none."""
    return found.values.get(field) or not_measured()


def no_better_than_chance(found: CurveBand) -> bool:
    """Whether the interval of the attack's AUC holds 0.5; unknown, and so False, without an interval."""
    auc = value_of(found, "auc")
    return auc.low <= 0.5 <= auc.high


def ends(e: Estimate) -> tuple[float, float, float]:
    """Return lower limit, value and upper limit; the value where there is no interval."""
    return (e.value if math.isnan(e.low) else e.low, e.value, e.value if math.isnan(e.high) else e.high)


def reached(found: CurveBand, field: str) -> tuple[float, ...]:
    """Return what an axis must hold of a band: its value, and its limits once they rest on enough repeats."""
    e = value_of(found, field)
    return ends(e) if found.repeats >= _ENOUGH else (e.value,)


def within(scale: float, limits: tuple[float, float, float], y: tuple[float, float]) -> tuple[float, float, float]:
    """Return limits and value in the unit of the axis, the limits cut at its ends."""
    low, value, high = (scale * v for v in limits)
    return min(max(low, y[0]), value), value, max(min(high, y[1]), value)


def _place(epsilon: float) -> float:
    """Return where a budget stands on the axis."""
    return _INFINITY if math.isinf(epsilon) else min(max(math.log10(epsilon), _FIRST), _LAST)


class EpsilonChart:
    """The chart in the making.

    `done` is as of `drawn_bands`, `now` in (0, inf]; `scale` leads from the unit of the bands to that of the axis.
    """

    def __init__(
        self,
        done: Sequence[CurveBand],
        palette: Palette,
        *,
        now: float,
        y: tuple[float, float],
        scale: float,
        told: Callable[[Estimate], str],
    ) -> None:
        self.done, self.palette, self.now, self.y = done, palette, now, y
        self.scale, self.told = scale, told
        self.here = next((b for b in done if b.at == now or math.isclose(b.at, now, rel_tol=1e-6)), None)
        self.sketch = _axes(palette, y)
        self.sketch.note(epsilon=now if math.isfinite(now) else "inf")

    def levels(self, marks: Sequence[float], texts: Sequence[str]) -> None:
        """Draw horizontal lines with their values at the left."""
        self.sketch.yaxis(showticklabels=True, tickvals=list(marks), ticktext=list(texts))
        for mark in marks:
            self.sketch.grid(_AXIS, mark)

    def level(self, height: float, color: str, *, dash: str = "") -> None:
        """Draw a horizontal line to compare with, behind the curves."""
        self.sketch.segment(_AXIS, height, color, width=1.5, dash=dash, layer="below")

    def shade_chance(self) -> None:
        """Shade the budgets at which the attack is no better than chance."""
        joined = _spans(self.done)
        for span in joined:
            self.sketch.shade(span, self.y, self.palette.pale, opacity=1)
        if joined:
            start, end = joined[0]
            late = start >= _LATE
            self.sketch.above("AUC contains 0.5", x=end if late else start, right=late)

    def draw(self, curves: Sequence[Curve], fixed: Sequence[tuple[Estimate, str, str]] = ()) -> None:
        """Draw curves, the slider's position and the labels; `fixed` are labels of levels (rate, name, colour)."""
        for curve in curves:
            self._curve(curve)
        x = _place(self.now)
        self.sketch.segment(x, self.y, self.palette.ink)
        for curve in curves:
            self._slider(curve)
        self._labels(curves, fixed)

    def _curve(self, curve: Curve) -> None:
        """Draw a curve of the finite budgets with its band, and infinity by itself."""
        there = [(b, e) for b in self.done if not math.isnan((e := value_of(b, curve.field)).value)]
        finite = [(_place(b.at), ends(e)) for b, e in there if not math.isinf(b.at)]
        if len(finite) > 1:
            low, high = ([self.scale * limits[i] for _, limits in finite] for i in (0, 2))
            self.sketch.band([x for x, _ in finite], low, high, curve.color, opacity=0.15)
        for (a, first), (b, second) in pairwise(there):
            quiet, last = curve.muted(a) or curve.muted(b), math.isinf(b.at)
            self.sketch.line(
                [_place(a.at), _place(b.at)],
                [self.scale * first.value, self.scale * second.value],
                self.palette.muted if quiet else curve.color,
                width=1.5 if last else curve.width,
                dash="dot" if quiet or last else curve.dash,
            )
        self._dots(curve, there)

    def _dots(self, curve: Curve, there: Sequence[tuple[CurveBand, Estimate]]) -> None:
        """Draw every measured budget; with whiskers where no band shows its interval."""
        quiet = [curve.muted(b) for b, _ in there]
        alone = [math.isinf(b.at) or len(there) == 1 for b, _ in there]
        limits = [within(self.scale, ends(e), self.y) for _, e in there]
        fill, rim = self.palette.background, self.palette.muted
        self.sketch.markers(
            [_place(b.at) for b, _ in there],
            [value for _, value, _ in limits],
            size=6,
            opacity=1,
            color=[fill if q else curve.color for q in quiet],
            rim=([rim if q else curve.color for q in quiet], 1.5),
            told=[self._hover(curve, b, e) for b, e in there],
            cliponaxis=False,
            error_y=error_bars(
                [high - value if a else 0 for (_, value, high), a in zip(limits, alone, strict=True)],
                [value - low if a else 0 for (low, value, _), a in zip(limits, alone, strict=True)],
                curve.color,
            ),
            name=curve.field,
        )

    def _hover(self, curve: Curve, found: CurveBand, e: Estimate) -> str:
        value = f"{curve.name} at ε = {epsilon_text(found.at)}: {self.told(e)}"
        if math.isnan(e.low):
            return f"{value}, one repeat"
        low, high = (self.told(Estimate(value=v, low=e.low, high=e.high, n=e.n)) for v in (e.low, e.high))
        return f"{value} ({low} to {high}), {found.repeats} repeats"

    def _slider(self, curve: Curve) -> None:
        """Draw a dot where the slider stands, if that is measured."""
        if self.here is None or math.isnan((found := value_of(self.here, curve.field)).value):
            return
        quiet, back = curve.muted(self.here), self.palette.background
        color = self.palette.muted if quiet else curve.color
        self.sketch.markers(
            [_place(self.now)],
            [self.scale * found.value],
            size=12,
            opacity=1,
            color=back if quiet else color,
            rim=(color if quiet else back, 2),
            cliponaxis=False,
            name="slider",
        )

    def _labels(self, curves: Sequence[Curve], fixed: Sequence[tuple[Estimate, str, str]]) -> None:
        """Name the curves at the right, with their values at the slider where these are measured."""
        wanted = [(self.scale * e.value, f"<b>{self.told(e)}</b> {name}", color) for e, name, color in fixed]
        for curve in curves:
            known = [e.value for b in self.done if not math.isnan((e := value_of(b, curve.field)).value)]
            if known:
                wanted.append((self.scale * known[-1], *self._label(curve)))
        if len(wanted) == len(fixed):
            self.sketch.in_the_middle("being measured")
        head = f"at ε = {epsilon_text(self.now)}" if self.here else ""
        self.sketch.label_column(wanted, head=head)

    def _label(self, curve: Curve) -> tuple[str, str]:
        """Return a curve's label and its colour."""
        found = value_of(self.here, curve.field) if self.here else not_measured()
        if self.here is not None and curve.muted(self.here):
            return f"{self.told(found)} {curve.name}, muted", self.palette.grey
        return curve.name if math.isnan(found.value) else f"<b>{self.told(found)}</b> {curve.name}", curve.color


def _axes(palette: Palette, y: tuple[float, float]) -> Sketch:
    """Return an empty chart with the axis of epsilon, its break and its title."""
    sketch = framed(palette, height=300, x=_AXIS, y=y, margins=(46, 118, 24, 48))
    marks = [0.01, 0.1, 1, 10, 100, math.inf]
    sketch.ticks([_place(e) for e in marks], [epsilon_text(e) for e in marks], showline=False)
    for start, end in ((_AXIS[0], _BREAK[0]), (_BREAK[1], _AXIS[1])):
        sketch.segment((start, end), 0, palette.grey, yref="paper")
    for at in _BREAK:
        sketch.segment((at - 0.04, at + 0.04), (-0.018, 0.018), palette.grey, yref="paper")
    sketch.axis_title("privacy budget of the tree (ε)")
    return sketch


def _spans(done: Sequence[CurveBand]) -> list[tuple[float, float]]:
    """Return the parts of the axis that belong to budgets no better than chance: up to halfway to the next budget."""
    places = [_place(b.at) for b in done]
    edges = [_AXIS[0], *((a + b) / 2 for a, b in pairwise(places)), _AXIS[1]]
    joined: list[tuple[float, float]] = []
    for found, (start, end) in zip(done, pairwise(edges), strict=True) if done else ():
        if not no_better_than_chance(found):
            continue
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
    done = drawn_bands(bands)
    curves = (
        Curve(field="vd", name="VD", color=palette.before, dash="solid", width=2, mutable=True),
        Curve(field="fpr_gap", name="FPR gap", color=palette.prior, dash="dash", width=2),
        Curve(field="advantage_gap", name="TPR − FPR", color=palette.leak, dash="solid", width=3),
    )
    low, high = gap_range(_reached(done, curves))
    chart = EpsilonChart(done, palette, now=now, y=(low, high), scale=1.0, told=lambda e: gap(e.value))
    chart.shade_chance()
    chart.levels(*gap_axis(low, high))
    chart.level(0.0, palette.ink)
    chart.draw(curves)
    muted = chart.here is not None and no_better_than_chance(chart.here)
    aside = ", where the attack's AUC contains 0.5" if muted else ""
    alt = _alt("Three gaps between the groups over epsilon", chart, curves, aside)
    return _drawn(chart, alt, ("vd", "fpr_gap", "advantage_gap", "auc"))


def draw_accuracy_by_epsilon(
    bands: Sequence[CurveBand], palette: Palette, *, now: float, majority: Estimate | None = None
) -> Drawing:
    """Draw the target's accuracy on its training people and on unseen people over epsilon.

    Parameters
    ----------
    bands : sequence of CurveBand
        What is finished, in any order; only those of the variant "epsilon" are drawn.
    now : float
        Where the slider stands, in (0, inf].
    majority : Estimate, optional
        Accuracy of the more frequent label on unseen people, a dotted line.
    """
    curves = (
        Curve(field="accuracy_train", name="training", color=palette.before, dash="dash", width=2),
        Curve(field="accuracy_test", name="unseen", color=palette.leak, dash="solid", width=3),
    )
    level = majority or not_measured()
    chart, aside = _rates(drawn_bands(bands), palette, now, curves, level, "majority")
    alt = _alt("Accuracy of the target over epsilon", chart, curves, aside)
    return _drawn(chart, alt, ("accuracy_train", "accuracy_test"), majority=level.value)


def draw_attack_by_epsilon(bands: Sequence[CurveBand], palette: Palette, *, now: float) -> Drawing:
    """Draw the attack's precision and recall over epsilon, with the precision of a coin toss.

    Parameters
    ----------
    bands : sequence of CurveBand
        What is finished, in any order; only those of the variant "epsilon" are drawn.
    now : float
        Where the slider stands, in (0, inf].
    """
    curves = (
        Curve(field="recall", name="recall", color=palette.before, dash="dash", width=2),
        Curve(field="precision", name="precision", color=palette.leak, dash="solid", width=3),
    )
    toss = Estimate(value=0.5, low=0.5, high=0.5, n=0)
    chart, aside = _rates(drawn_bands(bands), palette, now, curves, toss, "coin toss")
    return _drawn(
        chart, _alt("Precision and recall of the attack over epsilon", chart, curves, aside), ("precision", "recall")
    )


def _rates(
    done: Sequence[CurveBand], palette: Palette, now: float, curves: Sequence[Curve], level: Estimate, name: str
) -> tuple[EpsilonChart, str]:
    """Draw rates with a dotted level to compare with, which is left out where it is nan; with what to say of it."""
    low, high = _rates_range([*_reached(done, curves), level.value])
    chart = EpsilonChart(done, palette, now=now, y=(low, high), scale=100.0, told=percent)
    step = round_step(high - low, (5, 10, 20), 6)
    marks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    chart.levels(marks, [f"{mark}%" for mark in marks])
    known = not math.isnan(level.value)
    if known:
        chart.level(100 * level.value, palette.chance, dash="dot")
    chart.draw(curves, [(level, name, palette.chance)] if known else [])
    return chart, f"; {name} {percent(level)}" if known else ""


def _reached(done: Iterable[CurveBand], curves: Sequence[Curve]) -> list[float]:
    """Return what the axis must hold of the curves."""
    return [v for b in done for curve in curves for v in reached(b, curve.field)]


def _rates_range(values: Iterable[float]) -> tuple[float, float]:
    """Return a range of percentages in steps of five points."""
    known = [100 * v for v in values if not math.isnan(v)] or [50.0, 100.0]
    return max(0.0, 5 * math.floor((min(known) - 2) / 5)), min(102.0, 5 * math.ceil((max(known) + 1) / 5))


def _alt(title: str, chart: EpsilonChart, curves: Sequence[Curve], aside: str) -> str:
    if not chart.done:
        return f"{title}: being measured{aside}."
    repeats = max(b.repeats for b in chart.done)
    times = "one repeat, so without intervals" if repeats == 1 else f"{repeats} repeats"
    values = "not measured yet"
    if chart.here is not None:
        values = ", ".join(f"{curve.name} {chart.told(value_of(chart.here, curve.field))}" for curve in curves)
    return f"{title}, {len(chart.done)} budgets, {times}. At {epsilon_text(chart.now)}: {values}{aside}."


def _drawn(chart: EpsilonChart, alt: str, fields: Sequence[str], **fixed: float) -> Drawing:
    """Return a chart with one row a budget: the fields with their intervals, and what is the same for all."""
    named = [field.replace("_", " ") for field in fields]
    columns = ["epsilon", "repeats", *(f"{name}{end}" for name in named for end in ("", ", low", ", high")), *fixed]
    rows = []
    for b in chart.done:
        found = [value_of(b, field) for field in fields]
        numbers = (v for e in found for v in (e.value, e.low, e.high))
        rows.append((epsilon_text(b.at), b.repeats, *numbers, *fixed.values()))
    return Drawing.of(chart.sketch, alt, rows, columns)
