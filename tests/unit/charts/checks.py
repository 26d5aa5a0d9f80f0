"""What holds of every chart: plotly takes it, it is told in words, its names are harmless."""

import numpy as np

from core.charts import DARK, LIGHT
from core.charts.theme import plain


def check(drawing):
    """Build the chart with plotly's own checks, and check its words."""
    dark, figure = (drawing.figure(palette, check=True) for palette in (DARK, LIGHT))
    assert LIGHT.ink not in dark.to_json() and DARK.ink not in figure.to_json()
    assert drawing.alt.endswith(".") and "\n" not in drawing.alt and "nan" not in drawing.alt
    assert figure.layout.xaxis.fixedrange and figure.layout.yaxis.fixedrange
    assert "<script" not in figure.to_json().replace("\\u003c", "<")
    return figure


def check_axes(figure):
    """Check that all lines and markers are within the axes, and that the line of the x axis is whole."""
    ranges = [sorted(axis.range) for axis in (figure.layout.xaxis, figure.layout.yaxis)]
    for trace in figure.data:
        for places, (low, high) in zip((trace.x, trace.y), ranges, strict=True):
            positions = [at for at in places if at is not None and at == at] if trace.type == "scatter" else []
            assert all(low - 1e-6 <= at <= high + 1e-6 for at in positions), trace
    below = [shape for shape in figure.layout.shapes if shape.yref == "paper" and shape.y0 == shape.y1 == 0]
    assert not below or (below[0].x0, below[-1].x1) == tuple(figure.layout.xaxis.range)


def check_table(drawing, figure):
    """Check that every dot stands at a number of the table, if there is one: plain, in percent, or their logarithms."""
    numbers = drawing.table.select_dtypes("number").to_numpy(dtype=float).ravel()
    logarithms = np.log10(np.abs(numbers[numbers != 0]))
    places = np.concatenate([numbers, 100 * numbers, logarithms, logarithms + 2])
    side = "y" if figure.layout.yaxis.showticklabels else "x"
    for position in (at for trace in dots(figure) for at in trace[side] if len(numbers)):
        assert np.isclose(places, position, rtol=1e-6, atol=1e-6).any(), position


def written(figure):
    """Return all words of a chart, as they are read."""
    cells = [text for trace in figure.data if trace.type == "heatmap" for row in trace.text for text in row]
    ticks = [*(figure.layout.xaxis.ticktext or ()), *(figure.layout.yaxis.ticktext or ())]
    return [plain(text).strip() for text in (*cells, *(note.text for note in figure.layout.annotations), *ticks)]


def dots(figure):
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers"]
