"""How fast the pages are, against an empty Streamlit app and against a page with one empty chart, in one run.

Limits: first text at most 1.2 x that of an empty app, on a fresh server and on a warm one; slider to painted chart at
most 2.1 x that of a page with one empty chart. Needs Chromium; says so and stops where there is none.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.driver import CHROMIUM, LAUNCH_ARGS, ROOT, Server

FIRST_TEXT_LIMIT = 1.2
SLIDER_LIMIT = 2.1
SERVERS, VISITS, MOVES = 10, 7, 25

EMPTY = 'import streamlit as st\n\nst.markdown("# Nothing")\n'

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

FIRST_TEXT = """() => new Promise(resolve => {
    const look = () => document.querySelector("[data-testid=stMain] :is(h1, h2)")
        ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look);
    look();
})"""

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


def first_text(browser: Browser, address: str) -> float:
    """Return milliseconds from navigation to the first words on screen, in a fresh browser context."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address, wait_until="commit")
    taken = float(page.evaluate(FIRST_TEXT))
    context.close()
    return taken


def settled(browser: Browser, address: str, awaited: str = "[data-testid=stMain] :is(h1, h2)") -> Page:
    """Open a page and wait until everything it computes is there."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.locator(awaited).first.wait_for(timeout=120_000)
    quiet = 0
    while quiet < 3:
        page.wait_for_timeout(700)
        quiet = 0 if page.locator("[data-testid=stProgress]").count() else quiet + 1
    return page


def slider(page: Page) -> tuple[list[float], list[float]]:
    """Return milliseconds from key press to the repainted curve, and to all charts, for each move of the slider."""
    page.evaluate(WATCH)
    page.locator(".st-key-told input[type=range]").focus()
    first, every = [], []
    for _ in range(MOVES):
        page.keyboard.press("ArrowRight")
        first.append(float(page.evaluate("() => window.flFirst")))
        every.append(float(page.evaluate("() => window.flAll")))
        page.wait_for_timeout(200)
    return first, every


def print_comparison(name: str, ours: list[float], theirs: list[float], limit: float) -> None:
    """Print one comparison with its verdict."""
    ratio = median(ours) / median(theirs)
    verdict = "reached" if ratio <= limit else "NOT reached"
    print(f"{verdict}: {name} <= {limit:g} x: {ratio:.2f} x ({median(ours):.0f} ms against {median(theirs):.0f} ms)")


def main() -> None:
    """Measure and print."""
    if CHROMIUM is None:
        print("Pages not measured: no Chromium found (Debian: apt-get install chromium).")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=LAUNCH_ARGS)
        empty, chart = Path(folder) / "empty.py", Path(folder) / "one_chart.py"
        empty.write_text(EMPTY)
        chart.write_text(ONE_CHART)
        cold: dict[Path, list[float]] = {ROOT / "serve.py": [], empty: []}
        warm: dict[Path, list[float]] = {ROOT / "serve.py": [], empty: []}
        for _ in range(SERVERS):
            for app, times in cold.items():
                with Server(app) as server:
                    times.append(first_text(browser, server.address))
        for app, times in warm.items():
            with Server(app) as server:
                settled(browser, server.address)
                times.extend(first_text(browser, server.address) for _ in range(VISITS))
        print_comparison("first text on a fresh server against an empty app", *cold.values(), FIRST_TEXT_LIMIT)
        print_comparison("first text on a warm server against an empty app", *warm.values(), FIRST_TEXT_LIMIT)
        moves = []
        for app, path in ((ROOT / "serve.py", "correction"), (chart, "")):
            with Server(app) as server:
                page = settled(browser, f"{server.address}/{path}", ".st-key-told")
                moves.append(slider(page))
                page.close()
        (curve, page_charts), (nothing, _) = moves
        print_comparison("slider to painted curve against one empty chart", curve, nothing, SLIDER_LIMIT)
        print(f"         slider to both charts of the page: {median(page_charts):.0f} ms (no limit)")
        browser.close()
