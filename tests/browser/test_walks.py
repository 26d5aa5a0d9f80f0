"""One way through the dashboard for each reader: teacher, explorer, officer, bank, and who has a keyboard alone."""

import io
import re
from datetime import UTC, datetime

import pandas as pd
import pytest
from playwright.sync_api import expect

from core.learn.examples import EXAMPLES, example, sheet
from core.report.report import day_text
from tests.browser.reports import downloaded, read_alone
from tests.browser.tables import people, predicted
from tests.credit_table import credit_people


def test_a_teacher_follows_a_link_to_a_case_and_prints_its_sheet(look):
    case = example("gaps")
    view = look("learn?example=gaps")  # the first page of a fresh server
    view.finding_with(case.title)
    expect(view.sidebar.get_by_role("link")).to_have_count(19)
    first = view.page.get_by_role("heading", level=3, name=case.steps[0].title)
    expect(first).to_have_count(0)
    view.keyed("answer_gaps").get_by_text("About women", exact=True).click()
    view.page.get_by_role("button", name="Answer").click()
    expect(view.warnings).to_contain_text("Not yet")
    view.keyed("steps_gaps").locator("label").click()
    expect(first).to_be_visible()
    with view.page.expect_download() as download:
        view.press("sheet_solution")
    assert case.steps[-1].title in download.value.path().read_text(encoding="utf-8")
    view.in_order()


def test_every_exercise_sheet_fits_on_both_sides_of_one_leaf(browser):
    page = browser.new_page()
    for name in EXAMPLES:
        page.set_content(sheet(example(name), solution=False))
        assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") <= 2, name
    page.close()


@pytest.mark.long
def test_a_link_shows_a_colleague_the_same_sentence(look):
    mine = look("correction")
    first = mine.finding_with("Publishing the fairness tolerance")
    slider = mine.field("told")
    for _ in range(3):
        slider.press("ArrowRight")
    mine.until(lambda: [t["x"] for t in mine.points("told_chart")] == [[0.008]], "a marker at 0.008")
    mine.until(lambda: "told=0.008" in mine.page.url, "the slider in the address")
    theirs = look(mine.page.url.removeprefix(f"{mine.address}/"))
    assert theirs.finding_with("0.008") == mine.finding_with("0.008")
    theirs.until(lambda: [t["x"] for t in theirs.points("told_chart")] == [[0.008]], "the same marker")
    beyond = look("correction?told=0.3")  # no such place on the slider: finding, marker and slider agree on the first
    assert beyond.finding_with("Publishing the fairness tolerance") == first
    beyond.until(lambda: [t["x"] for t in beyond.points("told_chart")] == [[0.005]], "the first marker")
    expect(beyond.field("told")).to_have_attribute("value", "0.005")


def signed_and_compared(view):
    """Sign the audit on screen, which keeps it, judge it by another policy, and compare both; the ban stands."""
    card = view.keyed("sign_off")
    view.press("open_decision")
    fields = {"model": "Hiring", "version": "1.0", "who": "Ada, DPO", "reason": "Scores reveal the attribute."}
    for key, value in fields.items():
        view.until(lambda key=key, value=value: view.entered(f"sign_{key}", value), f"{value!r} in its field")
    view.press("sign_audit")
    expect(card).to_contain_text("Do not release by Ada, DPO")
    expect(view.keyed("sign_audit")).to_have_count(0)
    expect(card).not_to_contain_text("Made on audit")
    (mark,) = re.findall(r"fingerprint (\w{4} \w{4})", card.inner_text())
    view.press("sign_close")
    view.segment("further_release", "Policy and limits")
    view.choose("release_policy_box", "FairLeak's default")
    view.press("open_decision")
    expect(card).to_contain_text("Stands until it is revoked")
    expect(card).to_contain_text(f"Made on audit {mark}; different here: policy.")
    expect(view.keyed("sign_audit")).to_be_in_viewport()
    view.page.keyboard.press("Escape")
    today = day_text(datetime.now(UTC).isoformat())
    view.choose("compare_with", f"Hiring 1.0 · {today} · {mark}")
    expect(view.page.locator(".fl-board")).to_contain_text(f"Since {today[:-5]}")
    expect(view.page.get_by_text("What changed since")).to_be_visible()


