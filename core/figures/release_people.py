"""People before and after a release: who moved where, who is pinned down, and what these have in common."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from core.estimates import Estimate
from core.figures.drawing import Drawing, Palette, short
from core.figures.framed import Framed, framed, plain_name
from core.release import ReleasedPeople, ReleaseStudy
from core.release.pinned import SETTLED, UNSURE
from core.wording import percent

_HEIGHT = 344
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 24, 46
_EDGE = 7.0  # log-odds at the ends of the axes: 0.09% and 99.91%
_TICKS = (0.005, 0.05, 0.5, 0.95, 0.995)
_CELLS = 140  # of the grid on which the others are drawn once

_ROW = 46  # pixels
_WORDS = 176


def draw_pinned(people: ReleasedPeople, study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw everybody's probability before and after; who is pinned stands in a shaded corner.

    Filled dots are pinned rightly, crosses wrongly. Everybody else is drawn once where many are at one place.
    """
    before, after = _odds(people.posterior), _odds(study.probability)
    sketch = framed(
        palette,
        height=_HEIGHT,
        x=(-_EDGE, _EDGE),
        y=(-_EDGE, _EDGE),
        left=_LEFT,
        right=_RIGHT,
        top=_TOP,
        bottom=_BOTTOM,
    )
    _axes(sketch, palette)
    _zones(sketch, palette, people, study)
    sketch.segment((-_EDGE, _EDGE), (-_EDGE, _EDGE), {"color": palette.chance, "width": 1.5, "dash": "dot"})
    others = np.ones(people.n, dtype=bool)
    others[study.pinned.people] = False
    x, y = _once(before[others], after[others])
    sketch.markers(x, y, size=4, color=palette.before, opacity=0.55, name="others")
    right = study.pinned.said == people.sensitive[study.pinned.people]
    for hit, symbol, color in ((True, "circle", palette.leak), (False, "x", palette.ink)):
        some = study.pinned.people[right == hit]
        sketch.markers(
            before[some].tolist(),
            after[some].tolist(),
            size=10,
            color=color,
            symbol=symbol,
            rim=(palette.background, 1),
            told=[
                f"{percent(float(people.posterior[i]))} before, {_certain(study.probability[i])} after" for i in some
            ],
            name="right" if hit else "wrong",
            cliponaxis=False,
        )
    group, wrong = plain_name(people.group), int((~right).sum())
    alt = (
        f"Each person's probability of being one of {group}, before (across) and after (up) the release; on the "
        f"diagonal nothing was learned. {study.pinned.count} of {people.n:,} people are pinned down, "
        f"{study.pinned.count - wrong} rightly and {wrong} wrongly."
    )
    return Drawing.of(sketch, alt, _pinned_rows(people, study))


