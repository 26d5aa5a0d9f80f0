"""The chart of a choice: accuracy against the worst leak, and where both are allowed."""

from __future__ import annotations

import math
from itertools import groupby
from typing import NamedTuple

from core.charts.drawing import Axis, Drawing, percents
from core.charts.words import LINE, fit, short
from core.choose import Candidate, Choice, Outcomes
from core.choose.choose import Side
from core.choose.findings import leak_text, order, rows, short_check
from core.config import AuditConfig
from core.estimates import interval, percent
from core.models import METHOD_TITLES
from core.policy import VERDICT_TITLES
from core.quantities import plain_row

_MOST = 2.1
"""Largest worst leak that has a place of its own; what is beyond stands here, at the right edge."""

_KEY = 18  # pixels of a line over the plot
_SIZES = (9.0, 15.0)


class MethodStyle(NamedTuple):
    """How the models of one fair learning method are drawn."""

    color: str
    symbol: str
    sign: str


METHOD_STYLES = {
    "exponentiated_gradient": MethodStyle("prior", "circle", "●"),
    "correlation_remover": MethodStyle("remover", "square", "■"),
    "dp_id3": MethodStyle("tree", "triangle-up", "▲"),
    "threshold_optimizer": MethodStyle("ink", "diamond", "◆"),
    "unmitigated": MethodStyle("grey", "x", "✕"),
    "given": MethodStyle("first", "circle", "●"),
}
"""Method -> its colour, marker, and the marker as a letter."""


