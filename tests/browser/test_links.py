"""Addresses: a page opened first on a fresh server, and a link that restores an audit."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from core.estimates import percent, tolerance_text
from core.fairness import METRIC_TITLES
from tests import expected
from tests.browser.conftest import Open, Start
from tests.browser.view import View

LINK = "correction?seed=7&metric=Equal+opportunity&tolerance=0.02&train_share=0.8"
CHANGES = {"seed": 7, "metric": "equal_opportunity", "tolerance": 0.02, "train_share": 0.8}


def in_link(view: View) -> dict[str, str]:
    """Return what the address holds."""
    return {key: values[0] for key, values in parse_qs(urlsplit(view.page.url).query).items()}


def assert_settings(view: View) -> None:
    """Check that the sidebar stands as `LINK` says."""
    expect(view.field("seed")).to_have_value("7")
    expect(view.field("metric")).to_have_value(METRIC_TITLES["equal_opportunity"])
    expect(view.field("tolerance")).to_have_value("0.020")
    expect(view.field("train_share")).to_have_value("0.8")


def assert_at_home(view: View, page: str) -> None:
    """Check that a page stands in its frame: sidebar, navigation, its own address."""
    expect(view.sidebar.get_by_text("What is audited")).to_be_visible()
    expect(view.sidebar.get_by_role("link")).to_have_count(11)
    view.until(lambda: urlsplit(view.page.url).path == f"/{page}", f"the address of {page}")
    view.in_order()


def test_a_link_restores_an_audit_on_a_fresh_server(look: Open):
    view = look(LINK)
    findings = expected.audit(**CHANGES)
    now = findings.disclose(0.02)
    assert now.after is not None
    view.found(f"disclosure of {tolerance_text(0.02)} ", percent(now.after), percent(findings.strong))
    assert_settings(view)
    assert_at_home(view, "correction")
    view.stop_training()


def test_data_first_on_a_fresh_server(look: Open, start_server: Start):
    view = look("data", at=start_server())
    view.found("%")
    assert_at_home(view, "data")


def test_settings_follow_the_person_and_go_into_the_link(look: Open):
    view = look("data?" + LINK.partition("?")[2])
    told = {"seed": "7", "metric": METRIC_TITLES["equal_opportunity"], "tolerance": "0.02", "train_share": "0.8"}
    view.found("%")
    assert_settings(view)
    view.enter("seed", "9")
    view.until(lambda: in_link(view).get("seed") == "9", "the seed in the address")
    for page in ("Model", "Data"):
        view.go(page)
        view.idle()
        expect(view.field("seed")).to_have_value("9")
        expect(view.field("metric")).to_have_value(METRIC_TITLES["equal_opportunity"])
        view.until(lambda: in_link(view).items() >= {**told, "seed": "9"}.items(), "the settings in the address")
    view.enter("seed", "7")
    view.until(lambda: in_link(view).items() >= told.items(), "the settings in the address")
    restored = look(None)
    restored.page.goto(view.page.url)
    restored.found("%")
    assert_settings(restored)


def test_a_setting_put_back_stays_so_on_the_next_page(look: Open):
    view = look("data")
    view.found("%")
    view.choose("metric", METRIC_TITLES["equal_opportunity"])
    view.until(lambda: "metric" in in_link(view), "the metric in the address")
    view.go("Model")
    expect(view.field("metric")).to_have_value(METRIC_TITLES["equal_opportunity"])
    view.choose("metric", METRIC_TITLES["statistical_parity"])
    view.until(lambda: "metric" not in in_link(view), "no metric in the address")
    for page in ("Data", "Model"):
        view.go(page)
        expect(view.field("metric")).to_have_value(METRIC_TITLES["statistical_parity"])
        view.until(lambda: "metric" not in in_link(view), "no metric in the address")


def test_a_nonsensical_link_falls_back(look: Open):
    view = look("data?seed=-4&metric=<script>alert(1)</script>&tolerance=7&train_share=nan&method=&dataset=upload")
    view.found("%")
    expect(view.field("seed")).to_have_value("42")
    expect(view.field("metric")).to_have_value(METRIC_TITLES["statistical_parity"])
    expect(view.field("tolerance")).to_have_value("0.005")
    expect(view.field("train_share")).to_have_value("0.34")
    expect(view.field("dataset")).to_have_value("Loan applicants (built-in demo)")
    view.in_order()


def test_a_link_restores_an_example_on_a_fresh_server(look: Open, start_server: Start):
    view = look("learn?example=gaps", at=start_server())
    view.found("Who is more exposed?")
    assert in_link(view)["example"] == "gaps"
    assert_at_home(view, "learn")
