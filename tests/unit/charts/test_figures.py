"""Every drawing: accepted by plotly with all checks, told in words, and steady under the slider."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core.adversaries import tune_forest
from core.charts import (
    DARK,
    LIGHT,
    Drawing,
    Palette,
    draw_accuracy,
    draw_disclosure,
    draw_groups,
    draw_methods,
    draw_models_accuracy,
    draw_models_unfairness,
    draw_more,
    draw_rates,
    draw_recognition,
    draw_search,
    draw_trained,
    draw_waterfall,
    rows_of_one,
    rows_over_seeds,
)
from core.charts.correction import Step
from core.config import AuditConfig
from core.correction import CorrectionResult, Disclosure, attribute_over_seeds, disclose_more, run
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
    return [row for row in summarise(points).rows if (row.adversary, row.protocol, row.cost) == wanted]


def _told(findings: CorrectionResult, curve: list[Disclosure], marker: Disclosure, palette: Palette = LIGHT) -> Drawing:
    return draw_disclosure(curve, marker, findings.strong, palette, attribute="origin", attacker="Attacker")


def _check(drawing: Drawing) -> None:
    check(drawing)
    assert len(drawing.table) >= 1


def _waterfall(rows: list[Step], findings: CorrectionResult, palette: Palette) -> Drawing:
    return draw_waterfall(rows, findings.strong, palette, words="Strong", attribute="origin", told=0.01)


def test_the_bars_of_a_waterfall_join(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    leak = findings.attribution("paper's", 0.05)
    rows = rows_of_one(leak, curve[2])
    path = [row for row in rows if row.base is None]
    assert [row.name for row in path] == [
        "Baseline",
        "+ features",
        "+ predictions",
        "+ group proportions",
        "+ fairness constraint",
    ]
    for before, after in pairwise(path):
        assert after.change is not None
        assert after.reached.value - before.reached.value == pytest.approx(after.change.value)
    aside = rows[-1]
    assert aside.base == curve[2].before.value and aside.change == curve[2].gain
    figure = _waterfall(rows, findings, LIGHT).figure
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len(bars) == len(rows) - 1  # the control is a dot
    for bar, row in zip(bars, rows[1:], strict=True):
        end = 100 * row.reached.value
        assert min(abs(bar.base[0] - end), abs(bar.base[0] + bar.x[0] - end)) < 0.4
    written = [note.text for note in figure.layout.annotations]
    for row in path[1:]:
        assert row.change is not None and f"<b>{points(row.change).removesuffix(' points')}</b>" in written


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
        (draw_groups(three, LIGHT), 4),
        (draw_rates(found.model, LIGHT, names=three.group_names), 12),
        (draw_recognition(told, [told], LIGHT, names=three.group_names), 5),
    ):
        _check(drawing)
        assert len(drawing.table) == lines


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_every_drawing_is_valid_and_told_in_words(
    findings: CorrectionResult, curve: list[Disclosure], people: AuditDataset, swept: list[SweepRow], palette: Palette
) -> None:
    leak = findings.attribution("paper's", findings.config.tolerance)
    search = tune_forest("features", people.features, people.labels, people.sensitive, evaluations=3, seed=1)
    baseline = (curve[0].majority, curve[0].before, findings.strong)
    for drawing in (
        _told(findings, curve, curve[1], palette),
        draw_recognition(curve[1], curve, palette, names=HOSTILE),
        draw_groups(people, palette),
        draw_rates(findings.model, palette, names=HOSTILE),
        draw_accuracy(findings.model, palette),
        draw_trained(swept, baseline, palette, attribute="origin"),
        draw_trained(swept[:1], baseline, palette, attribute="origin"),
        draw_models_accuracy(swept, palette),
        draw_models_unfairness(swept, palette),
        draw_methods(swept[:1], palette),
        draw_more(disclose_more(findings, 0.01), palette),
        draw_search(search, palette),
        _waterfall(rows_of_one(leak, curve[1]), findings, palette),
        _waterfall(rows_over_seeds(attribute_over_seeds([leak, leak])), findings, palette),
    ):
        _check(drawing)
    assert "being measured" not in draw_trained([], baseline, palette, attribute="origin").alt


def test_the_marker_stands_where_the_slider_does_and_the_axes_do_not_move(
    findings: CorrectionResult, curve: list[Disclosure]
) -> None:
    axes = set()
    for marker in curve:
        figure = _told(findings, curve, marker).figure
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
    (dot,) = dots(drawing.figure)
    assert dot.marker.color == (LIGHT.background,)
    assert "no correction" in drawing.alt
    _check(draw_recognition(none, [none, *curve[1:]], LIGHT, names=("a", "b")))
