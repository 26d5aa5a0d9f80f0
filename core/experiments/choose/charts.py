"""The chart of a choice: accuracy against the worst leak, and where both are allowed."""

from __future__ import annotations

import math
from itertools import groupby
from typing import NamedTuple

from ...auditing.policy import VERDICT_TITLES
from ...charts.drawing import Axis, Drawing, percents
from ...charts.theme import LINE, fit, short
from ...models import METHOD_TITLES, PRIVATE_METHODS
from ...stats.estimates import interval, percent, plain_row
from ...studies.subject import AuditConfig
from . import Candidate, Choice, ChoiceOutcome
from .choose import Side
from .findings import leak_text, order_texts, rows, short_check

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
    "private_fair": MethodStyle("tree", "triangle-up-open", "△"),
    "threshold_optimizer": MethodStyle("ink", "diamond", "◆"),
    "unmitigated": MethodStyle("grey", "x", "✕"),
    "given": MethodStyle("first", "circle", "●"),
}
"""Method -> its colour, marker, and the marker as a letter."""


def draw_choice(choice: Choice) -> Drawing:
    """Draw every candidate on the half that chooses, where accuracy and leak are allowed, and the frontier."""
    candidates = sorted(choice.candidates, key=lambda candidate: _order(candidate.points[0].config))
    keys = _keys(candidates)
    lines = 1 if choice.outcome == ChoiceOutcome.RECOMMENDED else 0
    lines += (len(keys) + 1) // 2
    x = Axis(
        ends=(0.0, _MOST + 0.08),
        marks=(0.0, 0.5, 1.0, 1.5, _MOST),
        labels=("0", "0.5 ×", "limit", "1.5 ×", "over 2 ×"),
        title="Worst leak (largest gain of an attack, relative to its limit)",
        position=lambda leak: min(leak, _MOST),
    )
    scale = percents("Model accuracy, half that chooses (%)")
    chosen = choice.chosen.choosing
    y = scale.over(
        [
            *(candidate.choosing.accuracy.value for candidate in candidates),
            chosen.accuracy.low,
            chosen.accuracy.high,
        ]
    )
    least = max(y.ends[0], y.position(choice.least_accuracy))
    top = 30 + _KEY * lines
    drawing = Drawing(
        "Accuracy against the worst leak", height=290 + top, x=x, y=y, margins=(46, 18, top, 48)
    )
    drawing.shade((0.0, 1.0), (min(least, y.ends[1]), y.ends[1]), "feasible")
    drawing.axes()
    drawing.segment(1.0, y.ends, "ink", width=1.5, dash="longdash")
    if y.ends[0] < least < y.ends[1]:
        drawing.segment(x.ends, least, "ink", width=1.5, dash="longdash")
    _draw_frontier(drawing, choice)
    _draw_intervals(drawing, chosen)
    for (method, _), group in groupby(
        candidates,
        key=lambda candidate: (candidate.points[0].config.method, candidate.points[0].config.depth),
    ):
        _draw_method(drawing, method, list(group), choice)
    if choice.outcome == ChoiceOutcome.RECOMMENDED:
        drawing.markers(
            *_places(drawing, [choice.chosen]), size=22, color="rgba(0,0,0,0)", rim=("ink", 2.5)
        )
    for number, (label, color) in enumerate(keys):
        _write(drawing, label, color, (len(keys) + 1) // 2 - 1 - number // 2, right=number % 2 == 1)
    if choice.outcome == ChoiceOutcome.RECOMMENDED:
        _write(drawing, f"◯ recommended: {choice.chosen.title}", "ink", lines - 1)
    drawing.rows = [plain_row(row) for row in rows(choice)]
    descriptions = [
        f"{candidate.title} {percent(candidate.choosing.accuracy)}, {_leak(candidate, choice)}"
        for candidate in choice.candidates[:4]
    ]
    more = []
    if len(choice.candidates) > 4:
        more = [f"and {len(choice.candidates) - 4} more"]
    leaks = f"{leak_text(chosen.low)} to {leak_text(chosen.high)}"
    ends = f"95% CIs of {choice.chosen.title}: accuracy {interval(chosen.accuracy)}, leak {leaks}"
    drawing.say(
        "Scatter plot, model accuracy by worst leak",
        order_texts(choice)[0].partition(", ")[2],
        [*descriptions, *more, ends],
    )
    return drawing


def _order(config: AuditConfig) -> tuple[int, int, float]:
    methods = list(METHOD_STYLES)
    return methods.index(config.method), config.depth, _loose(config)


def _loose(config: AuditConfig) -> float:
    """Return how loose a constraint is: a tolerance, or the logarithm of a privacy budget."""
    if config.method in PRIVATE_METHODS:
        if math.isinf(config.epsilon):
            return 9.0
        return math.log10(config.epsilon)
    return config.tolerance


def _keys(candidates: list[Candidate]) -> list[tuple[str, str]]:
    """Return the methods' markers and names, and their colours."""
    methods = dict.fromkeys(candidate.points[0].config.method for candidate in candidates)
    return [
        (f"{METHOD_STYLES[m].sign} {METHOD_TITLES[m]}", METHOD_STYLES[m].color) for m in methods
    ]


def _write(drawing: Drawing, text: str, color: str, line: int, *, right: bool = False) -> None:
    """Write over the plot, so many lines above the axis' title, in the left half or the right one."""
    half = (drawing.room + 34) / 2
    pixels = half if right or not text.startswith("◯") else 2 * half
    left = half if right else 0
    shift = (4 - 46 + left, 9 + LINE * 12 + 4 + _KEY * line)
    drawing.above(fit(text, pixels - 8, 12), shift=shift, color=color)


def _places(drawing: Drawing, candidates: list[Candidate]) -> tuple[list[float], list[float]]:
    across = [drawing.x.position(candidate.choosing.leak) for candidate in candidates]
    return across, [
        drawing.y.position(candidate.choosing.accuracy.value) for candidate in candidates
    ]


def _draw_frontier(drawing: Drawing, choice: Choice) -> None:
    """Draw steps along the candidates that no other beats in both."""
    across, up = _places(drawing, list(choice.frontier))
    x = [across[0], *(at for at in across[1:] for _ in range(2)), drawing.x.ends[1]]
    y = [height for height in up for _ in range(2)]
    drawing.line(x, y, "grey", width=1, opacity=0.7)


def _draw_intervals(drawing: Drawing, side: Side) -> None:
    """Draw a cross as far as the intervals of leak and accuracy reach."""
    x = drawing.x
    y = drawing.y
    drawing.segment(
        (x.position(max(0.0, side.low)), x.position(side.high)),
        y.position(side.accuracy.value),
        "ink",
        width=1.5,
    )
    drawing.segment(
        x.position(side.leak),
        (y.position(side.accuracy.low), y.position(side.accuracy.high)),
        "ink",
        width=1.5,
    )


def _draw_method(
    drawing: Drawing, method: str, candidates: list[Candidate], choice: Choice
) -> None:
    style = METHOD_STYLES[method]
    across, up = _places(drawing, candidates)
    if len(candidates) > 1 and method != "given":
        drawing.line(across, up, style.color, width=1.5, opacity=0.5)
    sizes: float | list[float] = 11
    if len(candidates) > 1:
        step = (_SIZES[1] - _SIZES[0]) / (len(candidates) - 1)
        sizes = [_SIZES[0] + step * i for i in range(len(candidates))]
    drawing.markers(
        across,
        up,
        size=sizes,
        color=style.color,
        symbol=[_symbol(style.symbol, candidate) for candidate in candidates],
        rim=(style.color, 2),
        hover=[_hover(candidate, choice) for candidate in candidates],
        name=METHOD_TITLES[method],
    )


def _symbol(symbol: str, candidate: Candidate) -> str:
    """Return a candidate's marker, an outline where it exceeds the limit of unfairness."""
    if candidate.unfair:
        return f"{symbol}-open"
    return symbol


def _leak(candidate: Candidate, choice: Choice) -> str:
    attack = short_check(candidate.choosing.leaking, short(choice.attribute, 30))
    return f"worst leak {leak_text(candidate.choosing.leak)} of its limit ({attack})"


def _hover(candidate: Candidate, choice: Choice) -> str:
    verdict = VERDICT_TITLES[candidate.choosing.status].lower()
    accuracy = percent(candidate.choosing.accuracy)
    return f"{short(candidate.title, 60)}<br>{accuracy}, {_leak(candidate, choice)}<br>{verdict}"
