"""Charts of a model card: bits given away, people before and after, its precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.charts.drawing import Drawing, Palette, Sketch, framed, limits, mixed, plain_name, short, spread
from core.estimates import Estimate, percent
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
    places = {study.n_models: i for i, study in enumerate(studies)}
    values = [v for s in studies for v in (s.measured.bits.value, s.prediction.bits.value)]
    low, high = _reach(values)
    sketch = _over_models(counts or [study.n_models for study in studies], palette, low, high)
    for tick in _round_steps(low, high):
        sketch.rule(tick)
        if tick:
            sketch.at_left(tick, bits_text(tick).removesuffix(".0"), palette.grey, (0, 8), size=12)
    xs = list(range(len(studies)))
    clipped = [(max(s.measured.bits.low, low), min(s.measured.bits.high, high)) for s in studies]
    if len(studies) > 1:
        sketch.band(xs, [c[0] for c in clipped], [c[1] for c in clipped], palette.leak)
    sketch.line(xs, [s.prediction.bits.value for s in studies], palette.before, dash="dash")
    sketch.line(xs, [s.measured.bits.value for s in studies], palette.leak, width=3)
    at, many = places[now.n_models], len(counts or studies)
    bits, predicted = now.measured.bits, now.prediction.bits.value
    sketch.slider(at, predicted, low, size=9, behind=True, color=palette.before, name="predicted")
    sketch.slider(at, bits.value, low, behind=True, name="measured")
    words = [
        (bits.value, f"measured <b>{bits_text(bits.value)}</b>", palette.leak),
        (predicted, f"predicted <b>{bits_text(predicted)}</b>", palette.before),
    ]
    _bits_label(sketch, words, at, many, (low, high))
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
    low, high = 0.0, _MOST_SHARE
    sketch = _over_models(counts or [study.n_models for study in studies], palette, low, high)
    for tick in (0.25, 0.5, 0.75):
        sketch.rule(tick)
        sketch.at_left(tick, f"{tick:g}", palette.grey, (0, 8), size=12)
    sketch.segment((0, 1), 1.0, palette.fail, width=2, xref="paper")
    sketch.at_left(1.0, "1: as a rule everybody is determined", palette.fail, (0, 10))
    shares = [study.meter.share for study in studies]
    sketch.line(list(range(len(studies))), [min(share, high) for share in shares], palette.leak, width=3)
    at, share = next(i for i, s in enumerate(studies) if s.n_models == now.n_models), now.meter.share
    many = len(counts or studies)
    sketch.slider(at, min(share, high), low, behind=True, name="share")
    told = f"<b>{share:.2f}</b>" + (" ▴" if share > high else "")
    words = f"{bits_text(now.meter.joint_bits)} of {bits_text(now.meter.prior_bits)} bits: {told}"
    _bits_label(sketch, [(min(share, high), words, palette.leak)], at, many, (low, high))
    alt = (
        f"What the numbers say about everybody together, as a share of what there was to know, by the number of "
        f"models. At {now.n_models}: {bits_text(now.meter.joint_bits)} of {bits_text(now.meter.prior_bits)} bits, "
        f"a share of {share:.2f}; from 1 on, as a rule, everybody is determined."
    )
    return Drawing.of(sketch, alt, _study_rows(studies))


def _over_models(counts: Sequence[int], palette: Palette, low: float, high: float) -> Sketch:
    """Return an empty chart with the numbers of models at equal distances."""
    last = max(len(counts) - 1, 1)
    sketch = framed(palette, height=300, x=(0, last), y=(low, high), margins=(9, 14, 26, 30))
    sketch.ticks(list(range(len(counts))), [f"{count:,}" for count in counts])
    return sketch


def _bits_label(
    sketch: Sketch, wanted: Sequence[tuple[float, str, str]], at: int, many: int, ends: tuple[float, float]
) -> None:
    """Write values beside the marker, on the side of the axis with more room, apart from each other."""
    (low, high), pixel, fill = ends, sketch.pixel, sketch.palette.background
    left = at > (many - 1) / 2
    heights = spread([w[0] + 14 * pixel for w in wanted], 18 * pixel, low + 9 * pixel, high + 12 * pixel)
    for height, (_, words, color) in zip(heights, wanted, strict=True):
        side = "right" if left else "left"
        sketch.remark(words, color, x=at, y=height, shift=(-12 if left else 12, 0), anchor=(side, "middle"), fill=fill)


def _reach(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of an axis of bits: from 0, or below where fewer than none were measured."""
    top = max([1.0, *values])
    bottom = min([0.0, *values])
    return 1.15 * bottom, 1.15 * top


