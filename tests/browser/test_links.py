"""Addresses: settings follow the person into the link, and the link restores them for somebody else."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from core.fairness import METRIC_TITLES
from tests.browser.conftest import Open
from tests.browser.view import View

LINK = "data?seed=7&metric=Equal+opportunity&tolerance=0.02&train_share=0.8"


def in_link(view: View) -> dict[str, str]:
    """Return what the address holds."""
    return {key: values[0] for key, values in parse_qs(urlsplit(view.page.url).query).items()}


def assert_settings(view: View) -> None:
    """Check that the sidebar stands as `LINK` says."""
    expect(view.field("seed")).to_have_value("7")
    expect(view.field("metric")).to_have_value(METRIC_TITLES["equal_opportunity"])
    expect(view.field("tolerance")).to_have_value("0.020")
    expect(view.field("train_share")).to_have_value("0.8")


def test_settings_follow_the_person_and_go_into_the_link(look: Open):
    view = look(LINK)
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
