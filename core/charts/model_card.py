"""Charts of a model card: information gain, people before and after, published precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.charts.drawing import Axis, Drawing, cells, percents, rounded
from core.charts.lines import Curve, draw_lines, level
from core.charts.rows import Mark, Row, draw_rows, rate, spans
from core.charts.scatter import Points, Region, draw_scatter
from core.charts.theme import Palette, mixed
from core.charts.words import plain_name
from core.estimates import percent
from core.model_card import Advice, ReleasedPeople, ReleaseStudy
from core.model_card.findings import bits_text
from core.model_card.pinned_people import SETTLED, UNSURE
from core.model_card.settings import precision_text

_MOST_SHARE = 1.25
"""End of the axis of shares; a share beyond it is drawn there and told."""


def draw_release_bits(
    studies: Sequence[ReleaseStudy], now: ReleaseStudy, palette: Palette, *, counts: Sequence[int] = ()
) -> Drawing:
    """Draw the information gain measured and the expected one, by the number of models.

    Parameters
    ----------
    studies : sequence of ReleaseStudy
        The same release with more and more models, in this order; they stand at equal distances.
    now : ReleaseStudy
        Where the slider stands: one of them.
    counts : sequence of int
        All numbers of models the axis has; those of the studies when left out.
    """
    xs, bits, expected = range(len(studies)), now.measured.bits, now.prediction.bits.value
    meter = [study.prediction.bits.value for study in studies]
    look: dict[str, Any] = {"name": "expected", "value": bits_text(expected), "dash": "dash", "now": expected}
    curves = [Curve(x=xs, y=meter, color=palette.before, **look)]
    look = {"name": "measured", "value": bits_text(bits.value), "width": 3, "now": bits.value}
    curves.append(Curve.of(xs, [study.measured.bits for study in studies], scale=1.0, color=palette.leak, **look))
    held = [0.0, *(v for curve in curves for v in curve.y if v is not None)]
    y = rounded(held, "Bits", words=lambda bits: bits_text(bits).removesuffix(".0"))
    return _by_models("Information gain by number of models", curves, studies, now, y, palette, counts)


def draw_fullness(
    studies: Sequence[ReleaseStudy], now: ReleaseStudy, palette: Palette, *, counts: Sequence[int] = ()
) -> Drawing:
    """Draw the share of the uncertainty that all numbers together resolve, by the number of models."""
    share, shares = now.meter.share, [study.meter.share for study in studies]
    marks = (0, 0.25, 0.5, 0.75, 1)
    words = [f"{mark:g}" for mark in marks]
    y = Axis(ends=(0, _MOST_SHARE), marks=marks, words=words, title="Share of uncertainty resolved")
    curve = Curve(
        x=range(len(studies)),
        y=[min(value, _MOST_SHARE) for value in shares],
        color=palette.leak,
        width=3,
        name="resolved",
        value=f"{share:.2f}" + (" ▴" if share > _MOST_SHARE else ""),
        now=min(share, _MOST_SHARE),
    )
    limit = level(_models(studies, counts), 1.0, palette.fail, "all determined", "1", dash="solid")
    return _by_models("Share of uncertainty resolved", [limit, curve], studies, now, y, palette, counts)


def _by_models(
    title: str,
    curves: Sequence[Curve],
    studies: Sequence[ReleaseStudy],
    now: ReleaseStudy,
    y: Axis,
    palette: Palette,
    counts: Sequence[int],
) -> Drawing:
    rows = [
        {
            "models": study.n_models,
            "numbers": study.n_numbers,
            **cells("measured bits", study.measured.bits),
            "expected bits": study.prediction.bits.value,
            "low by chance": study.prediction.low,
            "high by chance": study.prediction.high,
            "joint bits": study.meter.joint_bits,
            "bits to know": study.meter.prior_bits,
            "share": study.meter.share,
            "person bits": study.meter.person_bits,
            "exposed": study.pinned.count,
        }
        for study in studies
    ]
    at = next(i for i, study in enumerate(studies) if study.n_models == now.n_models)
    head = f"{now.n_models:,} model{'' if now.n_models == 1 else 's'}"
    return draw_lines(palette, title, curves, x=_models(studies, counts), y=y, rows=rows, at=at, head=head)


def _models(studies: Sequence[ReleaseStudy], counts: Sequence[int]) -> Axis:
    """Return the axis of numbers of models, which stand at equal distances."""
    numbers = counts or [study.n_models for study in studies]
    words = [f"{number:,}" for number in numbers]
    return Axis(ends=(0, max(len(numbers) - 1, 1)), marks=range(len(numbers)), words=words, title="Models on the card")


_EDGE = 7.0  # log-odds at the ends of the axes: 0.09% and 99.91%
_TICKS = (0.005, 0.05, 0.5, 0.95, 0.995)
_CELLS = 140  # of the grid on which the others are drawn once


def draw_pinned(people: ReleasedPeople, study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw everybody's probability before and after; who is exposed stands in a shaded corner.

    Filled dots are near-certain inferences that are correct, crosses wrong ones. Everybody else is drawn once where
    many are at one place.
    """
    before, after = _odds(people.posterior), _odds(study.probability)
    marks, words = [_log_odds(tick) for tick in _TICKS], [f"{100 * tick:g}%" for tick in _TICKS]
    x, y = (
        Axis(ends=(-_EDGE, _EDGE), marks=marks, words=words, title=f"Probability {when} publication")
        for when in ("before", "after")
    )
    others = np.ones(people.n, dtype=bool)
    others[study.pinned.people] = False
    grid = _once(before[others], after[others])
    points = [Points(x=grid[0], y=grid[1], color=palette.before, size=4, opacity=0.55, name="others")]
    said, truth = study.pinned.said, people.sensitive[study.pinned.people]
    for hit, symbol, color in ((True, "circle", palette.leak), (False, "x", palette.ink)):
        some = study.pinned.people[(said == truth) == hit]
        told = [f"{percent(float(people.posterior[i]))} before, {_certain(study.probability[i])} after" for i in some]
        look: dict[str, Any] = {"color": color, "symbol": symbol, "size": 10, "name": "right" if hit else "wrong"}
        points.append(Points(x=before[some].tolist(), y=after[some].tolist(), told=told, **look))
    (left, right), (low, high) = ((_log_odds(end) for end in ends) for ends in (UNSURE, SETTLED))
    counts = []
    for code, name in ((1, people.group), (0, people.other)):
        number, wrong = int((said == code).sum()), int(((said == code) & (truth != code)).sum())
        words_of = f"near-certain {plain_name(name, 24)}: {number}" + (f", {wrong} wrongly" if wrong else "")
        counts.append((words_of, palette.leak if number else palette.grey))
    found, names = study.pinned, np.array([people.other, people.group])
    return draw_scatter(
        palette,
        f"Who is exposed: probability of being one of {plain_name(people.group)}",
        points,
        x=x,
        y=y,
        counts=counts,
        rows={
            "row": people.rows[found.people],
            "before": found.before,
            "after": found.after,
            "inferred": names[found.said],
            "in truth": names[truth],
        },
        regions=[Region(x=(left, right), y=(high, _EDGE)), Region(x=(left, right), y=(-_EDGE, low))],
        diagonal=True,
    )


