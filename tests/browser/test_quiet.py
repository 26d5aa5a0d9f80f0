"""A server calls nobody, and writes nothing: not when a page is visited, and not when a file is uploaded."""

import pytest

from tests.browser.driver import Server
from tests.browser.tables import people
from tests.browser.view import View
from tests.hostile.system_calls import calls, can_trace, changed_outside, reached, semaphores_left, under
from tests.hostile.test_quiet import FOLDERS
from tests.markers import ROOT


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
