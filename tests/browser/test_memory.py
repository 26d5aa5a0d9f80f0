"""The memory of the server: what a large table took comes back once its session has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Open, Start
from tests.browser.driver import Server
from tests.browser.tables import people
from tests.patience import wait_until

ROWS, KINDS = 500_000, 5_000
LEFT = 0.6
"""Most of the growth that may stay: what was imported to read it, and gaps that the next table fills."""


def resident(server: Server) -> int:
    """Return the bytes of memory that the server holds."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return 1024 * int(status.partition("VmRSS:")[2].split()[0])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what a process holds")
def test_memory_comes_back_once_a_session_has_ended(look: Open, start_server: Start):
    server = start_server(STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="1")
    header, *rows = people(KINDS).decode().splitlines()
    large = "\n".join([header, *(ROWS // KINDS * rows), ""]).encode()
    first = look("data", at=server)
    first.bring_people(people())
    first.close()
    before = resident(server)
    second = look("data", at=server)
    second.found("%")
    second.upload("large.csv", large)
    second.found("large.csv is read")
    grown = resident(server) - before
    assert grown > len(large)
    second.close()
    wait_until(lambda: resident(server) - before < LEFT * grown, "the memory of the large table")
