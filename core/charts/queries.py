"""Charts of bias queries: what attackers recover, the answers' error, the desk's answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import Drawing, Palette, Sketch, bare, group_style, limits, round_step, short
from core.estimates import Estimate, gap, percent
from core.queries import ErrorQuantiles, Leak, People, Reading, error_text

_HEIGHT = 310
_LOW, _HIGH = 45.0, 102.0
_PIXEL = (_HIGH - _LOW) / (_HEIGHT - 38)


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
    sketch = bare(palette, height=_HEIGHT, x=(0, last), y=(_LOW, _HIGH))
    step = round_step(last, (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000), 7)
    marks = list(range(0, last + 1, step))
    sketch.ticks(marks, "{:,}")
    sketch.note(asked=now.m)
    lines = [100 * prior.value, *([] if limit is None else [100 * limit[1]])]
    crowded = [*lines, *(line - 16 * _PIXEL for line in lines)]  # a line, and the label below it
    sketch.value_axis((60, 80, 100), last, crowded=crowded, room=13 * _PIXEL)
    for decoder, color in (("strongest", palette.strongest), ("published", palette.before)):
        leaks = _sorted(exact.get(decoder, ()))
        if len(leaks) > 1:
            sketch.bare_line([k.m for k in leaks], _percents(leaks), color, width=1.5, opacity=0.45)
            if decoder == "strongest" and _apart(leaks, noisy.get("strongest", ())):
                _name_faint(sketch, leaks, last)
    published, strongest = _sorted(noisy.get("published", ())), _sorted(noisy.get("strongest", ()))
    if len(published) > 1:
        sketch.line([k.m for k in published], _percents(published), palette.before, width=1.5, hover=_HOVER)
    without = _sorted(noisy.get("without_prior", ()))
    if len(without) > 1:
        xs, ys = [k.m for k in without], _percents(without)
        sketch.line(xs, ys, palette.leak, width=1.5, dash="dash", hover=_HOVER)
    if len(strongest) > 1:
        xs = [k.m for k in strongest]
        low, high = ([100 * getattr(k.leakage, side) for k in strongest] for side in ("low", "high"))
        if not any(math.isnan(value) for value in low):
            sketch.band(xs, low, high, palette.leak)
        sketch.line(xs, _percents(strongest), palette.leak, width=3, hover=_HOVER)
    sketch.segment((0, last), 50, palette.chance, width=1.5, dash="dot")
    sketch.segment((0, last), 100 * prior.value, palette.prior, width=2, dash="dash")
    if limit is not None:
        sketch.segment((0, last), 100 * limit[1], palette.ink, width=1.5, dash="longdash")
    _labels(sketch, last, now, (strongest, without, published), prior, limit)
    sketch.slider(now.m, 100 * now.leakage.value, _LOW, hovertemplate=_HOVER + "<extra></extra>")
    return Drawing.of(sketch, _leak_alt(now, prior, limit, attribute), _leak_rows({"noisy": noisy, "exact": exact}))


_HOVER = "%{x} answers: %{y:.1f}%"


def _sorted(leaks: Sequence[Leak]) -> list[Leak]:
    return sorted(leaks, key=lambda leak: leak.m)


def _percents(leaks: Sequence[Leak]) -> list[float | None]:
    return [100 * leak.leakage.value for leak in leaks]


def _apart(exact: Sequence[Leak], noisy: Sequence[Leak]) -> bool:
    """Tell whether noise changes the curve enough for the two to be told apart."""
    by_m = {leak.m: leak.leakage.value for leak in noisy}
    return any(abs(leak.leakage.value - by_m[leak.m]) > 0.05 for leak in exact if leak.m in by_m)


def _name_faint(sketch: Sketch, leaks: Sequence[Leak], last: int) -> None:
    """Say what the faint lines are, left of the upper one where it is well above the rest."""
    risen = next((k.m for k in leaks if k.leakage.value > 0.88), last)
    for i, words in enumerate(("same attackers,", "answers without noise")):
        sketch.write(max(risen - 0.02 * last, 0.3 * last), 92 - 3.4 * i, words, sketch.palette.grey, "middle left", 12)


def _labels(
    sketch: Sketch,
    last: int,
    now: Leak,
    curves: tuple[Sequence[Leak], Sequence[Leak], Sequence[Leak]],
    prior: Estimate,
    limit: tuple[str, float] | None,
) -> None:
    """Write the labels at the end of the lines where there is room: right of the slider's half, else left."""
    palette, right = sketch.palette, now.m <= last / 2
    at, place = (0.985 * last, "middle left") if right else (0.015 * last, "middle right")

    def highest(leaks: Sequence[Leak]) -> float:
        return max([100 * k.leakage.value for k in leaks if (k.m >= last / 2) == right], default=0.0)

    strongest, without, published = curves
    top = highest(strongest) or 100 * now.leakage.value
    wanted: list[tuple[float, str, str]] = [
        (100 * prior.value - 11 * _PIXEL, f"Features only, no answers  <b>{percent(prior)}</b>", palette.prior),
    ]
    if top < 96:
        level = max(top, 100 * prior.value) + 12 * _PIXEL
        wanted.append((level, f"Strongest decoder  <b>{percent(now.leakage)}</b>", palette.leak))
    else:
        _name_rising(sketch, strongest, f"Strongest  <b>{percent(now.leakage)}</b>", palette.leak, last, 0.9, left=True)
    for leaks, words, color in (
        (without, "Without prior", palette.leak),
        (published, "Paper's decoder", palette.before),
    ):
        if 0 < highest(leaks) < min(66.0, 100 * prior.value - 3):
            here = min(leaks, key=lambda leak: abs(leak.m - now.m)).leakage
            wanted.append((highest(leaks) + 10 * _PIXEL, f"{words}  <b>{percent(here)}</b>", color))
        elif len(leaks) > 1 and top >= 96:
            _name_rising(sketch, leaks, words, color, last, 0.62 if words == "Without prior" else 0.8)
    if limit is not None and 100 * limit[1] < 101:
        side = -11 if 100 * limit[1] > 90 else 10
        wanted.append((100 * limit[1] + side * _PIXEL, f"{limit[0]}  <b>{100 * limit[1]:.1f}%</b>", palette.ink))
    wanted.append((50 - 9 * _PIXEL, "Random guess  <b>50%</b>", palette.chance))
    sketch.write_apart(at, wanted, place, pixels=(16, 8, 6))


