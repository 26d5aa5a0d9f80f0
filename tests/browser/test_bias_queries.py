"""Bias queries in a real browser: the marker follows the slider, curves fill in behind it, and everything fits."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from core.charts import DARK
from tests.browser.conftest import Open
from tests.browser.view import PATIENT, View

SECTIONS = {
    "Targeted query": "One targeted query",
    "How much noise, and why": "What is guaranteed",
    "The paper's table": "The paper's noisy answers do not reproduce",
    "Recovered values": "balanced accuracy in this draw of 100 people",
}


def opened(view: View) -> str:
    """Wait until the page has its finding and its charts."""
    finding = view.found("answer")
    view.painted(3)
    return finding


def asked(view: View) -> int:
    """Return how many answers the marker of the chart stands at."""
    markers = view.points("leakage_chart")
    return int(markers[0]["x"][0]) if markers else -1


def lines(view: View) -> int:
    """Return how many points the longest curve of the chart has."""
    return max((len(x) for x in curves(view)), default=0)


def curves(view: View) -> list[list[float]]:
    """Return where the chart's curves have points; none while it is painted anew."""
    return [line["x"] for line in view.lines("leakage_chart")]


def fewer_people(view: View, times: int) -> None:
    """Ask about fewer people, or, with a negative number, about more."""
    for _ in range(abs(times)):
        view.field("people_asked").press("ArrowLeft" if times > 0 else "ArrowRight")
    view.page.wait_for_timeout(300)


def stop_curves(view: View) -> None:
    """Stop the curves, or see that they are finished."""
    if view.halt("cancel_curves"):
        expect(view.keyed("start_curves")).to_be_visible(timeout=PATIENT)


def test_a_cold_deep_link_then_slider_noise_and_curves(look: Open):
    view = look("bias_queries")
    assert "Cauchy noise" in opened(view)
    view.until(lambda: asked(view) == 25, "the marker at 25")
    slider = view.field("answered_60")
    slider.focus()
    slider.press("ArrowRight")
    view.until(lambda: asked(view) == 26, "the marker at 26")
    view.until(lambda: "After 26 answers" in view.text(), "the grey line at 26")
    view.segment("noise", "Noisy sums (ours)")  # while the curve of the Cauchy noise still grows
    view.found("noisy sums")
    view.until(lambda: lines(view) >= 2, "the beginning of a curve")
    expect(view.keyed("leakage_chart").locator("[aria-label*='After 26 answers']").first).to_be_visible()
    view.in_order()
    fewer_people(view, 3)  # 20 people: the curves are finished in a moment
    slider = view.field("answered_12")
    expect(slider).to_be_visible(timeout=PATIENT)
    expect(view.keyed("cancel_curves")).to_have_count(0, timeout=PATIENT)
    view.until(lambda: lines(view) == 13, "the whole curve")
    slider.press("End")
    view.until(lambda: asked(view) == 12, "the marker at 12")
    expect(view.page.get_by_text(re.compile("With this noise.*12 answers"))).to_be_visible()
    view.in_order()


def test_curves_are_stopped_and_go_on(look: Open):
    view = look("bias_queries")
    opened(view)
    view.segment("noise", "Rounded")
    view.found("Round", "decimals")
    progress = view.page.locator("[data-testid=stMain] [data-testid=stProgress]")
    expect(progress).to_contain_text("points of the curves")
    view.keyed("cancel_curves").get_by_role("button").click()
    expect(view.keyed("start_curves")).to_be_visible(timeout=PATIENT)
    expect(progress).to_have_count(0)
    view.idle()
    before = view.steady(lambda: lines(view), "the curves that were stopped")
    view.page.wait_for_timeout(2500)
    view.until(lambda: lines(view) == before, "the same curves")  # what had grown would not shrink again
    view.keyed("start_curves").get_by_role("button").click()
    expect(progress).to_contain_text("points of the curves")
    view.until(lambda: lines(view) > before, "more of the curve")
    stop_curves(view)
    view.in_order()


def test_many_people_come_from_the_curve(look: Open):
    view = look("bias_queries")
    opened(view)
    view.keyed("question_design").locator("input").first.wait_for()
    view.segment("noise", "Noisy sums (ours)")
    fewer_people(view, -3)  # 100 -> 300
    expect(view.page.get_by_text("among 300, mean of")).to_be_visible(timeout=PATIENT)
    view.until(lambda: lines(view) >= 3, "some of the curve")
    view.until(lambda: any(asked(view) in x for x in curves(view)), "the marker on the curves")
    stop_curves(view)
    view.in_order()


def test_a_narrow_screen_in_the_dark(look: Open):
    view = look(None, viewport={"width": 400, "height": 900}, color_scheme="dark")
    view.open("bias_queries")
    opened(view)
    stop_curves(view)
    for section, words in SECTIONS.items():
        view.segment("further_queries", section)
        expect(view.page.get_by_text(words).first).to_be_visible(timeout=PATIENT)
        view.painted(2, or_more=True)
        view.fits(section)
    view.until(lambda: view.inks() == {DARK.ink}, "charts for the dark")
    view.in_order()


def test_the_keyboard_reaches_the_slider(look: Open):
    view = look("bias_queries", viewport={"width": 1024, "height": 900})
    opened(view)
    stop_curves(view)
    view.field("people_asked").focus()
    reached = "() => !!document.activeElement.closest('.st-key-answered_60')"
    for _ in range(20):
        view.page.keyboard.press("Tab")
        if view.page.evaluate(reached):
            break
    assert view.page.evaluate(reached)
    view.page.keyboard.press("Home")
    view.until(lambda: asked(view) == 0, "the marker at 0")
    view.until(lambda: "After 0 answers" in view.text(), "the grey line at 0")
    view.fits("the page")
    view.in_order()