def _odds(probability: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return log-odds, kept inside the axes."""
    edge = 1.0 / (1.0 + math.exp(_EDGE - 0.15))
    inside = np.clip(probability, edge, 1.0 - edge)
    return np.log(inside) - np.log1p(-inside)


def _log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def _axes(sketch: Framed, palette: Palette) -> None:
    marks = [_log_odds(tick) for tick in _TICKS]
    sketch.xaxis(tickvals=marks, ticktext=[f"{100 * tick:g}%" for tick in _TICKS])
    for tick, mark in zip(_TICKS, marks, strict=True):
        sketch.segment((0, 1), (mark, mark), {"color": palette.grid, "width": 1}, xref="paper", layer="below")
        place = ("paper", "y")
        sketch.remark(
            f"{100 * tick:g}%",
            palette.grey,
            x=0,
            y=mark,
            refs=place,
            shift=(-6, 0),
            anchor=("right", "middle"),
            size=12,
        )
    sketch.axis_title("before the release", palette)
    sketch.above("after", palette, x=-_EDGE)


def _zones(sketch: Framed, palette: Palette, people: ReleasedPeople, study: ReleaseStudy) -> None:
    """Shade where the pinned stand, and say how many stand there."""
    left, right = (_log_odds(end) for end in UNSURE)
    low, high = (_log_odds(end) for end in SETTLED)
    said = study.pinned.said
    for y, anchor, words, number in (
        ((high, _EDGE), "bottom", people.group, int((said == 1).sum())),
        ((-_EDGE, low), "top", people.other, int((said == 0).sum())),
    ):
        sketch.shade((left, right), y, palette.leak, opacity=0.16)
        edge = y[0] if anchor == "bottom" else y[1]
        told = f"pinned down as {short(words)}: <b>{number}</b>"
        sketch.remark(
            told,
            palette.leak if number else palette.grey,
            x=0,
            y=edge,
            shift=(0, -4 if anchor == "bottom" else 4),
            anchor=("center", "top" if anchor == "bottom" else "bottom"),
            size=12,
            fill=palette.background,
        )


def _once(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """Return points of a grid, each once."""
    scale = _CELLS / (2 * _EDGE)
    cells = np.unique(np.rint(np.column_stack([x, y]) * scale).astype(np.int64), axis=0) / scale
    return cells[:, 0].tolist(), cells[:, 1].tolist()


def _certain(probability: float) -> str:
    """Write a probability next to 0 or 1 with the decimals that tell it from them."""
    for places in (1, 2, 3):
        if 0.0 < round(100 * probability, places) < 100.0:
            return f"{100 * probability:.{places}f}%"
    return "under 0.001%" if probability < 0.5 else "over 99.999%"


def _pinned_rows(people: ReleasedPeople, study: ReleaseStudy) -> dict[str, Any]:
    found = study.pinned
    names = np.array([people.other, people.group])
    return {
        "row": people.rows[found.people],
        "before": found.before,
        "after": found.after,
        "pinned down as": names[found.said],
        "in truth": names[people.sensitive[found.people]],
    }


def draw_recognised(study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw the share named rightly before and after, plain and balanced, with the majority guess as a dot."""
    found = study.measured
    rows = (
        ("Named rightly", "of all people", found.accuracy_before, found.accuracy_after, found.majority),
        ("Balanced", "mean of both groups", found.balanced_before, found.balanced_after, found.majority_balanced),
    )
    every = [v for _, _, *three in rows for e in three for v in (e.low, e.high) if not math.isnan(v)]
    low = 100 * min(0.5, *every) - 5
    sketch = framed(
        palette, height=_ROW * 2 * len(rows) + 40, x=(low, 101), y=(len(rows) - 0.5, -0.5), left=126, right=20
    )
    marks = [mark for mark in range(0, 101, 10) if mark >= low]
    sketch.xaxis(tickvals=marks, ticktext=[f"{mark}%" for mark in marks])
    for y, (name, words, before, after, majority) in enumerate(rows):
        side = ("paper", "y")
        sketch.remark(f"<b>{name}</b>", palette.ink, x=0, y=y, refs=side, shift=(-122, 9))
        sketch.remark(words, palette.grey, x=0, y=y, refs=side, shift=(-122, -9), size=12)
        for estimate, color, symbol, up, told in (
            (before, palette.before, "circle-open", -0.16, "before"),
            (after, palette.leak, "circle", 0.16, "after"),
        ):
            _rate(sketch, estimate, y + up, color, symbol)
            label = f"{told} <b>{percent(estimate)}</b>"
            place = -1 if up < 0 else 1
            sketch.remark(
                label,
                color,
                x=100 * estimate.value,
                y=y + up,
                shift=(0, -13 * place),
                anchor=("center", "middle"),
                size=12,
            )
        sketch.markers([100 * majority.value], [y], size=7, color=palette.chance, name="majority")
        sketch.remark(
            f"majority {percent(majority)}",
            palette.chance,
            x=100 * majority.value,
            y=y,
            shift=(-8 if majority.value > 0.62 else 8, 0),
            anchor=("right" if majority.value > 0.62 else "left", "middle"),
            size=12,
        )
    table = [
        {"measure": f"{name} {words}", "of": told, "value": e.value, "low": e.low, "high": e.high}
        for name, words, before, after, majority in rows
        for told, e in (("before", before), ("after", after), ("majority guess", majority))
    ]
    told = "; ".join(f"{n}: {percent(b)} before, {percent(a)} after, majority {percent(m)}" for n, _, b, a, m in rows)
    return Drawing.of(sketch, f"People named rightly before and after the release. {told}.", table)


def _rate(sketch: Framed, estimate: Estimate, y: float, color: str, symbol: str) -> None:
    if not math.isnan(estimate.low):
        ends = [100 * estimate.low, 100 * estimate.high]
        sketch.scatter(x=ends, y=[y, y], mode="lines", line={"color": color, "width": 3}, hoverinfo="skip")
    sketch.markers([100 * estimate.value], [y], size=11, color=color, symbol=symbol, rim=(color, 2))


def draw_in_common(study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw the column values that the pinned have more often than the rest: both shares with their intervals."""
    values = study.in_common.values
    sketch = framed(
        palette,
        height=_ROW * max(len(values), 2) + 44,
        x=(0, 104),
        y=(max(len(values), 2) - 0.5, -0.6),
        left=_WORDS,
        right=20,
    )
    sketch.xaxis(tickvals=[0, 25, 50, 75, 100], ticktext=["0%", "25%", "50%", "75%", "100%"])
    for y, value in enumerate(values):
        side = ("paper", "y")
        sketch.remark(f"<b>{short(value.value, 26)}</b>", palette.ink, x=0, y=y, refs=side, shift=(4 - _WORDS, 8))
        sketch.remark(short(value.column, 22), palette.grey, x=0, y=y, refs=side, shift=(4 - _WORDS, -9), size=12)
        _rate(sketch, value.among_rest, y + 0.13, palette.before, "circle-open")
        _rate(sketch, value.among_pinned, y - 0.13, palette.leak, "circle")
        for estimate, color, up in ((value.among_pinned, palette.leak, 9), (value.among_rest, palette.before, -11)):
            right = estimate.value > 0.8
            edge = estimate.low if right else estimate.high
            sketch.remark(
                f"<b>{percent(estimate)}</b>",
                color,
                x=100 * edge,
                y=y,
                shift=(-6 if right else 6, up),
                anchor=("right" if right else "left", "middle"),
                size=12,
            )
    if not values:
        sketch.in_the_middle("no value is clearly more frequent among them", palette)
    columns = ("column", "value", "among pinned", "pinned low", "pinned high", "among the rest")
    pinned = ((v, v.among_pinned) for v in values)
    table = [(v.column, v.value, among.value, among.low, among.high, v.among_rest.value) for v, among in pinned]
    told = "; ".join(
        f"{plain_name(v.column)} {plain_name(v.value)}: {percent(v.among_pinned)} of the pinned, "
        f"{percent(v.among_rest)} of the rest"
        for v in values
    )
    return Drawing.of(sketch, f"What the pinned have in common. {told or 'Nothing clear'}.", table, columns)
