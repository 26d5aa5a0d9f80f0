"""The look of charts: colours by role (what leaks, what was before, imputation, baseline, groups), and words.

Charts name roles, and a palette paints them: "leak"; "leak 45", laid over the background with an opacity of 45%; or
"leak/18", which lets through what is behind it. No role is shown by colour alone: each has its own dash or marker as
well. Text in a role's colour has a contrast of at least 4.5:1.

Of words: how wide they are, how names are shortened, where labels stand so that none collide.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import Any, NamedTuple

# Colours --------------------------------------------------------------------------------------------------------------

_COLORED = {
    "color",
    "fillcolor",
    "bgcolor",
    "tickcolor",
    "colorscale",
    "paper_bgcolor",
    "plot_bgcolor",
}
"""Where a figure has colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of one theme, by role."""

    ink: str
    background: str
    grid: str
    leak: str
    before: str
    strongest: str
    prior: str
    chance: str
    first: str
    second: str
    muted: str
    grey: str
    fail: str
    inconclusive: str
    passing: str
    remover: str
    tree: str
    """The correlation remover and the private tree; other fair learning methods have roles above."""
    feasible: str
    """Behind what is within all limits."""
    shade: str
    """Where the scale of a map ends: as strong as keeps numbers in ink readable."""

    @property
    def pale(self) -> str:
        """Behind rows and parts that are set off."""
        return mixed(self.grid, self.background, 0.5)

    def color(self, name: str) -> str:
        """Return the colour of a role, mixed or clear as its name says; any other colour as it is."""
        role, clear, share = name.partition("/")
        role, solid, weight = role.partition(" ")
        base = str(getattr(self, role, role))
        if clear:
            return f"rgba({','.join(map(str, _channels(base)))},{int(share) / 100:g})"
        if solid:
            return mixed(base, self.background, int(weight) / 100)
        return base

    def painted(self, part: Any) -> Any:
        """Return parts of a figure with the colours of all roles in them."""
        if isinstance(part, dict):
            return {key: self._painted(key, value) for key, value in part.items()}
        if isinstance(part, list) and part and isinstance(part[0], dict):
            return [self.painted(item) for item in part]
        return part

    def _painted(self, key: str, value: Any) -> Any:
        """Return an entry of a figure, a colour where its key says so."""
        if key in _COLORED:
            return self._colored(value)
        return self.painted(value)

    def _colored(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._colored(item) for item in value]
        if isinstance(value, str):
            return self.color(value)
        return value


_COLORS = {
    "ink": ("#22262D", "#E9E7E2"),
    "background": ("#FEFDFB", "#14161B"),
    "grid": ("#E9E6DF", "#2A2E36"),
    "leak": ("#B84A00", "#F5965A"),
    "before": ("#6A7585", "#8C9AAE"),
    "strongest": ("#6A3D9A", "#BDA2EC"),
    "prior": ("#00594F", "#86EBD8"),
    "chance": ("#5B626D", "#A9B0BA"),
    "first": ("#1F5FA8", "#7FB2F0"),
    "second": ("#946500", "#E3B34C"),
    "muted": ("#A3A7AE", "#6C7480"),
    "grey": ("#5B626D", "#A9B0BA"),
    "fail": ("#A01A13", "#F2837B"),
    "inconclusive": ("#8F6400", "#E3B34C"),
    "passing": ("#1B7F4B", "#5CC48D"),
    "remover": ("#B0307A", "#F08CC0"),
    "tree": ("#7A4B2A", "#CFA07C"),
    "feasible": ("#ECF6EF", "#18271F"),
    "shade": ("#CB7A44", "#8B5A3C"),
}
LIGHT = Palette(**{role: light for role, (light, _) in _COLORS.items()})
DARK = Palette(**{role: dark for role, (_, dark) in _COLORS.items()})


class GroupStyle(NamedTuple):
    """How one of two groups is drawn."""

    color: str
    symbol: str


def group_style(code: int) -> GroupStyle:
    """Return how one of two groups is drawn on every chart, by its code in the dataset: 1, the first group, or 0."""
    if code == 1:
        return GroupStyle("first", "circle")
    return GroupStyle("second", "diamond")


def _channels(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def mixed(color: str, background: str, share: float) -> str:
    """Return a colour laid over a background with this opacity."""
    pairs = zip(_channels(color), _channels(background), strict=True)
    return "#" + "".join(
        f"{round(share * over + (1 - share) * under):02X}" for over, under in pairs
    )


# Words ----------------------------------------------------------------------------------------------------------------

NARROW = 360
"""Pixels of a chart on the narrowest screen; what fits there fits everywhere."""

LINE = 1.3
"""Height of a line of words, in font sizes."""

_WIDTHS = {
    0.20: " ",
    0.27: "ijlI.,:;'|!()[]·",
    0.34: "frt-/",
    0.45: "csvxyz?*ℓ₁²’“”",
    0.50: 'aegku0123456789+<>=−–≤≥≈$_~^"Jεθαδβτ',
    0.55: "bdhnopqAEFLSTVXYZ`",
    0.62: "BCDGHKNOPQRU&→←●◆■▲✖◇",
    0.74: "wMW",
    0.83: "m%",
    0.95: "…@",
}
_LETTER = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_SCRIPT_WIDTHS = {
    "⺀": 1.0,
    "Ͱ": 0.85,
    "": 0.62,
}  # first letter of a script -> width of its letters, in font sizes
_FIRST_FOREIGN = "ɐ"  # the first letter of other fonts
_BOLD = 1.05


def plain(text: str) -> str:
    """Return words without their markup."""
    return unescape(re.sub(r"<[^>]+>", "", text.replace("<br>", " ")))


def width(text: str, size: float = 13) -> float:
    """Return the pixels that words take in the font of the charts, a little more rather than less."""
    bold = _BOLD if "<b>" in text else 1.0
    longest = max(sum(map(_letter_width, plain(line))) for line in text.split("<br>"))
    return bold * size * longest


def _letter_width(letter: str) -> float:
    """Return the width of a letter in font sizes; of one not listed that of the widest of its script or nearly so."""
    if letter in _LETTER:
        return _LETTER[letter]
    return next(wide for first, wide in _SCRIPT_WIDTHS.items() if letter >= first)


def foreign(text: str) -> bool:
    """Whether some letters come from other fonts, where they may be higher than a line."""
    return any(letter >= _FIRST_FOREIGN and letter.isalpha() for letter in text)


def fit(name: str, pixels: float, size: float = 13) -> str:
    """Return a name as harmless text on one line that fits, shortened in its middle where it must be."""
    flat = " ".join(name.split())
    shortened = flat
    n_letters = len(flat)
    while n_letters > 1 and _BOLD * width(escape(shortened, quote=False), size) > pixels:
        n_letters -= 1
        shortened = f"{flat[: n_letters // 2]}…{flat[len(flat) - (n_letters - 1) // 2 :]}"
    return escape(shortened, quote=False)  # plotly would not read &quot; back


def plain_name(name: str, longest: int = 40) -> str:
    """Return a name from the user's table for a sentence: one line of at most so many letters, not escaped."""
    flat = " ".join(name.split())
    if len(flat) <= longest:
        return flat
    return flat[: longest - 1] + "…"


