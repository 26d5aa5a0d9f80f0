"""Servers and browsers for the tests here; everything is stopped again by the test run that started it."""

from pathlib import Path

import pytest

from tests.browser.driver import CHROMIUM, Server, chromium
from tests.browser.view import View


def pytest_collection_modifyitems(items):
    """Mark the tests here, and skip them where there is no browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if item.path.name not in ("test_walks.py", "test_labels.py"):
                item.add_marker(pytest.mark.long)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium found (Debian: apt-get install chromium)"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Let fixtures know whether their test failed."""
    report = yield
    if report.when == "call":
        item.failed = report.failed
    return report


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def start_server():
    """Start a server that knows no local data, unless told otherwise."""
    running = []

    def start(**environment):
        server = Server(environment={"FAIRLEAK_DATA": None, **environment})
        server.start()
        running.append(server)
        return server

    yield start
    logs = [server.log.read_text() for server in running if server.log.exists()]
    for server in running:
        server.stop()
    for log in logs:
        assert "Traceback" not in log, log
        assert "ERROR" not in log, log


@pytest.fixture(scope="module")
def server(start_server):
    return start_server()


@pytest.fixture
def look(browser, server, request, tmp_path):
    """Open views, in sessions of their own; a failed test leaves their pictures behind."""
    opened = []

    def open_view(path="", *, at=None, **options):
        view = View(browser, (at or server).address, **options)
        opened.append(view)
        if path is not None:
            view.open(path)
        return view

    yield open_view
    for i, view in enumerate(opened):
        if getattr(request.node, "failed", False) and not view.page.is_closed():
            picture = tmp_path / f"view-{i + 1}.png"
            view.page.screenshot(path=picture, full_page=True)
            print(f"\n{view.page.url} looked like {picture}")
    for view in opened:
        view.close()
