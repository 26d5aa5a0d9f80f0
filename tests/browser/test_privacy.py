"""A person's own table stays with that person: not on disk, not in another session, gone with the page.

And a server calls nobody, and writes nothing: not when a page is visited, and not when a file is uploaded.
"""

import json
import os
import re
import signal
import time
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from core.datasets import CATALOG
from tests.browser.driver import Server
from tests.browser.reports import verdict_headline
from tests.browser.tables import people
from tests.browser.view import View
from tests.browser.watched import COUNTS, MARKERS
from tests.hostile.system_calls import calls, can_trace, changed_outside, reached, semaphores_left, under
from tests.hostile.test_quiet import FOLDERS
from tests.markers import ROOT, holding
from tests.patience import wait_until


def most_released(server):
    """Return how many results a release of a session's store dropped at most, by the server's log."""
    drops = re.findall(r"session store released: (\d+) results dropped", server.log.read_text())
    return max(map(int, drops), default=0)


def assert_built_in_only(view):
    view.field("dataset").click()
    expect(view.page.get_by_role("option")).to_have_count(len(CATALOG))
    expect(view.page.get_by_role("option", name="Your table")).to_have_count(0)


def test_the_search_finds_a_marker(tmp_path):
    marker = uuid4().hex
    moment = time.time() - 60
    (tmp_path / "kept.npy").write_bytes(b"\x93NUMPY" + marker.encode("utf-32-le"))
    assert set(holding(marker, moment, tmp_path)) == {tmp_path / "kept.npy"}


def test_own_table_stays_with_its_session(look, server):
    marker = f"Marker{uuid4().hex}"
    moment = time.time() - 1
    owner = look("data")
    owner.bring_people(people(woman=marker).replace(b"age,", f"age_{marker},".encode(), 1), group=marker)
    expect(owner.finding).to_contain_text(marker)
    owner.go("Correction")
    owner.finding_with("sex", "%")
    owner.segment("further", "Tolerance sweep")
    expect(owner.keyed("cancel_sweep")).to_be_visible()

    second_view = look("data")
    second_view.finding_with("women")
    assert_built_in_only(second_view)
    assert marker not in second_view.page.content()
    second_view.page.keyboard.press("Escape")
    owner.until(lambda: len(owner.trained()) >= 2, "two trained models")
    owner.stop_training()
    assert marker not in owner.page.url
    assert holding(marker, moment) == []
    assert marker not in server.log.read_text()

    owner.go("Report")
    verdict_headline(owner)
    assert holding(marker, moment) == []
    assert marker not in server.log.read_text()

    owner.go("Data")
    owner.until(lambda: owner.page.url.endswith("/data?dataset=Your+table"), "the address of the own table")
    address = owner.page.url
    assert most_released(server) == 0
    owner.close()
    second_view.until(lambda: most_released(server) >= 4, "table, arrays, findings and curve released")
    returned = look(None)
    returned.page.goto(address)
    returned.finding_with("women")
    expect(returned.field("dataset")).to_have_value("Loan applicants (built-in demo)")
    assert_built_in_only(returned)
    assert marker not in returned.page.content()
    assert holding(marker, moment) == []


@pytest.mark.parametrize("page", ["AttriGuard", "Membership", "Report"])
def test_a_table_leaves_the_server_s_memory_with_its_session(page, browser, tmp_path):
    gone, stays = (f"{word}{uuid4().hex[:12]}" for word in ("Gone", "Stays"))
    counts = tmp_path / "counts.json"
    environment = {MARKERS: f"{gone},{stays}", COUNTS: str(counts), "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "2"}
    with Server(module="tests.browser.watched", environment=environment) as server:

        def counted():
            counts.unlink(missing_ok=True)
            os.kill(server.pid, signal.SIGUSR1)
            wait_until(counts.exists, "the counts")
            return json.loads(counts.read_text())

        views = {}
        for marker in (gone, stays):
            view = views[marker] = View(browser, server.address)
            view.open("data")
            view.bring_people(people(woman=marker).replace(b"age,", f"{marker}age,".encode(), 1), group=marker)
            view.go(page)
            view.idle()
        assert min(counted().values()) >= 1
        views[gone].close()
        wait_until(lambda: not counted()[gone], "the table to leave", pause=lambda: time.sleep(1.0))
        assert counted()[stays] >= 1
        views[stays].close()


@pytest.mark.skipif(not can_trace(), reason="no strace here, or it may not look at processes (ptrace)")
def test_a_server_calls_nobody_with_a_page_visited_and_a_file_uploaded(browser, tmp_path):
    folders = {name: tmp_path / folder for name, folder in FOLDERS.items()}
    for folder in folders.values():
        folder.mkdir()
    environment = {name: str(folder) for name, folder in folders.items()}
    environment |= {"FAIRLEAK_DATA": None, "ORT_DISABLE_TELEMETRY": None, "PYTHONDONTWRITEBYTECODE": "1"}
    with Server(environment=environment, under=under(tmp_path / "strace")) as server:
        view = View(browser, server.address)
        view.open("data")
        view.bring_people(people())
        view.go("Membership")
        view.in_order()
        view.close()
    traced = calls(tmp_path / "strace", ROOT)
    assert any("127.0.0.1" in call.arguments for call in traced)  # where it is found
    assert reached(traced) == []
    assert changed_outside(traced, folders["TMPDIR"]) == []
    assert [folder for folder in folders.values() if any(folder.iterdir())] == []
    assert semaphores_left(traced) == []
