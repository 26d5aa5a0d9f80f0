"""Requests under foreign names and to closed routes: answered in one sentence, whatever the route and the spelling."""

import asyncio
import re
import socket
import sys
import tomllib
from unittest.mock import AsyncMock

import pytest
from streamlit import config

from tests.browser.driver import ROOT, Server
from tests.patience import PATIENT, finished

FOREIGN = (
    *("evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.1.evil.example"),
    *("127.0.0.2", "0.0.0.0", "2130706433", "[::]", "[::ffff:127.0.0.1]", "[::1"),
    *("localhost@evil.example", "evil.example@localhost", "localhost/evil.example"),
    *("localhost, evil.example", "localhost evil.example"),
    *("localhost:99999", "localhost:port", "l\u00f6calhost", "*", ""),
)
LOCAL_NAMES = ("localhost", "localhost:{port}", "LocalHost.:80", "127.0.0.1", "[::1]", "[::1]:8501")

PAGES = ("/", "/correction", "{asset}", "/favicon.png", "/nothing/here", "/media/0123456789abcdef.csv")
ROUTES = (
    *(("GET", target) for target in (*PAGES, "/component/any/index.html", "/auth/login")),
    *(("GET", f"/_stcore/{name}") for name in ("health", "host-config", "metrics", "agent/openapi.json", "stream")),
    *(("POST", f"/_stcore/agent/{name}") for name in ("interact", "mcp")),
    *((method, "/_stcore/upload_file/session/file") for method in ("PUT", "DELETE")),
    ("OPTIONS", "/_stcore/health"),
)

CLOSED = (
    *("/_stcore/metrics", "/_stcore/metrics?families=session_events", "/_stcore/%6Detrics", "/%5Fstcore/metrics"),
    *("/_stcore/agent", "/_stcore/agent/interact", "/_stcore/agent/mcp", "/_stcore/agent/openapi.json"),
)

HANDSHAKE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


@pytest.fixture(scope="module")
def server():
    with Server() as running:
        yield running
        log = running.log.read_text()
        assert "Traceback" not in log and "ERROR" not in log, log


def answer(server, method, target, *headers, version="1.1", upgrade=False):
    """Send a request as it stands; return status, head and body (none where a websocket opens)."""
    lines = [f"{method} {target} HTTP/{version}", *headers]
    request = "".join(f"{line}\r\n" for line in lines) + (HANDSHAKE if upgrade else "Connection: close\r\n") + "\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENT) as link:
        link.sendall(request.replace("{port}", str(server.port)).encode("latin-1"))
        received = b""
        while not received.startswith(b"HTTP/1.1 101") and (piece := link.recv(65536)):
            received += piece
    head, _, body = received.decode("utf-8", "replace").partition("\r\n\r\n")
    return int(head.split()[1]), head, body


def refused(answered):
    """Whether somebody was turned away in one sentence, that says nothing else."""
    status, head, body = answered
    plain = "text/plain" in head and body.count("\n") <= 1 and body.count(".") <= 2 and "evil" not in body
    return status == 403 and plain and ("server.allowedHosts" in body or not body)


def websocket(server, *headers):
    return answer(server, "GET", "/_stcore/stream", *headers, upgrade=True)[0]


@pytest.fixture(scope="module")
def asset(server):
    status, _, page = answer(server, "GET", "/", "Host: localhost")
    assert status == 200
    match = re.search(r'src="\.?(/static/[^"]+\.js)"', page)
    assert match is not None, page
    return match[1]


@pytest.mark.long
@pytest.mark.parametrize(("method", "target"), ROUTES)
def test_every_route_turns_foreign_names_away(server, asset, method, target):
    target = target.format(asset=asset)
    assert refused(answer(server, method, target, "Host: evil.example"))
    assert refused(answer(server, method, target, "Host: evil.example:{port}", "Origin: http://evil.example:{port}"))
    assert refused(answer(server, method, target, "Host: localhost:{port}", "Origin: http://evil.example:{port}"))
    response = answer(server, method, target, "Host: localhost:{port}")
    assert response[0] < 500 and not refused(response)


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_names_however_they_are_spelt(server, name):
    name = name.encode().decode("latin-1")
    for status in (
        answer(server, "GET", "/_stcore/health", f"Host: {name}")[0],
        websocket(server, f"Host: {name}"),
        websocket(server, f"Host: {name}", f"Origin: http://{name}"),
        websocket(server, "Host: localhost:{port}", f"Origin: http://{name}"),
    ):
        assert status in (400, 403)  # what is no HTTP at all does not even get to the door


@pytest.mark.parametrize("name", LOCAL_NAMES)
def test_its_own_names_with_any_port(server, name):
    assert answer(server, "GET", "/_stcore/health", f"Host: {name}")[::2] == (200, "ok")
    assert websocket(server, f"Host: {name}") == 101
    assert websocket(server, f"Host: {name}", f"Origin: http://{name}") == 101


@pytest.mark.parametrize("header", ["X-Forwarded-Host", "X-Host", "X-Original-Host", "X-Forwarded-Server"])
def test_only_the_host_itself_counts(server, header):
    assert refused(answer(server, "GET", "/", "Host: evil.example", f"{header}: localhost"))
    status, head, body = answer(server, "GET", "/", "Host: localhost", f"{header}: evil.example")
    assert status == 200 and "evil" not in head + body
    assert websocket(server, "Host: evil.example", f"{header}: localhost", "Forwarded: host=localhost") == 403


