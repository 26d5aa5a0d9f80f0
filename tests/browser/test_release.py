"""The Report page in a real browser: a verdict by itself, rows that open, and everything in its place."""

from __future__ import annotations

from playwright.sync_api import expect

from core.models import METHOD_TITLES
from core.report import from_json
from tests.browser.conftest import Open
from tests.browser.view import View

LINK = f"report?method={METHOD_TITLES['unmitigated'].replace(' ', '+')}"


def judged(view: View) -> None:
    """Wait for the verdict."""
    view.found("checks")
    expect(view.keyed("download_internal_json")).to_be_visible()


def test_a_verdict_without_a_click_on_one_screen(look: Open):
    view = look(LINK)
    judged(view)
    rows = view.page.locator(".fl-board details")
    expect(rows).to_have_count(8)
    expect(view.page.locator(".fl-board [role=img]")).to_have_count(8)
    last = view.keyed("further_release").bounding_box()
    assert last is not None and last["y"] + last["height"] <= 900  # the whole verdict fits one screen
    rows.first.locator("summary").click()
    expect(rows.first.get_by_text("The attacker knows", exact=True)).to_be_visible()
    with view.page.expect_download() as download:
        view.press("download_internal_json")
    told = from_json(download.value.path().read_text(encoding="utf-8"))
    assert told["verdict"]["headline"] in view.found("checks")
    view.press("cancel_self_test")
    view.page.set_viewport_size({"width": 400, "height": 900})
    view.fits("the verdict on a narrow screen")
    view.in_order()
