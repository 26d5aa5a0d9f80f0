"""Every line chart: names stand where the curve is at the slider, and only what is computed is drawn."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import core
from core.charts import Drawing
from core.charts.drawing import Axis, percents, value_of
from core.charts.lines import Curve, draw_lines, level
from core.charts.theme import plain
from core.report import charts as report_charts
from core.report.report import TitledTable
from core.stats.estimates import Estimate
from core.studies.bias_queries import BiasQueriesResult, BiasQueriesSettings, Leak
from core.studies.bias_queries.charts import draw_leakage
from core.studies.membership.charts import draw_epsilon_curve
from core.studies.membership.findings import EPSILONS
from tests import house
from tests.unit.charts import membership_samples as members
from tests.unit.charts.checks import check
from tests.unit.charts.nasty_studies import CHARTS, invent, nasty

ROOT = Path(core.__file__).parent
FILES = [*sorted((ROOT / "charts").glob("*.py")), *sorted(ROOT.rglob("charts.py"))]
SEEDS = range(12)


@dataclass(frozen=True)
class Call:
    """A chart that `draw_lines` has drawn, and what it was drawn from."""

    caller: str
    curves: Sequence[Curve]
    at: float | None
    gutter: bool
    drawing: Drawing


def callers() -> set[str]:
    """Return the functions that call `draw_lines`, by module and name, as they are written."""
    drawing_functions = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = {call.func.id for call in calls_in(node) if isinstance(call.func, ast.Name)}
                if "draw_lines" in names:
                    drawing_functions.add(f"{path.parent.name}.{path.stem}.{node.name}")
    return drawing_functions


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Call))


def table_of_a_report(rng: np.random.Generator) -> None:
    """Draw the curves of a report."""
    names = ["tolerance", "attacker", "before", "after", "after, low", "after, high"]
    rows = [
        [tolerance, attacker, float(rng.random()), float(rng.random()), 0.1, 0.9]
        for attacker in [nasty(rng) for _ in range(int(rng.integers(1, 4)))]
        for tolerance in (0.0, 0.01, 0.05, 0.2)
    ]
    report_charts.line_chart(
        TitledTable(title="Accuracy by tolerance", columns=tuple(names), rows=tuple(map(tuple, rows)))
    )


@pytest.fixture(scope="module")
def drawn() -> Iterator[list[Call]]:
    """Every line chart of core, drawn several times from invented results."""
    calls: list[Call] = []

    def recorded(title: str, curves: Sequence[Curve], **look: Any) -> Drawing:
        code = sys._getframe(1).f_code
        path = Path(code.co_filename)
        drawing = draw_lines(title, curves, **look)
        in_gutter = look.get("gutter", 1) > 0 and not look.get("diagonal")
        caller = f"{path.parent.name}.{path.stem}.{code.co_qualname.partition('.')[0]}"
        calls.append(Call(caller, curves, look.get("at"), in_gutter, drawing))
        return drawing

    with pytest.MonkeyPatch.context() as patch:
        for path in FILES:
            module = import_module(house.module_of(path))
            if path.stem != "lines" and hasattr(module, "draw_lines"):
                patch.setattr(module, "draw_lines", recorded)
        for name, draw in CHARTS.items():
            for seed in SEEDS:
                draw(np.random.default_rng([seed, len(name), 7]))
        for seed in SEEDS:
            table_of_a_report(np.random.default_rng(seed))
    yield calls


@pytest.mark.long
def test_all_functions_that_draw_lines_are_tried(drawn: list[Call]):
    tried = {call.caller for call in drawn}
    assert len(callers()) >= 8 and tried == callers()
    assert any(curve.unfinished for call in drawn for curve in call.curves)
    assert sum(call.at is not None for call in drawn) > 50


def points_of(curve: Curve, drawing: Drawing) -> list[tuple[float, float]]:
    """Return the places and heights of what is computed of a curve; nan where it has a gap."""
    points = list(zip(curve.x, curve.of, strict=True))
    if curve.grid:
        numbers = dict(points)
        points = [(position, numbers.get(position)) for position in sorted({*curve.x, *curve.grid})]
    return [(drawing.x.position(position), drawing.y.position(value_of(number))) for position, number in points]


def joined(curve: Curve, drawing: Drawing) -> set[tuple[tuple[float, float], tuple[float, float]]]:
    """Return the pairs of points between which a curve's line may be."""
    pairs = pairwise(points_of(curve, drawing))
    return {(left, right) for left, right in pairs if not math.isnan(left[1] + right[1])}


