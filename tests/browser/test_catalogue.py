"""Tables that are not built in: one clear message where they cannot be had, a finding where they can."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, Start
from tests.browser.driver import Server
from tests.browser.view import PATIENT

LOCAL = Path(os.environ.get("FAIRLEAK_DATA", "/nonexistent"))
NOWHERE = "http://127.0.0.1:9"
OFFLINE = {name: NOWHERE for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")} | {"no_proxy": None}
DEMO, ADULT = "Loan applicants (built-in demo)", "Adult (US census 1994)"


@pytest.fixture(scope="module")
def without(start_server: Start, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server without tables and without network."""
    return start_server(FAIRLEAK_DATA=str(tmp_path_factory.mktemp("empty")), **OFFLINE)


@pytest.fixture(scope="module")
def local(start_server: Start) -> Server:
    """A server with the tables of this machine, without network."""
    return start_server(FAIRLEAK_DATA=str(LOCAL), **OFFLINE)


def test_adult_without_network(look: Open, without: Server):
    view = look("", at=without)
    before = view.found("%", "sex")
    view.choose("dataset", ADULT)
    expect(view.warnings).to_have_count(1, timeout=PATIENT)
    for word in ("Adult", "built-in demo", "upload", "FAIRLEAK_DATA"):
        expect(view.warnings).to_contain_text(word)
    view.in_order()
    view.go("Data")
    expect(view.warnings).to_have_count(1, timeout=PATIENT)
    expect(view.keyed("upload")).to_be_visible()
    view.in_order()
    view.choose("dataset", DEMO)
    view.found("women")
    view.go("Start")
    view.until(lambda: view.found("%", "sex") == before, "the first finding")
    expect(view.warnings).to_have_count(0)


@pytest.mark.skipif(
    not (LOCAL / "adult" / "adult.data").is_file(), reason="needs adult/adult.data in the folder FAIRLEAK_DATA names"
)
def test_adult_from_local_files(look: Open, local: Server):
    view = look("data", at=local)
    view.found("women")
    view.choose("dataset", ADULT)
    view.go("Start")
    view.until(lambda: "15,375 people" in view.text(), "the audited people")
    view.found("sex", "%")
    view.painted(1)
    view.in_order()
