"""Charts of bias queries: leakage by answers, the answers' error, the desk's answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...charts.drawing import Axis, Drawing, Scale, decades, gap_text, shares, value_of
from ...charts.lines import Curve, draw_lines, level
from ...charts.planes import add_points, draw_scatter
from ...charts.rows import Mark, Row, draw_rows
from ...charts.theme import group_style, plain_name
from ...stats.estimates import ALMOST_ALL, Estimate, gap
from .guarantees import ErrorQuantiles, error_text
from .mechanisms import NOISES
from .reveal import DecodedAttribute
from .trials import BiasQueriesResult, BiasQueriesSettings, Leak, QueriedRecords, best_by_number

_GUTTER = 176  # pixels for the names of curves
_RATES = shares("Balanced accuracy (%)", (60, 70, 80, 90, 100), ends=(45.0, 102.0))
_TOSS = level(Estimate(value=0.5, low=0.5, high=0.5, n=0), "chance", "random guessing")


def draw_leakage(
    results: Sequence[BiasQueriesResult],
    settings: BiasQueriesSettings,
    *,
    exact: Sequence[BiasQueriesResult] = (),
    numbers: Sequence[int] = (),
) -> Drawing:
    """Draw the accuracy of attackers over the number of answers.

    Parameters
    ----------
    results : sequence of BiasQueriesResult
        The result of the settings first, marked; then, in any order, those with other numbers of answers. The best
        decoder at each is drawn bold.
    exact : sequence of BiasQueriesResult
        The same without noise, drawn faintly; empty where there is no noise.
    numbers : sequence of int
        Answers of a curve that is complete, the last at the right end of the axis.

    The bound on an attacker is drawn where noise has one, unless it would read 100.0%.
    """
    now = results[0]
    numbers = numbers or (settings.questions,)
    curves = [_TOSS]
    if now.prior is not None:
        curves.append(level(now.prior, "prior", "features only", dash="dash"))
    if settings.answer_mechanism.noisy and now.ceiling is not None and now.ceiling < ALMOST_ALL:
        curves.append(level(now.ceiling, "ink", "bound", dash="longdash"))
    faint: dict[str, Any] = {"opacity": 0.45, "width": 1.5}
    noisy = _leaks(results, numbers)
    noiseless = _leaks(exact, numbers)
    curves += _curves(noiseless, "best", numbers, color="strongest", name="without noise", **faint)
    curves += _curves(noiseless, "published", numbers, color="before", name="ℓ1, no noise", **faint)
    current = {leak.decoder: leak.leakage for leak in now.leaks}
    look: dict[str, Any] = {"color": "before", "width": 1.5, "current": current.get("published")}
    curves += _curves(noisy, "published", numbers, name="ℓ1 (paper)", **look)
    look = {"color": "leak", "dash": "dash", "current": current.get("without_prior")}
    curves += _curves(noisy, "without_prior", numbers, name="without prior", **look)
    (best,) = best_by_number(now.leaks)
    look = {"color": "leak", "width": 3, "band": True, "current": best.leakage}
    curves += _curves(noisy, "best", numbers, name="best decoder", **look)
    last = numbers[-1]
    marks = [mark for mark in Scale(title="").over([0, last]).marks if mark <= last]
    x = Axis(
        ends=(0, last),
        marks=marks,
        labels=[f"{mark:,.0f}" for mark in marks],
        title="Answered queries m",
    )
    title = f"Leakage of {now.attribute} by number of answers"
    look = {"gutter": _GUTTER, "at": best.m, "head": f"after {best.m:,}"}
    return draw_lines(title, curves, x=x, y=_RATES, **look)


def _leaks(results: Sequence[BiasQueriesResult], numbers: Sequence[int]) -> dict[str, list[Leak]]:
    """Return decoder -> its leaks at these numbers of answers, and "best" -> those of the best at each."""
    leaks = {
        (leak.decoder, leak.m): leak
        for result in results
        for leak in result.leaks
        if leak.m in numbers
    }
    by_decoder: dict[str, list[Leak]] = {"best": best_by_number(list(leaks.values()))}
    for decoder, m in sorted(leaks):
        by_decoder.setdefault(decoder, []).append(leaks[decoder, m])
    return by_decoder


def _curves(
    leaks: Mapping[str, Sequence[Leak]], decoder: str, numbers: Sequence[int], **look: Any
) -> list[Curve]:
    """Return the curve of a decoder; none where nothing is there."""
    measured = leaks.get(decoder)
    if not measured:
        return []
    return [
        Curve(
            x=[leak.m for leak in measured],
            of=[leak.leakage for leak in measured],
            grid=numbers,
            **look,
        )
    ]


_LARGEST = 4.5  # decades at the end of the axis of errors


def draw_answer_errors(errors: Mapping[str, ErrorQuantiles], chosen: str) -> Drawing:
    """Draw the error of an answer for each way to answer: median as a dot, 95th percentile as a stroke.

    From the top; that of the mechanism `chosen` is in the leak's colour.
    """
    lines = []
    for mechanism, error in errors.items():
        name = NOISES[mechanism]
        is_chosen = mechanism == chosen
        color = "leak" if is_chosen else "before"
        marks = [
            Mark(of=error.median, color=color, name="median error"),
            Mark(of=error.high, color=color, symbol="line-ns", name="95th percentile"),
        ]
        value = f"<b>{error_text(error.median)}</b> · {error_text(error.high)}"
        lines.append(
            Row(name=name, value=value, color=color, join=color, bold=is_chosen, marks=marks)
        )
    title = "Absolute error (log); shaded: larger than any gap"
    axis = decades(
        (-4.0, _LARGEST), (1e-4, 1, 1e4), title, write=lambda error: error_text(value_of(error))
    )
    drawing = draw_rows("Error of an answer", lines, axis, first="noise", value="median · 95%")
    drawing.shade((0, _LARGEST), drawing.y.ends, "grid", opacity=0.5)  # a gap is at most 1
    return drawing


def draw_values(
    people: QueriedRecords,
    decoded: DecodedAttribute,
    *,
    names: tuple[str, str],
    advantaged: int = 1,
) -> Drawing:
    """Draw what a decoder recovered for each person, by group, and the threshold it decides with.

    Filled is inferred correctly, hollow wrongly. `names` are of the advantaged and the disadvantaged group; the
    advantaged one's code in the dataset decides the colours.
    """
    import numpy as np

    order = np.argsort(people.sensitive, kind="stable")  # the disadvantaged first
    values = decoded.values[order]
    truth = people.sensitive[order]
    right = decoded.recovered[order] == truth
    n = values.size
    styles = group_style(1 - advantaged), group_style(advantaged)
    counts = []
    for group, style in enumerate(styles):
        inside = truth == group
        hits = f"{int(right[inside].sum()):,} of {int(inside.sum()):,}"
        name = plain_name(names[1 - group], 24)
        counts.append((f"{hits} {name} inferred correctly", style.color))
    y = Axis(
        ends=(-0.7, 1.7),
        marks=(0, 1),
        labels=("0", "1"),
        title="Recovered value; dashed: decision threshold",
        position=lambda value: min(max(value, -0.6), 1.6),
    )
    drawing = draw_scatter(
        "Recovered value of each person, filled where inferred correctly",
        x=Axis(ends=(-0.02 * n, 1.02 * n), marks=(), labels=(), title="People, by group"),
        y=y,
        counts=counts,
        rows={"attribute (1 = advantaged)": truth, "recovered value": values},
        threshold=float(decoded.threshold),
        height=290,
    )
    size = 8 if n <= 200 else 5
    for group, style in enumerate(styles):
        for hit, suffix in ((True, ""), (False, "-open")):
            selected = np.flatnonzero((truth == group) & (right == hit))
            add_points(
                drawing,
                selected.tolist(),
                values[selected].tolist(),
                color=style.color,
                symbol=style.symbol + suffix,
                size=size,
                hover=[f"{value:.2f}" for value in values[selected]],
            )
    return drawing


def draw_targeted(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    limits: Mapping[str, Sequence[tuple[float, float]]],
    chosen: str,
    epsilon: float,
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
    marks = [e for e in (0.1, 1, 10, 100) if min(every) <= e <= max(every)]
    x = decades((math.log10(min(every)), math.log10(max(every))), marks, "Privacy budget ε (log)")
    looks = [("ink", "longdash"), ("ink", "dash")][: len(limits)]
    looks += [("before", dash) for dash in ("solid", "dash", "dashdot", "dot")]
    drawn = [_TOSS]
    for (name, points), (color, dash) in zip(
        [*limits.items(), *curves.items()], looks, strict=False
    ):
        look: dict[str, Any] = {"color": color, "dash": dash, "width": 1.5}
        if name == chosen:
            look = {"color": "leak", "width": 3}
        current = min(points, key=lambda point: abs(point[0] - epsilon))[1]
        xs = [e for e, _ in points]
        rates = [rate for _, rate in points]
        drawn.append(Curve(x=xs, of=rates, name=name, current=current, **look))
    rows = [
        {"curve": name, "epsilon": e, "balanced accuracy": rate}
        for name, points in [*curves.items(), *limits.items()]
        for e, rate in points
    ]
    title = "Targeted query on one person, by epsilon"
    head = f"at ε = {epsilon:g}"
    return draw_lines(title, drawn, x=x, y=_RATES, rows=rows, gutter=_GUTTER, at=epsilon, head=head)


MOST_ROWS = 6
"""Answers that are drawn; earlier ones are in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    """One answered query."""

    label: str
    """Who asked for what."""
    gap: Estimate
    price: float
    """Epsilon it was charged; 0 where it was free."""
    truth: float | None = None
    """The exact gap, of synthetic people only."""


