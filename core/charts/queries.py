"""Charts of bias queries: what attackers recover, the answers' error, the desk's answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import Axis, Drawing, Palette, bare, group_style, limits, lines_of, rounded, short
from core.charts.lines import Curve, compared, draw_lines, level
from core.charts.rows import Mark, Row, draw_rows
from core.estimates import Estimate, gap, percent
from core.queries import ErrorQuantiles, Leak, Reading
from core.questions import People

_HEIGHT = 310
_GUTTER = 176  # pixels for the names of curves
_MARKS = (50, 60, 70, 80, 90, 100)
_RATES = Axis(ends=(45.0, 102.0), marks=_MARKS, words=[f"{mark}" for mark in _MARKS], title="balanced accuracy (%)")
_TOSS = Estimate(value=0.5, low=0.5, high=0.5, n=0)


def draw_leakage(
    noisy: Mapping[str, Sequence[Leak]],
    exact: Mapping[str, Sequence[Leak]],
    now: Leak,
    palette: Palette,
    *,
    last: int,
    prior: Estimate,
    limit: tuple[str, float] | None,
    attribute: str,
) -> Drawing:
    """Draw what attackers recover over the number of answers.

    Parameters
    ----------
    noisy : mapping of decoder to its leaks
        With the noise chosen; may be incomplete, in any order.
    exact : mapping of decoder to its leaks
        The same attackers without noise, drawn faintly; empty where there is no noise.
    now : Leak
        Where the slider stands, strongest decoder.
    last : int
        Right end of the axis, in answers.
    prior : Estimate
        Leakage from features alone.
    limit : (words, rate) or None
        Bound on an attacker, and which; None without a guarantee.
    """
    steps = rounded([0, last], "answered questions", words="{:,.0f}".format)
    marks = [mark for mark in steps.marks if mark <= last]
    x = Axis(ends=(0, last), marks=marks, words=steps.words[: len(marks)], title=steps.title)
    curves = [
        compared(x, _TOSS, palette.chance, "random guess"),
        compared(x, prior, palette.prior, "features only", dash="dash"),
    ]
    if limit is not None:
        words = f"<b>{100 * limit[1]:.1f}%</b> limit"
        curves.append(level(x, 100 * limit[1], palette.ink, words, dash="longdash"))
    faint: dict[str, Any] = {"opacity": 0.45, "width": 1.5, "band": False}
    curves += _curves(exact, "strongest", now.m, color=palette.strongest, name="without noise", **faint)
    curves += _curves(exact, "published", now.m, color=palette.before, **faint)
    curves += _curves(noisy, "published", now.m, color=palette.before, name="paper's decoder", width=1.5, band=False)
    curves += _curves(noisy, "without_prior", now.m, color=palette.leak, name="without prior", dash="dash", band=False)
    name, height = "strongest", 100 * now.leakage.value
    curves += _curves(noisy, name, now.m, color=palette.leak, name=name, width=3, now=height)
    sketch = draw_lines(
        palette, curves, x=x, y=_RATES, height=_HEIGHT, gutter=_GUTTER, at=now.m, head=f"after {now.m:,}"
    )
    sketch.note(asked=now.m)
    return Drawing.of(sketch, _leak_alt(now, prior, limit, attribute), _leak_rows({"noisy": noisy, "exact": exact}))


def _sorted(leaks: Sequence[Leak]) -> list[Leak]:
    return sorted(leaks, key=lambda leak: leak.m)


def _curves(leaks: Mapping[str, Sequence[Leak]], decoder: str, m: int, *, name: str = "", **look: Any) -> list[Curve]:
    """Return the curve of a decoder, named by its rate at the number of answers; none where nothing is there."""
    there = _sorted(leaks.get(decoder, ()))
    if not there:
        return []
    rates = [leak.leakage for leak in there]
    here = min(there, key=lambda leak: abs(leak.m - m)).leakage
    words = f"<b>{percent(here)}</b> {name}" if name else ""
    return [Curve.of([leak.m for leak in there], rates, words=words, hover="%{x} answers: %{y:.1f}%", **look)]


def _leak_alt(now: Leak, prior: Estimate, limit: tuple[str, float] | None, attribute: str) -> str:
    bound = "" if limit is None else f" {limit[0]}: {100 * limit[1]:.1f}%."
    return (
        f"Line chart of the balanced accuracy of inferring the {attribute}, by the number of answers. After {now.m} "
        f"answers the strongest decoder reaches {percent(now.leakage)}; features alone give {percent(prior)}, a random "
        f"guess 50%.{bound}"
    )


def _leak_rows(curves: Mapping[str, Mapping[str, Sequence[Leak]]]) -> list[dict[str, Any]]:
    return [
        {
            "answers": leak.m,
            "noise": "none" if answered == "exact" else "as chosen",
            "decoder": decoder,
            "leakage": leak.leakage.value,
            **limits(leak.leakage),
            "lowest repeat": leak.lowest,
            "repeats with everybody recovered": leak.complete,
            "repeats": leak.leakage.n,
        }
        for answered, by_decoder in curves.items()
        for decoder, leaks in by_decoder.items()
        for leak in _sorted(leaks)
    ]


_ERRORS = (-4.0, 4.5)  # decades of the error axis


def error_words(value: float) -> str:
    """Write an error of a gap with two digits: "0.21", "11.7", "149"."""
    if value == 0:
        return "0"
    if value < 0.0001:
        return "under 0.0001"
    if value >= 1000:
        return f"{float(f'{value:.2g}'):,.0f}"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def draw_answer_errors(errors: Sequence[tuple[str, ErrorQuantiles]], chosen: str, palette: Palette) -> Drawing:
    """Draw the error of an answer for each kind of noise: median as a dot, 95th percentile as a stroke.

    From the top; the row named `chosen` is in the leak's colour.
    """
    words, title = ["0.0001", "1", "10,000"], "absolute error (log); shaded: beyond the range"
    axis = Axis(ends=_ERRORS, marks=(-4, 0, 4), words=words, title=title)
    lines = [_error_row(name, error, palette, chosen=name == chosen) for name, error in errors]
    sketch = draw_rows(palette, lines, axis, heads=("", "median · 95%"))
    sketch.shade((0, _ERRORS[1]), (len(errors) - 0.5, -0.5), palette.grid)  # a gap is at most 1
    rows = [{"noise": name, "median error": e.median, "95th percentile": e.high} for name, e in errors]
    told = "; ".join(f"{name} {error_words(e.median)}, {error_words(e.high)}" for name, e in errors)
    alt = f"Absolute error of an answer, median and 95th percentile; the gap itself is at most 1: {told}."
    return Drawing.of(sketch, alt, rows)


def _error_row(name: str, error: ErrorQuantiles, palette: Palette, *, chosen: bool) -> Row:
    color = palette.leak if chosen else palette.before
    decades = (math.log10(value) if value > 0 else -math.inf for value in (error.median, error.high))
    start, end = (min(max(decade, _ERRORS[0]), _ERRORS[1]) for decade in decades)
    median, high = error_words(error.median), error_words(error.high)
    return Row(
        name=f"<b>{short(name)}</b>" if chosen else short(name),
        value=f"<b>{median}</b> · {high}",
        color=color,
        join=color,
        marks=[
            Mark(at=start, color=color, told=f"median {median}"),
            Mark(at=end, color=color, symbol="line-ns", told=f"95% of errors below {high}"),
        ],
    )


def draw_values(
    people: People, reading: Reading, palette: Palette, *, names: tuple[str, str], advantaged: int = 1
) -> Drawing:
    """Draw what a decoder recovered for each person, by group, and the threshold it decides with.

    `names` are of the advantaged and the disadvantaged group; the advantaged one's code in the dataset decides the
    colours.
    """
    import numpy as np

    order = np.argsort(people.sensitive, kind="stable")  # the disadvantaged first
    values, truth = reading.values[order], people.sensitive[order]
    shown = np.clip(values, -0.6, 1.6)
    n = values.size
    ends = (-0.02 * n, 1.02 * n)
    sketch = bare(palette, height=_HEIGHT - 20, x=ends, y=(-0.7, 1.7), margins=(9, 24, 42, 30))
    sketch.ticks([], [], ticks="", showline=False)
    for tick in (0.0, 1.0):
        sketch.rule(tick)
        sketch.at_right(tick, f"{tick:g}", palette.grey, 16)
    level = reading.threshold
    sketch.segment((0, n), level, palette.ink, width=1.5, dash="longdash")
    sketch.axis_title("dashed: called the smaller group above", below=6)
    for group in (0, 1):
        style = group_style(palette, advantaged if group == 1 else 1 - advantaged)
        rows = np.flatnonzero(truth == group)
        right = reading.recovered[order][rows] == group
        for hit, suffix in ((True, ""), (False, "-open")):
            some = rows[right == hit]
            sketch.markers(
                some.tolist(),
                shown[some].tolist(),
                size=8 if n <= 200 else 5,
                symbol=style.symbol + suffix,
                color=style.color,
                told=[f"{values[i]:.2f}" for i in some],
            )
        label = f"{rows.size:,} {short(names[1 - group], 24)}: <b>{int(right.sum()):,} found</b>"
        place, side = (0, 22 - 18 * group), ("left", "bottom")
        sketch.remark(label, style.color, x=0, y=1, refs=("paper", "paper"), shift=place, anchor=side)
    alt = (
        f"Recovered value of each of {n} people by group; from {level:.2f} on somebody is called disadvantaged. "
        "Filled: called rightly; hollow: wrongly."
    )
    return Drawing.of(sketch, alt, {"attribute (1 = advantaged)": truth, "recovered value": values})


def draw_targeted(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    limits: Mapping[str, Sequence[tuple[float, float]]],
    chosen: str,
    epsilon: float,
    palette: Palette,
) -> Drawing:
    """Draw the balanced accuracy on one targeted person, over epsilon, for each noise, with the limits.

    Parameters
    ----------
    curves, limits : mapping of name to (epsilon, rate)
        Mechanisms, and what no attacker without a prior can exceed where the noise keeps its ε.
    chosen : str
        The mechanism drawn in the leak's colour.
    """
    every = [e for points in curves.values() for e, _ in points]
    low, high = math.log10(min(every)), math.log10(max(every))
    marks = [e for e in (0.1, 1, 10, 100) if low <= math.log10(e) <= high]
    decades = [math.log10(e) for e in marks]
    x = Axis(ends=(low, high), marks=decades, words=[f"{e:g}" for e in marks], title="privacy budget ε (log)")
    rates = {
        name: min(points, key=lambda p: abs(p[0] - epsilon))[1] for name, points in [*curves.items(), *limits.items()]
    }
    drawn = [compared(x, _TOSS, palette.chance, "random guess")]
    looks = [(palette.ink, "longdash"), (palette.ink, "dash")][: len(limits)]
    looks += [(palette.before, dash) for dash in ("solid", "dash", "dashdot", "dot")]
    for (name, points), (color, dash) in zip([*limits.items(), *curves.items()], looks, strict=False):
        special = name == chosen
        drawn.append(
            Curve(
                x=[math.log10(e) for e, _ in points],
                y=[100 * rate for _, rate in points],
                color=palette.leak if special else color,
                dash="solid" if special else dash,
                width=3 if special else 1.5,
                words=f"<b>{percent(rates[name])}</b> {name}",
                now=100 * rates[name],
            )
        )
    at, head = math.log10(epsilon), f"at ε = {epsilon:g}"
    sketch = draw_lines(palette, drawn, x=x, y=_RATES, height=_HEIGHT, gutter=_GUTTER, at=at, head=head)
    rows = [
        {"curve": name, "epsilon": e, "balanced accuracy": rate}
        for name, points in [*curves.items(), *limits.items()]
        for e, rate in points
    ]
    told = "; ".join(f"{name}  {percent(rate)}" for name, rate in rates.items())
    alt = f"Balanced accuracy on one targeted person after one answer, by epsilon. At {epsilon:g}: {told}."
    return Drawing.of(sketch, alt, rows)


MOST_ROWS = 6
"""Answers that are drawn; earlier ones are in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    """One answered question.

    Attributes
    ----------
    words : str
        Who asked for what.
    price : float
        Epsilon it was charged; 0 where it followed from earlier answers.
    truth : float or None
        The exact gap, of invented people only.
    """

    words: str
    gap: Estimate
    price: float
    truth: float | None = None


