"""Charts of all studies: numbers are where core says, only what is computed is drawn, names stay words."""

import itertools
import math
import re
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.charts.drawing import NARROW, Axis, percents, shares, value_of
from core.charts.lines import Curve, Dot, draw_lines
from core.charts.planes import draw_heat
from core.charts.rows import Mark, Row, draw_rows
from core.charts.theme import fit, plain, separate_labels, short, width
from core.report import charts as report_charts
from core.stats.estimates import Estimate
from core.studies.attriguard import Compared
from core.studies.attriguard.charts import draw_defences, draw_mechanism
from core.studies.correction import STEPS, run
from core.studies.correction.charts import draw_waterfall, tolerance_axis
from core.studies.membership.charts import draw_ranges, draw_roc
from core.studies.model_card.charts import _once, draw_pinned
from core.studies.subject import AuditConfig
from tests.release_samples import card, people
from tests.samples import ROLES, dataset
from tests.unit.charts.checks import check, check_axes, check_table, dots, written
from tests.unit.charts.nasty_studies import CHARTS, chart
from tests.unit.charts.samples import estimate, ranges, result, roc, study


def traces(drawing, name):
    traces_of_name = [trace for trace in check(drawing).data if trace.name == name]
    return [point for trace in traces_of_name for point in zip(trace.x, trace.y, strict=True)]


def test_everybody_pinned_is_a_dot_or_a_cross_inside_the_zones():
    now = card(12)
    assert now.pinned.count > 2  # or this test says nothing
    wrong = people().sensitive.copy()
    wrong[now.pinned.people] = 1 - now.pinned.inferred
    unsure, settled = math.log(0.95 / 0.05), math.log(0.995 / 0.005)
    for somebody in (people(), replace(people(), codes=wrong)):
        drawing = draw_pinned(replace(now, people=somebody))
        right = now.pinned.inferred == somebody.sensitive[now.pinned.people]
        right_ones, crosses = traces(drawing, "right"), traces(drawing, "wrong")
        assert (len(right_ones), len(crosses)) == (int(right.sum()), int((~right).sum()))
        for x, y in right_ones + crosses:
            assert abs(x) <= unsure + 1e-9 and settled - 1e-9 <= abs(y) <= 7.0
        assert f"near-certain: {int((now.pinned.inferred == 1).sum())} north" in drawing.alt
        assert (" wrong" in drawing.alt) == bool(crosses)
        assert list(drawing.table["row"]) == people().rows[now.pinned.people].tolist()
        assert 0 < len(traces(drawing, "others")) <= people().n - now.pinned.count


@pytest.mark.long
def test_the_bars_of_a_waterfall_join():
    findings = run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=dataset(2000, seed=11))
    leak, now = findings.attribution("published", 0.05), findings.disclose(0.05)
    waterfall = partial(draw_waterfall, leak, findings.strong, label="Strong", attribute="origin")
    bars = [trace for trace in check(waterfall(now=now)).data if trace.type == "bar"]
    ends = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in bars]  # the control is a dot
    reached = [100 * leak.step(name).values["accuracy"].value for name in STEPS]
    assert ends[:-1] == [pytest.approx(pair) for pair in pairwise(reached)]
    assert ends[-1] == pytest.approx((100 * now.before.value, 100 * now.after.value))
    high_baseline = replace(now, majority=replace(now.majority, value=0.9))
    knows = waterfall(now=high_baseline).table["attacker knows"].tolist()
    assert knows[:2] == ["Baseline they know", "+ features"]


def test_the_roc_tells_what_is_caught_at_one_percent():
    by_group = (roc(2.0, 4000, seed=2), roc(0.3, 3000, seed=3))
    figure = check(draw_roc(result("lira", ("men", "women"), roc(0.7), curves_by_group=by_group)))
    for name, group_roc in zip(("men", "women"), by_group, strict=True):
        caught = group_roc.tpr_at(0.01).value  # as in the report
        assert any(f"{name} {100 * caught:.1f}%" in text for text in written(figure))
        assert math.log10(caught) + 2 in [pytest.approx(mark.y[0]) for mark in dots(figure)]
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert figure.layout.xaxis.range[0] == figure.layout.yaxis.range[0] == shade.x0 == math.log10(0.1)  # 0.1%
    assert shade.x1 == pytest.approx(math.log10(10 / 3000) + 2)  # the smaller group decides


