"""Charts of the bias queries' answers: their error, what a decoder recovered of each person, one targeted person."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from core.figures.drawing import Drawing, Palette, Sketch, bare, group_style, line, short, spread, value_axis
from core.figures.queries import _HEIGHT, _HIGH, _LOW, _PIXEL
from core.queries import ErrorQuantiles, Reading
from core.questions import People
from core.wording import percent

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
    sketch.xaxis(tickvals=decades, ticktext=[names[d] for d in decades], showline=False)
    edge = 0.0  # a gap of 1
    sketch.shade((edge, _ERRORS[1] + 1.6), (-0.55, top - 0.25), palette.grid)
    sketch.segment((edge, edge), (-0.55, top - 0.25), {"color": palette.ink, "width": 1.5, "dash": "longdash"})
    sketch.write(edge + 0.1, top - 0.42, "beyond the range", palette.grey, "middle right", 12)
    for i, (name, error) in enumerate(errors):
        y = top - 1.2 - i * (top - 1.0) / max(top - 1, 1)
        _error_row(sketch, palette, y, name, error, left, chosen=name == chosen)
    rows = [{"noise": name, "median error": e.median, "95th percentile": e.high} for name, e in errors]
    told = "; ".join(f"{name} {error_words(e.median)}, {error_words(e.high)}" for name, e in errors)
    alt = f"Absolute error of an answer, median and 95th percentile; the gap itself is at most 1: {told}."
    return Drawing.of(sketch, alt, rows)


def _error_row(
    sketch: Sketch, palette: Palette, y: float, name: str, error: ErrorQuantiles, left: float, *, chosen: bool
) -> None:
    color = palette.leak if chosen else palette.before
    decades = (math.log10(value) if value > 0 else -math.inf for value in (error.median, error.high))
    start, end = (min(max(decade, _ERRORS[0]), _ERRORS[1]) for decade in decades)
    sketch.segment((start, end), (y, y), {"color": color, "width": 3 if chosen else 2})
    sketch.markers(
        [start, end],
        [y, y],
        size=[12 if chosen else 10, 12],
        symbol=["circle", "line-ns"],
        color=color,
        rim=(color, [0, 2]),
        told=[f"median {error_words(error.median)}", f"95% of errors below {error_words(error.high)}"],
    )
    words = f"<b>{short(name)}</b>" if chosen else short(name)
    sketch.write(left, y, words, palette.ink if chosen else palette.grey, "middle right")
    sketch.write(start, y + 0.12, f"<b>{error_words(error.median)}</b>", color, "top center", 12)
    sketch.write(end + 0.15, y, error_words(error.high), palette.grey, "middle right", 12)


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
    sketch.xaxis(showticklabels=False, ticks="", showline=False)
    for tick in (0.0, 1.0):
        sketch.segment((0, 1), (tick, tick), {"color": palette.grid, "width": 1}, xref="paper", layer="below")
        sketch.write(n, tick, f"{tick:g}", palette.grey, "middle right", 12)
    level = reading.threshold
    sketch.segment((0, n), (level, level), {"color": palette.ink, "width": 1.5, "dash": "longdash"})
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
    sketch.xaxis(tickvals=[math.log10(e) for e in marks], ticktext=[f"ε = {e:g}" for e in marks])
    value_axis(sketch, palette, (60, 70, 80, 90, 100), high)
    sketch.segment((low, high), (50, 50), {"color": palette.chance, "width": 1.5, "dash": "dot"})
    for i, points in enumerate(limits.values()):
        _over(sketch, points, palette.ink, 1.5, ("longdash", "dash")[i % 2])
    for (name, points), dash in zip(curves.items(), ("solid", "dash", "dashdot", "dot"), strict=False):
        color, width = (palette.leak, 3.0) if name == chosen else (palette.before, 1.5)
        _over(sketch, points, color, width, "solid" if name == chosen else dash)
    at = math.log10(epsilon)
    sketch.segment((at, at), (_LOW, _HIGH - 3), {"color": palette.ink, "width": 1})
    words: list[tuple[float, str, str]] = []
    for name, points in [*curves.items(), *limits.items()]:
        rate = min(points, key=lambda p: abs(p[0] - epsilon))[1]
        color = palette.leak if name == chosen else palette.ink if name in limits else palette.before
        words.append((100 * rate, f"{name}  <b>{percent(rate)}</b>", color))
    heights = spread([w[0] for w in words], 17 * _PIXEL, _LOW + 8 * _PIXEL, _HIGH - 4 * _PIXEL)
    right = at < (low + high) / 2
    for height, (_, text, color) in zip(heights, words, strict=True):
        sketch.write(at + (0.06 if right else -0.06), height, text, color, "middle right" if right else "middle left")
    rows = [
        {"curve": name, "epsilon": e, "balanced accuracy": rate}
        for name, points in [*curves.items(), *limits.items()]
        for e, rate in points
    ]
    told = "; ".join(text.replace("<b>", "").replace("</b>", "") for _, text, _ in words)
    alt = f"Balanced accuracy on one targeted person after one answer, by epsilon. At {epsilon:g}: {told}."
    return Drawing.of(sketch, alt, rows)


def _over(sketch: Sketch, points: Sequence[tuple[float, float]], color: str, width: float, dash: str) -> None:
    line(sketch, [math.log10(e) for e, _ in points], [100 * r for _, r in points], color, width=width, dash=dash)
