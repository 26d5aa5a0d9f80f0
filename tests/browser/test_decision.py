"""The Report page in a real browser: from a table to a verdict, and on to reports that stand alone."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from core.models import METHOD_TITLES
from tests.browser.conftest import Open
from tests.browser.reports import downloaded, judged, read_alone
from tests.unit.datasets.hostile_tables import HOSTILE, HOSTILE_NAMES, hostile_table

LINK = f"report?method={METHOD_TITLES['unmitigated'].replace(' ', '+')}"
UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e]")  # steer how text is shown; the report shows that there was one


def test_a_verdict_without_a_click_on_one_screen(look: Open):
    view = look(LINK)
    judged(view)
    rows = view.page.locator(".fl-board details")
    expect(rows).to_have_count(12)
    expect(view.page.locator(".fl-board [role=img]")).to_have_count(12)
    held_back = rows.filter(has_text=re.compile("Fail|Inconclusive"))
    last = held_back.last.bounding_box()
    assert held_back.count() >= 2 and last is not None
    assert last["y"] + last["height"] <= 900  # what holds the release back is on the first screen
    rows.first.locator("summary").click()
    expect(rows.first.get_by_text("The attacker knows", exact=True)).to_be_visible()
    view.page.set_viewport_size({"width": 400, "height": 900})
    view.fits("the verdict on a narrow screen")
    view.in_order()


def test_hostile_names_are_names(look: Open, browser: Browser, tmp_path: Path):
    view = look("data")
    view.found("%")
    roles = {role: HOSTILE[role] for role in ("label", "positive", "prediction", "score", "sensitive", "group")}
    view.bring_predictions("<img src=x onerror=alert(1)>.csv", hostile_table(), **roles)
    view.go("Report")
    found = downloaded(view)
    assert view.page.locator("[data-testid=stMain]").locator("script, img, iframe, a[href^='javascript']").count() == 0
    texts = {edition: " ".join(read_alone(browser, report, tmp_path).split()) for edition, report in found.items()}
    for name in (name for name in HOSTILE_NAMES if name != HOSTILE["score"]):  # the report does not name that column
        assert " ".join(UNSEEN.sub("\ufffd", name).split()) in texts["internal"], name
    assert HOSTILE["group"] in texts["disclosure"]
    view.in_order()
