"""Colours by role: what leaks, what was before, imputation, baseline, groups.

Charts name roles, and a palette paints them: "leak"; "leak 45", laid over the background with an opacity of 45%; or
"leak/18", which lets through what is behind it. No role is shown by colour alone: each has its own dash or marker as
well. Text in a role's colour has a contrast of at least 4.5:1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

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
            return {
                key: (self._colored if key in _COLORED else self.painted)(value)
                for key, value in part.items()
            }
        if isinstance(part, list) and part and isinstance(part[0], dict):
            return [self.painted(item) for item in part]
        return part

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
    "remover": ("#B0307A", "#F08CC0"),
    "tree": ("#7A4B2A", "#CFA07C"),
    "feasible": ("#ECF6EF", "#18271F"),
    "shade": ("#CB7A44", "#8B5A3C"),
}
LIGHT, DARK = (
    Palette(**{role: colors[theme] for role, colors in _COLORS.items()}) for theme in (0, 1)
)


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