def draw_gaps(rows: Sequence[GapRow], palette: Palette) -> Drawing:
    """Draw the last answers, the latest at the top and marked, with their 95% intervals from -1 to 1.

    The rows are in the order they were answered; at most the last six are drawn.
    """
    shown = list(reversed(rows))[:MOST_ROWS]
    words = ["−1", "−0.5", "0", "+0.5", "+1"]
    axis = Axis(ends=(-1.04, 1.04), marks=(-1, -0.5, 0, 0.5, 1), words=words, title="gap between the groups")
    lines = [_answer(row, palette, latest=i == 0) for i, row in enumerate(shown)]
    sketch = draw_rows(palette, lines, axis, least=3)
    told = "; ".join(_told(row) for row in shown)
    part = f", the last {len(shown)} of {len(rows)}" if len(shown) < len(rows) else ""
    alt = f"Answered gaps from −1 to 1, the latest first{part}, with 95% intervals: {told or 'none yet'}."
    known = ["truth"] if any(row.truth is not None for row in rows) else []
    table = [(r.words, r.gap.value, r.gap.low, r.gap.high, r.price, r.truth)[: 5 + len(known)] for r in rows]
    return Drawing.of(sketch, alt, table, ["question", "gap", "low", "high", "epsilon", *known])


def _answer(row: GapRow, palette: Palette, *, latest: bool) -> Row:
    color = palette.leak if latest else palette.before
    symbol = "diamond" if row.price == 0 else "circle"
    ends, told = (row.gap.low, row.gap.high), _told(row)
    marks = [Mark(at=row.gap.value, ends=ends, color=color, symbol=symbol, told=told, stroke=5 if latest else 3)]
    if row.truth is not None:
        marks.append(Mark(at=row.truth, color=palette.ink, symbol="line-ns", size=15))
    return Row(
        name=lines_of(row.words, width=24, most=2),
        value=f"{'free' if row.price == 0 else f'ε {row.price:g}'}  <b>{gap(row.gap.value)}</b>",
        color=palette.leak if latest else "",
        marks=marks,
    )


def _told(row: GapRow) -> str:
    return f"{short(row.words, 60)} {gap(row.gap.value)} ({gap(row.gap.low)} to {gap(row.gap.high)})"
