"""The query desk in a real browser: opened cold, from two files to an answer on record, on narrow and dark screens."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from core.desk import Ledger, open_ledger, verify_export
from tests import desk_files
from tests.browser.conftest import Open, Start
from tests.browser.driver import Server
from tests.browser.test_privacy import holding
from tests.browser.view import View


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The data folder of a server of one's own."""
    return tmp_path / "data"


@pytest.fixture
def server(start_server: Start, folder: Path) -> Iterator[Server]:
    """A server with a data folder of its own, which no other test touches."""
    yield start_server(XDG_DATA_HOME=str(folder))


def ledger(folder: Path) -> Ledger:
    """Return the default ledger, as somebody else opens it."""
    return open_ledger(folder / "fairleak" / "ledger.sqlite")


def give(view: View, key: str, name: str, content: bytes) -> None:
    """Give a file to the upload box with this key, and wait until it is read."""
    view.give(key, name, content)
    view.idle()


def test_files_to_an_answer_a_record_and_its_check(look: Open, folder: Path, tmp_path: Path, server: Server):
    marker, moment = f"Marker{uuid4().hex}", time.time() - 1
    people = desk_files.test_set().replace(b"Female", marker.encode())
    view = look("desk")
    view.finding_with("Example:")
    view.press("desk_create")
    view.finding_with("holds no test set yet")
    view.segment("desk_source", "A file")
    give(view, "desk_test_set", "people.csv", people)
    view.choose_labelled("Sensitive attribute", "sex")
    view.choose_labelled("Advantaged group", "Male")
    view.field("desk_new_name_file_").fill("loans")
    view.field("desk_new_name_file_").press("Enter")
    view.idle()
    view.press("desk_register")
    view.finding_with("of 1 is left for loans; no query was asked yet")
    give(view, "desk_predictions", "model.csv", desk_files.predictions())
    view.wait_for(view.page.get_by_role("heading", level=3, name=re.compile("^Costs")))
    view.enter("desk_asker", "team A")
    view.page.wait_for_timeout(300)  # the server hears of it a moment later
    view.idle()
    view.go("Data")
    view.go("Query desk")
    expect(view.page.get_by_text("model.csv is still here.")).to_be_visible()
    expect(view.field("desk_asker")).to_have_value("team A")
    view.press("desk_ask")
    view.finding_with("The last answer")
    assert [a.asker for a in ledger(folder).status("loans").answers] == ["team A"]
    view.segment("desk_section", "Export and verify")
    with view.page.expect_download() as waiting:
        view.keyed("desk_export").get_by_role("button").click()
    record = tmp_path / "record.jsonl"
    waiting.value.save_as(record)
    assert verify_export(record, noted=ledger(folder).status("loans").seal).ok
    give(view, "desk_verify", "record.jsonl", record.read_bytes())
    expect(
        view.page.get_by_text("Verification of record.jsonl passed. Entries 3 · Answers 1 · Budgets 1")
    ).to_be_visible()
    give(view, "desk_verify", "record.jsonl", record.read_bytes().replace(b"team A", b"team B"))
    expect(view.page.locator("[data-testid=stAlertContentError]")).to_contain_text("Verification failed")
    assert holding(marker, moment) == []
    assert marker not in server.log.read_text()
