"""Charts of a model card: bits given away, people before and after, its precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.charts.drawing import (
    Axis,
    Drawing,
    Palette,
    Sketch,
    bare,
    limits,
    mixed,
    percents,
    plain_name,
    rounded,
    short,
)
from core.charts.lines import Curve, draw_lines, level
from core.charts.rows import Mark, Row, draw_rows, rate, spans
from core.estimates import percent
from core.model_card import Advice, ReleasedPeople, ReleaseStudy, Tried
from core.model_card.pinned_people import SETTLED, UNSURE

_MOST_SHARE = 1.25
"""End of the axis of shares; a share beyond it is drawn there and told."""


def bits_text(bits: float) -> str:
    """Write a number of bits with the digits it deserves, and a true minus."""
    if math.isnan(bits):
        return "n/a"
    text = f"{bits:,.0f}" if abs(bits) >= 99.95 else f"{bits:.1f}"
    return ("0.0" if text == "-0.0" else text).replace("-", "−")


def draw_release_bits(
    studies: Sequence[ReleaseStudy], now: ReleaseStudy, palette: Palette, *, counts: Sequence[int] = ()
) -> Drawing:
    """Draw the bits measured and those the meter predicts, by the number of models.

    Parameters
    ----------
    studies : sequence of ReleaseStudy
        The same release with more and more models, in this order; they stand at equal distances.
    now : ReleaseStudy
        Where the slider stands: one of them.
    counts : sequence of int
        All numbers of models the axis has; those of the studies when left out.
    """
    x, xs = _models(studies, counts), range(len(studies))
    bits, predicted = now.measured.bits, now.prediction.bits.value
    curves = [
        Curve(
            x=xs,
            y=[study.prediction.bits.value for study in studies],
            color=palette.before,
            dash="dash",
            words=f"<b>{bits_text(predicted)}</b> predicted",
            now=predicted,
        ),
        Curve.of(
            xs,
            [study.measured.bits for study in studies],
            scale=1.0,
            color=palette.leak,
            width=3,
            words=f"<b>{bits_text(bits.value)}</b> measured",
            now=bits.value,
        ),
    ]
    y = rounded([0.0, *(v for curve in curves for v in curve.y if v is not None)], "bits", words=_mark_text)
    sketch = draw_lines(palette, curves, x=x, y=y, at=_place(studies, now), head=_head(now))
    alt = (
        f"Bits given away by the number of models, from {studies[0].n_models} to {studies[-1].n_models}. At "
        f"{now.n_models}: measured {bits_text(bits.value)} ({bits_text(bits.low)} to {bits_text(bits.high)}), "
        f"predicted {bits_text(predicted)}."
    )
    return Drawing.of(sketch, alt, _study_rows(studies))


def draw_fullness(
    studies: Sequence[ReleaseStudy], now: ReleaseStudy, palette: Palette, *, counts: Sequence[int] = ()
) -> Drawing:
    """Draw the joint bits as a share of what there was to know, by the number of models, with the line at 1."""
    share, shares = now.meter.share, [study.meter.share for study in studies]
    marks = (0, 0.25, 0.5, 0.75, 1)
    y = Axis(ends=(0, _MOST_SHARE), marks=marks, words=[f"{mark:g}" for mark in marks], title="share of the bits")
    x = _models(studies, counts)
    curve = Curve(
        x=range(len(studies)),
        y=[min(value, _MOST_SHARE) for value in shares],
        color=palette.leak,
        width=3,
        words=f"<b>{share:.2f}</b>" + (" ▴" if share > _MOST_SHARE else "") + " of the bits",
        now=min(share, _MOST_SHARE),
    )
    limit = level(x, 1.0, palette.fail, "<b>1</b> all determined", dash="solid")
    sketch = draw_lines(palette, [limit, curve], x=x, y=y, at=_place(studies, now), head=_head(now))
    alt = (
        f"What the numbers say about everybody together, as a share of what there was to know, by the number of "
        f"models. At {now.n_models}: {bits_text(now.meter.joint_bits)} of {bits_text(now.meter.prior_bits)} bits, "
        f"a share of {share:.2f}; from 1 on, as a rule, everybody is determined."
    )
    return Drawing.of(sketch, alt, _study_rows(studies))


def _models(studies: Sequence[ReleaseStudy], counts: Sequence[int]) -> Axis:
    """Return the axis of numbers of models, which stand at equal distances."""
    numbers = counts or [study.n_models for study in studies]
    words = [f"{number:,}" for number in numbers]
    return Axis(ends=(0, max(len(numbers) - 1, 1)), marks=range(len(numbers)), words=words, title="models")


def _place(studies: Sequence[ReleaseStudy], now: ReleaseStudy) -> int:
    return next(i for i, study in enumerate(studies) if study.n_models == now.n_models)


def _head(now: ReleaseStudy) -> str:
    return f"{now.n_models:,} model{'' if now.n_models == 1 else 's'}"


def _mark_text(bits: float) -> str:
    return bits_text(bits).removesuffix(".0")


def _study_rows(studies: Sequence[ReleaseStudy]) -> list[dict[str, Any]]:
    return [
        {
            "models": study.n_models,
            "numbers": study.n_numbers,
            "measured bits": study.measured.bits.value,
            **limits(study.measured.bits),
            "predicted bits": study.prediction.bits.value,
            "low by chance": study.prediction.low,
            "high by chance": study.prediction.high,
            "joint bits": study.meter.joint_bits,
            "bits to know": study.meter.prior_bits,
            "share": study.meter.share,
            "person bits": study.meter.person_bits,
            "pinned": study.pinned.count,
        }
        for study in studies
    ]


_EDGE = 7.0  # log-odds at the ends of the axes: 0.09% and 99.91%
_TICKS = (0.005, 0.05, 0.5, 0.95, 0.995)
_CELLS = 140  # of the grid on which the others are drawn once


def draw_pinned(people: ReleasedPeople, study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw everybody's probability before and after; who is pinned stands in a shaded corner.

    Filled dots are pinned rightly, crosses wrongly. Everybody else is drawn once where many are at one place.
    """
    before, after = _odds(people.posterior), _odds(study.probability)
    words = [f"{100 * tick:g}%" for tick in _TICKS]
    across, up = (
        Axis(ends=(-_EDGE, _EDGE), marks=[_log_odds(tick) for tick in _TICKS], words=words, title=title)
        for title in ("before the release", "after")
    )
    sketch = bare(palette, height=344, x=across.ends, y=up.ends, margins=(46, 14, 32, 48))
    sketch.axes(across, up)
    _zones(sketch, people, study)
    sketch.segment((-_EDGE, _EDGE), (-_EDGE, _EDGE), palette.chance, width=1.5, dash="dot")
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