def draw_choice(choice: Choice) -> Drawing:
    """Draw every candidate on the half that chooses, where accuracy and leak are allowed, and the frontier."""
    found = sorted(choice.candidates, key=lambda one: _order(one.points[0].config))
    keys, lines = _keys(found), 1 if choice.outcome == Outcomes.RECOMMENDED else 0
    lines += (len(keys) + 1) // 2
    x = Axis(
        ends=(0.0, _MOST + 0.08),
        marks=(0.0, 0.5, 1.0, 1.5, _MOST),
        words=("0", "0.5 ×", "limit", "1.5 ×", "over 2 ×"),
        title="Worst leak (largest gain of an attack, relative to its limit)",
        place=lambda leak: min(leak, _MOST),
    )
    scale = percents("Model accuracy, half that chooses (%)")
    named = choice.chosen.choosing
    y = scale.over([*(each.choosing.accuracy.value for each in found), named.accuracy.low, named.accuracy.high])
    least = max(y.ends[0], y.place(choice.least_accuracy))
    top = 30 + _KEY * lines
    drawing = Drawing("Accuracy against the worst leak", height=290 + top, x=x, y=y, margins=(46, 18, top, 48))
    drawing.shade((0.0, 1.0), (min(least, y.ends[1]), y.ends[1]), "feasible")
    drawing.axes()
    drawing.segment(1.0, y.ends, "ink", width=1.5, dash="longdash")
    if y.ends[0] < least < y.ends[1]:
        drawing.segment(x.ends, least, "ink", width=1.5, dash="longdash")
    _draw_frontier(drawing, choice)
    _draw_intervals(drawing, named)
    for (method, _), some in groupby(found, key=lambda one: (one.points[0].config.method, one.points[0].config.depth)):
        _draw_method(drawing, method, list(some), choice)
    if choice.outcome == Outcomes.RECOMMENDED:
        drawing.markers(*_places(drawing, [choice.chosen]), size=22, color="rgba(0,0,0,0)", rim=("ink", 2.5))
    for number, (words, color) in enumerate(keys):
        _write(drawing, words, color, (len(keys) + 1) // 2 - 1 - number // 2, right=number % 2 == 1)
    if choice.outcome == Outcomes.RECOMMENDED:
        _write(drawing, f"◯ recommended: {choice.chosen.title}", "ink", lines - 1)
    drawing.rows = [plain_row(row) for row in rows(choice)]
    said = [f"{each.title} {percent(each.choosing.accuracy)}, {_leak(each, choice)}" for each in choice.candidates[:4]]
    more = [f"and {len(choice.candidates) - 4} more"] if len(choice.candidates) > 4 else []
    leaks = f"{leak_text(named.low)} to {leak_text(named.high)}"
    ends = f"95% CIs of {choice.chosen.title}: accuracy {interval(named.accuracy)}, leak {leaks}"
    drawing.say("Scatter plot, model accuracy by worst leak", order(choice)[0].partition(", ")[2], [*said, *more, ends])
    return drawing


def _order(config: AuditConfig) -> tuple[int, int, float]:
    known = list(METHOD_STYLES)
    return known.index(config.method), config.depth, _loose(config)


def _loose(config: AuditConfig) -> float:
    """Return how loose a constraint is: a tolerance, or the logarithm of a privacy budget."""
    if config.method == "dp_id3":
        return 9.0 if math.isinf(config.epsilon) else math.log10(config.epsilon)
    return config.tolerance


def _keys(found: list[Candidate]) -> list[tuple[str, str]]:
    """Return the methods' markers and names, and their colours."""
    there = dict.fromkeys(each.points[0].config.method for each in found)
    return [(f"{METHOD_STYLES[m].sign} {METHOD_TITLES[m]}", METHOD_STYLES[m].color) for m in there]


def _write(drawing: Drawing, words: str, color: str, line: int, *, right: bool = False) -> None:
    """Write over the plot, so many lines above the axis' title, in the left half or the right one."""
    half = (drawing.room + 34) / 2
    pixels = half if right or not words.startswith("◯") else 2 * half
    shift = (4 - 46 + (half if right else 0), 9 + LINE * 12 + 4 + _KEY * line)
    drawing.above(fit(words, pixels - 8, 12), shift=shift, color=color)


def _places(drawing: Drawing, some: list[Candidate]) -> tuple[list[float], list[float]]:
    across = [drawing.x.place(each.choosing.leak) for each in some]
    return across, [drawing.y.place(each.choosing.accuracy.value) for each in some]


def _draw_frontier(drawing: Drawing, choice: Choice) -> None:
    """Draw steps along the candidates that no other beats in both."""
    across, up = _places(drawing, list(choice.frontier))
    x = [across[0], *(at for at in across[1:] for _ in range(2)), drawing.x.ends[1]]
    y = [height for height in up for _ in range(2)]
    drawing.line(x, y, "grey", width=1, opacity=0.7)


def _draw_intervals(drawing: Drawing, side: Side) -> None:
    """Draw a cross as far as the intervals of leak and accuracy reach."""
    x, y = drawing.x, drawing.y
    drawing.segment((x.place(max(0.0, side.low)), x.place(side.high)), y.place(side.accuracy.value), "ink", width=1.5)
    drawing.segment(x.place(side.leak), (y.place(side.accuracy.low), y.place(side.accuracy.high)), "ink", width=1.5)


def _draw_method(drawing: Drawing, method: str, some: list[Candidate], choice: Choice) -> None:
    style = METHOD_STYLES[method]
    across, up = _places(drawing, some)
    if len(some) > 1 and method != "given":
        drawing.line(across, up, style.color, width=1.5, opacity=0.5)
    step = (_SIZES[1] - _SIZES[0]) / max(1, len(some) - 1)
    drawing.markers(
        across,
        up,
        size=[_SIZES[0] + step * i for i in range(len(some))] if len(some) > 1 else 11,
        color=style.color,
        symbol=[f"{style.symbol}-open" if each.unfair else style.symbol for each in some],
        rim=(style.color, 2),
        hover=[_hover(each, choice) for each in some],
        name=METHOD_TITLES[method],
    )


def _leak(each: Candidate, choice: Choice) -> str:
    attack = short_check(each.choosing.leaking, short(choice.attribute, 30))
    return f"worst leak {leak_text(each.choosing.leak)} of its limit ({attack})"


def _hover(each: Candidate, choice: Choice) -> str:
    verdict = VERDICT_TITLES[each.choosing.status].lower()
    return f"{short(each.title, 60)}<br>{percent(each.choosing.accuracy)}, {_leak(each, choice)}<br>{verdict}"
