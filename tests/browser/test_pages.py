"""Correction and Model: what is on screen is what core says wherever the controls stand, and fits the screen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.charts import DARK, LIGHT
from core.correction import Disclosure
from core.estimates import count, percent, tolerance_text
from tests import expected
from tests.browser.conftest import Open
from tests.browser.view import View

CHARTS = {"": 2, "data": 1, "model": 2, "correction": 4}


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
    described = view.keyed("told_chart").locator(f"[aria-label*='at {tolerance_text(now.told)}']")
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
