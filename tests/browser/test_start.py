"""The front page: a finished audit and the map without a click, on one screen."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import Open


def test_a_finished_audit_and_the_map_without_a_click(look: Open):
    view = look()
    view.found("Publishing the fairness tolerance", "%", "sex")
    view.painted(2)
    expect(view.page.get_by_text("Synthetic").first).to_be_visible()
    chart = view.keyed("start_map_chart")
    expect(chart.locator("[aria-label]").first).to_have_attribute(
        "aria-label", re.compile("^Accuracy at inferring .* Map of")
    )
    box = chart.bounding_box()
    assert box is not None and box["y"] < 600  # on the first screen
    view.page.mouse.move(box["x"] + 62 + (box["width"] - 76) / 14, box["y"] + 20)
    expect(chart.locator(".hoverlayer")).to_contain_text("Tolerance 0.001, ε = ∞")
    expect(chart.locator(".hoverlayer")).to_contain_text("members: AUC")
    view.fits("Start")
    view.in_order()
    assert view.hosts == {"localhost"}