def _name_rising(
    sketch: Sketch,
    leaks: Sequence[Leak],
    words: str,
    color: str,
    last: int,
    level: float,
    *,
    left: bool = False,
) -> None:
    """Write a rising curve's name beside the point where it reaches a level."""
    at = next((k.m for k in leaks if k.leakage.value >= level), None)
    if at is None:
        return
    left = left or at > 0.7 * last  # else the words would leave the chart
    x = max(at - 0.02 * last, 0.3 * last) if left else at + 0.02 * last
    sketch.write(x, 100 * level + (4 if left else 0), words, color, "middle left" if left else "middle right")


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


def draw_answer_errors(errors: Sequence[tuple[str, ErrorQuantiles]], chosen: str, palette: Palette) -> Drawing:
    """Draw the error of an answer for each kind of noise: median as a dot, 95th percentile as a bar.

    Parameters
    ----------
    errors : sequence of (name, ErrorQuantiles)
        From the top.
    chosen : str
        Name of the row drawn in the leak's colour.
    """
    top = len(errors)
    left = _ERRORS[0] - 0.62 * (_ERRORS[1] - _ERRORS[0])
    sketch = bare(palette, height=_HEIGHT, x=(left, _ERRORS[1] + 1.6), y=(-0.55, top - 0.2))
    decades = list(range(-4, 5, 2))
    names = {-4: "0.0001", -2: "0.01", 0: "1", 2: "100", 4: "10,000"}
    sketch.ticks(decades, [names[d] for d in decades], showline=False)
    edge = 0.0  # a gap of 1
    sketch.shade((edge, _ERRORS[1] + 1.6), (-0.55, top - 0.25), palette.grid)
    sketch.segment(edge, (-0.55, top - 0.25), palette.ink, width=1.5, dash="longdash")
    sketch.write(edge + 0.1, top - 0.42, "beyond the range", palette.grey, "middle right", 12)
    for i, (name, error) in enumerate(errors):
        y = top - 1.2 - i * (top - 1.0) / max(top - 1, 1)
        _error_row(sketch, y, name, error, left, chosen=name == chosen)
    rows = [{"noise": name, "median error": e.median, "95th percentile": e.high} for name, e in errors]
    told = "; ".join(f"{name} {error_text(e.median)}, {error_text(e.high)}" for name, e in errors)
    alt = f"Absolute error of an answer, median and 95th percentile; the gap itself is at most 1: {told}."
    return Drawing.of(sketch, alt, rows)


