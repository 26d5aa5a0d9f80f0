"""A check's number beside its limit, as styled elements: a bar from 0 over the limit to twice the limit."""

from __future__ import annotations

from html import escape

from core.policy import CHECKS, CheckVerdict
from core.policy import bullet as places_of

__all__ = ["bullet"]


def bullet(row: CheckVerdict, label: str) -> str:
    """Return the bar of one check as HTML; without a number it is empty.

    Parameters
    ----------
    row : CheckVerdict
        With a limit.
    label : str
        Number, interval and limit in words.
    """
    places = places_of(row)
    sides = ("forbidden", "allowed") if CHECKS[row.check].at_least else ("allowed", "forbidden")
    left, right = sides if places else ("", "")
    parts = [_piece(f"side {left}"), _piece(f"side right {right}"), _piece("limit")]
    if places is not None:
        if places.high > places.low:
            width = 100 * (places.high - places.low)
            parts.append(_piece("span", f"left: {100 * places.low:.2f}%; width: {width:.2f}%"))
        parts.append(_piece("dot", f"left: {100 * places.value:.2f}%"))
        off = [
            place > 0.5
            for place, beyond in (
                (places.value, places.value_beyond),
                (places.low, places.low_beyond),
                (places.high, places.high_beyond),
            )
            if beyond
        ]
        parts += [_piece("beyond right" if side else "beyond left", told="▸" if side else "◂") for side in set(off)]
    return f'<div class="bar {row.verdict}" role="img" aria-label="{escape(label)}">{"".join(parts)}</div>'


def _piece(name: str, style: str = "", told: str = "") -> str:
    styled = f' style="{style}"' if style else ""
    return f'<span class="{name.strip()}"{styled}>{told}</span>'
