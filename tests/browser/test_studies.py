"""Sliders of the studies' pages in a real browser: a move is seen in marker, finding and alternative text."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.view import View


def marker_position(view: View, chart: str) -> float:
    """Return where the first marker of a chart stands; none while it is painted anew."""
    markers = view.points(chart)
    return float(markers[0]["x"][0]) if markers else -1.0


def stands(view: View, chart: str, at: float) -> None:
    """Wait until the first marker of a chart stands there."""
    view.until(lambda: abs(marker_position(view, chart) - at) < 1e-9, f"the marker of {chart} at {at:g}")


def assert_text(view: View, text: str) -> None:
    """Wait until the page says this anywhere."""
    view.until(lambda: text in view.text(), text)


def test_attriguard_by_keyboard_alone(look: Open):
    view = look("attriguard")
    view.finding_with("AttriGuard fools")
    view.gone(view.keyed("cancel_attriguard"))
    stands(view, "guard_chart", 0.25)
    view.field("guard_data").focus()

    def tab() -> bool:
        view.page.keyboard.press("Tab")
        return bool(view.page.evaluate("() => document.activeElement.matches('.st-key-guard_budget input')"))

    view.until(tab, "the slider in the order of the keys")
    view.page.keyboard.press("ArrowRight")
    stands(view, "guard_chart", 0.26)
    view.finding_with("0.26")
    expect(view.keyed("guard_chart").locator("[aria-label*='at 0.26']").first).to_be_visible()
    view.page.keyboard.press("Home")
    stands(view, "guard_chart", 0)
    view.finding_with("Without noise")
    view.segment("further_guard_table", "Utility loss")
    view.field("guard_budget").press("End")
    stands(view, "cost_accuracy_chart", 0.5)  # outside the slider's own fragment
    view.in_order()


def test_bias_queries(look: Open):
    view = look("bias_queries")
    view.finding_with("(answers: 25, exact)")
    stands(view, "leakage_chart", 25)
    view.field("answered_60").press("ArrowRight")
    stands(view, "leakage_chart", 26)
    assert_text(view, "answers: 26, exact")
    view.choose("noise", "Noisy sums (ours)")  # while the curve of exact answers still grows
    view.finding_with("oisy sums")
    expect(view.keyed("leakage_chart").locator("[aria-label*='after 26']").first).to_be_visible()
    for _ in range(3):  # 20 people: the curves are finished in a moment
        view.field("people_asked").press("ArrowLeft")
    slider = view.field("answered_12")
    view.wait_for(slider)
    view.gone(view.keyed("cancel_curves"))
    view.until(lambda: max((len(line["x"]) for line in view.lines("leakage_chart")), default=0) == 13, "whole curves")
    slider.press("End")
    stands(view, "leakage_chart", 12)
    view.in_order()


def test_a_study_without_a_page(look: Open):
    view = look("attribute?attribute_closed=0.05")  # the first page of its session, by its link
    view.finding_with("What is released adds")
    expect(view.field("attribute_closed")).to_have_value("0.05")
    view.enter("attribute_closed", "0.01")
    view.until(lambda: "attribute_closed=0.01" in view.page.url, "the setting in the address")
    view.finding_with("What is released adds")
    view.in_order()
