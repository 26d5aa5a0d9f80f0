"""Sliders of the studies' pages in a real browser: a move is seen in marker, finding and alternative text."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.view import View


def stands(view: View, chart: str, at: float) -> None:
    """Wait until the first marker of a chart stands there; there is none while it is painted anew."""
    view.until(
        lambda: any(abs(markers["x"][0] - at) < 1e-9 for markers in view.points(chart)[:1]),
        f"the marker of {chart} at {at:g}",
    )


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
    view.segment("further_guard_table", "Utility loss")
    view.field("guard_budget").press("End")
    stands(view, "cost_accuracy_chart", 0.5)  # outside the slider's own fragment
    view.in_order()


def test_bias_queries_while_their_curve_grows(look: Open):
    view = look("bias_queries")
    view.finding_with("(answers: 25, noisy sums")
    view.field("answered_60").press("ArrowRight")
    stands(view, "leakage_chart", 26)
    view.choose("noise", "None")
    view.finding_with("(answers: 26, exact)")
    expect(view.keyed("leakage_chart").locator("[aria-label*='after 26']").first).to_be_visible()
    for _ in range(3):  # 20 people: the curves are finished in a moment
        view.field("people_asked").press("ArrowLeft")
    view.wait_for(view.field("answered_12"))
    view.gone(view.keyed("cancel_curves"))
    view.field("answered_12").press("End")
    stands(view, "leakage_chart", 12)
    view.in_order()
