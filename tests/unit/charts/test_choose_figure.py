"""The chart of a choice: every candidate is drawn, the chosen one ringed, what is beyond stands at the edge."""

from __future__ import annotations

import numpy as np

from core.charts.choose import METHOD_STYLES, draw_choice
from core.choose import Choice, ChooseSettings, Outcomes, choose
from core.models import METHODS
from tests.unit.charts.checks import check, dots, written
from tests.unit.choose.made import POLICY, SAFE, point


def made(*, leak: float = 0.5, n: int = 5) -> Choice:
    rng = np.random.default_rng(1)
    truth = {**SAFE, "membership_auc": leak}
    points = [point(k, 0.75, truth, rng, method=method) for k, method in enumerate(METHODS[:n])]
    return choose(points, POLICY, ChooseSettings(), attribute="sex")


def test_every_candidate_is_drawn_and_the_recommended_one_is_ringed():
    choice = made()
    assert choice.outcome == Outcomes.RECOMMENDED
    drawing = draw_choice(choice)
    figure = check(drawing)
    *models, ring = dots(figure)
    assert sum(len(trace.x) for trace in models) == 5
    at = choice.chosen.choosing
    assert (ring.x[0], ring.y[0]) == (at.leak, 100 * at.accuracy.value)
    assert any(f"recommended: {choice.chosen.title}" in words for words in written(figure))
    assert len({METHOD_STYLES[m].color for m in METHODS}) == len({METHOD_STYLES[m].symbol for m in METHODS}) == 5
    assert len(drawing.table) == 5


def test_what_leaks_more_than_twice_its_limit_stands_at_the_right_edge_and_nobody_is_ringed():
    choice = made(leak=0.9)
    figure = check(draw_choice(choice))
    assert choice.outcome == Outcomes.NONE
    assert {x for trace in dots(figure) for x in trace.x} == {2.1}
    assert not any("recommended" in words for words in written(figure))


def test_one_candidate_is_a_chart_too():
    assert len(dots(check(draw_choice(made(n=1))))) == 2
