"""The desk's chart: every answer at its place on the whole range, names harmless, the latest marked."""

from __future__ import annotations

import pytest

from core.charts import DARK, LIGHT, GapRow, Palette, draw_gaps
from core.estimates import Estimate


def row(value: float, **facts: object) -> GapRow:
    gap = Estimate(value=value, low=max(value - 0.1, -1.0), high=min(value + 0.1, 1.0), n=100, level=0.95)
    return GapRow(words=str(facts.pop("words", "Team")), gap=gap, price=0.1, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("count", [0, 1, 6, 20])
def test_the_last_six_are_drawn_latest_first_and_all_are_in_the_table(palette: Palette, count: int):
    values = [-1 + 2 * k / 20 for k in range(count)]
    drawing = draw_gaps([row(value) for value in values], palette)
    figure = drawing.sketch.figure(check=True)
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.x[0] for trace in dots] == list(reversed(values))[:6]
    heights = [trace.y[0] for trace in dots]
    assert heights == sorted(heights)
    assert [trace.marker.color == palette.leak for trace in dots] == [k == 0 for k in range(len(dots))]
    low, high = figure.layout.xaxis.range
    assert low < -1 and high > 1
    assert list(drawing.table["gap"]) == values and drawing.alt.endswith(".")
    assert ("the last 6 of 20" in drawing.alt) == (count == 20) and ("the last" in drawing.alt) == (count > 6)


def test_a_free_answer_has_another_marker_and_a_truth_a_stroke():
    free = GapRow(words="Team", gap=row(0.2).gap, price=0.0, truth=0.25)
    figure = draw_gaps([row(0.1), free], LIGHT).sketch.figure(check=True)
    symbols = [(trace.x[0], trace.marker.symbol) for trace in figure.data if trace.mode == "markers"]
    assert symbols == [(0.2, "diamond"), (0.25, "line-ns"), (0.1, "circle")]
    assert list(draw_gaps([row(0.1), free], LIGHT).table.columns)[-1] == "truth"
    assert "truth" not in draw_gaps([row(0.1)], LIGHT).table.columns


def test_names_are_harmless():
    drawing = draw_gaps([row(0.1, words="<img src=x> & co")], LIGHT)
    figure = drawing.sketch.figure(check=True)
    assert "<img" not in figure.to_json() and "<img" not in drawing.alt
