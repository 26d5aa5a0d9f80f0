"""What differential privacy changes: gaps, accuracy and attack over epsilon.

The axis is logarithmic; epsilon = infinity has a place of its own at the right end, behind a break, because no line
leads there. What is measured is drawn, every budget with a dot and its interval over repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.charts.drawing import Axis, Drawing, Palette, Sketch, gaps, percents
from core.charts.lines import Curve, compared, draw_lines, level
from core.estimates import Estimate, epsilon_text, gap, not_measured, percent
from core.membership.findings import CurveBand

_FIRST, _LAST = -2.0, 2.0  # decades of the finite budgets
_INFINITY = 2.75
_EPSILONS = (0.01, 0.1, 1, 10, 100, math.inf)
_GAPS = ("vd", "fpr_gap", "advantage_gap")
_ENOUGH = 3  # repeats; the interval of two is so wide that it would squash the curves
_LATE = 0.5  # words over a shaded part that begins here or later end with it


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """What is drawn of the bands: its name, its look, and whether it says nothing where AUC holds 0.5."""

    field: str
    name: str
    color: str
    dash: str = "solid"
    width: float = 2
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


class _Chart:
    """The curves of what is finished, with what to say of them.

    `now` is in (0, inf]; `scale` leads from the unit of the bands to that of the axis.
    """

    def __init__(
        self,
        bands: Iterable[CurveBand],
        fields: Sequence[_Field],
        palette: Palette,
        *,
        now: float,
        scale: float,
        told: Callable[[Estimate], str],
    ) -> None:
        self.done, self.fields, self.palette, self.now = drawn_bands(bands), fields, palette, now
        self.scale, self.told = scale, told
        self.here = next((b for b in self.done if b.at == now or math.isclose(b.at, now, rel_tol=1e-6)), None)

    @property
    def reach(self) -> list[float]:
        """What the axis must hold."""
        return [self.scale * v for b in self.done for field in self.fields for v in reached(b, field.field)]

    def sketch(self, y: Axis, levels: Sequence[Curve] = (), shaded: Sequence[tuple[float, float]] = ()) -> Sketch:
        """Draw the curves, with levels to compare with, and every measured budget."""
        curves = [curve for field in self.fields for curve in self._curves(field)]
        named = levels if any(curve.words for curve in curves) else ()
        head = f"at ε = {epsilon_text(self.now)}" if self.here else ""
        at = _place(self.now)
        sketch = draw_lines(self.palette, [*named, *curves], x=_X, y=y, at=at, head=head, shaded=shaded)
        sketch.note(epsilon=self.now if math.isfinite(self.now) else "inf")
        for field in self.fields:
            self._dots(sketch, field, y)
        return sketch

    def _there(self, field: _Field) -> list[tuple[CurveBand, Estimate]]:
        return [(b, e) for b in self.done if not math.isnan((e := value_of(b, field.field)).value)]

    def _curves(self, field: _Field) -> list[Curve]:
        """Return the finite budgets with their band and name, and each step between two budgets; muted ones dotted."""
        there, curves = self._there(field), []
        for (a, first), (b, second) in pairwise(there):
            quiet, last = field.muted(a) or field.muted(b), math.isinf(b.at)
            curves.append(
                Curve(
                    x=[_place(a.at), _place(b.at)],
                    y=[self.scale * first.value, self.scale * second.value],
                    color=self.palette.muted if quiet else field.color,
                    width=1.5 if last else field.width,
                    dash="dot" if quiet or last else field.dash,
                )
            )
        if there:
            here = value_of(self.here, field.field) if self.here else not_measured()
            muted = self.here is not None and field.muted(self.here)
            told = field.name if math.isnan(here.value) else f"<b>{self.told(here)}</b> {field.name}"
            limits = [(None,) * 3 if math.isinf(b.at) else ends(e) for b, e in there]
            curves.append(
                Curve(
                    x=[_place(b.at) for b, _ in there],
                    y=[*[None] * (len(there) - 1), self.scale * there[-1][1].value],
                    low=[None if low is None else self.scale * low for low, _, _ in limits],
                    high=[None if high is None else self.scale * high for _, _, high in limits],
                    color=self.palette.grey if muted else field.color,
                    width=3,
                    words=f"{self.told(here)} {field.name}, muted" if muted else told,
                    now=None if math.isnan(here.value) else self.scale * here.value,
                    hollow=muted,
                )
            )
        return curves

    def _dots(self, sketch: Sketch, field: _Field, y: Axis) -> None:
        """Draw every measured budget; with whiskers where no band shows its interval."""
        there = self._there(field)
        quiet = [field.muted(b) for b, _ in there]
        alone = [math.isinf(b.at) or len(there) == 1 for b, _ in there]
        limits = [within(self.scale, ends(e), y.ends) for _, e in there]
        fill, rim = self.palette.background, self.palette.muted
        sketch.markers(
            [_place(b.at) for b, _ in there],
            [value for _, value, _ in limits],
            size=6,
            color=[fill if q else field.color for q in quiet],
            rim=([rim if q else field.color for q in quiet], 1.5),
            told=[self._hover(field, b, e) for b, e in there],
            ends=[(low, high) if a else (value, value) for (low, value, high), a in zip(limits, alone, strict=True)],
            stroke=field.color,
            name=field.field,
        )

    def _hover(self, field: _Field, found: CurveBand, e: Estimate) -> str:
        value = f"{field.name} at ε = {epsilon_text(found.at)}: {self.told(e)}"
        if math.isnan(e.low):
            return f"{value}, one repeat"
        low, high = (self.told(Estimate(value=v, low=e.low, high=e.high, n=e.n)) for v in (e.low, e.high))
        return f"{value} ({low} to {high}), {found.repeats} repeats"

    def alt(self, title: str, aside: str) -> str:
        """Return the chart in words."""
        if not self.done:
            return f"{title}: being measured{aside}."
        repeats = max(b.repeats for b in self.done)
        times = "one repeat, so without intervals" if repeats == 1 else f"{repeats} repeats"
        values = "not measured yet"
        if self.here is not None:
            told = [f"{field.name} {self.told(value_of(self.here, field.field))}" for field in self.fields]
            values = ", ".join(told)
        return f"{title}, {len(self.done)} budgets, {times}. At {epsilon_text(self.now)}: {values}{aside}."

    def drawing(self, sketch: Sketch, alt: str, fields: Sequence[str], **fixed: float) -> Drawing:
        """Return the chart with one row a budget: the fields with their intervals, and what is the same for all."""
        named = [field.replace("_", " ") for field in fields]
        columns = ["epsilon", "repeats", *(f"{name}{end}" for name in named for end in ("", ", low", ", high")), *fixed]
        rows = []
        for b in self.done:
            found = [value_of(b, field) for field in fields]
            numbers = (v for e in found for v in (e.value, e.low, e.high))
            rows.append((epsilon_text(b.at), b.repeats, *numbers, *fixed.values()))
        return Drawing.of(sketch, alt, rows, columns)


_X = Axis(
    ends=(-2.15, 2.95),
    marks=[_place(e) for e in _EPSILONS],
    words=[epsilon_text(e) for e in _EPSILONS],
    title="privacy budget of the tree (ε)",
    broken=(2.28, 2.44),
)


def _spans(done: Sequence[CurveBand]) -> list[tuple[float, float]]:
    """Return the parts of the axis that belong to budgets no better than chance: up to halfway to the next budget."""
    places = [_place(b.at) for b in done]
    edges = [_X.ends[0], *((a + b) / 2 for a, b in pairwise(places)), _X.ends[1]]
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
    fields = (
        _Field(field="vd", name="VD", color=palette.before, mutable=True),
        _Field(field="fpr_gap", name="FPR gap", color=palette.prior, dash="dash"),
        _Field(field="advantage_gap", name="TPR − FPR", color=palette.leak, width=3),
    )
    chart = _Chart(bands, fields, palette, now=now, scale=1.0, told=lambda e: gap(e.value))
    shaded = _spans(chart.done)
    sketch = chart.sketch(gaps(chart.reach), [level(_X, 0.0, palette.ink, dash="solid")], shaded)
    for start, end in shaded[:1]:
        late = start >= _LATE
        sketch.above("AUC contains 0.5", x=end if late else start, right=late)
    muted = chart.here is not None and no_better_than_chance(chart.here)
    aside = ", where the attack's AUC contains 0.5" if muted else ""
    return chart.drawing(sketch, chart.alt("Three gaps between the groups over epsilon", aside), (*_GAPS, "auc"))


def draw_accuracy_by_epsilon(
    bands: Sequence[CurveBand], palette: Palette, *, now: float, majority: Estimate | None = None
) -> Drawing:
    """Draw the target's accuracy on its training people and on unseen people over epsilon.

    `majority` is the accuracy of the more frequent label on unseen people, a dotted line; the rest as in
    `draw_epsilon_curve`.
    """
    fields = (
        _Field(field="accuracy_train", name="training", color=palette.before, dash="dash"),
        _Field(field="accuracy_test", name="unseen", color=palette.leak, width=3),
    )
    rate = majority or not_measured()
    title, table = "Accuracy of the target", ("accuracy_train", "accuracy_test")
    return _rates(bands, fields, palette, now, rate, "majority", title, table, majority=rate.value)


def draw_attack_by_epsilon(bands: Sequence[CurveBand], palette: Palette, *, now: float) -> Drawing:
    """Draw the attack's precision and recall over epsilon beside a coin toss; as `draw_epsilon_curve`."""
    fields = (
        _Field(field="recall", name="recall", color=palette.before, dash="dash"),
        _Field(field="precision", name="precision", color=palette.leak, width=3),
    )
    toss = Estimate(value=0.5, low=0.5, high=0.5, n=0)
    title, table = "Precision and recall of the attack", ("precision", "recall")
    return _rates(bands, fields, palette, now, toss, "coin toss", title, table)


def _rates(
    bands: Iterable[CurveBand],
    fields: Sequence[_Field],
    palette: Palette,
    now: float,
    rate: Estimate,
    name: str,
    title: str,
    table: Sequence[str],
    **fixed: float,
) -> Drawing:
    """Draw rates with a dotted one to compare with, which is left out where it is nan."""
    chart = _Chart(bands, fields, palette, now=now, scale=100.0, told=percent)
    known = not math.isnan(rate.value)
    levels = [compared(_X, rate, palette.chance, name)] if known else []
    sketch = chart.sketch(percents([*chart.reach, 100 * rate.value], "rate (%)"), levels)
    alt = chart.alt(f"{title} over epsilon", f"; {name} {percent(rate)}" if known else "")
    return chart.drawing(sketch, alt, table, **fixed)
