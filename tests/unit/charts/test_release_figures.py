"""Charts of a release: every number is where core says, names are harmless, the ranges hold every slider position."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from core.charts import LIGHT, Drawing
from core.charts.model_card import draw_fullness, draw_in_common, draw_pinned, draw_precisions
from core.model_card import Advice, Tried
from tests.release_samples import card, people

COUNTS = (1, 2, 5, 12)
CARDS = [card(count) for count in COUNTS]


def traces(drawing: Drawing, name: str) -> list[tuple[float, float]]:
    """Return the points of a named trace."""
    figure = drawing.figure(LIGHT, check=True)
    return [point for trace in figure.data if trace.name == name for point in zip(trace.x, trace.y, strict=True)]


def remarks(drawing: Drawing) -> str:
    """Return all words of a chart."""
    return " ".join(str(note.text) for note in drawing.figure(LIGHT, check=True).layout.annotations)


def test_the_line_at_one_and_a_share_beyond_the_axis():
    drawing = draw_fullness(CARDS, CARDS[1])
    line = [
        shape
        for shape in drawing.figure(LIGHT).layout.shapes
        if shape.line.color == LIGHT.fail and shape.xref != "paper"
    ]
    assert [(one.y0, one.y1) for one in line] == [(1, 1)]
    full = replace(CARDS[1], meter=replace(CARDS[1].meter, joint_bits=3 * CARDS[1].meter.prior_bits))
    beyond = draw_fullness([CARDS[0], full], full)
    assert traces(beyond, "slider") == [(1, 1.25)]
    assert "<b>3.00 ▴</b>" in remarks(beyond) and "3.00 ▴ resolved" in beyond.alt


def test_everybody_pinned_is_a_dot_or_a_cross_inside_the_zones():
    now = CARDS[-1]
    assert now.pinned.count > 2  # or this test says nothing
    drawing = draw_pinned(people(), now)
    right = now.pinned.said == people().sensitive[now.pinned.people]
    dots, crosses = traces(drawing, "right"), traces(drawing, "wrong")
    assert len(dots) == int(right.sum()) and len(crosses) == int((~right).sum())
    unsure, settled = math.log(0.95 / 0.05), math.log(0.995 / 0.005)
    for x, y in dots + crosses:
        assert abs(x) <= unsure + 1e-9 and settled - 1e-9 <= abs(y) <= 7.0
    assert f"near-certain: {int((now.pinned.said == 1).sum())} north" in drawing.alt
    assert list(drawing.table["row"]) == people().rows[now.pinned.people].tolist()
    assert set(drawing.table["inferred"]) <= {"north", "south"}
    assert len(draw_in_common(now).table) == len(now.in_common.values)
    others = traces(drawing, "others")
    assert 0 < len(others) <= people().n - now.pinned.count


def test_many_people_at_one_place_are_drawn_once():
    same = replace(people(), posteriors=np.full((300, 2), 0.3))
    now = replace(card(1), probability=np.full(300, 0.31))
    assert len(traces(draw_pinned(same, now), "others")) == 1


def test_a_pin_that_is_wrong_is_a_cross():
    now = CARDS[-1]
    wrong = people().sensitive.copy()
    wrong[now.pinned.people] = 1 - now.pinned.said
    drawing = draw_pinned(replace(people(), codes=wrong), now)
    assert not traces(drawing, "right") and len(traces(drawing, "wrong")) == now.pinned.count
    assert " wrong" in drawing.alt and " wrong" not in draw_pinned(people(), CARDS[0]).alt


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
    drawing = draw_precisions(unknown, (None, None))
    assert remarks(drawing).count("not known") == 1 and remarks(drawing).count("✓ nobody") == 1
    assert "2 decimals not known · 3.0; 2 decimals ✓ nobody · 3.0" in drawing.alt
