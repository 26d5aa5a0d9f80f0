"""Charts of all studies: numbers are where core says, names harmless."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core.charts import Drawing
from core.charts.drawing import percents
from core.charts.rows import Mark, Row, draw_rows
from core.studies.attriguard.charts import draw_defences, draw_mechanism
from core.studies.attriguard.comparators import Compared
from core.studies.correction import STEPS, CorrectionResult, Disclosure, run
from core.studies.correction.charts import draw_waterfall, tolerance_axis
from core.studies.membership.charts import draw_ranges, draw_roc
from core.studies.model_card.charts import _once, draw_in_common, draw_pinned
from core.studies.subject import AuditConfig
from tests.release_samples import card, people
from tests.samples import ROLES, dataset
from tests.unit.charts.checks import check, dots, written
from tests.unit.charts.guard_samples import study
from tests.unit.charts.membership_samples import estimate, ranges, result, roc


def traces(drawing: Drawing, name: str) -> list[tuple[float, float]]:
    """Return the points of a named trace."""
    return [
        point for trace in check(drawing).data if trace.name == name for point in zip(trace.x, trace.y, strict=True)
    ]


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
        assert len(right_ones) == int(right.sum()) and len(crosses) == int((~right).sum())
        for x, y in right_ones + crosses:
            assert abs(x) <= unsure + 1e-9 and settled - 1e-9 <= abs(y) <= 7.0
        assert f"near-certain: {int((now.pinned.inferred == 1).sum())} north" in drawing.alt
        assert (" wrong" in drawing.alt) == bool(crosses)
        assert list(drawing.table["row"]) == people().rows[now.pinned.people].tolist()
        assert 0 < len(traces(drawing, "others")) <= people().n - now.pinned.count
    assert len(draw_in_common(now).table) == len(now.in_common.values)


@pytest.fixture(scope="module")
def findings() -> CorrectionResult:
    return run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=dataset(2000, seed=11))


@pytest.fixture(scope="module")
def curve(findings: CorrectionResult) -> list[Disclosure]:
    return [findings.disclose(t) for t in (0.0, 0.01, 0.05, 0.1, 0.2)]


@pytest.mark.long
def test_the_bars_of_a_waterfall_join(findings: CorrectionResult, curve: list[Disclosure]):
    leak, now = findings.attribution("published", 0.05), curve[2]
    drawing = draw_waterfall(leak, findings.strong, label="Strong", attribute="origin", now=now)
    bars = [trace for trace in check(drawing).data if trace.type == "bar"]
    ends = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in bars]  # the control is a dot
    reached = [100 * leak.step(name).values["accuracy"].value for name in STEPS]
    assert ends[:-1] == [pytest.approx(pair) for pair in pairwise(reached)]
    assert now.after is not None
    assert ends[-1] == pytest.approx((100 * now.before.value, 100 * now.after.value))
    high_baseline = replace(now, majority=replace(now.majority, value=0.9))
    renamed = draw_waterfall(leak, findings.strong, label="Strong", attribute="origin", now=high_baseline)
    assert renamed.table["attacker knows"].tolist()[:2] == ["Baseline they know", "+ features"]


def test_the_roc_tells_what_is_caught_at_one_percent():
    by_group = (roc(2.0, 4000, seed=2), roc(0.3, 3000, seed=3))
    figure = check(draw_roc(result(curves_by_group=by_group)))
    for name, group_roc in zip(("men", "women"), by_group, strict=True):
        caught = group_roc.tpr_at(0.01).value  # as in the report
        assert any(f"{name} {100 * caught:.1f}%" in text for text in written(figure))
        assert math.log10(caught) + 2 in [pytest.approx(mark.y[0]) for mark in dots(figure)]
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert figure.layout.xaxis.range[0] == figure.layout.yaxis.range[0] == shade.x0 == math.log10(0.1)  # 0.1%
    assert shade.x1 == pytest.approx(math.log10(10 / 3000) + 2)  # the smaller group decides


@pytest.mark.parametrize(("members", "names"), [(100, ["women", "men"]), (99, ["all"])])
def test_draw_roc_gives_groups_of_a_hundred_their_curves(members: int, names: list[str]):
    by_group = tuple(replace(roc(lift), n_members=members) for lift in (0.5, 2.0))
    labels = written(check(draw_roc(result(curves_by_group=by_group))))
    assert [text.split()[0] for text in labels if text.endswith("%")] == names


def test_ten_steps_add_up_to_vd():
    range_table = ranges()
    figure = check(draw_ranges(range_table))
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len(bars) == 10
    height = 0.0
    for bar, row in zip(bars, range_table.rows, strict=True):
        assert (bar.base[0], bar.x[0]) == pytest.approx((height, 100 * row.difference))
        height += 100 * row.difference
    (last,) = dots(figure)
    assert last.x[0] == pytest.approx(height) == pytest.approx(13.1)


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


@pytest.mark.parametrize(("last", "end"), [(0.0, 0.2), (0.1, 0.2), (0.3, 0.3)])
def test_tolerance_axis_has_a_mark_at_its_end(last: float, end: float):
    axis = tolerance_axis("Tolerance", last)
    assert axis.ends == (0.0, end) and axis.marks[-1] == pytest.approx(end)
    assert [float(label) for label in axis.labels] == pytest.approx(axis.marks)


def test_once_leaves_out_points_that_are_drawn_already():
    x, y = _once(np.array([0.5, 0.9, 0.5, 0.9]), np.array([0.2, 0.5, 0.2, 0.7]))
    points = sorted(zip(x, y, strict=True))
    assert len(points) == 3
    assert np.ravel(points) == pytest.approx([0.5, 0.2, 0.9, 0.5, 0.9, 0.7], abs=0.015)