def _error_row(sketch: Sketch, y: float, name: str, error: ErrorQuantiles, left: float, *, chosen: bool) -> None:
    palette = sketch.palette
    color = palette.leak if chosen else palette.before
    decades = (math.log10(value) if value > 0 else -math.inf for value in (error.median, error.high))
    start, end = (min(max(decade, _ERRORS[0]), _ERRORS[1]) for decade in decades)
    sketch.segment((start, end), y, color, width=3 if chosen else 2)
    sketch.markers(
        [start, end],
        [y, y],
        size=[12 if chosen else 10, 12],
        symbol=["circle", "line-ns"],
        color=color,
        rim=(color, [0, 2]),
        told=[f"median {error_text(error.median)}", f"95% of errors below {error_text(error.high)}"],
    )
    words = f"<b>{short(name)}</b>" if chosen else short(name)
    sketch.write(left, y, words, palette.ink if chosen else palette.grey, "middle right")
    sketch.write(start, y + 0.12, f"<b>{error_text(error.median)}</b>", color, "top center", 12)
    sketch.write(end + 0.15, y, error_text(error.high), palette.grey, "middle right", 12)


def draw_values(
    people: People, reading: Reading, palette: Palette, *, names: tuple[str, str], advantaged: int = 1
) -> Drawing:
    """Draw what a decoder recovered for each person, by group, and the threshold it decides with.

    Parameters
    ----------
    names : (str, str)
        Of the advantaged and the disadvantaged group.
    advantaged : int
        Code of the advantaged group in the dataset, which decides the colours.
    """
    import numpy as np

    order = np.argsort(people.sensitive, kind="stable")  # the disadvantaged first
    values, truth = reading.values[order], people.sensitive[order]
    shown = np.clip(values, -0.6, 1.6)
    n = values.size
    sketch = bare(palette, height=_HEIGHT - 40, x=(-0.02 * n, 1.02 * n), y=(-0.7, 1.85))
    sketch.no_xaxis()
    for tick in (0.0, 1.0):
        sketch.rule(tick)
        sketch.write(n, tick, f"{tick:g}", palette.grey, "middle right", 12)
    level = reading.threshold
    sketch.segment((0, n), level, palette.ink, width=1.5, dash="longdash")
    sketch.write(1.02 * n, 1.45, "dashed: called the smaller group above", palette.ink, "middle left", 12)
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
        middle = float(rows.mean()) if rows.size else 0.0
        label = f"{rows.size:,} {short(names[1 - group], 24)}: <b>{int(right.sum()):,} found</b>"
        side = "middle right" if group == 0 else "middle center"
        sketch.write(0 if group == 0 else middle, 1.72, label, style.color, side)
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
    epsilon : float
        Where the slider stands.
    """
    every = [e for points in curves.values() for e, _ in points]
    low, high = math.log10(min(every)), math.log10(max(every))
    sketch = bare(palette, height=_HEIGHT, x=(low, high), y=(_LOW, _HIGH))
    marks = [e for e in (0.1, 1, 10, 100) if low <= math.log10(e) <= high]
    sketch.ticks([math.log10(e) for e in marks], [f"ε = {e:g}" for e in marks])
    sketch.value_axis((60, 70, 80, 90, 100), high)
    sketch.segment((low, high), 50, palette.chance, width=1.5, dash="dot")
    for i, points in enumerate(limits.values()):
        _over(sketch, points, palette.ink, 1.5, ("longdash", "dash")[i % 2])
    for (name, points), dash in zip(curves.items(), ("solid", "dash", "dashdot", "dot"), strict=False):
        color, width = (palette.leak, 3.0) if name == chosen else (palette.before, 1.5)
        _over(sketch, points, color, width, "solid" if name == chosen else dash)
    at = math.log10(epsilon)
    sketch.segment(at, (_LOW, _HIGH - 3), palette.ink)
    words: list[tuple[float, str, str]] = []
    for name, points in [*curves.items(), *limits.items()]:
        rate = min(points, key=lambda p: abs(p[0] - epsilon))[1]
        color = palette.leak if name == chosen else palette.ink if name in limits else palette.before
        words.append((100 * rate, f"{name}  <b>{percent(rate)}</b>", color))
    right = at < (low + high) / 2
    place = "middle right" if right else "middle left"
    sketch.write_apart(at + (0.06 if right else -0.06), words, place, pixels=(17, 8, 4))
    rows = [
        {"curve": name, "epsilon": e, "balanced accuracy": rate}
        for name, points in [*curves.items(), *limits.items()]
        for e, rate in points
    ]
    told = "; ".join(text.replace("<b>", "").replace("</b>", "") for _, text, _ in words)
    alt = f"Balanced accuracy on one targeted person after one answer, by epsilon. At {epsilon:g}: {told}."
    return Drawing.of(sketch, alt, rows)


def _over(sketch: Sketch, points: Sequence[tuple[float, float]], color: str, width: float, dash: str) -> None:
    sketch.line([math.log10(e) for e, _ in points], [100 * r for _, r in points], color, width=width, dash=dash)


_ROW = 44
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

    Parameters
    ----------
    rows : sequence of GapRow
        In the order they were answered; at most the last six are drawn.
    """
    shown = list(reversed(rows))[:MOST_ROWS]
    bottom = -float(max(len(shown), 3))
    sketch = bare(palette, height=_ROW * int(-bottom) + 42, x=(-1.04, 1.04), y=(bottom, 0.1))
    marks = (-1.0, -0.5, 0.0, 0.5, 1.0)
    sketch.ticks(marks, ["−1", "−0.5", "0", "+0.5", "+1"])
    sketch.segment(0, (bottom, 0.1), palette.chance, width=1.5, dash="dot", layer="below")
    for i, row in enumerate(shown):
        _draw_row(sketch, row, -i - 0.62, latest=i == 0)
    told = "; ".join(_told(row) for row in shown)
    part = f", the last {len(shown)} of {len(rows)}" if len(shown) < len(rows) else ""
    alt = f"Answered gaps from −1 to 1, the latest first{part}, with 95% intervals: {told or 'none yet'}."
    known = ["truth"] if any(row.truth is not None for row in rows) else []
    table = [(r.words, r.gap.value, r.gap.low, r.gap.high, r.price, r.truth)[: 5 + len(known)] for r in rows]
    return Drawing.of(sketch, alt, table, ["question", "gap", "low", "high", "epsilon", *known])


def _draw_row(sketch: Sketch, row: GapRow, y: float, *, latest: bool) -> None:
    palette = sketch.palette
    color = palette.leak if latest else palette.before
    sketch.grid((-1, 1), y)
    sketch.bare_line([row.gap.low, row.gap.high], [y, y], color, width=5 if latest else 3, opacity=0.45)
    sketch.markers(
        [row.gap.value], [y], size=11, color=color, symbol="diamond" if row.price == 0 else "circle", told=[_told(row)]
    )
    if row.truth is not None:
        sketch.markers([row.truth], [y], size=15, color=palette.ink, symbol="line-ns", rim=(palette.ink, 2))
    sketch.write(-1.04, y + 0.32, short(row.words, 44), palette.ink if latest else palette.grey, "middle right")
    cost = "free" if row.price == 0 else f"ε {row.price:g}"
    sketch.write(1.04, y + 0.32, f"{cost}  <b>{gap(row.gap.value)}</b>", color, "middle left")


def _told(row: GapRow) -> str:
    return f"{short(row.words, 60)} {gap(row.gap.value)} ({gap(row.gap.low)} to {gap(row.gap.high)})"