def test_an_officer_brings_predictions_reads_the_verdict_and_takes_the_report(look, browser, tmp_path):
    view = look("data")
    view.finding_with("%")
    roles = {"label": "hired", "positive": "yes", "prediction": "predicted", "score": "score"}
    view.bring_predictions("people.csv", predicted(people()), **roles, sensitive="sex", group="F")
    about_a_method = view.sidebar.get_by_role("link", name="Correction", exact=True)
    expect(about_a_method).to_be_hidden()
    view.go("Query desk")
    expect(about_a_method).to_be_visible()
    view.go("Report")
    expect(about_a_method).to_be_hidden()
    reports = downloaded(view)
    rows = view.page.locator(".fl-board .entry > details")
    held_back = rows.filter(has_text=re.compile("Fail|Inconclusive")).last.bounding_box()
    assert held_back is not None and held_back["y"] + held_back["height"] <= 900  # on the first screen
    expect(view.page.locator(".fl-board [role=img]")).to_have_count(rows.count())
    rows.first.locator("summary").click()
    expect(rows.first.get_by_text("The attacker knows", exact=True)).to_be_visible()
    texts = {edition: read_alone(browser, report, tmp_path) for edition, report in reports.items()}
    assert "people.csv" in texts["internal"] and "people.csv" not in texts["public"]
    signed_and_compared(view)
    view.fits("the verdict")
    view.page.set_viewport_size({"width": 400, "height": 900})
    view.fits("the verdict on a narrow screen")
    view.in_order()


def test_an_explorer_uploads_a_table_moves_the_slider_and_takes_the_numbers(look):
    # After the officer, whom the audit of this table, which goes on for as long as the server does, would slow down.
    view = look("data")
    view.bring_people(people(500))
    view.go("Correction")
    view.finding_with("olerance")
    slider = view.field("told")
    for key, value in (("End", 0.2), ("Home", 0.0), ("ArrowRight", 0.001)):
        slider.press(key)
        view.finding_with("olerance")
        view.until(lambda value=value: [t["x"] for t in view.points("told_chart")] == [[value]], f"a marker at {value}")
    view.page.get_by_text("Data table and CSV").first.click()
    with view.page.expect_download() as download:
        view.press("csv_correction_0")
    table = pd.read_csv(io.BytesIO(download.value.path().read_bytes()))
    accuracy = view.points("told_chart")[0]["y"][0]
    assert 100 * table.set_index("disclosed tolerance").loc[0.001, "accuracy after"] == pytest.approx(accuracy)
    view.in_order()


@pytest.mark.long
def test_a_model_of_defaults_fails_on_membership_and_is_fair_on_the_other_outcome(look):
    view = look("data")
    view.finding_with("%")
    view.give("upload", "credit.csv", credit_people().to_csv(index=False).encode())
    view.finding_with("credit.csv", "until you press")
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
    failed = {row["check"] for row in findings["verdict"]["checks"] if row["verdict"] == "fail"}
    assert "membership_auc" in failed
    estimates = {measurement["check"]: measurement["estimate"] for measurement in findings["measurements"]}
    assert estimates["membership_auc"]["value"] == pytest.approx(0.576, abs=0.012)
    assert estimates["four_fifths"]["value"] == pytest.approx(0.97, abs=0.012)
    roles = findings["plan"]["config"]["roles"]
    assert (roles["positive"], roles["favourable"]) == ("1", "0")
    assert findings["model"]["accuracy_test"]["value"] > findings["model"]["majority_test"]["value"]
    view.in_order()


def stands(view, chart, at):
    """Wait until the first marker of a chart stands there; there is none while it is painted anew."""

    def moved():
        return any(abs(markers["x"][0] - at) < 1e-9 for markers in view.points(chart)[:1])

    view.until(moved, f"the marker of {chart} at {at:g}")


@pytest.mark.long
def test_attriguard_by_keyboard_alone(look):
    view = look("attriguard")
    view.finding_with("AttriGuard fools")
    view.gone(view.keyed("cancel_attriguard"))
    stands(view, "guard_chart", 0.25)
    view.field("guard_data").focus()

    def tab():
        view.page.keyboard.press("Tab")
        return bool(view.page.evaluate("() => document.activeElement.matches('.st-key-guard_budget input')"))

    view.until(tab, "the slider in the order of the keys")
    view.page.keyboard.press("ArrowRight")
    stands(view, "guard_chart", 0.26)
    view.finding_with("0.26")
    expect(view.keyed("guard_chart").locator("[aria-label*='at 0.26']").first).to_be_visible()
    view.segment("further_guard_table", "Utility loss")
    view.field("guard_budget").press("End")
    stands(view, "cost_accuracy_chart", 0.5)  # outside the slider's own fragment
    view.in_order()
