"""A check's number beside its limit: a bar from 0 to twice the limit, the same scale for every check."""

from __future__ import annotations

from markupsafe import Markup

from core.policy import bullet as places_of
from core.report.rows import CheckRow
from core.report.svg import drawing, element
from core.report.words import COLOURS, INK, PAPER

_LEFT, _WIDTH, _MIDDLE, _HEIGHT = 10.0, 240.0, 11.0, 22.0

_ALLOWED, _FORBIDDEN, _NOTHING = "#CFE5D6", "#F3DEDA", "#EFEDE7"


def bullet(row: CheckRow, *, at_least: bool) -> Markup:
    """Return the bar of one check: limit in the middle, number with its interval, ▸ where it lies beyond."""
    if not row.limit:
        return Markup("")
    places = places_of(row.verdict)
    sides = (_FORBIDDEN, _ALLOWED) if at_least else (_ALLOWED, _FORBIDDEN)
    half = _WIDTH / 2
    parts = [
        element("rect", x=_LEFT + i * half, y=_MIDDLE - 4, width=half, height=8, fill=side if places else _NOTHING)
        for i, side in enumerate(sides)
    ]
    parts.append(element("path", d=f"M{_LEFT + half:g} 0.5v{_HEIGHT - 1:g}", stroke=INK, stroke_width=2))
    if places is not None:
        colour = COLOURS[row.verdict.verdict]
        start, stop = (_LEFT + _WIDTH * place for place in (places.low, places.high))
        if stop > start:
            parts.append(element("rect", x=start, y=_MIDDLE - 2.5, width=stop - start, height=5, fill=colour))
        at = _LEFT + _WIDTH * places.value
        parts.append(element("circle", cx=at, cy=_MIDDLE, r=6, fill=colour, stroke=PAPER, stroke_width=1.5))
        sides_beyond = {
            place > 0.5
            for place, beyond in (
                (places.value, places.value_beyond),
                (places.low, places.low_beyond),
                (places.high, places.high_beyond),
            )
            if beyond
        }
        parts += [_arrow(right, colour) for right in sorted(sides_beyond)]
    return drawing(*parts, width=2 * _LEFT + _WIDTH, height=_HEIGHT, label=_label(row), class_="bullet")


def _arrow(right: bool, colour: str) -> Markup:
    tip = 2 * _LEFT + _WIDTH if right else 0.0
    return element("path", d=f"M{tip:g} {_MIDDLE:g}l{-6 if right else 6} -4v8z", fill=colour)


def _label(row: CheckRow) -> str:
    told = f"{row.value}, {row.interval}" if row.interval else row.value
    return f"{told}. Limit: {row.limit}."