def short(name: str, longest: int = 18) -> str:
    """Return a name from the user's table as harmless text on one line of at most so many letters."""
    return escape(plain_name(name, longest), quote=False)


def lines_of(sentence: str, *, pixels: float, size: float = 13, most: int = 2) -> str:
    """Return a sentence in harmless lines that fit; what is beyond `most` lines is cut."""
    letters = len(sentence) + 1
    while True:
        lines = textwrap.wrap(
            sentence, width=letters, max_lines=most, placeholder="…", break_on_hyphens=False
        )
        joined = "<br>".join(escape(line, quote=False) for line in lines)
        if letters <= 2 or width(joined, size) * _BOLD <= pixels:
            return joined
        letters = min(letters - 1, max(map(len, lines)) - 1)


def separate_labels(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move label positions apart until neighbours are `gap` apart, keeping their order and staying in [low, high]."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = [min(max(positions[i], low), high) for i in order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    overflow = max(0.0, placed[-1] - high) if placed else 0.0
    if overflow:
        placed[-1] -= overflow
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    result = [0.0] * len(positions)
    for rank, i in enumerate(order):
        result[i] = placed[rank]
    return result


def visible_labels(values: Sequence[float], first: Sequence[bool], room: int) -> list[int]:
    """Return which of several labels stay where there is room for so many.

    Those that come `first` stay, then the highest, the lowest, and the others in their order.
    """
    if len(values) <= room:
        return list(range(len(values)))
    ranked = sorted(range(len(values)), key=lambda i: values[i])
    order = (
        [i for i, is_first in enumerate(first) if is_first]
        + [ranked[-1], ranked[0]]
        + list(range(len(values)))
    )
    return sorted(list(dict.fromkeys(order))[:room])


_TICK = 12  # pixels of a mark's letters


def visible_ticks(places: Sequence[float], labels: Sequence[str], *, pixels: float) -> list[int]:
    """Return which marks of an axis can be named on the narrowest screen: the ends first, then from the left.

    `places` are shares of the axis' length, which is `pixels` there.
    """
    chosen: list[int] = []
    last = len(places) - 1
    for i in sorted(range(len(places)), key=lambda i: (i not in (0, last), i)):
        half = width(labels[i], _TICK) / 2
        room = (
            half + width(labels[j], _TICK) / 2 + 6 - pixels * abs(places[i] - places[j])
            for j in chosen
        )
        if all(missing <= 0 for missing in room):
            chosen.append(i)
    return sorted(chosen)


def measured(values: Sequence[float]) -> list[float]:
    """Return the values that were measured."""
    return [value for value in values if not math.isnan(value)]
