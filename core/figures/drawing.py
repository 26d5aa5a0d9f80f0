"""What all charts share: colours by role, a bare layout, labels instead of legends.

A colour is a role (what leaks, what was before, the strongest attacker, the control), and no role is told by colour
alone: each has its own dash or marker as well. Text in a role's colour has a contrast of at least 4.5:1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

if TYPE_CHECKING:
    import pandas

__all__ = ["DARK", "LIGHT", "Drawing", "Palette", "band", "bare", "line", "spread", "text", "value_axis"]

_FONT = "Source Sans, Source Sans Pro, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of one theme, by role."""

    ink: str
    background: str
    grid: str
    leak: str
    before: str
    strongest: str
    chance: str
    first: str
    second: str
    muted: str
    grey: str


LIGHT = Palette(
    ink="#22262D",
    background="#FEFDFB",
    grid="#E9E6DF",
    leak="#B84A00",
    before="#6A7585",
    strongest="#6A3D9A",
    chance="#5B626D",
    first="#1F5FA8",
    second="#946500",
    muted="#A3A7AE",
    grey="#5B626D",
)
DARK = Palette(
    ink="#E9E7E2",
    background="#14161B",
    grid="#2A2E36",
    leak="#F5965A",
    before="#8C9AAE",
    strongest="#BDA2EC",
    chance="#A9B0BA",
    first="#7FB2F0",
    second="#E3B34C",
    muted="#6C7480",
    grey="#A9B0BA",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A chart with what stands beside it.

    Attributes
    ----------
    figure : plotly Figure
    alt : str
        The chart in one or two sentences, for those who do not see it.
    table : pandas.DataFrame
        The numbers drawn.
    """

    figure: go.Figure
    alt: str
    table: pandas.DataFrame


def bare(palette: Palette, *, height: int, x: tuple[float, float], y: tuple[float, float]) -> go.Figure:
    """Return an empty figure with fixed ranges, no legend and no decoration."""
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 9, "r": 14, "t": 8, "b": 30},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": _FONT, "size": 13, "color": palette.ink},
        showlegend=False,
        hovermode="closest",
        hoverlabel={"bgcolor": palette.background, "font": {"color": palette.ink, "family": _FONT}},
        dragmode=False,
        barmode="overlay",
    )
    figure.update_xaxes(
        range=list(x),
        fixedrange=True,
        showgrid=False,
        zeroline=False,
        linecolor=palette.grey,
        linewidth=1,
        ticks="outside",
        ticklen=4,
        tickcolor=palette.grey,
        tickfont={"color": palette.grey, "size": 12},
    )
    figure.update_yaxes(range=list(y), fixedrange=True, showgrid=False, zeroline=False, showticklabels=False)
    return figure


def value_axis(
    figure: go.Figure, palette: Palette, ticks: Sequence[float], *, crowded: Sequence[float] = (), room: float = 0.0
) -> None:
    """Draw horizontal grid lines with their percentage at the right end, above the line.

    A percentage is left out where a reference line of the chart (`crowded`) is within `room` of it.
    """
    for tick in ticks:
        figure.add_hline(y=tick, line={"color": palette.grid, "width": 1}, layer="below")
        if any(abs(tick - line) < room for line in crowded):
            continue
        figure.add_annotation(
            x=1,
            xref="paper",
            y=tick,
            text=f"{tick:g}%",
            showarrow=False,
            xanchor="right",
            yanchor="bottom",
            font={"color": palette.grey, "size": 12},
        )


def text(figure: go.Figure, x: float, y: float, words: str, color: str, **more: Any) -> None:
    """Write a label into the chart."""
    settings: dict[str, Any] = {"showarrow": False, "xanchor": "right", "yanchor": "middle", "align": "left"} | more
    figure.add_annotation(x=x, y=y, text=words, font={"color": color, "size": 13}, **settings)


def line(
    figure: go.Figure,
    x: Sequence[float],
    y: Sequence[float | None],
    color: str,
    *,
    width: float = 2,
    dash: str = "solid",
    name: str = "",
    hover: str = "",
) -> None:
    """Draw a line without markers."""
    figure.add_trace(
        go.Scatter(
            x=list(x),
            y=list(y),
            mode="lines",
            name=name,
            line={"color": color, "width": width, "dash": dash},
            hovertemplate=hover + "<extra></extra>" if hover else None,
            hoverinfo=None if hover else "skip",
        )
    )


def band(
    figure: go.Figure,
    x: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    color: str,
    *,
    opacity: float = 0.18,
) -> None:
    """Shade an interval, without an outline."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    figure.add_trace(
        go.Scatter(
            x=[*x, *reversed(list(x))],
            y=[*high, *reversed(list(low))],
            fill="toself",
            fillcolor=f"rgba({red},{green},{blue},{opacity})",
            line={"width": 0},
            hoverinfo="skip",
            mode="lines",
        )
    )


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move label positions apart until neighbours are `gap` apart, keeping their order and staying in [low, high]."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [min(max(wanted[i], low), high) for i in order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    overflow = max(0.0, placed[-1] - high) if placed else 0.0
    if overflow:
        placed[-1] -= overflow
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    result = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        result[i] = placed[rank]
    return result
