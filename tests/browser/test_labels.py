"""Words by the browser's own boxes: none leaves its chart or cell, no two overlap, whatever is drawn."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import plotly
import pytest
import streamlit

from core.charts import DARK, LIGHT
from core.report import report_document
from core.report.charts import svg
from core.report.page import to_html
from tests.samples_report import GROUPS, sample
from tests.unit.charts.nasty_studies import CHARTS, chart

WIDTHS = (400, 720, 1440, 360)
"""Pixels of a chart; the last is the narrowest that a chart is made for."""

MEASURE = """
async (charts) => {
  const slack = 1, found = [];
  for (const {name, width, figure, markup} of charts) {
    const home = document.createElement("div");
    home.style.width = width + "px";
    document.body.append(home);
    if (markup) home.innerHTML = markup;
    else await Plotly.newPlot(home, figure.data, figure.layout, {staticPlot: true});
    const frame = home.getBoundingClientRect(), boxes = [];
    for (const text of home.querySelectorAll("text")) {
      const lines = text.querySelectorAll("tspan.line");
      for (const line of lines.length ? lines : [text]) {
        const {left, right, top, bottom} = line.getBoundingClientRect();
        if (line.textContent.trim() && right - left >= 1)
          boxes.push({words: line.textContent, left, right, top, bottom});
      }
    }
    boxes.forEach((a, i) => {
      const over = Math.max(frame.left - a.left, a.right - frame.right, frame.top - a.top, a.bottom - frame.bottom);
      if (over > slack) found.push(`${name}, ${width} px: '${a.words}' is cut by ${over.toFixed(1)} px`);
      for (const b of boxes.slice(i + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > slack && along > slack)
          found.push(`${name}, ${width} px: '${a.words}' and '${b.words}' overlap,`
            + ` ${across.toFixed(1)} by ${along.toFixed(1)} px`);
      }
    });
    if (!boxes.length) found.push(`${name}: nothing is written`);
    home.remove();
  }
  return found;
}
"""


IN_CELLS = """
() => {
  const slack = 1, boxes = [], found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const words = node.textContent.trim(), own = node.parentElement;
    if (!words || !own.checkVisibility() || own.closest(".unseen, script, style, title, desc")) continue;
    const cell = own.closest("td, th, .c1, .c2, .c3, .c4, .c5, dt, dd, svg, .scroll"), range = document.createRange();
    range.selectNodeContents(node);
    for (const {left, right, top, bottom} of range.getClientRects()) {
      if (right - left < 1) continue;
      const whole = {words: words.slice(0, 40), left, right, top, bottom, own, cell};
      boxes.push(whole);
      const room = cell ? cell.getBoundingClientRect() : {left: 0, right: innerWidth};
      const over = Math.max(room.left - left, right - room.right);
      if (over > slack) found.push(`'${whole.words}' leaves its cell by ${over.toFixed(1)} px`);
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  boxes.forEach((a, i) => {
    for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom - slack; j++) {
      const b = boxes[j], across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > slack && along > slack + (a.own === b.own ? 3 : 0))
        found.push(`'${a.words}' and '${b.words}' overlap, ${across.toFixed(1)} by ${along.toFixed(1)} px`);
    }
  });
  return boxes.length ? found : ["nothing is written"];
}
"""
"""What is wrong with the words inside an element: some overlap, or leave their cell or the window."""


@pytest.fixture(scope="module")
def paper(browser):
    """An empty page with the dashboard's font and plotly."""
    page = browser.new_page(viewport={"width": 1500, "height": 900})
    fonts = (Path(streamlit.__file__).parent / "static/static/media").glob("SourceSansVF-Upright*.woff2")
    font = base64.b64encode(next(fonts).read_bytes()).decode()
    page.set_content(
        "<!doctype html><style>@font-face { font-family: 'Source Sans'; font-weight: 200 900;"
        f" src: url(data:font/woff2;base64,{font}) }} svg {{ font-family: 'Source Sans'; display: block }}</style>"
    )
    page.add_script_tag(path=str(Path(plotly.__file__).parent / "package_data/plotly.min.js"))
    page.evaluate("Promise.all([400, 600, 700].map((weight) => document.fonts.load(`${weight} 13px 'Source Sans'`)))")
    yield page
    page.close()


def measured(page, drawings, *, on_paper=False):
    """Return what is wrong with the words of charts, each drawn so many pixels wide."""
    charts = []
    for index, (name, (drawing, width)) in enumerate(drawings.items()):
        figure = drawing.figure(DARK if index % 2 else LIGHT)
        drawn_chart = {"name": name, "width": width, "figure": json.loads(figure.to_json())}
        charts.append(drawn_chart)
        if on_paper:
            charts.append({**drawn_chart, "name": f"{name} on paper", "markup": str(svg(drawing, width, "wide"))})
    return page.evaluate(MEASURE, charts)


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 64), marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("name", CHARTS)
def test_no_words_of_a_page_s_chart_collide_or_are_cut(paper, name, seeds):
    charts = {f"{name} {seed}": (chart(name, seed), WIDTHS[seed % len(WIDTHS)]) for seed in seeds}
    of_a_report = ("draw_disclosure", "draw_rates")  # one chart of each form of which it has charts
    messages = measured(paper, charts, on_paper=name in of_a_report)
    assert not messages, "\n".join(messages)


def test_a_collision_and_a_cut_are_seen(paper):
    drawing = chart("draw_disclosure", 1)
    notes = drawing.layout["annotations"]
    notes += [dict(notes[0]), {**notes[0], "xshift": -900, "text": "far away"}]
    messages = "\n".join(measured(paper, {"twice": (drawing, 400)}))
    assert "overlap" in messages and "'far away' is cut" in messages


NAMES = ("w" * 60, "a very long name of a group, <b>sixty letters & more")
LONG = tuple(replace(row, group=name) for row, name in zip(GROUPS, NAMES, strict=True))


@pytest.mark.parametrize("groups", [GROUPS, LONG], ids=["short names", "long names"])
def test_no_words_of_a_report_collide_or_leave_their_cell(browser, tmp_path, groups):
    path = tmp_path / "report.html"
    written = to_html(report_document(sample(groups)))
    path.write_text(written, encoding="utf-8")
    page = browser.new_page(offline=True)
    for width in (1100, 794, 400):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path.as_uri())
        page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        assert page.evaluate(IN_CELLS) == [], width
    page.set_viewport_size({"width": 1100, "height": 900})
    page.add_style_tag(content="table.checks .c1 { width: 5rem }")
    messages = "\n".join(page.evaluate(IN_CELLS))
    assert "overlap" in messages and "leaves its" in messages
    page.close()