def draw_gaps(rows: Sequence[GapRow]) -> Drawing:
    """Draw the last answers, the latest at the top and marked, with their 95% CIs from -1 to 1.

    The rows are in the order they were answered; at most the last six are drawn.
    """
    lines = []
    for i, row in enumerate(list(reversed(rows))[:MOST_ROWS]):
        color, stroke = ("before", 3) if i else ("leak", 5)
        if row.price:
            symbol = "circle"
        else:
            symbol = "diamond"
        marks = [Mark(of=row.gap, color=color, symbol=symbol, stroke=stroke)]
        if row.truth is not None:
            marks.append(Mark(of=row.truth, color="ink", symbol="line-ns", size=15, name="truth"))
        price = "free"
        if row.price:
            price = f"ε {row.price:g}"
        value = f"{price}  <b>{gap(row.gap.value)}</b>"
        if i:
            name_color = "ink"
        else:
            name_color = "leak"
        lines.append(Row(name=row.label, value=value, color=name_color, marks=marks))
    axis = Axis(
        ends=(-1.04, 1.04),
        marks=(-1, -0.5, 0, 0.5, 1),
        labels=["−1", "−0.5", "0", "+0.5", "+1"],
        title="Gap (advantaged − others)",
        write=gap_text,
    )
    if len(lines) < len(rows):
        part = f", the last {len(lines)} of {len(rows)}"
    else:
        part = ""
    title = f"Answers and their 95% CIs, latest first{part}"
    return draw_rows(title, lines, axis, first="query", least=3, pitch=46, empty="no answer yet")
