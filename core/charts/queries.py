"""Charts of bias queries: leakage by answers, the answers' error, the desk's answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import Axis, Drawing, cells, decades, rounded
from core.charts.lines import Curve, compared, draw_lines, level
from core.charts.rows import Mark, Row, draw_rows, measured
from core.charts.scatter import Points, draw_scatter
from core.charts.theme import Palette, group_style
from core.charts.words import plain_name
from core.estimates import Estimate, gap, percent
from core.queries import ErrorQuantiles, Leak, People, Reading, error_text

_GUTTER = 176  # pixels for the names of curves
_MARKS = (50, 60, 70, 80, 90, 100)
_RATES = Axis(ends=(45.0, 102.0), marks=_MARKS, words=[f"{mark}" for mark in _MARKS], title="Balanced accuracy (%)")
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
    """Draw the accuracy of attackers over the number of answers.

    Parameters
    ----------
    noisy : mapping of decoder to its leaks
        With the noise chosen; may be incomplete, in any order.
    exact : mapping of decoder to its leaks
        The same attackers without noise, drawn faintly; empty where there is no noise.
    now : Leak
        Where the slider stands, best decoder.
    last : int
        Right end of the axis, in answers.
    prior : Estimate
        Leakage from features alone.
    limit : (words, rate) or None
        Bound on an attacker, and which; None without a guarantee.
    """
    steps = rounded([0, last], "Answered queries m", words="{:,.0f}".format)
    marks = [mark for mark in steps.marks if mark <= last]
    x = Axis(ends=(0, last), marks=marks, words=steps.words[: len(marks)], title=steps.title)
    curves = [
        compared(x, _TOSS, palette.chance, "random guessing"),
        compared(x, prior, palette.prior, "features only", dash="dash"),
    ]
    if limit is not None:
        curves.append(level(x, 100 * limit[1], palette.ink, "bound", f"{100 * limit[1]:.1f}%", dash="longdash"))
    faint: dict[str, Any] = {"opacity": 0.45, "width": 1.5, "band": False}
    curves += _curves(exact, "strongest", now.m, color=palette.strongest, name="without noise", **faint)
    curves += _curves(exact, "published", now.m, color=palette.before, **faint)
    curves += _curves(noisy, "published", now.m, color=palette.before, name="ℓ1 decoder (paper)", width=1.5, band=False)
    curves += _curves(noisy, "without_prior", now.m, color=palette.leak, name="without prior", dash="dash", band=False)
    look: dict[str, Any] = {"color": palette.leak, "width": 3, "now": 100 * now.leakage.value}
    curves += _curves(noisy, "strongest", now.m, name="best decoder", **look)
    title, rows = f"Leakage of {attribute} by number of answers", _leaks({"noisy": noisy, "exact": exact})
    look = {"gutter": _GUTTER, "at": now.m, "head": f"after {now.m:,}"}
    drawing = draw_lines(palette, title, curves, x=x, y=_RATES, rows=rows, **look)
    drawing.sketch.note(asked=now.m)
    return drawing


def _curves(leaks: Mapping[str, Sequence[Leak]], decoder: str, m: int, *, name: str = "", **look: Any) -> list[Curve]:
    """Return the curve of a decoder, named by its rate at the number of answers; none where nothing is there."""
    there = sorted(leaks.get(decoder, ()), key=lambda leak: leak.m)
    if not there:
        return []
    value = percent(min(there, key=lambda leak: abs(leak.m - m)).leakage) if name else ""
    look |= {"name": name, "value": value, "hover": "%{x} answers: %{y:.1f}%"}
    return [Curve.of([leak.m for leak in there], [leak.leakage for leak in there], **look)]


def _leaks(curves: Mapping[str, Mapping[str, Sequence[Leak]]]) -> list[dict[str, Any]]:
    return [
        {
            "answers": leak.m,
            "noise": "none" if answered == "exact" else "as chosen",
            "decoder": decoder,
            **cells("leakage", leak.leakage),
            "lowest repeat": leak.lowest,
            "repeats with everybody inferred": leak.complete,
            "repeats": leak.leakage.n,
        }
        for answered, by_decoder in curves.items()
        for decoder, leaks in by_decoder.items()
        for leak in sorted(leaks, key=lambda leak: leak.m)
    ]


_ERRORS = (-4.0, 4.5)  # decades of the error axis


def draw_answer_errors(errors: Sequence[tuple[str, ErrorQuantiles]], chosen: str, palette: Palette) -> Drawing:
    """Draw the error of an answer for each kind of noise: median as a dot, 95th percentile as a stroke.

    From the top; the row named `chosen` is in the leak's colour.
    """
    lines = []
    for name, error in errors:
        color = palette.leak if name == chosen else palette.before
        median, high = error_text(error.median), error_text(error.high)
        marks = [
            Mark(at=_decade(error.median), color=color, told=f"median {median}"),
            Mark(at=_decade(error.high), color=color, symbol="line-ns", told=f"95% of errors below {high}"),
        ]
        value = f"<b>{median}</b> · {high}"
        lines.append(Row(name=name, value=value, color=color, join=color, bold=name == chosen, marks=marks))
    axis = decades(_ERRORS, (1e-4, 1, 1e4), "Absolute error (log); shaded: larger than any gap")
    table = [{"noise": name, "median error": e.median, "95th percentile": e.high} for name, e in errors]
    drawing = draw_rows(palette, "Error of an answer", lines, axis, value="median · 95%", table=table)
    drawing.sketch.shade((0, _ERRORS[1]), drawing.sketch.y.ends, palette.grid, opacity=0.5)  # a gap is at most 1
    return drawing


def _decade(error: float) -> float:
    return min(max(math.log10(error) if error > 0 else -math.inf, _ERRORS[0]), _ERRORS[1])


def draw_values(
    people: People, reading: Reading, palette: Palette, *, names: tuple[str, str], advantaged: int = 1
) -> Drawing:
    """Draw what a decoder recovered for each person, by group, and the threshold it decides with.

    Filled is inferred correctly, hollow wrongly. `names` are of the advantaged and the disadvantaged group; the
    advantaged one's code in the dataset decides the colours.
    """
    import numpy as np

    order = np.argsort(people.sensitive, kind="stable")  # the disadvantaged first
    values, truth = reading.values[order], people.sensitive[order]
    shown, n = np.clip(values, -0.6, 1.6), values.size
    points, counts = [], []
    for group in (0, 1):
        style = group_style(palette, advantaged if group == 1 else 1 - advantaged)
        rows = np.flatnonzero(truth == group)
        right = reading.recovered[order][rows] == group
        for hit, suffix in ((True, ""), (False, "-open")):
            some, told = rows[right == hit], [f"{values[i]:.2f}" for i in rows[right == hit]]
            look: dict[str, Any] = {"color": style.color, "symbol": style.symbol + suffix, "size": 8 if n <= 200 else 5}
            points.append(Points(x=some.tolist(), y=shown[some].tolist(), told=told, **look))
        name = plain_name(names[1 - group], 24)
        counts.append((f"{int(right.sum()):,} of {rows.size:,} {name} inferred correctly", style.color))
    title = "Recovered value of each person, filled where inferred correctly"
    return draw_scatter(
        palette,
        title,
        points,
        x=Axis(ends=(-0.02 * n, 1.02 * n), marks=(), words=(), title="People, by group"),
        y=Axis(ends=(-0.7, 1.7), marks=(0, 1), words=("0", "1"), title="Recovered value; dashed: decision threshold"),
        counts=counts,
        rows={"attribute (1 = advantaged)": truth, "recovered value": values},
        threshold=float(reading.threshold),
        height=290,
    )


def draw_targeted(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    limits: Mapping[str, Sequence[tuple[float, float]]],
    chosen: str,
    epsilon: float,
    palette: Palette,
) -> Drawing:
    """Draw the balanced accuracy of a targeted query, over epsilon, for each noise, with the bounds.

    Parameters
    ----------
    curves, limits : mapping of name to (epsilon, rate)
        Mechanisms, and what no attacker without a prior can exceed where the noise keeps its ε.
    chosen : str
        The mechanism drawn in the leak's colour.
    """
    every = [e for points in curves.values() for e, _ in points]
    low, high = math.log10(min(every)), math.log10(max(every))
    x = decades((low, high), [e for e in (0.1, 1, 10, 100) if low <= math.log10(e) <= high], "Privacy budget ε (log)")
    drawn = [compared(x, _TOSS, palette.chance, "random guessing")]
    looks = [(palette.ink, "longdash"), (palette.ink, "dash")][: len(limits)]
    looks += [(palette.before, dash) for dash in ("solid", "dash", "dashdot", "dot")]
    for (name, points), (color, dash) in zip([*limits.items(), *curves.items()], looks, strict=False):
        special, here = name == chosen, min(points, key=lambda p: abs(p[0] - epsilon))[1]
        drawn.append(
            Curve(
                x=[math.log10(e) for e, _ in points],
                y=[100 * rate for _, rate in points],
                color=palette.leak if special else color,
                dash="solid" if special else dash,
                width=3 if special else 1.5,
                name=name,
                value=percent(here),
                now=100 * here,
            )
        )
    rows = [
        {"curve": name, "epsilon": e, "balanced accuracy": rate}
        for name, points in [*curves.items(), *limits.items()]
        for e, rate in points
    ]
    look: dict[str, Any] = {"gutter": _GUTTER, "at": math.log10(epsilon), "head": f"at ε = {epsilon:g}"}
    return draw_lines(palette, "Targeted query on one person, by epsilon", drawn, x=x, y=_RATES, rows=rows, **look)


MOST_ROWS = 6
"""Answers that are drawn; earlier ones are in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    """One answered query.

    Attributes
    ----------
    words : str
        Who asked for what.
    price : float
        Epsilon it was charged; 0 where it followed from earlier answers.
    truth : float or None
        The exact gap, of synthetic people only.
    """

    words: str
    gap: Estimate
    price: float
    truth: float | None = None


