"""What a model card gives away by the number of models on it: bits in all, and how much of everything that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.figures.drawing import Drawing, Palette, Sketch, band, line, spread
from core.figures.framed import Framed, framed
from core.release import ReleaseStudy

_BITS_HEIGHT = 300
_BITS_LEFT, _BITS_RIGHT, _BITS_TOP, _BITS_BOTTOM = 9, 14, 26, 30
_BITS_PLOT = _BITS_HEIGHT - _BITS_TOP - _BITS_BOTTOM
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
        sketch.segment((0, 1), (tick, tick), {"color": palette.grid, "width": 1}, xref="paper", layer="below")
        if tick:
            level = bits_text(tick).removesuffix(".0")
            sketch.remark(level, palette.grey, x=0, y=tick, refs=("paper", "y"), shift=(0, 8), size=12)
    xs = list(range(len(studies)))
    clipped = [(max(s.measured.bits.low, low), min(s.measured.bits.high, high)) for s in studies]
    if len(studies) > 1:
        band(sketch, xs, [c[0] for c in clipped], [c[1] for c in clipped], palette.leak)
    line(sketch, xs, [s.prediction.bits.value for s in studies], palette.before, dash="dash")
    line(sketch, xs, [s.measured.bits.value for s in studies], palette.leak, width=3)
    at, many = places[now.n_models], len(counts or studies)
    _bits_marker(sketch, palette, at, (low, high), now.prediction.bits.value, palette.before, 9, "predicted")
    _bits_marker(sketch, palette, at, (low, high), now.measured.bits.value, palette.leak, 12, "measured")
    words = [
        (now.measured.bits.value, f"measured <b>{bits_text(now.measured.bits.value)}</b>", palette.leak),
        (now.prediction.bits.value, f"predicted <b>{bits_text(now.prediction.bits.value)}</b>", palette.before),
    ]
    _bits_label(sketch, words, at, many, (low, high), palette.background)
    bits = now.measured.bits
    alt = (
        f"Bits given away by the number of models, from {studies[0].n_models} to {studies[-1].n_models}. At "
        f"{now.n_models}: measured {bits_text(bits.value)} ({bits_text(bits.low)} to {bits_text(bits.high)}), "
        f"predicted {bits_text(now.prediction.bits.value)}."
    )
    return Drawing.of(sketch, alt, _study_rows(studies))


def draw_fullness(
    studies: Sequence[ReleaseStudy], now: ReleaseStudy, palette: Palette, *, counts: Sequence[int] = ()
) -> Drawing:
    """Draw the joint bits as a share of what there was to know, by the number of models, with the line at 1."""
    low, high = 0.0, _MOST_SHARE
    sketch = _over_models(counts or [study.n_models for study in studies], palette, low, high)
    for tick in (0.25, 0.5, 0.75):
        sketch.segment((0, 1), (tick, tick), {"color": palette.grid, "width": 1}, xref="paper", layer="below")
        sketch.remark(f"{tick:g}", palette.grey, x=0, y=tick, refs=("paper", "y"), shift=(0, 8), size=12)
    sketch.segment((0, 1), (1.0, 1.0), {"color": palette.fail, "width": 2}, xref="paper")
    sketch.remark("1: as a rule everybody is determined", palette.fail, x=0, y=1.0, refs=("paper", "y"), shift=(0, 10))
    shares = [study.meter.share for study in studies]
    line(sketch, list(range(len(studies))), [min(share, high) for share in shares], palette.leak, width=3)
    at, share = next(i for i, s in enumerate(studies) if s.n_models == now.n_models), now.meter.share
    many = len(counts or studies)
    _bits_marker(sketch, palette, at, (low, high), min(share, high), palette.leak, 12, "share")
    told = f"<b>{share:.2f}</b>" + (" ▴" if share > high else "")
    words = f"{bits_text(now.meter.joint_bits)} of {bits_text(now.meter.prior_bits)} bits: {told}"
    _bits_label(sketch, [(min(share, high), words, palette.leak)], at, many, (low, high), palette.background)
    alt = (
        f"What the numbers say about everybody together, as a share of what there was to know, by the number of "
        f"models. At {now.n_models}: {bits_text(now.meter.joint_bits)} of {bits_text(now.meter.prior_bits)} bits, "
        f"a share of {share:.2f}; from 1 on, as a rule, everybody is determined."
    )
    return Drawing.of(sketch, alt, _study_rows(studies))


def _over_models(counts: Sequence[int], palette: Palette, low: float, high: float) -> Framed:
    """Return an empty chart with the numbers of models at equal distances."""
    last = max(len(counts) - 1, 1)
    sketch = framed(
        palette,
        height=_BITS_HEIGHT,
        x=(0, last),
        y=(low, high),
        left=_BITS_LEFT,
        right=_BITS_RIGHT,
        top=_BITS_TOP,
        bottom=_BITS_BOTTOM,
    )
    sketch.xaxis(tickvals=list(range(len(counts))), ticktext=[f"{count:,}" for count in counts])
    return sketch


def _bits_marker(
    sketch: Sketch, palette: Palette, x: float, ends: tuple[float, float], y: float, color: str, size: int, name: str
) -> None:
    sketch.segment((x, x), (ends[0], y), {"color": palette.ink, "width": 1}, layer="below")
    sketch.markers([x], [y], size=size, color=color, rim=(palette.background, 2), name=name, cliponaxis=False)


def _bits_label(
    sketch: Framed,
    wanted: Sequence[tuple[float, str, str]],
    at: int,
    many: int,
    ends: tuple[float, float],
    fill: str,
) -> None:
    """Write values beside the marker, on the side of the axis with more room, apart from each other."""
    low, high = ends
    pixel = (high - low) / _BITS_PLOT
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
            "low": study.measured.bits.low,
            "high": study.measured.bits.high,
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
