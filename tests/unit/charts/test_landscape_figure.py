"""The map as a chart: valid, told in words, readable in every cell and at every width, harmless with hostile names."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache

import plotly.graph_objects as go
import pytest

from core.charts import DARK, LIGHT, Palette, draw_landscape
from core.sweep.landscape import Landscape, read_landscape
from pages.common.start_map import KEPT_MAP
from tests.unit.charts.checks import check, written

PALETTES = (LIGHT, DARK)


@cache
def kept() -> Landscape:
    return read_landscape(KEPT_MAP)


def heat(figure: go.Figure) -> dict:  # type: ignore[type-arg]
    (trace,) = (t for t in figure.to_plotly_json()["data"] if t["type"] == "heatmap")
    return trace


@pytest.mark.parametrize("palette", PALETTES)
def test_plotly_takes_it_and_every_word_has_its_place(palette: Palette):
    drawing = draw_landscape(kept(), palette)
    drawing.sketch.figure(check=True)
    check(drawing)
    words = written(drawing.figure)
    for cell in kept().cells:
        assert f"{100 * cell.after.value:.1f}" in words
    assert {"none", "0.001", "ε = ∞", "ε = 0.1"} <= set(words)


def test_the_colour_starts_at_the_control_and_holds_every_cell():
    trace = heat(draw_landscape(kept(), LIGHT).figure)
    controls = kept().controls()
    assert trace["zmin"] == controls["majority"].value
    assert trace["zmax"] >= max(itertools.chain([controls["strong"].value], *trace["z"]))
    assert trace["z"][0][0] == kept().cell(0.001, math.inf).after.value
    assert trace["z"][-1][-1] == kept().cell(None, 0.1).after.value


def test_the_pointer_tells_accuracy_unfairness_and_the_membership_attack():
    told = heat(draw_landscape(kept(), LIGHT).figure)["customdata"]
    cell = kept().cell(0.001, 1.0)
    (text,) = (t for row in told for t in row if t.startswith("<b>Tolerance 0.001, ε = 1<"))
    for part in (f"{100 * cell.accuracy.value:.1f}%", f"{cell.unfairness_train.value:.3f}", "loss threshold", "AUC"):
        assert part in text
    assert f"{cell.members.value:.3f} ({cell.members.low:.3f} to {cell.members.high:.3f})" in text
    assert f"holds in {cell.n_true} of 20 seeds" in text
    assert all("nothing is disclosed" in row[-1] for row in told)


def test_bold_where_the_change_is_told_from_noise():
    trace = heat(draw_landscape(kept(), LIGHT).figure)
    for y, x in itertools.product(range(6), range(7)):
        cell = kept().cell(kept().plan.tolerances[x], kept().plan.epsilons[y])
        assert trace["text"][y][x].startswith("<b>") == cell.measured
    assert not any(c.measured for c in kept().cells if c.tolerance is None)


def test_cells_below_the_control_missing_ones_and_hostile_names():
    low = tuple(0.95 for _ in kept().majority)
    first = kept().readings[0]
    gap = replace(first, after=(math.nan,) * 20, told=(math.nan,) * 20)
    odd = replace(
        kept(),
        majority=low,
        attribute="<script>alert(1)</script>",
        majority_name="<b>men</b> & very long name indeed",
        readings=(gap, *kept().readings[1:]),
    )
    drawing = draw_landscape(odd, LIGHT)
    drawing.sketch.figure(check=True)
    check(drawing)
    trace = heat(drawing.figure)
    assert trace["zmax"] > trace["zmin"] == pytest.approx(0.95) and trace["z"][0][0] is None
    written = str(drawing.figure.to_plotly_json())
    assert "<script>" not in written and "<b>men" not in written and "n/a" in written