def draw_gaps(rows: Sequence[GapRow], palette: Palette) -> Drawing:
    """Draw the last answers, the latest at the top and marked, with their 95% CIs from -1 to 1.

    The rows are in the order they were answered; at most the last six are drawn.
    """
    lines = []
    for i, row in enumerate(list(reversed(rows))[:MOST_ROWS]):
        color, stroke = (palette.before, 3) if i else (palette.leak, 5)
        told = f"{gap(row.gap.value)} ({gap(row.gap.low)} to {gap(row.gap.high)})"
        marks = [measured(row.gap, color, "circle" if row.price else "diamond", told=told, stroke=stroke)]
        if row.truth is not None:
            marks.append(Mark(at=row.truth, color=palette.ink, symbol="line-ns", size=15, told=f"truth {row.truth:g}"))
        value = f"{f'ε {row.price:g}' if row.price else 'free'}  <b>{gap(row.gap.value)}</b>"
        lines.append(Row(name=row.words, value=value, color="" if i else palette.leak, marks=marks))
    words = ["−1", "−0.5", "0", "+0.5", "+1"]
    title = "Gap between the groups (−1 to 1)"
    axis = Axis(ends=(-1.04, 1.04), marks=(-1, -0.5, 0, 0.5, 1), words=words, title=title)
    truth = any(row.truth is not None for row in rows)
    table = [
        {"query": row.words, **cells("gap", row.gap), "epsilon": row.price, **({"truth": row.truth} if truth else {})}
        for row in rows
    ]
    part = f", the last {len(lines)} of {len(rows)}" if len(lines) < len(rows) else ""
    title = f"Answers and their 95% CIs, latest first{part}"
    return draw_rows(palette, title, lines, axis, least=3, pitch=44, empty="no answer yet", table=table)
