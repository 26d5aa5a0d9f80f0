"""One's own table: from the upload to a finding, and every bad file answered in one sentence."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Open
from tests.browser.reports import downloaded, read_alone
from tests.browser.tables import HOSTILE_CELL, STYLED_NAME, people
from tests.unit.datasets.hostile_tables import HOSTILE, HOSTILE_NAMES, hostile_table


def test_upload_to_a_finding(look: Open):
    view = look("data")
    view.bring_people(people(woman=HOSTILE_CELL), group=HOSTILE_CELL)
    view.until(lambda: HOSTILE_CELL in view.found("%"), "the cell as it is")
    view.painted(1)
    expect(view.keyed("groups_chart")).to_contain_text(HOSTILE_CELL[:10])
    view.in_order()
    view.go("Correction")
    view.found("sex", "%")
    view.painted(4, or_more=True)
    view.until(lambda: "over 306 people" in view.text(), "the people audited")
    view.in_order()
    view.stop_training()
    view.go("Data")
    view.found("%")
    view.assign(STYLED_NAME, "*clerk*_x_")
    view.found("*clerk*_x_")
    view.go("Correction")
    view.found(STYLED_NAME, "%")
    view.in_order()
    view.stop_training()
    view.choose("attribute", "sex")
    view.found("sex", "%")
    expect(view.page).to_have_url(f"{view.address}/correction?dataset=Your+table")  # no column's name enters a link
    expect(view.page.locator("[data-testid=stMain] img, a[href^='javascript']")).to_have_count(0)


UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e]")  # steer how text is shown; the report shows that there was one


def test_hostile_names_are_names_in_the_report(look: Open, browser: Browser, tmp_path: Path):
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