def expected_height(curve: Curve, call: Call) -> float:
    """Return where a curve is at the slider, or where it ends; nan where that is not computed."""
    y = call.drawing.y
    if curve.current is not None:
        return y.position(value_of(curve.current))
    measured = [value_of(number) for number in curve.of if not math.isnan(value_of(number))]
    if curve.level:
        return y.position(measured[-1])
    points = [point for point in points_of(curve, call.drawing) if not math.isnan(point[1])]
    if call.at is None:
        missing = not {*curve.grid} <= {*curve.x}
        return math.nan if missing or not points else points[-1][1]
    at = call.drawing.x.position(call.at)
    for x, height in points:
        if math.isclose(x, at, rel_tol=1e-6):
            return height
    for (left, low), (right, high) in joined(curve, call.drawing):
        if left < at < right:
            return low + (high - low) * (at - left) / (right - left)
    if {*curve.grid} <= {*curve.x} and points and not points[0][0] < at < points[-1][0]:
        return min(points, key=lambda point: abs(point[0] - at))[1]
    return math.nan


def labels(drawing: Drawing) -> list[tuple[float, float, str, str]]:
    """Return of each name in the gutter where its leader begins and ends, its colour and its words."""
    shapes = [shape for shape in drawing.layout["shapes"] if (shape.get("xref"), shape["x1"]) == ("paper", 12)]
    notes = [note for note in drawing.layout["annotations"] if (note["xref"], note["yref"]) == ("paper", "y")]
    leaders = [(shape["y0"], shape["y1"], shape["line"]["color"]) for shape in shapes]
    assert [end for _, end, _ in leaders] == [note["y"] for note in notes]
    assert [color for _, _, color in leaders] == [note["font"]["color"] for note in notes]
    return [(start, end, color, plain(note["text"])) for (start, end, color), note in zip(leaders, notes, strict=True)]


def test_names_stand_at_the_height_their_curve_has_at_the_slider(drawn: list[Call]):
    seen = 0
    for call in (call for call in drawn if call.gutter):
        low, high = call.drawing.y.ends
        expected = []
        for curve in (curve for curve in call.curves if curve.name):
            height = expected_height(curve, call)
            if not math.isnan(height):
                number = curve.at(call.at)
                value = curve.value
                if value is None:
                    value = "" if number is None else plain(call.drawing.y.write(number))
                expected.append((min(max(height, low), high), curve.color, value))
        gutter_labels = labels(call.drawing)
        for start, _, color, text in gutter_labels:
            near = [
                value for height, curve_color, value in expected if curve_color == color and math.isclose(height, start)
            ]
            assert any(text.startswith(value) for value in near), (call.caller, text, expected)
        ordered = sorted(gutter_labels)
        assert [end for _, end, _, _ in ordered] == sorted(end for _, end, _, _ in ordered)  # no two leaders cross
        assert len(gutter_labels) == len(expected) or len(gutter_labels) >= 3  # some have no room
        seen += len(gutter_labels)
    assert seen > 300


def test_a_hairline_leads_from_the_slider_to_each_name(drawn: list[Call]):
    for call in (call for call in drawn if call.gutter and call.at is not None):
        assert call.at is not None
        at, right = call.drawing.x.position(call.at), call.drawing.x.ends[1]
        shapes = [shape for shape in call.drawing.layout["shapes"] if shape["type"] == "line"]
        hairs = [shape for shape in shapes if shape["line"]["color"].endswith("/30")]
        starts = {(shape["x0"], shape["y0"]) for shape in hairs}
        assert all(shape["y0"] == shape["y1"] and shape["x1"] == right for shape in hairs)
        reaching = [curve for curve in call.curves if not curve.level and curve.at(call.at) is not None]
        heights = {expected_height(curve, call) for curve in reaching if curve.name}
        if at < right:
            label_heights = {start for start, *_ in labels(call.drawing)}
            assert {(at, height) for height in heights & label_heights} <= starts


