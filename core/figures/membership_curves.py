"""What differential privacy changes: the three gaps and the target's accuracy over the privacy budget epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from core.estimates import Estimate, not_measured
from core.figures.drawing import Drawing, Palette
from core.figures.epsilon_axis import (
    Curve,
    EpsilonChart,
    drawn_bands,
    epsilon_text,
    no_better_than_chance,
    reached,
    value_of,
)
from core.figures.framed import gap_axis, gap_range
from core.membership.findings import CurveBand
from core.wording import gap, percent


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
    chart.level(0.0, {"color": palette.ink, "width": 1.5})
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
    step = next(s for s in (5, 10, 20) if (high - low) / s <= 6 or s == 20)
    marks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    chart.levels(marks, [f"{mark}%" for mark in marks])
    known = not math.isnan(level.value)
    if known:
        chart.level(100 * level.value, {"color": palette.chance, "width": 1.5, "dash": "dot"})
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