def _odds(probability: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return log-odds, kept inside the axes."""
    edge = 1.0 / (1.0 + math.exp(_EDGE - 0.15))
    inside = np.clip(probability, edge, 1.0 - edge)
    return np.log(inside) - np.log1p(-inside)


def _log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


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


def draw_recognised(study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw the accuracy before and after, plain and balanced, with the baseline as a diamond."""
    found = study.measured
    kinds = (
        ("Accuracy", "of all people", found.accuracy_before, found.accuracy_after, found.majority),
        ("Balanced", "mean of both groups", found.balanced_before, found.balanced_after, found.majority_balanced),
    )
    lines = [
        Row(
            name=name,
            bold=True,
            below=words,
            value=f"{percent(before)} → <b>{percent(after)}</b>",
            marks=[
                rate(majority, palette.chance, "diamond-open", name="baseline"),
                rate(before, palette.before, "circle-open", up=-7, name="before"),
                rate(after, palette.leak, up=7, name="after"),
            ],
        )
        for name, words, before, after, majority in kinds
    ]
    axis = percents(spans(lines), "Accuracy (%), ◇ baseline")
    return draw_rows(palette, "Average accuracy", lines, axis, first="measure", value="before → after")


def draw_in_common(study: ReleaseStudy, palette: Palette) -> Drawing:
    """Draw the column values that the exposed have more often than the rest: both shares with their intervals."""
    lines = [
        Row(
            name=value.value,
            bold=True,
            below=value.column,
            value=f"<b>{percent(value.among_pinned)}</b> · {percent(value.among_rest)}",
            marks=[
                rate(value.among_rest, palette.before, "circle-open", up=-6, name="among the rest"),
                rate(value.among_pinned, palette.leak, up=6, name="among exposed"),
            ],
            facts={"column": value.column},
        )
        for value in study.in_common.values
    ]
    axis, empty = percents([0.0, 100.0], "Share who have it (%)"), "no value is clearly more frequent among them"
    title, head = "What exposed people have in common", "exposed · rest"
    return draw_rows(palette, title, lines, axis, first="value", value=head, least=2, empty=empty)


_FEWEST = 4.0  # people at the end of the axis at least


def draw_precisions(advice: Advice, chosen: tuple[int | None, float | None], palette: Palette) -> Drawing:
    """Draw a bar a precision tried: the people it exposes, and the bits expected beside it.

    The row of `chosen`, the precision (decimals, epsilon) of the controls, is set off where it was tried.
    """
    faint, lines = mixed(palette.leak, palette.background, 0.45), []
    for row in advice.tried:
        now = (row.decimals, row.epsilon) == chosen
        told = f"<b>{row.pinned:,}</b>" if row.pinned else "nobody" if row.known else "not known"
        color, facts = palette.leak if now else faint, {"expected bits": row.df_bits}
        bar = Mark(at=row.pinned, bar=0, symbol="", color=color, told=told, name="exposed", estimate=row.pinned)
        look: dict[str, Any] = {"value": f"{told} · {bits_text(row.df_bits)}", "bold": now, "shaded": now}
        lines.append(Row(name=precision_text(row.decimals, row.epsilon), marks=[bar], facts=facts, **look))
    axis = rounded([0.0, *(row.pinned for row in advice.tried)], "People exposed", words="{:,.0f}".format, span=_FEWEST)
    title, head = "People exposed by published precision", "exposed · expected bits"
    return draw_rows(palette, title, lines, axis, first="precision", value=head)