@pytest.mark.parametrize(("members", "names"), [(100, ["women", "men"]), (99, ["all"])])
def test_draw_roc_gives_groups_of_a_hundred_their_curves(members, names):
    by_group = tuple(replace(roc(lift), n_members=members) for lift in (0.5, 2.0))
    labels = written(check(draw_roc(result("lira", ("men", "women"), roc(0.7), curves_by_group=by_group))))
    assert [text.split()[0] for text in labels if text.endswith("%")] == names


def test_ten_steps_add_up_to_vd():
    differences = (-0.005, -0.006, -0.008, -0.013, -0.015, -0.02, -0.022, -0.025, -0.025, 0.27)
    range_table = ranges(differences, group="women", reference="men")
    figure = check(draw_ranges(range_table))
    bars = [(trace.base[0], trace.x[0]) for trace in figure.data if trace.type == "bar"]
    steps = [100 * difference for difference in range_table.differences]
    starts = [0, *itertools.accumulate(steps)]
    assert len(bars) == 10
    assert np.ravel(bars) == pytest.approx(np.column_stack([starts[:-1], steps]).ravel())
    (last,) = dots(figure)
    assert last.x[0] == pytest.approx(starts[-1]) == pytest.approx(13.1)


def test_draw_mechanism_adds_the_rarest_of_many_values_up():
    drawing = draw_mechanism(study(values=12), 0, 1.0)
    targets, used = np.reshape([mark.x[0] for mark in dots(check(drawing))], (-1, 2)).T
    assert len(targets) == 10  # nine values, and three others
    assert (targets.sum(), used.sum()) == pytest.approx((100, 100))


def test_draw_defences_names_each_defence():
    parameters = {"blurme": "3 added", "qpm": "slack 0.5", "local_dp": "epsilon 8 an entry"}
    comparators = [
        Compared(method=method, parameter=parameter, knows_truth=False, size=estimate(4.0), accuracy={})
        for method, parameter in parameters.items()
    ]
    labels = written(check(draw_defences(study(), 1.0, comparators)))
    assert {"AttriGuard", "BlurMe, guessed", "QPM", "Local DP, ε = 8"} <= set(labels)


def test_draw_rows_puts_a_mark_so_many_pixels_above_its_row():
    marks = (Mark(of=0.5, color="first", up=6), Mark(of=0.6, color="second"), Mark(of=0.7, color="leak", up=-9))
    drawing = draw_rows("Rows", [Row(name="a"), Row(name="b", marks=marks)], percents("Rate (%)"), pitch=40)
    figure = check(drawing)
    margin = figure.layout.margin
    below, above = figure.layout.yaxis.range
    pixels = (figure.layout.height - margin.t - margin.b) / (below - above)  # of a row
    assert [(1 - trace.y[0]) * pixels for trace in dots(figure)] == pytest.approx([6, 0, -9])


@pytest.mark.parametrize(("last", "end"), [(0.1, 0.2), (0.3, 0.3)])
def test_tolerance_axis_has_a_mark_at_its_end(last, end):
    axis = tolerance_axis("Tolerance", last)
    assert axis.ends == (0.0, end) and axis.marks[-1] == pytest.approx(end)
    assert [float(label) for label in axis.labels] == pytest.approx(axis.marks)


def test_once_leaves_out_points_that_are_drawn_already():
    x, y = _once(np.array([0.5, 0.9, 0.5, 0.9]), np.array([0.2, 0.5, 0.2, 0.7]))
    points = sorted(zip(x, y, strict=True))
    assert len(points) == 3
    assert np.ravel(points) == pytest.approx([0.5, 0.2, 0.9, 0.5, 0.9, 0.7], abs=0.015)


FIXED = {"draw_leakage", "draw_targeted", "draw_gaps"}
"""Charts with one axis whatever is drawn: invented numbers may lie beyond it."""

ELSEWHERE = {"scatter", "draw_mechanism", "draw_where", "draw_pinned", "draw_values", "draw_answer_errors"}
ELSEWHERE |= {"draw_gaps", "draw_fullness", "draw_budget", "draw_sets"}
"""Charts with dots that stand for no single number of the table: capped, of several rows, or of a paper."""


