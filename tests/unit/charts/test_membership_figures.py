"""Charts of a membership audit: valid, told in words, and readable on every screen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from core.charts import LIGHT
from core.charts.membership import (
    draw_epsilon_curve,
    draw_gaps_between,
    draw_ranges,
    draw_roc,
)
from core.membership.curves import EPSILONS
from core.membership.disparity import Disparities
from core.membership.findings import Reading
from core.membership.inference import MembershipFindings
from tests.unit.charts.checks import check, dots, written
from tests.unit.charts.membership_samples import (
    attack,
    bands,
    compared,
    estimate,
    findings,
    ranges,
    roc,
)


def whole(**changes) -> MembershipFindings:
    return findings([attack("loss"), attack("network", **changes), attack("lira")])


def test_four_gaps_are_coloured_by_the_group_that_is_more_exposed():
    made = whole()
    figure = check(draw_gaps_between(Reading(made, made.settings)))
    marks = dots(figure)
    assert [(m.x[0], m.y[0]) for m in marks] == [(0.131, 0), (0.210, 1), (-0.079, 2), (-0.051, 3)]
    looks = [(m.marker.color, m.marker.symbol) for m in marks]
    assert looks == [(LIGHT.first, "circle")] * 2 + [(LIGHT.second, "diamond")] * 2
    shaded = {(shape.y0 + shape.y1) / 2 for shape in figure.layout.shapes if shape.type == "rect"}
    assert [mark.y[0] in shaded for mark in marks] == [False, False, True, True]  # flags are no leak


def test_a_muted_attack_mutes_vd_alone():
    made = whole(muted=True, disparities=Disparities(results=(compared((0.187, 0.185, 0.002)),)))
    vd, fpr, advantage, _ = dots(check(draw_gaps_between(Reading(made, made.settings))))
    assert vd.marker.color == LIGHT.background and vd.marker.line.color == LIGHT.muted  # hollow
    assert fpr.marker.color == LIGHT.first and advantage.marker.color == LIGHT.chance  # the last holds 0


def test_the_roc_tells_what_is_caught_at_one_percent():
    made = findings([attack("lira", roc_by_group=(roc(2.0, 4000, seed=2), roc(0.3, 3000, seed=3)))])
    figure = check(draw_roc(made))
    for name, found in zip(("men", "women"), made.attacks["lira"].roc_by_group, strict=True):
        caught = found.tpr_at(0.01).value  # as in the report
        assert any(f"{name} {100 * caught:.1f}%" in words for words in written(figure))
        assert math.log10(caught) + 2 in [pytest.approx(mark.y[0]) for mark in dots(figure)]
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert shade.x1 == pytest.approx(math.log10(10 / 3000) + 2)  # the smaller group decides


@pytest.mark.parametrize("levels", [0, 12])
def test_a_curve_is_what_breaking_ties_at_random_reaches(levels: int):
    own = roc(0.8, 2000, levels=levels)
    figure = draw_roc(findings([attack("lira", roc_by_group=(own, own))])).figure(LIGHT)
    curve = next(trace for trace in figure.data if trace.mode.startswith("lines"))
    assert len(curve.x) <= 401  # no more than can be seen
    for x, y in zip(curve.x, curve.y, strict=True):
        assert 10 ** (y - 2) == pytest.approx(max(float(own.reached(10 ** (x - 2))), 1e-4))


def test_where_nobody_is_caught_the_pointer_says_so_at_the_end_of_the_axis():
    none = replace(roc(0.8, 3000), fpr=np.array([0.0, 0.5, 1.0]), tpr=np.array([0.0, 0.0, 1.0]))
    (dot, _) = dots(check(draw_roc(findings([attack("lira", roc_by_group=(none, none))]))))
    assert dot.y[0] == pytest.approx(-1.0) and dot.text[0].endswith("TPR at 1% FPR 0.0%")


def test_ten_steps_add_up_to_vd():
    made = ranges()
    figure = check(draw_ranges(made))
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len(bars) == 10
    height = 0.0
    for bar, row in zip(bars, made.rows, strict=True):
        assert (bar.base[0], bar.x[0]) == pytest.approx((height, 100 * row.difference))
        height += 100 * row.difference
    (last,) = dots(figure)
    assert last.x[0] == pytest.approx(height) == pytest.approx(13.1)


def test_vd_is_muted_where_the_attack_is_no_better_than_chance():
    quiet = [b.at for b in bands() if b.values["auc"].low <= 0.5]
    assert 2 < len(quiet) < len(EPSILONS)
    aucs = estimate(0.47, 0.01), estimate(0.625, 0.125)  # neither interval is above 0.5
    first = [replace(b, values={**b.values, "auc": auc}) for b, auc in zip(bands(), aucs, strict=False)]
    figure = check(draw_epsilon_curve([*first, *bands()[2:]], now=quiet[0]))
    vd, flags, _ = (trace for trace in figure.data if trace.mode == "markers" and trace.name != "slider")
    assert [color == LIGHT.background for color in vd.marker.color] == [e in quiet for e in EPSILONS]
    assert set(flags.marker.color) == {LIGHT.chance}
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert [shade.x0 <= math.log10(e) <= shade.x1 for e in EPSILONS[:-1]] == [e in quiet for e in EPSILONS[:-1]]


@pytest.mark.parametrize("there", [(), (1.0,), (math.inf, 0.01, 5.0)])
def test_growing_curves_are_drawn_from_what_is_there(there: Sequence[float]):
    for now in (0.02, 1.0, math.inf):
        figure = check(draw_epsilon_curve(bands(there), now=now))
        assert ("being measured" in written(figure)) is (not there)
        (slider,) = (trace for trace in figure.data if trace.name == "slider")
        assert bool(len(slider.y)) is (now in there)  # nothing is invented between the points
        dotted = [t for t in figure.data if t.mode == "lines" and t.line.dash == "dot"]
        assert len(dotted) == 3 * (math.inf in there)  # from the largest budget to none
