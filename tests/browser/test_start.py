"""The front page: a finished audit without a click, and doors to the pages behind it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Open


def test_a_finished_audit_without_a_click(look: Open):
    view = look()
    finding = view.found("%", "sex")
    view.painted(2)
    assert finding.count("%") >= 2
    expect(view.page.get_by_text("Synthetic").first).to_be_visible()
    doors = view.page.locator("[data-testid=stMain] [data-testid=stPageLink]")
    expect(doors).to_have_count(7)
    named = ["Data", "Model", "Correction", "Bias queries", "AttriGuard", "Membership", "Report"]
    view.until(lambda: [text.split("\n")[-1] for text in doors.all_inner_texts()] == named, "the doors' names")
    view.in_order()
    assert view.hosts == {"localhost"}


def test_a_door_opens_its_page(look: Open):
    view = look()
    view.found("%", "sex")
    view.page.locator("[data-testid=stMain] [data-testid=stPageLink]", has_text="Model").get_by_role("link").click()
    view.page.wait_for_url("**/model")
    view.found("unfairness")
    view.in_order()
