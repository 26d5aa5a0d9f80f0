"""Every line chart: only what is computed is drawn, and all dots of a slider stand at one place."""

import math
import re
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import core
from core.charts import Drawing
from core.charts.drawing import Axis, percents, value_of
from core.charts.lines import Curve, draw_lines
from core.report import charts as report_charts
from core.report.report import TitledTable
from core.stats.estimates import Estimate
from tests import house
from tests.unit.charts.checks import check, check_axes, written
from tests.unit.charts.nasty_studies import CHARTS, nasty

ROOT = Path(core.__file__).parent
FILES = [*sorted((ROOT / "charts").glob("*.py")), *sorted(ROOT.rglob("charts.py"))]
SEEDS = range(8)


class Call(NamedTuple):
    """A chart that `draw_lines` has drawn, and what it was drawn from."""

    title: str
    curves: Sequence[Curve]
    drawing: Drawing


def draw_report(rng):
    """Draw the curves of a report."""
    names = ("tolerance", "attacker", "before", "after", "after, low", "after, high")
    rows = tuple(
        (tolerance, attacker, float(rng.random()), float(rng.random()), 0.1, 0.9)
        for attacker in [nasty(rng) for _ in range(int(rng.integers(1, 4)))]
        for tolerance in (0.0, 0.01, 0.05, 0.2)
    )
    report_charts.line_chart(TitledTable(title="Accuracy by tolerance", columns=names, rows=rows))


@pytest.fixture(scope="module")
def drawn():
    """Every line chart of core, drawn several times from invented results."""
    calls = []

    def recorded(title, curves, **look):
        drawing = draw_lines(title, curves, **look)
        calls.append(Call(title, curves, drawing))
        return drawing

    with pytest.MonkeyPatch.context() as patch:
        for path in FILES:
            module = import_module(house.module_of(path))
            if path.stem != "lines" and hasattr(module, "draw_lines"):
                patch.setattr(module, "draw_lines", recorded)
        with_lines = set()
        for seed in SEEDS:
            for name, draw in CHARTS.items():
                before = len(calls)
                if seed < 2 or name in with_lines:
                    draw(np.random.default_rng([seed, len(name), 7]))
                if len(calls) > before:
                    with_lines.add(name)
            draw_report(np.random.default_rng(seed))
    return calls


def points_of(curve, drawing):
    """Return the places and heights of what is computed of a curve; nan where it has a gap."""
    points = list(zip(curve.x, curve.of, strict=True))
    if curve.grid:
        numbers = dict(points)
        points = [(position, numbers.get(position)) for position in sorted({*curve.x, *curve.grid})]
    return [(drawing.x.position(position), drawing.y.position(value_of(number))) for position, number in points]


def joined(curve, drawing):
    """Return the pairs of points between which a curve's line may be."""
    pairs = pairwise(points_of(curve, drawing))
    return {(left, right) for left, right in pairs if not math.isnan(left[1] + right[1])}


def test_lines_join_neighbours_that_are_computed_and_every_point_is_seen(drawn):
    for call in drawn:
        drawing = call.drawing
        allowed = {pair for curve in call.curves if not curve.level for pair in joined(curve, drawing)}
        seen = set()
        assert len({x for trace in drawing.data if trace.get("name") == "slider" for x in trace["x"]}) <= 1, call.title
        for trace in drawing.data:
            points = list(zip(trace["x"], trace["y"], strict=True))
            if trace["mode"] == "markers":
                seen |= {*points}
            elif not trace.get("fill"):
                pairs = [(a, b) for a, b in pairwise(points) if a[1] is not None and b[1] is not None]
                assert {*pairs} <= allowed, call.title
                seen |= {point for pair in pairs for point in pair}
        for curve in call.curves:
            if not curve.level:
                bottom, top = drawing.y.ends
                computed = [(x, y) for x, y in points_of(curve, drawing) if not math.isnan(y)]
                assert {(x, y) for x, y in computed if bottom <= y <= top} <= seen, (call.title, curve.name)


PLACES = Axis(ends=(0.0, 2.0), marks=(0.0, 1.0, 2.0), labels=("0", "1", "2"), title="Place")


def test_draw_lines_cuts_a_band_at_the_ends_of_its_axis():
    """Intervals of 10 to 80, -20 to 140 and 20 to 90 percent on an axis of 0 to 100."""
    limits = ((0.1, 0.8), (-0.2, 1.4), (0.2, 0.9))
    numbers = [Estimate(value=0.5, low=low, high=high, n=100) for low, high in limits]
    y = Axis(ends=(0.0, 100.0), marks=(0.0, 100.0), labels=("0", "100"), title="Rate", position=lambda rate: 100 * rate)
    figure = check(draw_lines("Band", [Curve(x=(0, 1, 2), of=numbers, color="first", band=True)], x=PLACES, y=y))
    check_axes(figure)
    (band,) = (trace for trace in figure.data if trace.fill)
    assert band.x == (0, 1, 2, 2, 1, 0)
    assert band.y == pytest.approx((80, 100, 90, 20, 0, 10))


def test_draw_lines_names_all_of_eight_curves_where_there_is_room():
    """A plot of 230 pixels has room for twelve names of 18."""
    curves = [Curve(x=(0, 1, 2), of=(0.1, 0.1 * k, 0.1 * k), color="first", name=f"curve {k}") for k in range(1, 9)]
    drawing = draw_lines("Names", curves, x=PLACES, y=percents("Rate (%)"))
    assert 18 * len(curves) < (drawing.y.ends[1] - drawing.y.ends[0]) / drawing.pixel
    texts = " ".join(written(check(drawing)))
    assert all(f"{10 * k}.0% curve {k}" in texts for k in range(1, 9)), texts


@pytest.fixture
def diagonal():
    """A curve on axes whose ends differ, 0 to 2 across and 0 to 100 up, and where it begins and ends of 400 pixels."""
    curve = Curve(x=(0, 0.5, 2), of=(0, 0.5, 1), color="first")
    drawing = draw_lines("Curve", [curve], x=PLACES, y=percents("Rate (%)"))
    return drawing, drawing.layout["margin"]["l"], 400 - drawing.layout["margin"]["r"]


def test_svg_draws_a_curve_from_margin_to_margin(diagonal):
    drawing, left, right = diagonal
    (path,) = re.findall(r'd="M([^"]*L[^"]*L[^"]*)"', report_charts.svg(drawing, 400, "narrow"))
    places, heights = zip(*(map(float, point.split()) for point in path.split("L")), strict=True)
    assert places == pytest.approx([left, left + (right - left) / 4, right], abs=0.06)
    assert heights[1] == pytest.approx((heights[0] + heights[2]) / 2, abs=0.06)


def test_svg_has_a_rectangle_between_its_ends(diagonal):
    """From a quarter to three quarters of the axis, which goes from 0 to 2."""
    drawing, left, right = diagonal
    drawing.shade((0.5, 1.5), (0, 1), "pale", opacity=0.5)
    (rectangle,) = re.findall(r'<rect[^>]*opacity="0.5"[^>]*>', report_charts.svg(drawing, 400, "narrow"))
    across = {name: float(value) for name, value in re.findall(r' (x|width)="([^"]*)"', rectangle)}
    assert across == pytest.approx({"x": left + (right - left) / 4, "width": (right - left) / 2}, abs=0.06)
