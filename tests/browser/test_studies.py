"""The studies' pages in a real browser: opened cold, a slider whose marker moves, stopped work, keys, screens."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.charts import DARK
from core.models import METHOD_TITLES
from core.sweep import TOLERANCES
from tests.browser.conftest import Open
from tests.browser.view import PATIENT, WHOLE_CURVE, View

RELEASE = f"release?method={METHOD_TITLES['unmitigated'].replace(' ', '+')}"
SECTIONS = {
    "attriguard": (
        "further_guard_table",
        ("Transferability", "Noise concentration", "Utility loss", "Allowed changes", "One person"),
    ),
    "bias_queries": (
        "further_queries",
        ("Targeted query", "How much noise, and why", "The paper's table", "Recovered values"),
    ),
    "membership": ("further_members", ("Accuracy over ε", "FairPick", "Other groups", "Accounting", "Over ε")),
    RELEASE: ("", ()),
}
WORK = ("cancel_curves", "cancel_epsilon", "cancel_fairpick")


def place(view: View, chart: str) -> float:
    """Return where the first marker of a chart stands; none while it is painted anew."""
    markers = view.points(chart)
    return float(markers[0]["x"][0]) if markers else -1.0


def stands(view: View, chart: str, at: float) -> None:
    """Wait until the first marker of a chart stands there."""
    view.until(lambda: abs(place(view, chart) - at) < 1e-9, f"the marker of {chart} at {at:g}")


def settled(view: View) -> None:
    """Wait for what a page computes by itself, and stop what would slow down the next test."""
    view.painted(2, or_more=True)
    expect(view.keyed("cancel_attackers").or_(view.keyed("cancel_members"))).to_have_count(0, timeout=PATIENT)
    for name in WORK:
        view.halt(name)


def test_attriguard(look: Open):
    view = look("attriguard")
    view.found("AttriGuard fools")
    expect(view.keyed("cancel_attackers")).to_have_count(0, timeout=PATIENT)
    stands(view, "guard_chart", 0.25)
    slider = view.field("guard_budget")
    slider.focus()
    slider.press("ArrowRight")
    stands(view, "guard_chart", 0.26)
    view.found("0.26")
    expect(view.keyed("guard_chart").locator("[aria-label*='at 0.26']").first).to_be_visible()
    slider.press("Home")
    stands(view, "guard_chart", 0)
    view.found("Without noise")
    view.segment("further_guard_table", "Utility loss")
    slider.press("End")
    stands(view, "cost_accuracy_chart", 0.5)  # outside the slider's own fragment
    view.in_order()


def test_bias_queries(look: Open):
    view = look("bias_queries")
    view.found("Cauchy noise")
    stands(view, "leakage_chart", 25)
    slider = view.field("answered_60")
    slider.focus()
    slider.press("ArrowRight")
    stands(view, "leakage_chart", 26)
    view.until(lambda: "After 26 answers" in view.text(), "the grey line at 26")
    view.segment("noise", "Noisy sums (ours)")  # while the curve of the Cauchy noise still grows
    view.found("noisy sums")
    expect(view.keyed("leakage_chart").locator("[aria-label*='after 26']").first).to_be_visible()
    for _ in range(3):  # 20 people: the curves are finished in a moment
        view.field("people_asked").press("ArrowLeft")
    slider = view.field("answered_12")
    expect(slider).to_be_visible(timeout=PATIENT)
    expect(view.keyed("cancel_curves")).to_have_count(0, timeout=PATIENT)
    view.until(lambda: max((len(line["x"]) for line in view.lines("leakage_chart")), default=0) == 13, "whole curves")
    slider.press("End")
    stands(view, "leakage_chart", 12)
    view.in_order()


def test_membership(look: Open):
    view = look("membership")
    view.until(lambda: "LiRA: AUC 0." in view.text(), "the last attack")
    view.until(lambda: "No DP guarantee (ε = ∞)" in view.text(), "the promise without a budget")
    begun = view.keyed("cancel_epsilon"), view.keyed("start_epsilon"), view.keyed("member_epsilon_chart")
    view.until(lambda: any(part.count() for part in begun), "the curve over epsilon")
    view.halt("cancel_epsilon")
    slider = view.field("member_epsilon")
    slider.focus()
    slider.press("Home")
    for words in ("says nothing", "Greyed out, as VD is", "ε = 0.01 guarantees"):
        view.until(lambda words=words: words in view.text(), words)
    slider.press("End")
    view.until(lambda: "No DP guarantee (ε = ∞)" in view.text(), "the promise without a budget, again")
    view.in_order()


def test_model_card(look: Open):
    view = look(RELEASE)
    view.found("for 20 models", "bits")
    view.until(lambda: "Publish at most" in view.text(), "the advice")
    heights = [view.keyed(key).bounding_box() for key in ("release_people_chart", "release_bits_chart")]
    assert all(box is not None and box["y"] + box["height"] <= 900 for box in heights)  # both on the first screen
    view.segment("release_way", "Rounded")
    view.found("ounded to 3 decimals for 20 models")
    view.field("release_decimals").press("Home")
    view.found("ounded to 1 decimal for 20 models")
    view.field("release_count_50").press("Home")
    view.found("ounded to 1 decimal for one model")
    view.in_order()


def test_work_grows_stops_waits_and_finishes(look: Open):
    view = look("correction")
    view.found("%")
    cancel, again = view.keyed("cancel_sweep"), view.keyed("start_sweep")
    progress = view.page.locator("[data-testid=stMain] [data-testid=stProgress]")
    counts = set()
    view.until(lambda: counts.add(len(view.trained())) or len(counts - {0}) >= 2, "two sizes of the growing curve")
    expect(progress).to_contain_text(f"of {len(TOLERANCES)} models")
    cancel.get_by_role("button").click()
    expect(again).to_contain_text("Stopped after", timeout=PATIENT)
    expect(progress).to_have_count(0)
    told = re.search(r"Stopped after (\d+) model", again.inner_text())
    assert told and 2 <= int(told[1]) < len(TOLERANCES)
    view.until(lambda: len(view.trained()) == int(told[1]), "all models that were finished")
    stopped = view.steady(view.trained, "the curve that was stopped")
    view.go("Model")
    view.found("unfairness")
    view.go("Correction")
    view.found("%")
    view.until(lambda: view.trained() == stopped, "the models trained before")
    again.get_by_role("button").click()
    expect(cancel).to_be_visible(timeout=PATIENT)
    view.go("Data")
    view.go("Correction")
    view.train_all()
    expect(cancel.or_(again)).to_have_count(0, timeout=PATIENT)
    finished = view.steady(view.trained, "the whole curve")
    assert len(finished) >= WHOLE_CURVE and set(stopped) <= set(finished) <= set(TOLERANCES)
    view.in_order()


@pytest.mark.parametrize(
    ("path", "before", "slider", "chart"),
    [
        ("attriguard", "guard_data", "guard_budget", "guard_chart"),
        ("bias_queries", "people_asked", "answered_60", "leakage_chart"),
    ],
)
def test_the_keyboard_reaches_the_slider(look: Open, path: str, before: str, slider: str, chart: str):
    view = look(path, viewport={"width": 1024, "height": 900})
    settled(view)
    view.field(before).focus()

    def tab() -> bool:
        view.page.keyboard.press("Tab")
        return bool(view.page.evaluate(f"() => !!document.activeElement.closest('.st-key-{slider}')"))

    view.until(tab, "the slider in the order of the keys")
    view.page.keyboard.press("Home")
    stands(view, chart, 0)
    view.fits(path)
    view.in_order()


@pytest.mark.parametrize("path", SECTIONS)
def test_every_section_fits_a_narrow_screen_in_the_dark(look: Open, path: str):
    view = look(path, viewport={"width": 400, "height": 900}, color_scheme="dark")
    settled(view)
    key, sections = SECTIONS[path]
    for section in sections:
        view.segment(key, section)
        settled(view)
        view.fits(section)
    view.fits(path)
    view.until(lambda: view.inks() == {DARK.ink}, "charts for the dark")
    view.in_order()