@pytest.mark.long
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("seed", range(3))
def test_nasty_names_stay_words_and_numbers_stand_where_the_table_says(name, seed):
    """That no words collide or are cut is measured in a browser: tests/browser/test_labels.py."""
    drawing = chart(name, seed)
    figure = check(drawing)
    if name not in FIXED:
        check_axes(figure)
    if name not in ELSEWHERE:
        check_table(drawing, figure)
    notes = [note.text for note in figure.layout.annotations]
    for title in (drawing.x.title, drawing.y.title):
        assert not title or any(fit(title, 9999, 12).startswith(note.partition("…")[0]) for note in notes)
    written = " ".join(notes)
    assert set(re.findall("&[^ ;]*;", written)) <= {"&lt;", "&gt;", "&amp;"}
    tags = set(re.findall("<[^>]*>", re.sub(' style="[^"]*"', "", written)))
    assert tags <= {"<b>", "</b>", "<br>", "<span>", "</span>"}


@given(st.text(max_size=60), st.integers(20, 300))
def test_names_are_shortened_in_the_middle_and_harmless(name, pixels):
    label = fit(name, pixels)
    flat = " ".join(name.split())
    assert width(label) <= pixels or len(plain(label)) <= 1
    assert plain(label) == flat or flat.startswith(plain(label).partition("…")[0])
    assert "<" not in label and "<" not in short(name)


@given(st.lists(st.floats(0, 1), max_size=6))
def test_a_range_holds_all_it_is_given_and_ignores_what_was_not_measured(rates):
    axis = percents("").over(rates)
    low, high = axis.ends
    assert 0 <= low <= high - 4 and high <= 100
    assert all(low - 1e-9 <= 100 * rate <= high + 1e-9 for rate in rates)
    assert 2 <= len(axis.marks) == len(axis.labels) <= 5
    assert percents("").over([math.nan, *rates]).marks == axis.marks


@pytest.mark.parametrize(("end", "interval"), [(5.0, "(1.235 to 3.457)"), (5.5, "(1.2 to 3.5)")])
def test_axis_interval_has_three_decimals_up_to_a_length_of_five(end, interval):
    axis = Axis(ends=(0.0, end), marks=(), labels=(), title="")
    assert axis.interval(Estimate(value=2.0, low=1.23456, high=3.4567, n=9)) == interval


@pytest.mark.parametrize("columns", range(2, 9))
def test_draw_heat_writes_as_large_as_its_cells_allow(columns):
    names = [f"c{number}" for number in range(columns)], ["a", "b"]
    row, text = [0.1] * columns, "12,345"
    texts = [[text] * columns] * 2
    drawing = draw_heat("T", [row, row], texts, names=names, titles=("x", "y"), ends=(0, 1), rows=())
    (trace,), margin = drawing.data, drawing.layout["margin"]
    cell = (NARROW - margin["l"] - margin["r"]) / columns - 4  # with a gap
    sizes = [size for size in range(1, 14) if width(text, size) <= cell]
    assert trace["textfont"]["size"] == max(sizes)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_labels_are_spread_apart_inside_the_chart(heights):
    placed = separate_labels(heights, 10, 0, 100)
    assert all(-1e-9 <= p <= 100 + 1e-9 for p in placed)
    ordered = sorted(placed)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(ordered))
    assert [p for _, p in sorted(zip(heights, placed, strict=True), key=lambda pair: pair[0])] == ordered


def test_draw_rows_leaves_a_note_in_the_middle_of_its_row():
    """Between two heights of a row, half of the difference is above the note."""
    above = []
    for pitch in (25, 57):
        drawing = draw_rows("Rows", [Row(name="a", note="no number")], percents(""), pitch=pitch)
        (note,) = (note for note in check(drawing).layout.annotations if note.text == "no number")
        assert (note.y, note.yanchor) == (-0.5, "top")
        above.append(-note.yshift)
    assert above[0] > 0 and above[1] - above[0] == pytest.approx((57 - 25) / 2)


def test_draw_rows_leaves_a_long_note_in_the_last_row():
    """Lines are 16 pixels high, so that two fit into a row of 40."""
    rows = [Row(name=name, marks=[Mark(of=0.25, color="ink")]) for name in "abc"]
    drawing = draw_rows("Rows", [*rows, Row(name="d", note="no number " * 60)], percents(""), pitch=40)
    lines = [note for note in check(drawing).layout.annotations if "no number" in plain(note.text)]
    assert len(lines) == 2 and all(-note.yshift + 16 <= 40 for note in lines)


def test_draw_rows_has_only_rows_with_numbers_in_the_table():
    rows = [Row(name="a", note="no number"), Row(name="b", marks=[Mark(of=0.25, color="ink")])]
    assert list(draw_rows("Rows", rows, percents(""), first="row").table["row"]) == ["b"]


