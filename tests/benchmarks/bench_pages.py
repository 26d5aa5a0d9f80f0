"""How fast a slider moves its chart, against a page with one empty chart, in one run.

Needs Chromium; says so and stops where there is none. How long pages wait for their findings is in `bench_start`.
"""

import tempfile
from pathlib import Path
from statistics import median

from tests.benchmarks.measuring import verdicts
from tests.browser.driver import CHROMIUM, ROOT, Server, chromium

ONE_CHART = """
import plotly.graph_objects as go
import streamlit as st

@st.fragment
def page():
    told = st.session_state.get("told", 0.005)
    st.plotly_chart(go.Figure(layout={"meta": {"told": told}}), key="chart", theme=None)
    st.slider("Tolerance", 0.0, 0.2, told, 0.001, format="%.3f", key="told")

page()
"""

WATCH = """() => {
    window.flTold = () => Array.from(document.querySelectorAll(".js-plotly-plot"))
        .map(plot => plot.layout && plot.layout.meta && plot.layout.meta.told).filter(told => told !== undefined);
    const until = (begun, good) => new Promise(resolve => {
        const look = () => good(window.flTold())
            ? requestAnimationFrame(() => resolve(performance.now() - begun)) : requestAnimationFrame(look);
        look();
    });
    window.addEventListener("keydown", () => {
        const begun = performance.now(), before = window.flTold()[0];
        window.flFirst = until(begun, told => told.length && told[0] !== before);
        window.flAll = until(begun, told => told.length && told.every(value => value !== before));
    }, true);
}"""


def settled(browser, address):
    """Open a page and wait until everything it computes is there."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.locator(".st-key-told").first.wait_for(timeout=120_000)
    quiet = 0
    while quiet < 3:
        page.wait_for_timeout(700)
        quiet = 0 if page.locator("[data-testid=stProgress]").count() else quiet + 1
    return page


def slider(page):
    """Return milliseconds from key press to the repainted curve, and to all charts, for each move of the slider."""
    page.evaluate(WATCH)
    page.locator(".st-key-told input[type=range]").focus()
    first, every = [], []
    for _ in range(25):
        page.keyboard.press("ArrowRight")
        first.append(float(page.evaluate("() => window.flFirst")))
        every.append(float(page.evaluate("() => window.flAll")))
        page.wait_for_timeout(200)
    return first, every


def main():
    if CHROMIUM is None:
        print("Pages not measured: no Chromium found (Debian: apt-get install chromium).")
        return
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        chart = Path(folder) / "one_chart.py"
        chart.write_text(ONE_CHART)
        moves = []
        for app, path in ((ROOT / "serve.py", "correction"), (chart, "")):
            with Server(app) as server:
                page = settled(browser, f"{server.address}/{path}")
                moves.append(slider(page))
                page.close()
    (curve, page_charts), (nothing, _) = moves
    print(f"ms from slider to curve {median(curve):.0f}, to both charts of the page {median(page_charts):.0f}")
    verdicts(("times what one empty chart takes", median(curve) / median(nothing), 2.1))
