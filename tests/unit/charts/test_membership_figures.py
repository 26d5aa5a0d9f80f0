"""Charts of a membership audit: valid, told in words, and readable on every screen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from core.charts import LIGHT, Drawing
from core.charts.membership import (
    draw_accuracy_by_epsilon,
    draw_epsilon_curve,
    draw_gaps_between,
    draw_group_gaps,
    draw_ranges,
    draw_roc,
)
from core.estimates import not_measured
from core.membership.curves import EPSILONS
from core.membership.disparity import Disparities
from core.membership.findings import Reading
from core.membership.inference import MembershipFindings
from tests.unit.charts.checks import check, dots, written
from tests.unit.charts.membership_samples import (
    REASON,
    attack,
    bands,
    compared,
    estimate,
    findings,
    low_fpr,
    ranges,
    roc,
)


def whole(**changes) -> MembershipFindings:
    return findings([attack("loss"), attack("network", **changes), attack("lira")])


def drawn_gaps(found: MembershipFindings) -> Drawing:
    return draw_gaps_between(Reading(found, found.settings))


def test_four_gaps_are_coloured_by_the_group_that_is_more_exposed():
    drawing = drawn_gaps(whole())
    figure = check(drawing)
    marks = dots(figure)
    assert [(m.x[0], m.y[0]) for m in marks] == [(0.131, 0), (0.210, 1), (-0.079, 2), (-0.051, 3)]
    looks = [(m.marker.color, m.marker.symbol) for m in marks]
    assert looks == [(LIGHT.first, "circle")] * 2 + [(LIGHT.second, "diamond")] * 2
    told = written(figure)
    assert {"+0.131", "+0.210", "−0.079", "−0.051"} <= set(told)
    assert "VD TPR gap +0.131 (0.113 to 0.149); FPR gap non-members flagged +0.210" in drawing.alt
    assert "← higher for men; higher for women →" in drawing.alt
    shaded = {(shape.y0 + shape.y1) / 2 for shape in figure.layout.shapes if shape.type == "rect"}
    assert [mark.y[0] in shaded for mark in marks] == [False, False, True, True]  # flags are no leak
    assert all("smallest gap found" in mark.text[0] and "0.026" in mark.text[0] for mark in marks)


def test_a_muted_attack_mutes_vd_alone():
    muted = whole(muted=True, disparities=Disparities(results=(compared((0.187, 0.185, 0.002)),)))
    drawing = drawn_gaps(muted)
    figure = check(drawing)
    vd, fpr, advantage, _ = dots(figure)
    assert vd.marker.color == LIGHT.background and vd.marker.line.color == LIGHT.muted  # hollow
    assert [t.line.dash for t in figure.data if str(t.mode).startswith("lines")] == ["dot", "solid", "solid", "solid"]
    assert fpr.marker.color == LIGHT.first and advantage.marker.color == LIGHT.chance  # the last holds 0
    assert "greyed out: AUC not above 0.5" in written(figure)
    assert "VD greyed out: AUC not above 0.5 +0.187" in drawing.alt
    assert not any("greyed out" in words for words in written(drawn_gaps(whole()).figure(LIGHT)))


def test_what_is_missing_is_said():
    quick = drawn_gaps(findings([attack("loss")]))
    assert written(check(quick)).count("being measured") == 1 and "Loss threshold" in quick.alt
    small = drawn_gaps(findings([attack("network"), attack("lira", low_fpr=(low_fpr(reason=REASON),))]))
    assert REASON in " ".join(written(check(small))) and "got 137" in small.alt
    why = "women: needs at least 10 members and 10 outsiders in both groups, got 7 members and 12 outsiders"
    none = findings([attack("network", disparities=Disparities(results=(), not_measured=(("women", why),)))])
    drawing = drawn_gaps(none)
    assert why in " ".join(written(check(drawing))) and not dots(drawing.figure(LIGHT))
    lacking = replace(compared(), vd=not_measured(), advantage_gap=not_measured())
    check(drawn_gaps(whole(disparities=Disparities(results=(lacking,)))))


def test_the_roc_tells_what_is_caught_at_one_percent():
    made = findings([attack("lira", roc_by_group=(roc(2.0, 4000, seed=2), roc(0.3, 3000, seed=3)))])
    drawing = draw_roc(made)
    figure = check(drawing)
    curves = [trace for trace in figure.data if trace.type == "scatter" and trace.mode.startswith("lines")]
    assert {(c.line.color, c.line.dash) for c in curves} == {(LIGHT.first, "solid"), (LIGHT.second, "dash")}
    for name, found in zip(("men", "women"), made.attacks["lira"].roc_by_group, strict=True):
        caught = found.tpr_at(0.01).value  # as in the report
        assert any(f"{name} {100 * caught:.1f}%" in words for words in written(figure))
        assert f"{100 * caught:.1f}% {name}" in drawing.alt
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


def test_one_score_for_everybody_is_not_told_as_a_rate():
    flat, fine = roc(0.8, 3000), roc(0.8, 3000, seed=2)
    flat = replace(flat, fpr=np.array([0.0, 1.0]), tpr=np.array([0.0, 1.0]))
    drawing = draw_roc(findings([attack("network", roc_by_group=(flat, flat))]), attack="network")
    words = " ".join(written(check(drawing)))
    assert "women one score for all" in words and "1.0%" not in words
    one = draw_roc(findings([attack("network", roc_by_group=(flat, fine))]), attack="network")
    words = " ".join(written(check(one)))
    assert "men one score for all" in words and f"women {100 * fine.tpr_at(0.01).value:.1f}%" in words


@pytest.mark.parametrize("muted", [False, True])
def test_ten_steps_add_up_to_vd(muted: bool):
    made = ranges()
    drawing = draw_ranges(made, muted=muted)
    figure = check(drawing)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len(bars) == 10
    height = 0.0
    for bar, row in zip(bars, made.rows, strict=True):
        assert (bar.base[0], bar.x[0]) == pytest.approx((height, 100 * row.difference))
        height += 100 * row.difference
    (last,) = dots(figure)
    assert last.x[0] == pytest.approx(height) == pytest.approx(13.1)
    assert (last.marker.color == LIGHT.background) is muted
    assert {"+13.1", "32.0, 5.0, +27.0", "5.0, 5.5, −0.5", "women %, men %, points"} <= set(written(figure))
    assert "0.9 to 1 32.0, 5.0, +27.0" in drawing.alt and ("greyed out" in drawing.alt) is muted


def test_a_row_for_each_of_many_groups():
    values = {"women, Black people": (0.1, 0.0, 0.1), "b": (0.0, 0.08, -0.08), "c": (0.01, 0.0, 0.01)}
    results = tuple(compared(gaps, group=name, others="all others") for name, gaps in values.items())
    figure = check(draw_group_gaps(attack("network", disparities=Disparities(results=results))))
    marks = [m for m in dots(figure) if m.marker.symbol != "line-ns"]
    assert [m.x[0] for m in marks] == pytest.approx([0.1, -0.08, 0.01])
    assert [m.marker.color for m in marks] == [LIGHT.first, LIGHT.second, LIGHT.chance]  # the last: none found
    assert [m.x[0] for m in dots(figure) if m.marker.symbol == "line-ns"] == [0.1, 0.0, 0.01]
    assert {"women, Black people", "+0.100 p 0.001"} <= set(written(figure))


FIELDS = ("vd", "fpr_gap", "advantage_gap")


def curve(figure: go.Figure, field: str) -> go.Scatter:
    """Return the dots of a field: those of the three gaps stand in this order."""
    return [trace for trace in figure.data if trace.mode == "markers" and trace.name != "slider"][FIELDS.index(field)]


def test_vd_is_muted_where_the_attack_is_no_better_than_chance():
    quiet = [b.at for b in bands() if b.values["auc"].low <= 0.5]
    assert 0 < len(quiet) < len(EPSILONS)
    below, from_chance = estimate(0.47, 0.01), estimate(0.625, 0.125)  # neither interval is above 0.5
    first = [
        replace(band, values={**band.values, "auc": auc})
        for band, auc in zip(bands(), (below, from_chance), strict=False)
    ]
    assert from_chance.low == 0.5 and len(quiet) > 2
    drawing = draw_epsilon_curve([*first, *bands()[2:]], now=quiet[0])
    figure = check(drawing)
    for field in FIELDS:
        assert list(curve(figure, field).y) == [b.values[field].value for b in bands()]
    colors = curve(figure, "vd").marker.color
    assert [color == LIGHT.background for color in colors] == [e in quiet for e in EPSILONS]
    assert set(curve(figure, "fpr_gap").marker.color) == {LIGHT.chance}
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert all(shade.x0 <= math.log10(e) <= shade.x1 for e in quiet)
    assert all(not shade.x0 <= math.log10(e) <= shade.x1 for e in EPSILONS[:-1] if e not in quiet)
    assert "shaded, AUC not above 0.5" in drawing.alt
    assert "shaded: AUC not above 0.5" in written(figure) and any(
        words.endswith("VD, greyed out") for words in written(figure)
    )


@pytest.mark.parametrize("there", [(), (1.0,), (math.inf, 0.01, 5.0)])
@pytest.mark.parametrize("repeats", [1, 25])
def test_growing_curves_are_drawn_from_what_is_there(there: Sequence[float], repeats: int):
    made = bands(there, repeats=repeats)
    for now in (0.02, 1.0, math.inf):
        figure = check(draw_epsilon_curve(made, now=now))
        assert ("being measured" in written(figure)) is (not there)
        (slider,) = (trace for trace in figure.data if trace.name == "slider")
        assert bool(len(slider.y)) is (now in there)  # nothing is invented between the points
        dotted = [t for t in figure.data if t.mode == "lines" and t.line.dash == "dot"]
        assert len(dotted) == len(FIELDS) * (math.inf in there)  # from the largest budget to none
        accuracy = draw_accuracy_by_epsilon(made, now=now, majority=estimate(0.752, 0.006))
        assert ("75.2% majority class" in accuracy.alt) is bool(there)
