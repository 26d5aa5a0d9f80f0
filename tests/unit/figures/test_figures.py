"""Every drawing: accepted by plotly with all checks, told in words, and steady under the slider."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit import AuditConfig, AuditFindings, run
from core.correction import Disclosure
from core.datasets import AuditDataset
from core.estimates import Estimate, proportion
from core.fairness import METRICS
from core.figures import (
    DARK,
    LIGHT,
    Drawing,
    Palette,
    draw_accuracy,
    draw_disclosure,
    draw_groups,
    draw_rates,
    draw_recognition,
    draw_trained,
)
from core.figures.correction import recovery_range
from core.figures.drawing import spread
from core.sweep import sweep, tolerance_configs
from tests.samples import ROLES, dataset

HOSTILE = ("<b>men</b> & others", "=women|`x`")


@pytest.fixture(scope="module")
def people() -> AuditDataset:
    return dataset(2000, seed=11)


@pytest.fixture(scope="module")
def findings(people: AuditDataset) -> AuditFindings:
    return run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=people)


@pytest.fixture(scope="module")
def curve(findings: AuditFindings) -> list[Disclosure]:
    return [findings.disclose(t) for t in (0.0, 0.01, 0.05, 0.1, 0.2)]


def _told(findings: AuditFindings, curve: list[Disclosure], marker: Disclosure, palette: Palette = LIGHT) -> Drawing:
    return draw_disclosure(curve, marker, findings.strong, palette, attribute="origin", attacker="Attacker")


def _check(drawing: Drawing) -> None:
    drawing.sketch.figure(check=True)  # plotly raises on any unknown property or value
    assert drawing.alt.endswith(".")
    assert "%" in drawing.alt or "models" in drawing.alt
    assert len(drawing.table) >= 1


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_every_drawing_is_valid_and_told_in_words(
    findings: AuditFindings, curve: list[Disclosure], people: AuditDataset, palette: Palette
) -> None:
    points = list(sweep(tolerance_configs(findings.config, (0.0, 0.1)), people))
    baseline = (curve[0].majority, curve[0].before, findings.strong)
    for drawing in (
        _told(findings, curve, curve[1], palette),
        draw_recognition(curve[1], curve, palette, names=HOSTILE),
        draw_groups(people, palette),
        draw_rates(findings.model, palette, names=HOSTILE),
        draw_accuracy(findings.model, palette),
        draw_trained(points, baseline, palette, shown=("features", "held_out", "published"), attribute="origin"),
    ):
        _check(drawing)


def test_a_sweep_without_a_finished_model_is_drawn(findings: AuditFindings, curve: list[Disclosure]) -> None:
    baseline = (curve[0].majority, curve[0].before, findings.strong)
    empty = draw_trained([], baseline, LIGHT, shown=("features", "held_out", "published"), attribute="origin")
    empty.sketch.figure(check=True)
    assert len(empty.table) == 0


@pytest.mark.parametrize("metric", METRICS)
def test_rates_are_drawn_for_every_metric(people: AuditDataset, metric: str) -> None:
    found = run(AuditConfig(dataset="sample", roles=ROLES, metric=metric, method="unmitigated"), dataset=people)
    drawing = draw_rates(found.model, LIGHT, names=("a", "b"))
    _check(drawing)
    assert len(drawing.table) == (8 if metric == "equalized_odds" else 4)


def test_the_marker_stands_where_the_slider_does_and_the_axes_do_not_move(
    findings: AuditFindings, curve: list[Disclosure]
) -> None:
    axes = set()
    for marker in curve:
        figure = _told(findings, curve, marker).figure
        dot = figure.data[-2]
        assert marker.after is not None
        assert (dot.x[0], dot.y[0]) == (marker.told, 100 * marker.after.value)
        axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
        low, high = figure.layout.yaxis.range
        assert all(low <= y <= high for y in figure.data[-1].y)
    assert len(axes) == 1


def test_no_correction_leaves_a_gap_and_a_hollow_marker(findings: AuditFindings, curve: list[Disclosure]) -> None:
    none = replace(curve[0], after=None, gain=None, balanced_after=None, n_changed=None, n_right=None, reached=math.nan)
    none = replace(none, groups=tuple(replace(g, after=None) for g in none.groups))
    drawing = _told(findings, [none, *curve[1:]], none)
    _check(drawing)
    assert drawing.figure.data[-2].marker.symbol == "circle-open"
    assert "no correction" in drawing.alt
    _check(draw_recognition(none, [none, *curve[1:]], LIGHT, names=("a", "b")))


def test_names_from_a_table_are_harmless(findings: AuditFindings, curve: list[Disclosure]) -> None:
    drawing = draw_recognition(curve[1], curve, LIGHT, names=HOSTILE)
    words = " ".join(drawing.figure.data[-1].text)
    assert "&lt;b&gt;men&lt;/b&gt;" in words
    assert not re.search(r"<(?!/?b>|br>)", words)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_a_range_holds_all_it_is_given(rates: list[float]) -> None:
    estimates = [proportion(round(r * 500), 500) for r in rates]
    low, high = recovery_range(estimates)
    assert 0 <= low < high <= 103
    assert all(low <= 100 * e.low and 100 * e.high <= high for e in estimates)


def test_a_range_ignores_what_was_not_measured() -> None:
    nothing = Estimate(value=math.nan, low=math.nan, high=math.nan, n=0)
    assert recovery_range([nothing, proportion(5, 10)]) == recovery_range([proportion(5, 10)])


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_labels_are_spread_apart_inside_the_chart(wanted: list[float]) -> None:
    placed = spread(wanted, 10, 0, 100)
    assert all(-1e-9 <= p <= 100 + 1e-9 for p in placed)
    ordered = sorted(placed)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(ordered))
    assert [p for _, p in sorted(zip(wanted, placed, strict=True), key=lambda pair: pair[0])] == ordered
