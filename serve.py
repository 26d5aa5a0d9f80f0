"""FairLeak's server: Streamlit with a door in front of every route. ``make run`` starts it; `app.py` is what it shows.

The door looks at the Host of every request, the websocket's included, and at the Origin of those that have one.
Otherwise a foreign page could make its own name point at this machine (DNS rebinding) and read the dashboard. Where
people sign in, it also asks for a role before a file goes in or out, and leads from sign-in to the page asked for.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from weakref import WeakKeyDictionary

import PIL.Image  # noqa: F401  (the page's icon is made with it: no visitor waits for that, nor for the studies)
import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import cli_util, config, runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server.server_util import get_display_address, get_url
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import (
    _get_signed_cookie_with_chunks,
    is_host_allowed,
)

import core.studies.registry  # noqa: F401
from core.auditing import subprocess_jobs
from pages.shell import signin
from pages.shell.preparation import preparation

FOREIGN = (
    "This server does not go by that name; its operator may add the name to server.allowedHosts."
)
CLOSED = re.compile(r"/_stcore/(metrics|agent)(/|$)")
"""Routes nobody needs: figures on everybody's sessions, and the door for programs."""

CONTENT_POLICY = "; ".join(
    (
        "default-src 'self'",
        # Streamlit's page holds scripts and styles of its own in line, and its charts compile theirs.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "media-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""What a page of this server may load, and from where: from this server alone; no other page may frame it."""

HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}
"""Headers of every answer."""

FILES = re.compile(r"/(media|_stcore/upload_file)/")
"""Where files go out and in, after the server's own path."""

NO_ROLE = "Sign in first; files are for people with a role on this server."

PAGE_COOKIE = "fairleak_page"
"""Cookie with the address that was asked for before sign-in, for the ten minutes that may take."""

ADDRESS = re.compile(r"/(?![/\\])[\w./-]*(\?[\w.~%&=+:,;@!*'()/-]*)?", re.ASCII)
"""What may stand in it: a path on this server, never another server's name."""

WORKING = (
    "pages._attriguard.attriguard_controls",
    "pages._membership.membership_analyses",
    "pages._report.report_audit",
    "pages.shell.study_jobs",
)
"""Modules of pages that define work which is done in processes of its own."""

DRAWING = (
    "pandas",
    "scipy.stats",
    "sklearn.ensemble",
    "core.report",
    "core.experiments.attacked_models",
)
"""Modules that pages import when they are opened, and that take seconds together."""

LOOK_EVERY = 15.0
"""Seconds between two looks for sessions whose time is up, and for people whose sign-in is."""

FIRST_PAGE = 2.0
"""Seconds in which a first visitor's page has the processor to itself: no work is prepared before, unless asked for."""


# Arrow's own pool keeps what a table took; the system's gives it back.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

# app.py says which pages there are: a first visitor is not shown those of the folder `pages` before.
PagesManager.uses_pages_directory = False


class Door:
    """ASGI middleware: 403 for a foreign Host or Origin, or a file without a role; 404 for a closed route."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer here, or let the request pass."""
        app = self.app
        if scope["type"] == "http":
            send = with_headers(send)
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            hosts = headers.getlist("host")
            names = [*hosts, *(origin.rpartition("://")[2] for origin in headers.getlist("origin"))]
            # To Streamlit an empty list means everybody; here it means nobody.
            listed = bool(config.get_option("server.allowedHosts"))
            if not (listed and len(hosts) == 1 and all(map(is_host_allowed, names))):
                app = PlainTextResponse(f"{FOREIGN}\n", 403)
            elif CLOSED.search(scope["path"]):
                app = PlainTextResponse("There is nothing here.\n", 404)
            elif scope["type"] == "http" and signin.is_on():
                path = scope["path"].removeprefix(base())
                if FILES.match(path) and signin.standing_of(claims(scope)).role is None:
                    app = PlainTextResponse(f"{NO_ROLE}\n", 403)
                elif path == "/auth/login":
                    send = noting_address(scope, send)
                elif path == "/oauth2callback":
                    send = redirected(scope, send)
        await app(scope, receive, send)


def with_headers(send: Send) -> Send:
    """Set `HEADERS` in an answer."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sending


def base() -> str:
    """Return the path under which this server is, "" for none."""
    path = (config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def claims(scope: Scope) -> Mapping[str, Any]:
    """Return what the provider said of the sender of a request; nothing if the cookie is not one of this server's."""
    cookie = _get_signed_cookie_with_chunks(Request(scope).cookies, USER_COOKIE_NAME)
    return json.loads(cookie) if cookie else {}


def noting_address(scope: Scope, send: Send) -> Send:
    """Keep the address of the page from which somebody goes to sign in, in a cookie of their browser."""
    headers = Headers(scope=scope)
    page = urlsplit(headers.get("referer", ""))
    address = f"{page.path}?{page.query}" if page.query else page.path
    if page.netloc != headers.get("host") or not ADDRESS.fullmatch(address):
        return send
    return with_cookie(send, quote(address, safe=""), 600)


def redirected(scope: Scope, send: Send) -> Send:
    """Lead from the provider's answer to that address, in place of the first page."""
    address = unquote(Request(scope).cookies.get(PAGE_COOKIE, ""))
    if not ADDRESS.fullmatch(address):
        return send
    return with_cookie(send, "", 0, address)


def with_cookie(send: Send, value: str, seconds: int, location: str = "") -> Send:
    """Set the cookie in an answer, and where it leads to."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            attributes = f"Path={base() or '/'}; Max-Age={seconds}; HttpOnly; SameSite=Lax"
            headers.append("set-cookie", f"{PAGE_COOKIE}={value}; {attributes}")
            if location and "location" in headers:
                headers["location"] = location
        await send(message)

    return sending


# Any browser may send these messages, signed in or not; the first drops what everybody has in memory.
AppSession._handle_clear_cache_request = lambda session: None  # type: ignore[method-assign, assignment]
AppSession._handle_git_information_request = lambda session: None  # type: ignore[method-assign, assignment]

_roles: WeakKeyDictionary[AppSession, signin.Role | None] = WeakKeyDictionary()
"""Session -> its role at the last look, which no message of its browser can change."""


def look_at_roles() -> None:
    """Draw the page again of those whose role has changed or ended since; what they had in memory is dropped.

    A session that has lost its connection is ended then: it would resume with what it had.
    """
    manager = runtime.get_instance()._session_mgr
    for info in [*manager.list_active_sessions(), *manager._session_storage.list()]:  # type: ignore[attr-defined]
        session = info.session
        state = session.session_state
        role = signin.standing_of(session._user_info).role
        begun = state[signin.ROLE] if signin.ROLE in state else role  # noqa: SIM401  (it has no get)
        before = _roles.get(session, begun)
        _roles[session] = role
        if before is role:
            continue
        session._fragment_storage.clear()
        session.clear_session_caches()
        if manager.is_active_session(session.id):
            session.request_rerun(session._client_state)
        else:
            manager.close_session(session.id)


async def end_sessions() -> None:
    """End sessions whose time is up: Streamlit by itself keeps them until another session loses its connection."""
    while True:
        await asyncio.sleep(LOOK_EVERY)
        look_at_roles()
        end_expired_sessions()


def end_expired_sessions() -> None:
    """End the sessions whose time is up, and let go of all they hold.

    A function of its own: the names of a coroutine that goes on would keep the last session, and its table.
    """
    waiting = runtime.get_instance()._session_mgr._session_storage._cache  # type: ignore[attr-defined]
    ended = [info.session for _, info in waiting.expire()]
    for session in ended:
        session.shutdown()
        # Streamlit may hold on to a session; these are where an uploaded file, its table and a page's names may be.
        session.session_state.clear()
        session.session_state._new_widget_state.widget_metadata.clear()
        session._fragment_storage.clear()
    if ended:
        import pyarrow

        gc.collect()  # pages and their functions refer to each other
        pyarrow.default_memory_pool().release_unused()  # malloc's too: both are one


async def prepare_work() -> None:
    """Import what pages need, here and in the process from which work is forked; prepare what the demo shows first."""
    await asyncio.sleep(FIRST_PAGE)
    await asyncio.to_thread(import_drawing)
    subprocess_jobs.warm_up(*WORKING)
    preparation.begin()


def import_drawing() -> None:
    """Import what the first visitor of a page would wait for."""
    for name in DRAWING:
        import_module(name)


@asynccontextmanager
async def serving(_: st.App) -> AsyncIterator[None]:
    """Open the browser as `streamlit run app.py` does, and end sessions for as long as the server runs."""
    if not config.get_option("server.headless"):
        name = (
            "browser.serverAddress"
            if config.is_manually_set("browser.serverAddress")
            else "server.address"
        )
        cli_util.open_browser(get_url(get_display_address(config.get_option(name) or "localhost")))
    tasks = [asyncio.create_task(prepare_work()), asyncio.create_task(end_sessions())]
    yield
    preparation.end()
    for task in tasks:
        task.cancel()


app = st.App(Path(__file__).with_name("app.py"), lifespan=serving, middleware=[Middleware(Door)])
