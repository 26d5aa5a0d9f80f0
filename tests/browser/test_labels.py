"""Words on charts by the browser's own boxes: none is cut at the border, no two overlap, whatever is drawn."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly
import pytest
import streamlit
from playwright.sync_api import Browser, Page

from core.charts import DARK, LIGHT, Drawing
from core.report.charts import svg
from tests.unit.charts.nasty import FORMS

WIDTHS = (400, 360, 700, 1240)
ON_PAPER = ("lines", "rows")
"""Forms of which a report has charts."""

FONT = next((Path(streamlit.__file__).parent / "static/static/media").glob("SourceSansVF-Upright*.woff2"))
PLOTLY = Path(plotly.__file__).parent / "package_data/plotly.min.js"

MEASURE = """
async (charts) => {
  const slack = 2, found = [];
  for (const {name, width, figure, markup} of charts) {
    const home = document.createElement("div");
    home.style.width = width + "px";
    document.body.append(home);
    if (markup) home.innerHTML = markup;
    else await Plotly.newPlot(home, figure.data, figure.layout, {staticPlot: true});
    const frame = home.querySelector("svg").getBoundingClientRect(), boxes = [];
    for (const text of home.querySelectorAll("text")) {
      const lines = text.querySelectorAll("tspan.line");
      for (const line of lines.length ? lines : [text]) {
        const {left, right, top, bottom} = line.getBoundingClientRect(), air = 0.15 * (bottom - top);
        if (!line.textContent.trim() || right - left < 1) continue;
        boxes.push({words: line.textContent, left, right, top: top + air, bottom: bottom - air});
      }
    }
    boxes.forEach((a, i) => {
      const over = Math.max(frame.left - a.left, a.right - frame.right, frame.top - a.top, a.bottom - frame.bottom);
      if (over > slack) found.push(`${name}, ${width} px: '${a.words}' is cut by ${over.toFixed(0)} px`);
      for (const b of boxes.slice(i + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > slack && along > slack)
          found.push(`${name}, ${width} px: '${a.words}' and '${b.words}' overlap by ${across.toFixed(0)} px`);
      }
    });
    if (!boxes.length) found.push(`${name}: nothing is written`);
    home.remove();
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def paper(browser: Browser) -> Iterator[Page]:
    """An empty page with the dashboard's font and plotly."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    font = base64.b64encode(FONT.read_bytes()).decode()
    page.set_content(
        "<!doctype html><style>@font-face { font-family: 'Source Sans'; font-weight: 200 900;"
        f" src: url(data:font/woff2;base64,{font}) }} svg {{ font-family: 'Source Sans'; display: block }}</style>"
    )
    page.add_script_tag(path=str(PLOTLY))
    page.evaluate("Promise.all([400, 600, 700].map((weight) => document.fonts.load(`${weight} 13px 'Source Sans'`)))")
    yield page
    page.close()


def measured(page: Page, drawings: dict[str, tuple[Drawing, int]], *, on_paper: bool) -> list[str]:
    """Return what is wrong with the words of charts, each drawn so many pixels wide."""
    charts: list[dict[str, Any]] = []
    for place, (name, (drawing, width)) in enumerate(drawings.items()):
        figure = drawing.figure(DARK if place % 2 else LIGHT)
        chart = {"name": name, "width": width, "figure": json.loads(figure.to_json())}
        charts.append(chart)
        if on_paper:
            charts.append({**chart, "name": f"{name} on paper", "markup": str(svg(drawing, width, "wide"))})
    found: list[str] = page.evaluate(MEASURE, charts)
    return found


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_no_words_collide_or_are_cut_whatever_is_drawn(paper: Page, form: str, seeds: range) -> None:
    drawings = {f"{form} {seed}": (FORMS[form](seed), WIDTHS[seed % len(WIDTHS)]) for seed in seeds}
    found = measured(paper, drawings, on_paper=form in ON_PAPER)
    assert not found, "\n".join(found)


def test_a_collision_and_a_cut_are_seen(paper: Page) -> None:
    drawing = FORMS["lines"](1)
    notes = drawing.layout["annotations"]
    notes += [dict(notes[0]), {**notes[0], "xshift": -900, "text": "far away"}]
    found = "\n".join(measured(paper, {"twice": (drawing, 400)}, on_paper=False))
    assert "overlap" in found and "'far away' is cut" in found