def test_no_host_several_whole_addresses_and_origins_that_are_none(server):
    assert answer(server, "GET", "/")[0] in (400, 403)
    assert refused(answer(server, "GET", "/", version="1.0"))
    for pair in (("localhost", "evil.example"), ("evil.example", "localhost"), ("localhost", "localhost")):
        assert answer(server, "GET", "/", *(f"Host: {name}" for name in pair))[0] in (400, 403)
        assert websocket(server, *(f"Host: {name}" for name in pair)) in (400, 403)
    targets = ("http://localhost/", "http://localhost:{port}/_stcore/health", "//localhost/", "http://evil.example/")
    for target in targets:
        assert refused(answer(server, "GET", target, "Host: evil.example"))
    assert answer(server, "CONNECT", "evil.example:80", "Host: localhost")[0] in (400, 404, 405)
    for origin in ("null", "", "file://", "http://[", "http://localhost/x", "http://localhost@evil.example", "evil"):
        assert websocket(server, "Host: localhost:{port}", f"Origin: {origin}") == 403
    assert websocket(server, "Host: localhost", "Origin: http://localhost", "Origin: http://evil.example") in (400, 403)


@pytest.mark.parametrize("target", CLOSED)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
def test_closed_routes(server, method, target):
    status, head, body = answer(server, method, target, "Host: localhost")
    assert (status, body) == (404, "" if method == "HEAD" else "There is nothing here.\n")
    assert "link:" not in head.lower()


@pytest.mark.parametrize("target", ["/", "{asset}", "/_stcore/health", "/_stcore/metrics", "/nothing/here"])
@pytest.mark.parametrize("host", ["localhost", "evil.example"])
def test_no_other_page_may_frame_an_answer_or_guess_what_it_is(server, asset, target, host):
    head = answer(server, "GET", target.format(asset=asset), f"Host: {host}")[1].lower()
    assert "x-frame-options: deny" in head
    assert "x-content-type-options: nosniff" in head
    assert "frame-ancestors 'none'" in head
    assert head.count("content-security-policy:") == 1


def test_the_script_without_fairleaks_server_guards_its_websocket():
    with Server(ROOT / "app.py") as script:
        assert websocket(script, "Host: evil.example", "Origin: http://evil.example") in (400, 403)
        assert websocket(script, "Host: evil.example") == 403
        assert websocket(script, "Host: localhost:{port}", "Origin: http://localhost:{port}") == 101
        assert answer(script, "POST", "/_stcore/agent/interact", "Host: localhost")[0] != 200


def let_in(name):
    """Return whether the door lets a request under this name pass."""
    from serve import Door

    behind = AsyncMock()
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", name.encode())]}
    asyncio.run(Door(behind)(scope, None, AsyncMock()))
    return behind.await_count == 1


def test_names_that_the_owner_adds():
    before = config.get_option("server.allowedHosts")
    config.set_option("server.allowedHosts", ["audit.example", "*.office.example"])
    try:
        assert let_in("audit.example") and let_in("audit.example:8501") and let_in("one.office.example")
        assert not let_in("localhost") and not let_in("office.example") and not let_in("evil.example")
    finally:
        config.set_option("server.allowedHosts", before)


def test_settings_of_the_server():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["server"]
    assert settings["address"] == "localhost"
    assert settings["allowedHosts"] == ["localhost", "127.0.0.1", "::1"]
    assert settings["enableAgentApi"] is False
    assert settings["disconnectedSessionTTL"] == 600
    assert not {"enableCORS", "enableXsrfProtection", "corsAllowedOrigins", "enableStaticServing"} & set(settings)


ENDED = '''
import asyncio
import weakref
import serve
from streamlit import config, runtime

config.set_option("server.disconnectedSessionTTL", 1)
config.set_option("server.headless", True)
serve.LOOK_EVERY = 0.05

class Held:
    """What a session holds of an upload."""

async def main():
    async def call(scope, *messages):
        inbox, outbox = asyncio.Queue(), asyncio.Queue()
        for message in messages:
            inbox.put_nowait({"type": message, "code": 1001})
        return asyncio.create_task(serve.app(scope, inbox.get, outbox.put)), outbox

    life, told = await call({"type": "lifespan"}, "lifespan.startup")
    assert (await told.get())["type"] == "lifespan.startup.complete"
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [(b"host", b"localhost")], "query_string": b""}
    visit, told = await call(scope, "websocket.connect", "websocket.disconnect")
    await visit
    storage = runtime.get_instance()._session_mgr._session_storage
    (kept,) = storage.list()
    session, held = kept.session, Held()
    session.session_state["file"] = held
    session._fragment_storage.register("fragment", lambda held=held: None)
    held = weakref.ref(held)
    print(session._state.name, held() is not None)
    while held() is not None:
        await asyncio.sleep(0.01)
    print(session._state.name)

asyncio.run(main())
'''


@pytest.mark.long
def test_a_closed_session_is_forgotten_without_anybody_elses_doing():
    done = finished([sys.executable, "-c", ENDED], cwd=ROOT)
    assert done.stdout.split() == ["APP_NOT_RUNNING", "True", "SHUTDOWN_REQUESTED"], done.stderr