def _zones(sketch: Sketch, people: ReleasedPeople, study: ReleaseStudy) -> None:
    """Shade where the pinned stand, and say how many stand there."""
    palette = sketch.palette
    left, right = (_log_odds(end) for end in UNSURE)
    low, high = (_log_odds(end) for end in SETTLED)
    said = study.pinned.said
    for y, edge, shift, side, words, number in (
        ((high, _EDGE), high, -4, "top", people.group, int((said == 1).sum())),
        ((-_EDGE, low), low, 4, "bottom", people.other, int((said == 0).sum())),
    ):
        sketch.shade((left, right), y, palette.leak, opacity=0.16)
        told, color = f"pinned down as {short(words)}: <b>{number}</b>", palette.leak if number else palette.grey
        look: dict[str, Any] = {"anchor": ("center", side), "size": 12, "fill": palette.background}
        sketch.remark(told, color, x=0, y=edge, shift=(0, shift), **look)


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
    lines = [
        Row(
            name=f"<b>{name}</b>",
            below=words,
            value=f"{percent(before)} → <b>{percent(after)}</b>",
            marks=[
                rate(majority, palette.chance, "diamond-open", name="majority guess"),
                rate(before, palette.before, "circle-open", up=-7, name="before"),
                rate(after, palette.leak, up=7, name="after"),
            ],
        )
        for name, words, before, after, majority in rows
    ]
    axis = percents(spans(lines), "named rightly (%), ◇ majority guess")
    sketch = draw_rows(palette, lines, axis, heads=("", "before → after"))
    table = [
        {"measure": f"{name} {words}", "of": told, "value": e.value, **limits(e)}
        for name, words, before, after, majority in rows
        for told, e in (("before", before), ("after", after), ("majority guess", majority))
    ]
    told = "; ".join(f"{n}: {percent(b)} before, {percent(a)} after, majority {percent(m)}" for n, _, b, a, m in rows)
    return Drawing.of(sketch, f"People named rightly before and after the release. {told}.", table)


