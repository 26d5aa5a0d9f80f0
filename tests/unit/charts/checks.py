"""What holds of every chart: plotly takes it, it is told in words, its names are harmless."""

from __future__ import annotations

import plotly.graph_objects as go

from core.charts import DARK, LIGHT, Drawing
from core.charts.words import plain


def check(drawing: Drawing) -> go.Figure:
    """Build the chart with plotly's own checks, and check its words."""
    dark, figure = (drawing.figure(palette, check=True) for palette in (DARK, LIGHT))
    assert LIGHT.ink not in dark.to_json() and DARK.ink not in figure.to_json()
    assert drawing.alt.endswith(".") and "\n" not in drawing.alt and "nan" not in drawing.alt
    assert figure.layout.xaxis.fixedrange and figure.layout.yaxis.fixedrange
    assert "<script" not in figure.to_json().replace("\\u003c", "<")
    return figure


def written(figure: go.Figure) -> list[str]:
    """Return all words of a chart, as they are read."""
    cells = [words for trace in figure.data if trace.type == "heatmap" for row in trace.text for words in row]
    ticks = [*(figure.layout.xaxis.ticktext or ()), *(figure.layout.yaxis.ticktext or ())]
    return [plain(words).strip() for words in (*cells, *(note.text for note in figure.layout.annotations), *ticks)]


def dots(figure: go.Figure) -> list[go.Scatter]:
    """Return the traces of markers."""
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers"]
