"""Charts of a release: every number is where core says, names are harmless, the ranges hold every slider position."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.charts import (
    DARK,
    LIGHT,
    Drawing,
    Palette,
    bits_text,
    draw_fullness,
    draw_in_common,
    draw_pinned,
    draw_precisions,
    draw_recognised,
    draw_release_bits,
    precision_text,
)
from core.model_card import Advice, Tried
from tests.release_samples import card, people

COUNTS = (1, 2, 5, 12)
CARDS = [card(count) for count in COUNTS]


def traces(drawing: Drawing, name: str) -> list[tuple[float, float]]:
    """Return the points of a named trace."""
    figure = drawing.sketch.figure(check=True)
    return [point for trace in figure.data if trace.name == name for point in zip(trace.x, trace.y, strict=True)]


def remarks(drawing: Drawing) -> str:
    """Return all words of a chart."""
    return " ".join(str(note.text) for note in drawing.sketch.figure(check=True).layout.annotations)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("place", range(len(COUNTS)))
def test_bits_stand_at_their_number_of_models(palette: Palette, place: int):
    now = CARDS[place]
    drawing = draw_release_bits(CARDS, now, palette)
    assert traces(drawing, "measured") == [(place, now.measured.bits.value)]
    assert traces(drawing, "predicted") == [(place, now.prediction.bits.value)]
    assert list(drawing.table["models"]) == list(COUNTS)
    assert list(drawing.table["predicted bits"]) == [study.prediction.bits.value for study in CARDS]
    assert f"measured <b>{bits_text(now.measured.bits.value)}</b>" in remarks(drawing)
    low, high = drawing.sketch.figure().layout.yaxis.range
    assert low <= min(0, *drawing.table["measured bits"]) and high >= max(drawing.table["measured bits"])
    alone = draw_release_bits(CARDS[:1], CARDS[0], palette)
    assert alone.sketch.figure().layout.xaxis.range == (0, 1) and alone.alt.endswith(".")


def test_the_line_at_one_and_a_share_beyond_the_axis():
    drawing = draw_fullness(CARDS, CARDS[1], LIGHT)
    line = [shape for shape in drawing.sketch.figure().layout.shapes if shape.line.color == LIGHT.fail]
    assert [(one.y0, one.y1) for one in line] == [(1, 1)]
    assert traces(drawing, "share") == [(1, CARDS[1].meter.share)]
    full = replace(CARDS[1], meter=replace(CARDS[1].meter, joint_bits=3 * CARDS[1].meter.prior_bits))
    beyond = draw_fullness([CARDS[0], full], full, LIGHT)
    assert traces(beyond, "share") == [(1, 1.25)]
    assert "<b>3.00</b> ▴" in remarks(beyond) and "a share of 3.00" in beyond.alt


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_everybody_pinned_is_a_dot_or_a_cross_inside_the_zones(palette: Palette):
    now = CARDS[-1]
    assert now.pinned.count > 2  # or this test says nothing
    drawing = draw_pinned(people(), now, palette)
    right = now.pinned.said == people().sensitive[now.pinned.people]
    dots, crosses = traces(drawing, "right"), traces(drawing, "wrong")
    assert len(dots) == int(right.sum()) and len(crosses) == int((~right).sum())
    unsure, settled = math.log(0.95 / 0.05), math.log(0.995 / 0.005)
    for x, y in dots + crosses:
        assert abs(x) <= unsure + 1e-9 and settled - 1e-9 <= abs(y) <= 7.0
    assert f"pinned down as north: <b>{int((now.pinned.said == 1).sum())}</b>" in remarks(drawing)
    assert list(drawing.table["row"]) == people().rows[now.pinned.people].tolist()
    assert set(drawing.table["pinned down as"]) <= {"north", "south"}
    others = traces(drawing, "others")
    assert 0 < len(others) <= people().n - now.pinned.count


def test_a_pin_that_is_wrong_is_a_cross():
    now = CARDS[-1]
    wrong = people().sensitive.copy()
    wrong[now.pinned.people] = 1 - now.pinned.said
    drawing = draw_pinned(replace(people(), sensitive=wrong), now, LIGHT)
    assert not traces(drawing, "right") and len(traces(drawing, "wrong")) == now.pinned.count
    assert f"0 rightly and {now.pinned.count} wrongly" in drawing.alt


def test_many_people_at_one_place_are_drawn_once():
    same = replace(people(), posterior=np.full(300, 0.3))
    now = replace(card(1), probability=np.full(300, 0.31))
    assert len(traces(draw_pinned(same, now, LIGHT), "others")) == 1


def test_names_are_harmless():
    common = replace(people(), group="<img src=x>", other="a & b")
    now = replace(CARDS[-1], people=common)
    for drawing in (draw_pinned(common, now, LIGHT), draw_in_common(now, LIGHT)):
        assert "<img" not in drawing.sketch.figure(check=True).to_json()


def test_recognition_before_and_after_with_the_majority():
    drawing = draw_recognised(CARDS[-1], LIGHT)
    found = CARDS[-1].measured
    assert traces(drawing, "majority") == [(100 * found.majority.value, 0), (100 * found.majority_balanced.value, 1)]
    assert list(drawing.table["of"]) == ["before", "after", "majority guess"] * 2
    assert drawing.table["value"][1] == found.accuracy_after.value
    assert drawing.table["value"][4] == found.balanced_after.value


def test_what_is_in_common_and_nothing_in_common():
    now = CARDS[-1]
    drawing = draw_in_common(now, LIGHT)
    assert len(drawing.table) == len(now.in_common.values)
    empty = draw_in_common(replace(now, in_common=replace(now.in_common, values=())), LIGHT)
    assert "no value is clearly more frequent" in remarks(empty) and "Nothing clear" in empty.alt
    assert list(empty.table.columns)[:2] == ["column", "value"]


ADVICE = Advice(
    exact=False,
    decimals=2,
    epsilon=None,
    tried=(
        Tried(decimals=None, epsilon=None, pinned=7, df_bits=18.25),
        Tried(decimals=2, epsilon=None, pinned=0, df_bits=3.0),
        Tried(decimals=None, epsilon=0.1, pinned=1, df_bits=0.04),
    ),
)


def test_a_precision_nobody_knows_about_pins_not_nobody():
    unknown = replace(ADVICE, tried=(replace(ADVICE.tried[1], known=False), ADVICE.tried[1]))
    drawing = draw_precisions(unknown, (None, None), LIGHT)
    assert remarks(drawing).count("not known") == 1 and remarks(drawing).count("nobody") == 1
    assert "2 decimals: not known; 2 decimals: nobody" in drawing.alt


@pytest.mark.parametrize("chosen", [(None, None), (2, None), (5, None)])
def test_precisions_tried_with_the_chosen_one_set_off(chosen: tuple[int | None, float | None]):
    drawing = draw_precisions(ADVICE, chosen, LIGHT)
    figure = drawing.sketch.figure(check=True)
    (bar,) = [trace for trace in figure.data if trace.type == "bar"]
    assert list(bar.x) == [7, 0, 1]
    strong = [color == LIGHT.leak for color in bar.marker.color]
    assert strong == [chosen == (row.decimals, row.epsilon) for row in ADVICE.tried]
    assert list(drawing.table["precision"]) == ["exact", "2 decimals", "noise, ε = 0.1"]
    assert remarks(drawing).count("nobody") == 1 and "exact: 7" in drawing.alt


@pytest.mark.parametrize(
    ("bits", "told"),
    [(0.04, "0.0"), (-0.04, "0.0"), (-0.31, "−0.3"), (99.94, "99.9"), (99.96, "100"), (1234.5, "1,234")],
)
def test_bits_as_text(bits: float, told: str):
    assert bits_text(bits) == told


def test_precisions_as_text():
    assert [precision_text(1, None), precision_text(None, 0.3)] == ["1 decimal", "noise, ε = 0.3"]
