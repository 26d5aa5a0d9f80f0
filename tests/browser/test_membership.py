"""Membership inference in a real browser: attacks come by themselves, the slider moves the finding, everything fits."""

from __future__ import annotations

from playwright.sync_api import expect

from core.charts import DARK
from tests.browser.conftest import Open
from tests.browser.view import PATIENT, View

SECTIONS = ("Accuracy over ε", "FairPick", "Other groups", "Accounting", "Over ε")


def opened(view: View) -> None:
    """Wait until the page has its finding and its first charts."""
    view.until(lambda: "AUC 0." in view.text(), "the line under the finding")
    view.painted(3, or_more=True)


def attacked(view: View) -> None:
    """Wait until every attack is there."""
    view.until(lambda: "RMIA: AUC 0." in view.text(), "the last attack")
    expect(view.keyed("cancel_members")).to_have_count(0, timeout=PATIENT)
    view.idle()


def stop_curve(view: View) -> None:
    """Stop the curve below, or see that it is finished; it slows down whatever is tested next."""
    begun = view.keyed("cancel_epsilon"), view.keyed("start_epsilon"), view.keyed("member_epsilon_chart")
    view.until(lambda: any(part.count() for part in begun), "the curve over epsilon")
    view.halt("cancel_epsilon")


def test_a_cold_deep_link_then_the_slider(look: Open):
    view = look("membership")
    opened(view)
    attacked(view)
    view.until(lambda: "No DP guarantee (ε = ∞)" in view.text(), "the promise without a budget")
    stop_curve(view)
    slider = view.field("member_epsilon")
    slider.focus()
    slider.press("Home")
    view.until(lambda: "random guessing at ε = 0.01" in view.text(), "the muted finding")
    view.until(lambda: "Greyed out, as VD is" in view.text(), "the muted steps")
    view.until(lambda: "ε = 0.01 guarantees" in view.text(), "the promise")
    slider.press("End")
    view.until(lambda: "No DP guarantee (ε = ∞)" in view.text(), "the promise without a budget, again")
    view.in_order()


def test_the_curve_is_stopped_and_goes_on(look: Open):
    view = look("membership")
    attacked(view)
    view.until(lambda: bool(view.keyed("member_epsilon_chart").count()), "the beginning of the curve")
    if view.halt("cancel_epsilon"):
        start = view.keyed("start_epsilon")
        expect(start).to_contain_text("Go on", timeout=PATIENT)
        label = view.steady(start.inner_text, "the label of the button")
        assert "of 200 models" in label
        view.press("start_epsilon")
        expect(view.keyed("cancel_epsilon")).to_have_count(1, timeout=PATIENT)
        view.halt("cancel_epsilon")
    view.in_order()


def test_a_narrow_screen_in_the_dark(look: Open):
    view = look(None, viewport={"width": 400, "height": 900}, color_scheme="dark")
    view.open("membership")
    attacked(view)
    stop_curve(view)
    for section in SECTIONS:
        view.segment("further_members", section)
        view.idle()
        view.painted(3, or_more=True)
        for name in ("cancel_fairpick", "cancel_epsilon"):
            view.halt(name)
        view.fits(section)
    assert view.inks() == {DARK.ink}
    view.in_order()