def draw_in_common(study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw the column values that the pinned have more often than the rest: both shares with their intervals."""
    values = study.in_common.values
    lines = [
        Row(
            name=f"<b>{short(value.value, 26)}</b>",
            below=short(value.column, 22),
            value=f"<b>{percent(value.among_pinned)}</b> · {percent(value.among_rest)}",
            marks=[
                rate(value.among_rest, palette.before, "circle-open", up=-6),
                rate(value.among_pinned, palette.leak, up=6),
            ],
        )
        for value in values
    ]
    axis = percents([0.0, 100.0], "share who have it (%)")
    sketch = draw_rows(palette, lines, axis, heads=("", "pinned · rest"), least=2)
    if not values:
        sketch.in_the_middle("no value is clearly more frequent among them")
    columns = ("column", "value", "among pinned", "pinned low", "pinned high", "among the rest")
    pinned = ((v, v.among_pinned) for v in values)
    table = [(v.column, v.value, among.value, among.low, among.high, v.among_rest.value) for v, among in pinned]
    told = "; ".join(
        f"{plain_name(v.column)} {plain_name(v.value)}: {percent(v.among_pinned)} of the pinned, "
        f"{percent(v.among_rest)} of the rest"
        for v in values
    )
    return Drawing.of(sketch, f"What the pinned have in common. {told or 'Nothing clear'}.", table, columns)


_TRIED = ("precision", "pinned", "predicted bits")
_FEWEST = 4.0  # people at the end of the axis at least


def precision_text(decimals: int | None, epsilon: float | None) -> str:
    """Name a precision."""
    if epsilon is not None:
        return f"noise, ε = {epsilon:g}"
    if decimals is None:
        return "exact"
    return f"{decimals} decimal{'' if decimals == 1 else 's'}"


def draw_precisions(advice: Advice, chosen: tuple[int | None, float | None], palette: Palette) -> Drawing:
    """Draw a bar a precision tried: the people it pins down, and the bits the meter predicts beside it.

    The row of `chosen`, the precision (decimals, epsilon) of the controls, is set off where it was tried.
    """
    rows, faint = advice.tried, mixed(palette.leak, palette.background, 0.45)
    lines = []
    for row in rows:
        now, name = (row.decimals, row.epsilon) == chosen, precision_text(row.decimals, row.epsilon)
        told = f"<b>{row.pinned:,}</b>" if row.pinned else _none(row)
        bar = Mark(at=row.pinned, bar=0, symbol="", color=palette.leak if now else faint, told=told)
        value = f"{told} · {bits_text(row.df_bits)}"
        lines.append(Row(name=f"<b>{name}</b>" if now else name, value=value, marks=[bar], shaded=now))
    axis = rounded([0.0, *(row.pinned for row in rows)], words="{:,.0f}".format, span=_FEWEST)
    sketch = draw_rows(palette, lines, axis, heads=("people pinned down", "people · bits predicted"))
    told = "; ".join(f"{precision_text(row.decimals, row.epsilon)}: {row.pinned or _none(row)}" for row in rows)
    table = [(precision_text(row.decimals, row.epsilon), row.pinned, row.df_bits) for row in rows]
    return Drawing.of(sketch, f"People pinned down by the precision of the numbers. {told}.", table, _TRIED)


def _none(row: Tried) -> str:
    """Say that nobody is pinned down, or that nobody knows."""
    return "nobody" if row.known else "not known"