def test_lines_join_neighbours_that_are_computed_and_every_point_is_seen(drawn: list[Call]):
    for call in drawn:
        drawing = call.drawing
        allowed = {pair for curve in call.curves if not curve.level for pair in joined(curve, drawing)}
        seen: set[tuple[float, float]] = set()
        for trace in drawing.data:
            points = list(zip(trace["x"], trace["y"], strict=True))
            if trace["mode"] == "markers":
                seen |= {*points}
            elif not trace.get("fill"):
                pairs = [(a, b) for a, b in pairwise(points) if a[1] is not None and b[1] is not None]
                assert {*pairs} <= allowed, call.caller
                seen |= {point for pair in pairs for point in pair}
        for curve in call.curves:
            if not curve.level:
                bottom, top = drawing.y.ends
                computed = [(x, y) for x, y in points_of(curve, drawing) if not math.isnan(y)]
                assert {(x, y) for x, y in computed if bottom <= y <= top} <= seen, (call.caller, curve.name)


def rate(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.02, high=value + 0.02, n=50)


def leaking(m: int) -> BiasQueriesResult:
    rng = np.random.default_rng(1)
    leaks = [invent(Leak, rng, m=m, decoder=d, leakage=rate(0.5 + 0.004 * m)) for d in ("strongest", "published")]
    return BiasQueriesResult(attribute="sex", prior=rate(0.7), leaks=tuple(leaks))


def draw_leaks(computed: Sequence[int], *, marker: int) -> Drawing:
    results = [leaking(marker), *(leaking(m) for m in computed)]
    return draw_leakage(results, BiasQueriesSettings(), numbers=range(0, 61, 2))


def test_a_curve_of_which_the_ends_are_computed_is_two_dots_and_no_line():
    drawing = draw_leaks([0, 60], marker=25)
    figure = check(drawing)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert not lines
    dots = [trace for trace in figure.data if trace.name == "computed"]
    assert [list(trace.x) for trace in dots] == [[0, 60]] * 2
    assert all(list(trace.y) == pytest.approx([50.0, 74.0]) for trace in dots)
    assert [text for *_, text in sorted(labels(drawing))] == [
        "50.0% random guessing",
        "60.0% ℓ1 (paper)",
        "60.0% best decoder",
        "70.0% features only",
    ]
    (column,) = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert 0 < column.x0 < 1 and 59 < column.x1 < 60  # grey but beside what is computed
    assert "computed so far: 2 of 31 places" in drawing.alt
    assert set(drawing.table.value) == {0.5, 0.74, 0.6}


def test_a_finished_curve_is_a_line_and_its_name_stands_where_it_is_at_the_slider():
    drawing = draw_leaks(range(0, 61, 2), marker=30)
    lines = [trace for trace in drawing.data if trace["mode"] == "lines" and not trace.get("fill")]
    assert [len(trace["x"]) for trace in lines] == [31, 31]
    heights = {text: start for start, _, _, text in labels(drawing)}
    assert heights["62.0% best decoder"] == pytest.approx(62.0)
    assert "computed so far" not in drawing.alt
    assert not [shape for shape in drawing.layout["shapes"] if shape["type"] == "rect"]


def test_the_end_of_an_unfinished_curve_has_no_name():
    x = Axis(ends=(0, 4), marks=range(5), labels=list("01234"), title="x")
    grid = range(5)
    for count, has_name in ((5, True), (3, False)):
        curve = Curve(x=grid[:count], of=[0.5 + 0.1 * i for i in grid[:count]], grid=grid, color="leak", name="curve")
        drawing = draw_lines("Lines", [level(0.2, "chance", "level"), curve], x=x, y=percents("y"))
        assert [text for *_, text in labels(drawing)] == ["20.0% level"] + ["90.0% curve"] * has_name


def test_gaps_of_a_line_are_gaps_on_paper_too():
    x = Axis(ends=(0, 4), marks=range(5), labels=list("01234"), title="x")
    curve = Curve(x=range(5), of=[0.1, 0.2, None, 0.4, 0.5], color="leak", width=3)
    drawing = draw_lines("Lines", [curve], x=x, y=percents("y"))
    paths = str(report_charts.svg(drawing, 720, "wide"))
    (line,) = [part for part in paths.split("<path ") if 'stroke-width="3"' in part]
    assert line.partition('"')[2].partition('"')[0].count("M") == 2


def test_what_only_all_budgets_together_tell_is_not_shaded_before():
    quiet = [b for b in members.bands() if b.values["auc"].low <= 0.5]
    drawing = draw_epsilon_curve(quiet, now=quiet[0].at)
    assert len(quiet) < len(EPSILONS) and "AUC not above" not in drawing.alt
    assert "AUC not above" in draw_epsilon_curve(members.bands(), now=quiet[0].at).alt
