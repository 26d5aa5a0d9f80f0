"""The sections below the slider in a real browser: started, left, found again and read; and many groups."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from core.datasets import build_dataset, demo_table
from tests.browser.conftest import Open
from tests.browser.view import PATIENT


def test_other_seeds_go_on_while_the_page_is_left(look: Open):
    view = look("correction")
    view.found("%")
    view.stop_training()
    view.segment("further", "Seeds and controls")
    view.keyed("start_seeds").get_by_role("button").click()
    progress = view.page.locator("[data-testid=stMain] [data-testid=stProgress]")
    expect(progress).to_contain_text("of 6 models attacked")
    view.go("Model")
    view.found("unfairness")
    view.go("Correction")
    view.found("%")
    expect(view.keyed("further").get_by_role("radio", name="Seeds and controls", exact=True)).to_have_attribute(
        "aria-checked", "true"
    )
    expect(view.keyed("cancel_seeds").or_(view.keyed("start_seeds"))).to_have_count(0, timeout=PATIENT)
    told = view.page.get_by_text(re.compile("Disclosing the tolerance on top of .* over 3 seeds"))
    expect(told).to_have_count(2)
    view.painted(5)
    expect(view.page.get_by_text("The metric is right in")).to_be_visible()
    view.in_order()


def test_more_disclosed_is_there_at_once(look: Open):
    view = look("correction")
    view.found("%")
    view.stop_training()
    view.segment("further", "Stronger disclosure")
    expect(view.page.get_by_text("5 of 5 answers are proved optimal")).to_be_visible(timeout=PATIENT)
    view.painted(4)
    view.in_order()


def test_four_age_groups_follow_the_slider(look: Open):
    view = look("correction?attribute=Age%2C+four+groups")
    first = view.found("age group")  # the models under way are left to train, politely: the server's last test
    table = demo_table()
    for name in build_dataset(table, table.roles[2]).group_names:
        expect(view.keyed("recognised_chart").get_by_text(name, exact=True)).to_be_visible()
    view.field("told").press("End")
    view.until(lambda: "0.2" in view.found("age group") and view.found("age group") != first, "the other finding")
    view.in_order()
