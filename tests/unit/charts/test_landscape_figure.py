"""The map as a chart: valid, told in words, readable in every cell and at every width, harmless with hostile names."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import plotly.graph_objects as go

from core.charts import LIGHT
from core.charts.correction import draw_landscape
from core.sweep.landscape import Landscape, read_landscape
from pages.common.overview_map import KEPT_MAP
from tests.unit.charts.checks import check


@cache
def kept() -> Landscape:
    return read_landscape(KEPT_MAP)


def heat(figure: go.Figure) -> dict:  # type: ignore[type-arg]
    (trace,) = (t for t in figure.to_plotly_json()["data"] if t["type"] == "heatmap")
    return trace


def test_the_pointer_tells_accuracy_unfairness_and_the_membership_attack():
    told = heat(draw_landscape(kept()).figure(LIGHT))["customdata"]
    cell = kept().cell(0.001, 1.0)
    (text,) = (t for row in told for t in row if t.startswith("<b>Tolerance 0.001, ε = 1<"))
    for part in (f"{100 * cell.accuracy.value:.1f}%", f"{cell.unfairness_train.value:.3f}", "loss threshold", "AUC"):
        assert part in text
    assert f"{cell.members.value:.3f} ({cell.members.low:.3f} to {cell.members.high:.3f})" in text
    assert f"holds in {cell.n_true} of 20 seeds" in text
    assert all("nothing is disclosed" in row[-1] for row in told)


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
    drawing = draw_landscape(odd)
    drawing.figure(LIGHT, check=True)
    check(drawing)
    trace = heat(drawing.figure(LIGHT))
    assert trace["zmax"] > trace["zmin"] == 0.0 and trace["z"][0][0] is None
    written = str(drawing.figure(LIGHT).to_plotly_json())
    assert "<script>" not in written and "<b>men" not in written and "n/a" in written
