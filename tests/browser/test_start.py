"""The front page: a finished audit without a click, and doors to the pages behind it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import Open

LINKS = "[data-testid=stMain] [data-testid=stPageLink]"


def test_a_finished_audit_three_doors_and_the_map_without_a_click(look: Open):
    view = look()
    finding = view.found("%", "sex")
    view.painted(2)
    assert finding.count("%") >= 2
    expect(view.page.get_by_text("Synthetic").first).to_be_visible()
    for door, links in (
        ("check", ["Bring a table or a model", "Read the verdict", "Meter a model card"]),
        ("learn", ["Open the cases"]),
        ("explore", ["Model", "Correction", "Bias queries", "AttriGuard", "Membership"]),
    ):
        inside = view.keyed(f"door_{door}").locator("[data-testid=stPageLink]")
        view.until(
            lambda inside=inside, links=links: [t.split("\n")[-1] for t in inside.all_inner_texts()] == links,
            f"the links of the door {door}",
        )
    expect(view.page.get_by_text("At ε = 1 tolerance 0.001 holds in 2 of 20 seeds")).to_be_visible()
    expect(view.page.get_by_text("majority class 56.9%")).to_be_visible()
    chart = view.keyed("start_map_chart")
    expect(chart.locator("[aria-label]").first).to_have_attribute(
        "aria-label", re.compile("^Map of 42 models, by trained")
    )
    box = chart.bounding_box()
    assert box is not None and box["y"] < 600  # on the first screen
    view.page.mouse.move(box["x"] + 62 + (box["width"] - 76) / 14, box["y"] + 20)
    expect(chart.locator(".hoverlayer")).to_contain_text("Tolerance 0.001, ε = ∞")
    expect(chart.locator(".hoverlayer")).to_contain_text("members: AUC")
    view.fits("Start")
    view.in_order()
    assert view.hosts == {"localhost"}


def test_a_door_opens_its_page(look: Open):
    view = look()
    view.found("%", "sex")
    view.page.locator(LINKS, has_text="Model").get_by_role("link", name="Model", exact=True).click()
    view.page.wait_for_url("**/model")
    view.found("unfairness")
    view.in_order()
