"""Correction and Model: what is on screen is what core says wherever the controls stand, and fits the screen."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from playwright.sync_api import expect

from core.charts import DARK, LIGHT
from core.correction import Disclosure
from core.estimates import count, percent, tolerance_text
from core.fairness import METRIC_TITLES
from core.models import METHOD_TITLES, METHODS
from tests import expected
from tests.browser.conftest import Open
from tests.browser.view import View

SHARE = 0.8  # leaves few records to the adversaries, which train faster then
CHARTS = {"": 2, "data": 1, "model": 2, "correction": 4}
NAMES = {
    "features": "The published attack (A)",
    "predictions": "The published attack with the predictions (A′)",
    "strong": "Gradient boosting",
}


def assert_shows(view: View, now: Disclosure) -> None:
    """Check heading, marker, certificate and alternative text against core's disclosure."""
    assert now.after is not None and now.balanced_after is not None and now.n_changed is not None
    place = (now.told, 100 * now.after.value)

    def marked() -> bool:
        found = [(*trace["x"], *trace["y"]) for trace in view.points("told_chart")]
        return found == [pytest.approx(place, abs=1e-9)]

    view.until(marked, f"a marker at {place}")
    view.found(f"disclosure of {tolerance_text(now.used)} ", percent(now.after))
    certificate = view.page.locator("[data-testid=stMarkdown]", has_text="guesses changed")
    expect(certificate).to_contain_text(f"{count(now.n_changed)} of {count(now.before.n)} guesses changed")
    expect(certificate).to_contain_text(percent(now.balanced_after))
    described = view.keyed("told_chart").locator(f"[aria-label*='Told {tolerance_text(now.told)},']")
    expect(described.first).to_have_attribute("aria-label", re.compile(re.escape(percent(now.after))))


def test_the_slider_moves_marker_and_numbers(look: Open):
    findings = expected.audit()
    view = look("correction")
    view.found("%")
    view.stop_training()
    assert_shows(view, findings.disclose(0.005))
    slider = view.field("told")
    for key, times, told in (("ArrowRight", 5, 0.010), ("ArrowLeft", 3, 0.007), ("End", 1, 0.2), ("Home", 1, 0.0)):
        for _ in range(times):
            slider.press(key)
        expect(slider).to_have_value(f"{told:g}")
        assert_shows(view, findings.disclose(told))
    view.in_order()


def test_dragging_the_slider(look: Open):
    view = look("correction")
    view.found("%")
    view.stop_training()
    view.painted(4, or_more=True)
    thumb = view.steady(view.keyed("told").get_by_test_id("stSliderThumbValue").bounding_box, "the slider's thumb")
    track = view.steady(view.keyed("told").get_by_role("group").bounding_box, "the slider's track")
    assert thumb is not None and track is not None
    view.page.mouse.move(thumb["x"] + thumb["width"] / 2, track["y"] + track["height"] / 2)
    view.page.mouse.down()
    view.page.mouse.move(track["x"] + track["width"] / 2, track["y"] + track["height"] / 2, steps=8)
    view.page.mouse.up()
    told = float(view.steady(view.field("told").input_value, "the slider's value"))
    assert 0.08 < told < 0.12
    assert_shows(view, expected.audit().disclose(told))


def test_attacker_and_protocol_change_the_numbers(look: Open):
    findings = expected.audit()
    view = look("correction")
    view.found("%")
    view.stop_training()
    view.field("told").press("Home")
    shown = [findings.disclose(0.0)]
    assert_shows(view, shown[0])
    for adversary, published in (("predictions", False), ("predictions", True), ("features", True), ("strong", False)):
        view.choose("adversary", NAMES[adversary])
        switch = view.keyed("as_published").locator("input")
        if switch.is_checked() != published:
            view.keyed("as_published").locator("label").click()
        expect(switch).to_be_checked(checked=published)
        now = findings.disclose(0.0, adversary=adversary, as_published=published)
        assert_shows(view, now)
        view.in_order()
        shown.append(now)
    assert len({now.n_changed for now in shown}) == len(shown)  # else a dead switch would go unnoticed


def test_the_price_of_a_change(look: Open):
    findings = expected.audit()
    view = look("correction")
    view.found("%")
    view.stop_training()
    view.choose("cost", "Log-odds")
    assert_shows(view, findings.disclose(0.005, cost="log_odds"))
    view.choose("cost", "Uniform")
    assert_shows(view, findings.disclose(0.005, cost="count"))


def test_the_numbers_behind_a_chart(look: Open):
    view = look("correction")
    view.found("%")
    view.stop_training()
    view.page.get_by_text("Numbers and CSV").first.click()
    button = view.keyed("csv_correction_0").get_by_role("button")
    expect(button).to_be_visible()
    with view.page.expect_download() as download:
        button.click()
    table = pd.read_csv(download.value.path())
    findings = expected.audit()
    assert len(table) >= 45 and table["tolerance told"].between(0, 0.2).all()
    for told, before, after in zip(
        table["tolerance told"], table["accuracy before"], table["accuracy after"], strict=True
    ):
        now = findings.disclose(told)
        assert before == pytest.approx(now.before.value)
        assert after == pytest.approx(now.after.value if now.after else float("nan"), nan_ok=True)


def test_every_method_on_the_model_page(look: Open):
    view = look(f"model?train_share={SHARE}")
    view.found("unfairness")
    for method in (*METHODS[1:], METHODS[0]):
        view.choose("method", METHOD_TITLES[method])
        found = expected.model(method=method, train_share=SHARE)
        view.found(percent(found.accuracy_test), tolerance_text(found.unfairness_train))
        view.painted(2)
        view.in_order()
        needs = view.page.get_by_text("must be told each person's")
        expect(needs).to_have_count(1 if found.needs_sensitive else 0)


def test_another_metric(look: Open):
    view = look(f"model?train_share={SHARE}")
    view.found("unfairness")
    view.choose("metric", METRIC_TITLES["equalized_odds"])
    found = expected.model(metric="equalized_odds", train_share=SHARE)
    view.found(percent(found.accuracy_test), tolerance_text(found.unfairness_train))
    view.in_order()


def is_dark(view: View) -> bool:
    background = view.page.locator("[data-testid=stApp]").evaluate("app => getComputedStyle(app).backgroundColor")
    return int(background.split("(")[1].split(",")[0]) < 60


@pytest.mark.parametrize(("width", "theme"), [(420, "light"), (1440, "dark")])
def test_fits_every_screen(look: Open, width: int, theme: str):
    view = look(None, viewport={"width": width, "height": 900}, color_scheme=theme)
    for path, charts in CHARTS.items():
        view.open(path)
        view.found("%")
        view.painted(charts, or_more=path == "correction")  # two more once a model is trained
        view.fits(path)
        view.until(lambda: view.inks() == {(DARK if theme == "dark" else LIGHT).ink}, f"{theme} charts on {path}")
        view.until(lambda: is_dark(view) == (theme == "dark"), f"a {theme} background on {path}")
        view.in_order()
        if path == "correction":
            view.stop_training()
