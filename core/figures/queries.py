"""The chart of what attackers recover by the number of answers to bias queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from core.estimates import Estimate
from core.figures.drawing import Drawing, Palette, Sketch, band, bare, line, spread, value_axis
from core.queries import Leak
from core.wording import percent

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
    step = next((s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if last / s <= 7), 1000)
    marks = list(range(0, last + 1, step))
    sketch.xaxis(tickvals=marks, ticktext=[f"{mark:,}" for mark in marks])
    sketch.note(asked=now.m)
    lines = [100 * prior.value, *([] if limit is None else [100 * limit[1]])]
    crowded = [*lines, *(line - 16 * _PIXEL for line in lines)]  # a line, and the label below it
    value_axis(sketch, palette, (60, 80, 100), last, crowded=crowded, room=13 * _PIXEL)
    for decoder, color in (("strongest", palette.strongest), ("published", palette.before)):
        leaks = _sorted(exact.get(decoder, ()))
        if len(leaks) > 1:
            _faint(sketch, leaks, color)
            if decoder == "strongest" and _apart(leaks, noisy.get("strongest", ())):
                _name_faint(sketch, leaks, palette, last)
    published, strongest = _sorted(noisy.get("published", ())), _sorted(noisy.get("strongest", ()))
    if len(published) > 1:
        line(sketch, [k.m for k in published], _percents(published), palette.before, width=1.5, hover=_HOVER)
    without = _sorted(noisy.get("without_prior", ()))
    if len(without) > 1:
        xs, ys = [k.m for k in without], _percents(without)
        line(sketch, xs, ys, palette.leak, width=1.5, dash="dash", hover=_HOVER)
    if len(strongest) > 1:
        xs = [k.m for k in strongest]
        low, high = ([100 * getattr(k.leakage, side) for k in strongest] for side in ("low", "high"))
        if not any(math.isnan(value) for value in low):
            band(sketch, xs, low, high, palette.leak)
        line(sketch, xs, _percents(strongest), palette.leak, width=3, hover=_HOVER)
    _levels(sketch, palette, last, prior, limit)
    _labels(sketch, palette, last, now, (strongest, without, published), prior, limit)
    _marker(sketch, palette, now)
    return Drawing.of(sketch, _leak_alt(now, prior, limit, attribute), _leak_rows({"noisy": noisy, "exact": exact}))


_HOVER = "%{x} answers: %{y:.1f}%"


def _sorted(leaks: Sequence[Leak]) -> list[Leak]:
    return sorted(leaks, key=lambda leak: leak.m)


def _percents(leaks: Sequence[Leak]) -> list[float | None]:
    return [100 * leak.leakage.value for leak in leaks]


def _faint(sketch: Sketch, leaks: Sequence[Leak], color: str) -> None:
    sketch.scatter(
        x=[k.m for k in leaks],
        y=_percents(leaks),
        mode="lines",
        line={"color": color, "width": 1.5},
        opacity=0.45,
        hoverinfo="skip",
    )


def _apart(exact: Sequence[Leak], noisy: Sequence[Leak]) -> bool:
    """Tell whether noise changes the curve enough for the two to be told apart."""
    by_m = {leak.m: leak.leakage.value for leak in noisy}
    return any(abs(leak.leakage.value - by_m[leak.m]) > 0.05 for leak in exact if leak.m in by_m)


def _name_faint(sketch: Sketch, leaks: Sequence[Leak], palette: Palette, last: int) -> None:
    """Say what the faint lines are, left of the upper one where it is well above the rest."""
    risen = next((k.m for k in leaks if k.leakage.value > 0.88), last)
    for i, words in enumerate(("same attackers,", "answers without noise")):
        sketch.write(max(risen - 0.02 * last, 0.3 * last), 92 - 3.4 * i, words, palette.grey, "middle left", 12)


def _levels(sketch: Sketch, palette: Palette, last: int, prior: Estimate, limit: tuple[str, float] | None) -> None:
    """Draw the horizontal lines: random guess, features alone, guarantee."""
    sketch.segment((0, last), (50, 50), {"color": palette.chance, "width": 1.5, "dash": "dot"})
    level = 100 * prior.value
    sketch.segment((0, last), (level, level), {"color": palette.prior, "width": 2, "dash": "dash"})
    if limit is not None:
        bound = 100 * limit[1]
        sketch.segment((0, last), (bound, bound), {"color": palette.ink, "width": 1.5, "dash": "longdash"})


def _labels(
    sketch: Sketch,
    palette: Palette,
    last: int,
    now: Leak,
    curves: tuple[Sequence[Leak], Sequence[Leak], Sequence[Leak]],
    prior: Estimate,
    limit: tuple[str, float] | None,
) -> None:
    """Write the labels at the end of the lines where there is room: right of the slider's half, else left."""
    right = now.m <= last / 2
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
    heights = spread([w[0] for w in wanted], 16 * _PIXEL, _LOW + 8 * _PIXEL, _HIGH - 6 * _PIXEL)
    for height, (_, words, color) in zip(heights, wanted, strict=True):
        sketch.write(at, height, words, color, place)


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


def _marker(sketch: Sketch, palette: Palette, now: Leak) -> None:
    y = 100 * now.leakage.value
    sketch.segment((now.m, now.m), (_LOW, y), {"color": palette.ink, "width": 1})
    sketch.scatter(
        x=[now.m],
        y=[y],
        mode="markers",
        cliponaxis=False,
        marker={"size": 12, "color": palette.leak, "line": {"color": palette.background, "width": 2}},
        hovertemplate=_HOVER + "<extra></extra>",
    )


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
            "low": leak.leakage.low,
            "high": leak.leakage.high,
            "lowest repeat": leak.lowest,
            "repeats with everybody recovered": leak.complete,
            "repeats": leak.leakage.n,
        }
        for answered, by_decoder in curves.items()
        for decoder, leaks in by_decoder.items()
        for leak in _sorted(leaks)
    ]
