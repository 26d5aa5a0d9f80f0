"""Charts of a model card: information gain, people before and after, published precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...charts.drawing import Axis, Drawing, Scale, cells, percents, shares, value_of
from ...charts.lines import Curve, draw_lines, level
from ...charts.planes import add_points, draw_scatter
from ...charts.rows import Mark, Row, draw_rows
from ...charts.theme import group_style, plain_name
from ...stats.estimates import percent
from .card_result import ModelCardResult
from .findings import bits_text
from .pinned_people import SETTLED, UNSURE, Advice
from .release import precision_text

PRECISIONS = "Published precision"
PEOPLE = "Who is exposed"
BITS = "Information gain by number of models"
IN_COMMON = "What disclosed people have in common"
SHARE = "Share of uncertainty resolved"
ACCURACY = "Average accuracy"
"""Titles of the charts."""

_MOST_SHARE = 1.25
"""End of the axis of shares; a share beyond it is drawn there with an arrow."""


def drawings(card: ModelCardResult) -> dict[str, Drawing]:
    """Title -> chart of a card, of those that there are: of other precisions once they are known."""
    settings = card.settings
    charts = dict[str, Drawing]()
    if card.advice is not None:
        charts[PRECISIONS] = draw_precisions(card.advice, (settings.decimals, settings.epsilon))
    charts[PEOPLE] = draw_pinned(card)
    if settings.n_models > 1:
        charts[BITS] = draw_release_bits(card)
    if card.common:
        charts[IN_COMMON] = draw_in_common(card)
    if settings.n_models > 1:
        charts[SHARE] = draw_fullness(card)
    charts[ACCURACY] = draw_recognised(card)
    return charts


def draw_release_bits(card: ModelCardResult) -> Drawing:
    """Draw the information gain measured and the expected one, by the number of models."""
    cards = (*card.fewer, card)
    xs = range(len(cards))
    curves = [
        Curve(
            x=xs,
            of=[fewer.prediction.bits.value for fewer in cards],
            grid=xs,
            color="before",
            name="expected",
            dash="dash",
        ),
        Curve(
            x=xs,
            of=[fewer.measured.bits for fewer in cards],
            grid=xs,
            color="leak",
            band=True,
            name="measured",
            width=3,
        ),
    ]
    y = Scale(
        title="Information gain (bits)",
        start=0.0,
        label=lambda mark: bits_text(mark).removesuffix(".0"),
        write=lambda number: bits_text(value_of(number)),
    )
    return _by_models("Information gain by number of models", curves, cards, y)


def draw_fullness(card: ModelCardResult) -> Drawing:
    """Draw the share of the uncertainty that all numbers together resolve, by the number of models."""
    marks = (0, 0.25, 0.5, 0.75, 1)
    y = Axis(
        ends=(0, _MOST_SHARE),
        marks=marks,
        labels=[f"{mark:g}" for mark in marks],
        title="Share of uncertainty resolved",
        position=lambda share: min(share, _MOST_SHARE),
        write=lambda share: (
            f"{value_of(share):.2f}" + (" ▴" if value_of(share) > _MOST_SHARE else "")
        ),
    )
    cards = (*card.fewer, card)
    xs = range(len(cards))
    shares = [fewer.meter.share for fewer in cards]
    curve = Curve(x=xs, of=shares, grid=xs, color="leak", width=3, name="resolved")
    limit = level(1.0, "fail", "all determined", "1", dash="solid")
    return _by_models("Share of uncertainty resolved", [limit, curve], cards, y)


def _by_models(
    title: str, curves: Sequence[Curve], cards: Sequence[ModelCardResult], y: Axis | Scale
) -> Drawing:
    """Draw curves over the number of models, which stand at equal distances, to that of the last card."""
    rows = [
        {
            "models": card.n_models,
            "numbers": card.n_numbers,
            **cells("measured bits", card.measured.bits),
            "expected bits": card.prediction.bits.value,
            "low by chance": card.prediction.low,
            "high by chance": card.prediction.high,
            "joint bits": card.meter.joint_bits,
            "bits to know": card.meter.prior_bits,
            "share": card.meter.share,
            "person bits": card.meter.person_bits,
            "exposed": card.pinned.count,
        }
        for card in cards
    ]
    last = len(cards) - 1
    now = cards[-1].n_models
    labels = [f"{card.n_models:,}" for card in cards]
    x = Axis(
        ends=(0, max(last, 1)), marks=range(len(cards)), labels=labels, title="Models on the card"
    )
    return draw_lines(title, curves, x=x, y=y, rows=rows, at=last, head=f"at {now:,}")


_EDGE = 7.0  # log-odds at the ends of the axes: 0.09% and 99.91%
_TICKS = (0.005, 0.05, 0.5, 0.95, 0.995)
_CELLS = 140  # of the grid on which the others are drawn once


def draw_pinned(study: ModelCardResult) -> Drawing:
    """Draw everybody's probability before and after; the exposed stand in a shaded region, counted beside it.

    Near-certain inferences that are correct have the marker of their group, wrong ones are crosses. Everybody else is
    drawn once where many are at one place.
    """
    people = study.people
    disclosed = study.pinned
    before = people.posterior
    after = study.probability
    marks = _log_odds(np.array(_TICKS)).tolist()
    labels = [f"{100 * tick:g}" for tick in _TICKS]
    x, y = (
        Axis(
            ends=(-_EDGE, _EDGE),
            marks=marks,
            labels=labels,
            title=f"Probability of {plain_name(people.group, 16)} {when} (%)",
            position=_log_odds,
        )
        for when in ("before", "after")
    )
    (left, right), (low, high) = ((_log_odds(end) for end in ends) for ends in (UNSURE, SETTLED))
    inferred = disclosed.inferred
    truth = people.sensitive[disclosed.people]
    names = np.array([people.other_group, people.group])
    drawing = draw_scatter(
        f"Who is exposed: probability of being one of {plain_name(people.group)}",
        x=x,
        y=y,
        beside=_near_certain(study, (high + _EDGE) / 2),
        rows={
            "row": people.rows[disclosed.people],
            "before": disclosed.before,
            "after": disclosed.after,
            "inferred": names[inferred],
            "in truth": names[truth],
        },
        regions=[((left, right), (high, _EDGE)), ((left, right), (-_EDGE, low))],
        diagonal=True,
    )
    undisclosed = np.ones(people.n, dtype=bool)
    undisclosed[disclosed.people] = False
    grid = _once(before[undisclosed], after[undisclosed])
    add_points(drawing, *grid, color="before", size=4, opacity=0.55, name="others")
    for code in (1, 0):
        style = group_style(code)
        for hit, symbol, name in ((True, style.symbol, "right"), (False, "x", "wrong")):
            some = disclosed.people[(inferred == code) & ((inferred == truth) == hit)]
            hover = [
                f"{percent(float(before[i]))} before, {_certain(after[i])} after" for i in some
            ]
            add_points(
                drawing,
                before[some].tolist(),
                after[some].tolist(),
                color=style.color,
                symbol=symbol,
                size=10,
                hover=hover,
                name=name,
            )
    return drawing


def _near_certain(study: ModelCardResult, height: float) -> list[tuple[float, str, str]]:
    """Return how many are inferred as either group, in its colour, so far above and below the middle."""
    people = study.people
    inferred = study.pinned.inferred
    truth = people.sensitive[study.pinned.people]
    beside = []
    for code, name, position in ((1, people.group, height), (0, people.other_group, -height)):
        number = int((inferred == code).sum())
        wrong = int(((inferred == code) & (truth != code)).sum())
        text = f"near-certain: {number} {plain_name(name, 12)}"
        if wrong:
            text += f", {wrong} wrong"
        color = group_style(code).color if number else "grey"
        beside.append((position, text, color))
    return beside


def _log_odds(probability: Any) -> Any:
    """Return log-odds, kept inside the axes."""
    with np.errstate(divide="ignore"):
        odds = np.log(probability) - np.log1p(-probability)
    return np.clip(odds, 0.15 - _EDGE, _EDGE - 0.15)


def _once(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
) -> tuple[list[float], list[float]]:
    """Return points of a grid of log-odds, each once, as probabilities."""
    scale = _CELLS / (2 * _EDGE)
    odds = _log_odds(np.column_stack([x, y]))
    cells = np.unique(np.rint(odds * scale).astype(np.int64), axis=0) / scale
    probabilities = 1.0 / (1.0 + np.exp(-cells))
    return probabilities[:, 0].tolist(), probabilities[:, 1].tolist()


def _certain(probability: float) -> str:
    """Write a probability next to 0 or 1 with the decimals that tell it from them."""
    for places in (1, 2, 3):
        if 0.0 < round(100 * probability, places) < 100.0:
            return f"{100 * probability:.{places}f}%"
    if probability < 0.5:
        return "under 0.001%"
    return "over 99.999%"


def draw_recognised(study: ModelCardResult) -> Drawing:
    """Draw the accuracy before and after, plain and balanced, with the baseline as a diamond."""
    measured = study.measured
    kinds = (
        (
            "Accuracy",
            "of all people",
            measured.accuracy_before,
            measured.accuracy_after,
            measured.majority,
        ),
        (
            "Balanced",
            "mean of both groups",
            measured.balanced_before,
            measured.balanced_after,
            measured.majority_balanced,
        ),
    )
    lines = [
        Row(
            name=name,
            bold=True,
            below=description,
            value=f"{percent(before)} → <b>{percent(after)}</b>",
            marks=[
                Mark(of=majority, color="chance", symbol="diamond-open", name="baseline"),
                Mark(of=before, color="before", symbol="circle-open", up=-7, name="before"),
                Mark(of=after, color="leak", up=7, name="after"),
            ],
        )
        for name, description, before, after, majority in kinds
    ]
    title = "Average accuracy"
    axis = percents("Accuracy (%)")
    return draw_rows(title, lines, axis, first="measure", value="before → after", head="◇ baseline")


def draw_in_common(study: ModelCardResult) -> Drawing:
    """Draw the column values that the exposed have more often than the rest: both shares with their intervals."""
    lines = [
        Row(
            name=value.value,
            bold=True,
            below=value.column,
            value=f"<b>{percent(value.among_pinned)}</b> · {percent(value.among_rest)}",
            marks=[
                Mark(
                    of=value.among_rest,
                    color="before",
                    symbol="circle-open",
                    up=-6,
                    name="among the rest",
                ),
                Mark(of=value.among_pinned, color="leak", up=6, name="among exposed"),
            ],
            facts={"column": value.column},
        )
        for value in study.common
    ]
    axis = shares("Share who have it (%)")
    title = "What exposed people have in common"
    empty = "no value is clearly more frequent among them"
    return draw_rows(
        title, lines, axis, first="value", value="exposed · rest", least=2, empty=empty
    )


_FEWEST = 4.0  # people at the end of the axis at least


def draw_precisions(advice: Advice, chosen: tuple[int | None, float | None]) -> Drawing:
    """Draw a bar a precision tried: the people it exposes, and the bits expected beside it.

    The row of `chosen`, the precision (decimals, epsilon) of the controls, is set off where it was tried.
    """
    advised = {(advice.decimals, None), (None, advice.epsilon)}
    lines = []
    if not advice.exact:
        advised.discard((None, None))
    for row in advice.tried:
        now = (row.decimals, row.epsilon) == chosen
        if row.pinned:
            people = f"<b>{row.pinned:,}</b>"
        elif row.converged:
            people = "nobody"
        else:
            people = "not known"
        if people == "nobody" and (row.decimals, row.epsilon) in advised:
            people = "<b>✓ nobody</b>"
        look: dict[str, Any] = {"color": "leak 45", "hover": None}
        if now:
            look["color"] = "leak"
        if row.converged:
            look["hover"] = ""
        bar = Mark(of=row.pinned, bar=0, symbol="", name="exposed", **look)
        look = {"value": f"{people} · {bits_text(row.df_bits)}", "bold": now, "shaded": now}
        name = precision_text(row.decimals, row.epsilon)
        facts = {"expected bits": row.df_bits}
        lines.append(Row(name=name, marks=[bar], facts=facts, **look))
    axis = Scale(title="People exposed", start=0.0, label="{:,.0f}".format, span=_FEWEST)
    title = "People exposed by published precision"
    head = "exposed · expected bits"
    return draw_rows(title, lines, axis, first="precision", value=head)