def _round_steps(low: float, high: float) -> list[float]:
    step = next((10.0**e * f for e in range(-1, 7) for f in (1.0, 2.0, 5.0) if (high - low) / (10.0**e * f) <= 5), 1e7)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


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

_ROW = 46  # pixels
_WORDS = 176


def draw_pinned(people: ReleasedPeople, study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw everybody's probability before and after; who is pinned stands in a shaded corner.

    Filled dots are pinned rightly, crosses wrongly. Everybody else is drawn once where many are at one place.
    """
    before, after = _odds(people.posterior), _odds(study.probability)
    sketch = framed(palette, height=344, x=(-_EDGE, _EDGE), y=(-_EDGE, _EDGE), margins=(46, 14, 24, 46))
    _axes(sketch)
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


def _axes(sketch: Sketch) -> None:
    marks = [_log_odds(tick) for tick in _TICKS]
    sketch.ticks(marks, [f"{100 * tick:g}%" for tick in _TICKS])
    for tick, mark in zip(_TICKS, marks, strict=True):
        sketch.rule(mark)
        sketch.at_left(mark, f"{100 * tick:g}%", sketch.palette.grey, (-6, 0), anchor=("right", "middle"), size=12)
    sketch.axis_title("before the release")
    sketch.above("after", x=-_EDGE)


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
    every = [v for _, _, *three in rows for e in three for v in (e.low, e.high) if not math.isnan(v)]
    low = 100 * min(0.5, *every) - 5
    sketch = framed(
        palette, height=_ROW * 2 * len(rows) + 40, x=(low, 101), y=(len(rows) - 0.5, -0.5), margins=(126, 20, 8, 30)
    )
    marks = [mark for mark in range(0, 101, 10) if mark >= low]
    sketch.ticks(marks, "{}%")
    for y, (name, words, before, after, majority) in enumerate(rows):
        sketch.at_left(y, f"<b>{name}</b>", palette.ink, (-122, 9))
        sketch.at_left(y, words, palette.grey, (-122, -9), size=12)
        for estimate, color, symbol, up, told in (
            (before, palette.before, "circle-open", -0.16, "before"),
            (after, palette.leak, "circle", 0.16, "after"),
        ):
            _rate(sketch, estimate, y + up, color, symbol)
            words, shift = f"{told} <b>{percent(estimate)}</b>", (0, 13 if up < 0 else -13)
            at, side = 100 * estimate.value, ("center", "middle")
            sketch.remark(words, color, x=at, y=y + up, shift=shift, anchor=side, size=12)
        sketch.markers([100 * majority.value], [y], size=7, color=palette.chance, name="majority")
        words, at, left = f"majority {percent(majority)}", 100 * majority.value, majority.value > 0.62
        side = ("right" if left else "left", "middle")
        sketch.remark(words, palette.chance, x=at, y=y, shift=(-8 if left else 8, 0), anchor=side, size=12)
    table = [
        {"measure": f"{name} {words}", "of": told, "value": e.value, **limits(e)}
        for name, words, before, after, majority in rows
        for told, e in (("before", before), ("after", after), ("majority guess", majority))
    ]
    told = "; ".join(f"{n}: {percent(b)} before, {percent(a)} after, majority {percent(m)}" for n, _, b, a, m in rows)
    return Drawing.of(sketch, f"People named rightly before and after the release. {told}.", table)


def _rate(sketch: Sketch, estimate: Estimate, y: float, color: str, symbol: str) -> None:
    if not math.isnan(estimate.low):
        sketch.bare_line([100 * estimate.low, 100 * estimate.high], [y, y], color, width=3)
    sketch.markers([100 * estimate.value], [y], size=11, color=color, symbol=symbol, rim=(color, 2))


def draw_in_common(study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw the column values that the pinned have more often than the rest: both shares with their intervals."""
    values = study.in_common.values
    n = max(len(values), 2)
    sketch = framed(palette, height=_ROW * n + 44, x=(0, 104), y=(n - 0.5, -0.6), margins=(_WORDS, 20, 8, 30))
    sketch.ticks([0, 25, 50, 75, 100], "{}%")
    for y, value in enumerate(values):
        sketch.at_left(y, f"<b>{short(value.value, 26)}</b>", palette.ink, (4 - _WORDS, 8))
        sketch.at_left(y, short(value.column, 22), palette.grey, (4 - _WORDS, -9), size=12)
        _rate(sketch, value.among_rest, y + 0.13, palette.before, "circle-open")
        _rate(sketch, value.among_pinned, y - 0.13, palette.leak, "circle")
        for estimate, color, up in ((value.among_pinned, palette.leak, 9), (value.among_rest, palette.before, -11)):
            right, words = estimate.value > 0.8, f"<b>{percent(estimate)}</b>"
            edge, side = (estimate.low, "right") if right else (estimate.high, "left")
            shift = (-6 if right else 6, up)
            sketch.remark(words, color, x=100 * edge, y=y, shift=shift, anchor=(side, "middle"), size=12)
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


_TRIED_ROW = 25  # pixels
_TRIED_LEFT, _TRIED_RIGHT = 96, 84
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

    Parameters
    ----------
    chosen : (decimals, epsilon)
        The precision of the controls; its row is set off where it was tried.
    """
    rows = advice.tried
    most = max([_FEWEST, *(row.pinned for row in rows)])
    margins = (_TRIED_LEFT, _TRIED_RIGHT, 24, 14)
    sketch = framed(
        palette, height=_TRIED_ROW * len(rows) + 38, x=(0, 1.12 * most), y=(len(rows) - 0.5, -0.5), margins=margins
    )
    sketch.no_xaxis()
    sketch.above("people pinned down", x=0)
    edge, shift, side = ("paper", "paper"), (_TRIED_RIGHT - 8, 3), ("right", "bottom")
    sketch.remark("bits predicted", palette.grey, x=1, y=1, refs=edge, shift=shift, anchor=side, size=12)
    for y, row in enumerate(rows):
        now = (row.decimals, row.epsilon) == chosen
        if now:
            sketch.shade_row((y - 0.5, y + 0.5), palette.pale, left=_TRIED_LEFT - 2, right=_TRIED_RIGHT - 2)
        bold = ("<b>", "</b>") if now else ("", "")
        name = f"{bold[0]}{precision_text(row.decimals, row.epsilon)}{bold[1]}"
        sketch.at_left(y, name, palette.ink if now else palette.grey, (6 - _TRIED_LEFT, 0))
        color = palette.leak if row.pinned else palette.prior
        words = f"<b>{row.pinned:,}</b>" if row.pinned else _none(row)
        sketch.remark(words, color, x=row.pinned, y=y, shift=(6, 0))
        sketch.at_right(y, f"{bold[0]}{bits_text(row.df_bits)}{bold[1]}", palette.ink, _TRIED_RIGHT - 8)
    faint = mixed(palette.leak, palette.background, 0.45)
    colors = [palette.leak if (row.decimals, row.epsilon) == chosen else faint for row in rows]
    sketch.bars([row.pinned for row in rows], list(range(len(rows))), {"color": colors}, width=0.6)
    sketch.segment(0, (-0.5, len(rows) - 0.5), palette.ink, width=1.5)
    told = "; ".join(f"{precision_text(row.decimals, row.epsilon)}: {row.pinned or _none(row)}" for row in rows)
    table = [(precision_text(row.decimals, row.epsilon), row.pinned, row.df_bits) for row in rows]
    return Drawing.of(sketch, f"People pinned down by the precision of the numbers. {told}.", table, _TRIED)


def _none(row: Tried) -> str:
    """Say that nobody is pinned down, or that nobody knows."""
    return "nobody" if row.known else "not known"