@st.composite
def line_curves(draw):
    """Draw a curve with gaps, some of whose places may not be computed yet."""
    grid = sorted(draw(st.sets(st.integers(0, 8), min_size=1)))
    x = [position for position in grid if draw(st.booleans())]
    value = st.floats(-0.2, 1.2)
    number = st.none() | st.just(math.nan) | value | value.map(lambda rate: estimate(rate, half=0.3))
    of = draw(st.lists(number, min_size=len(x), max_size=len(x)))
    dots = [Dot(x=position, of=rate) for position, rate in zip(x, of, strict=True) if not math.isnan(value_of(rate))]
    look = {"name": draw(st.sampled_from(["", "curve"])), "band": draw(st.booleans())}
    more = {"grid": draw(st.sampled_from([(), grid])), "dots": draw(st.sampled_from([(), dots]))}
    return Curve(x=x, of=of, color="first", **look, **more)


@given(st.lists(line_curves(), min_size=1, max_size=4), st.none() | st.integers(0, 8))
def test_lines_join_neighbours_that_are_computed_and_every_point_is_seen(curves, at):
    """A neighbour is one on the grid of the curve, or without a grid among its own places."""
    x = Axis(ends=(0.0, 8.0), marks=(0.0, 8.0), labels=("0", "8"), title="Place")
    drawing = draw_lines("Curves", curves, x=x, y=shares("Rate"), at=at)
    computed, allowed, seen = set(), set(), set()
    for curve in curves:
        numbers = {position: 100 * value_of(rate) for position, rate in zip(curve.x, curve.of, strict=True)}
        points = [(position, numbers.get(position, math.nan)) for position in curve.grid or curve.x]
        allowed |= {(a, b) for a, b in pairwise(points) if not math.isnan(a[1] + b[1])}
        computed |= {(position, height) for position, height in points if 0 <= height <= 100}
    for trace in drawing.data:
        points = list(zip(trace["x"], trace["y"], strict=True))
        if trace["mode"] == "markers":
            seen |= {*points}
        elif not trace.get("fill"):
            pairs = {(a, b) for a, b in pairwise(points) if a[1] is not None and b[1] is not None}
            assert pairs <= allowed
            seen |= {point for pair in pairs for point in pair}
    assert computed <= seen
    assert {position for trace in drawing.data if trace.get("name") == "slider" for position in trace["x"]} <= {at}


PLACES = Axis(ends=(0.0, 2.0), marks=(0.0, 1.0, 2.0), labels=("0", "1", "2"), title="Place")


def test_draw_lines_cuts_a_band_at_the_ends_of_its_axis():
    """Intervals of 10 to 80, -20 to 140 and 20 to 90 percent on an axis of 0 to 100."""
    limits = ((0.1, 0.8), (-0.2, 1.4), (0.2, 0.9))
    numbers = [Estimate(value=0.5, low=low, high=high, n=100) for low, high in limits]
    curve = Curve(x=(0, 1, 2), of=numbers, color="first", band=True)
    figure = check(draw_lines("Band", [curve], x=PLACES, y=shares("Rate")))
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


def test_svg_draws_a_curve_from_margin_to_margin_and_a_rectangle_between_its_ends():
    """A curve on axes whose ends differ, 0 to 2 across and 0 to 100 up; the rectangle takes the middle half."""
    curve = Curve(x=(0, 0.5, 2), of=(0, 0.5, 1), color="first")
    drawing = draw_lines("Curve", [curve], x=PLACES, y=percents("Rate (%)"))
    left, right = drawing.layout["margin"]["l"], 400 - drawing.layout["margin"]["r"]
    (path,) = re.findall(r'd="M([^"]*L[^"]*L[^"]*)"', report_charts.svg(drawing, 400, "narrow"))
    places, heights = zip(*(map(float, point.split()) for point in path.split("L")), strict=True)
    assert places == pytest.approx([left, left + (right - left) / 4, right], abs=0.06)
    assert heights[1] == pytest.approx((heights[0] + heights[2]) / 2, abs=0.06)
    drawing.shade((0.5, 1.5), (0, 1), "pale", opacity=0.5)
    (rectangle,) = re.findall(r'<rect[^>]*opacity="0.5"[^>]*>', report_charts.svg(drawing, 400, "narrow"))
    across = {name: float(value) for name, value in re.findall(r' (x|width)="([^"]*)"', rectangle)}
    assert across == pytest.approx({"x": left + (right - left) / 4, "width": (right - left) / 2}, abs=0.06)
