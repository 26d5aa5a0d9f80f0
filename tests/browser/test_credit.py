"""A credit table from upload to verdict: a model of defaults, judged fair on those it does not expect to default."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.reports import downloaded
from tests.browser.view import View
from tests.credit_table import credit_csv


def bring(view: View) -> None:
    """Upload the credit table; which outcome is good for a person is left open."""
    view.finding_with("%")
    view.give("upload", "credit.csv", credit_csv())
    view.finding_with("credit.csv", "until you press")


def row_of(findings: dict[str, Any], check: str) -> dict[str, Any]:
    """Return a check's row of the verdict, with its measurement."""
    (row,) = [row for row in findings["verdict"]["checks"] if row["check"] == check]
    (measured,) = [measurement for measurement in findings["measurements"] if measurement["check"] == check]
    return {**row, "found": measured}


def test_a_model_of_defaults_fails_on_membership_and_is_fair_on_the_other_outcome(look: Open):
    view = look("data")
    bring(view)
    button, foot = view.keyed("use_roles").get_by_role("button"), view.keyed("gate_foot")
    expect(button).to_be_disabled()
    expect(foot).to_contain_text("which outcome is good for the person")
    expect(view.keyed("gate")).to_contain_text("means default = 1.")
    view.answer("favourable", "0")
    expect(button).to_be_enabled()
    button.click()
    view.finding_with("Do not release", "released:")
    findings = downloaded(view)["internal"].findings
    assert findings["verdict"]["overall"] == "fail"
    auc, ratio = row_of(findings, "membership_auc"), row_of(findings, "four_fifths")
    assert auc["verdict"] == "fail" and auc["found"]["estimate"]["value"] == pytest.approx(0.576, abs=0.012)
    assert ratio["found"]["estimate"]["value"] == pytest.approx(0.97, abs=0.012)
    roles = findings["plan"]["config"]["roles"]
    assert (roles["positive"], roles["favourable"]) == ("1", "0")
    assert findings["model"]["accuracy_test"]["value"] > findings["model"]["majority_test"]["value"]
    view.in_order()


@pytest.mark.long
def test_a_provision_opens_and_the_narrower_release_that_passes_is_adopted(look: Open):
    view = look("data")
    bring(view)
    view.answer("favourable", "0")
    view.keyed("use_roles").get_by_role("button").click()
    view.finding_with("Labels alone would pass.")
    people = view.page.locator(".fl-people")
    expect(people).to_contain_text("of 100 people right")
    chip = view.page.locator(".fl-board .law").first
    note = chip.locator("div")
    expect(note).not_to_be_visible()
    chip.locator("summary").click()
    expect(note).to_be_visible()
    expect(note).to_contain_text("Not legal advice.")
    expect(view.page.locator(".fl-board .entry details.law[open]")).to_have_count(1)
    chip.locator("summary").click()
    view.press("use_way_out")
    view.finding_with("Every required limit is kept", "released: labels only")
    expect(view.keyed("way_out")).to_have_count(0)
    view.in_order()


def test_a_score_read_the_wrong_way_round_is_stopped_before_the_verdict(look: Open):
    view = look("data")
    bring(view)
    view.answer("favourable", "0")
    view.answer("positive", "0")
    button, blocking = view.keyed("use_roles").get_by_role("button").last, view.page.locator("[class*=st-key-s_bad_]")
    expect(button).to_be_disabled()
    expect(blocking).to_contain_text("AUC 0.")
    expect(blocking.locator(".fl-bars")).to_have_attribute("aria-label", re.compile("AUC 0[.][0-4]"))
    blocking.get_by_role("button", name=re.compile("Turn round")).click()
    expect(button).to_be_enabled()
    expect(blocking).to_have_count(0)
    answers = view.page.locator("[class*=st-key-s_ok_repaired_]")
    expect(answers).to_contain_text("it predicts default = 1.")
    expect(view.keyed("gate")).to_contain_text("5 hold")
    answers.get_by_role("button", name="Undo").click()
    expect(button).to_be_disabled()
    expect(blocking).to_have_count(1)
    view.in_order()
