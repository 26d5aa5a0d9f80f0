"""Every page in both themes, looked through by axe-core: nothing is wrong but what Streamlit itself has wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.models import METHOD_TITLES
from tests.browser.axe import violations
from tests.browser.conftest import Open
from tests.browser.driver import Server
from tests.browser.reports import judged

SETTINGS = f"method={METHOD_TITLES['unmitigated'].replace(' ', '+')}&train_share=0.8"
PAGES = {
    "Start": "%",
    "Data": "%",
    "Model": "unfairness",
    "Correction": "%",
    "Bias queries": "",
    "AttriGuard": "",
    "Membership": "",
    "Attribute inference from outputs": "adds",
    "Release": "",
    "Query desk": "",
    "Learn by example": "promise",
    "Report": "check",
}
"""Page and a word of what it finds; the empty word where one need not wait until it has found something."""

STREAMLITS_OWN = {"list", "listitem", "presentation-role-conflict"}


@pytest.fixture(scope="module")
def bare() -> Iterator[Server]:
    """Streamlit without FairLeak."""
    with Server(app=Path(__file__).with_name("bare.py")) as server:
        yield server


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wrong_but_streamlit(look: Open, bare: Server, theme: str):
    empty = look("", at=bare, color_scheme=theme)
    expect(empty.page.get_by_role("heading", name="Empty")).to_be_visible()
    expect(empty.page.get_by_test_id("stFileUploaderDropzone")).to_be_visible()
    empty.idle()
    known = set(violations(empty.page))
    assert {one.rule for one in known} <= STREAMLITS_OWN
    view, found = look(f"?{SETTINGS}", color_scheme=theme), {}
    for page, word in PAGES.items():
        if page != "Start":
            view.go(page)
        if word:
            view.found(word)
        if page == "Correction":
            view.stop_training()
        if page == "Learn by example":
            view.keyed("steps_correction").locator("label").click()
            expect(view.page.get_by_role("heading", level=3).first).to_be_visible()
        if page == "Report":
            judged(view)
            view.page.locator(".fl-board summary").first.click()
            view.segment("further_release", "Policy and limits")
        view.idle()
        found |= {(page, *one): told for one, told in violations(view.page).items() if one not in known}
    assert found == {}
