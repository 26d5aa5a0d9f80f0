"""Every drawing: accepted by plotly with all checks, told in words, and steady under the slider."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core.adversaries import tune_forest
from core.charts import LIGHT, Drawing
from core.charts.audit import draw_accuracy, draw_groups, draw_rates
from core.charts.correction import (
    draw_disclosure,
    draw_methods,
    draw_models_accuracy,
    draw_models_unfairness,
    draw_more,
    draw_recognition,
    draw_search,
    draw_trained,
    draw_waterfall,
)
from core.config import AuditConfig
from core.correction import STEPS, CorrectionResult, Disclosure, attribute_over_seeds, disclose_more, run
from core.datasets import AuditDataset
from core.estimates import points
from core.sweep import SweepRow, grid, summarise, sweep
from tests.samples import ROLES, dataset
from tests.unit.charts.checks import check, dots

HOSTILE = ("<b>men</b> & others", "=women|`x`")


@pytest.fixture(scope="module")
def people() -> AuditDataset:
    return dataset(2000, seed=11)


@pytest.fixture(scope="module")
def findings(people: AuditDataset) -> CorrectionResult:
    return run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=people)


@pytest.fixture(scope="module")
def curve(findings: CorrectionResult) -> list[Disclosure]:
    return [findings.disclose(t) for t in (0.0, 0.01, 0.05, 0.1, 0.2)]


@pytest.fixture(scope="module")
def swept(findings: CorrectionResult, people: AuditDataset) -> list[SweepRow]:
    points = list(sweep(grid(findings.config, tolerances=(0.0, 0.1), seeds=(1, 2)), people))
    wanted = ("features", "held_out", "published")
    return [row for row in summarise(points) if (row.adversary, row.protocol, row.cost) == wanted]


def _told(findings: CorrectionResult, curve: list[Disclosure], marker: Disclosure) -> Drawing:
    return draw_disclosure(curve, marker, findings.strong, attribute="origin", attacker="Attacker")


def _check(drawing: Drawing) -> None:
    check(drawing)
    assert len(drawing.table) >= 1


def test_the_bars_of_a_waterfall_join(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    leak, now = findings.attribution("published", 0.05), curve[2]
    drawing = draw_waterfall(leak, findings.strong, words="Strong", attribute="origin", now=now)
    names = ["Baseline", "+ features", "+ predictions", "+ group proportions", "+ fairness constraint"]
    assert drawing.table["attacker knows"].tolist() == [*names, "constraint only (published)", "Strong"]
    steps = [leak.step(name) for name in STEPS]
    for before, after in pairwise(steps):
        change = after.changes["accuracy"].value
        assert after.values["accuracy"].value - before.values["accuracy"].value == pytest.approx(change)
    bars = [trace for trace in check(drawing).data if trace.type == "bar"]
    ends = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in bars]  # the control is a dot
    reached = [100 * step.values["accuracy"].value for step in steps]
    assert ends[:-1] == [pytest.approx(pair) for pair in pairwise(reached)]
    assert now.after is not None
    assert ends[-1] == pytest.approx((100 * now.before.value, 100 * now.after.value))
    written = [note.text for note in drawing.figure(LIGHT).layout.annotations]
    for step in steps[1:]:
        assert f"<b>{points(step.changes['accuracy']).removesuffix(' points')}</b>" in written


def test_many_groups_are_drawn_one_row_each(people: AuditDataset) -> None:
    three = replace(
        people,
        sensitive=(people.sensitive + (people.features[:, 0] > 1.6)).astype(np.uint8),
        group_names=(*HOSTILE, "c"),
    )
    found = run(AuditConfig(dataset="sample", roles=ROLES, metric="equalized_odds"), dataset=three)
    told = found.disclose(0.1, cost="count")
    assert len(told.groups) == 3 and len(found.group_names) == 3
    for drawing, lines in (
        (draw_groups(three), 4),
        (draw_rates(found.model, names=three.group_names), 8),
        (draw_recognition(told, [told], names=three.group_names), 5),
    ):
        _check(drawing)
        assert len(drawing.table) == lines


def test_every_drawing_is_valid_and_told_in_words(
    findings: CorrectionResult, curve: list[Disclosure], people: AuditDataset, swept: list[SweepRow]
) -> None:
    leak = findings.attribution("published", findings.config.tolerance)
    search = tune_forest("features", people.features, people.labels, people.sensitive, evaluations=3, seed=1)
    baseline = (curve[0].majority, curve[0].before, findings.strong)
    for drawing in (
        _told(findings, curve, curve[1]),
        draw_recognition(curve[1], curve, names=HOSTILE),
        draw_groups(people),
        draw_rates(findings.model, names=HOSTILE),
        draw_accuracy(findings.model),
        draw_trained(swept, baseline, attribute="origin"),
        draw_trained(swept[:1], baseline, attribute="origin"),
        draw_models_accuracy(swept),
        draw_models_unfairness(swept),
        draw_methods(swept[:1]),
        draw_more(disclose_more(findings, 0.01)),
        draw_search(search),
        draw_waterfall(attribute_over_seeds([leak, leak]), findings.strong, words="Strong", attribute="origin"),
    ):
        _check(drawing)
    assert "being measured" not in draw_trained([], baseline, attribute="origin").alt


def test_the_marker_stands_where_the_slider_does_and_the_axes_do_not_move(
    findings: CorrectionResult, curve: list[Disclosure]
) -> None:
    axes = set()
    for marker in curve:
        figure = _told(findings, curve, marker).figure(LIGHT)
        (dot,) = dots(figure)
        assert marker.after is not None
        assert (dot.x[0], dot.y[0]) == (marker.told, 100 * marker.after.value)
        axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
    assert len(axes) == 1


def test_no_correction_leaves_a_gap_and_a_hollow_marker(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    none = replace(curve[0], after=None, gain=None, balanced_after=None, n_changed=None, n_right=None, reached=math.nan)
    none = replace(none, groups=tuple(replace(g, after=None) for g in none.groups))
    drawing = _told(findings, [none, *curve[1:]], none)
    _check(drawing)
    (dot,) = dots(drawing.figure(LIGHT))
    assert dot.marker.color == (LIGHT.background,)
    assert "no correction" in drawing.alt
    _check(draw_recognition(none, [none, *curve[1:]], names=("a", "b")))
