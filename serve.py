"""FairLeak's server: Streamlit with a door in front of every route. ``make run`` starts it; `app.py` is what it shows.

The door looks at the Host of every request, the websocket's included, and at the Origin of those that have one.
Otherwise a foreign page could make its own name point at this machine (DNS rebinding) and read the dashboard.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import PIL.Image  # noqa: F401  (the page's icon is made with it: no visitor waits for that, nor for the studies)
import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import cli_util, config, runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server.server_util import get_display_address, get_url
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

import core.studies  # noqa: F401

FOREIGN = "This server does not go by that name; its operator may add the name to server.allowedHosts."
CLOSED = re.compile(r"/_stcore/(metrics|agent)(/|$)")
"""Routes nobody needs: figures on everybody's sessions, and the door for programs."""

LOOK_EVERY = 15.0
"""Seconds between two looks for sessions whose time is up."""


# Arrow's own pool keeps what a table took; the system's gives it back.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

# app.py says which pages there are: a first visitor is not shown those of the folder `pages` before.
PagesManager.uses_pages_directory = False


class Door:
    """ASGI middleware: 403 for a foreign Host or Origin, 404 for a closed route."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer here, or let the request pass."""
        app = self.app
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
        await app(scope, receive, send)


async def end_sessions() -> None:
    """End sessions whose time is up: Streamlit by itself keeps them until another session loses its connection."""
    waiting = runtime.get_instance()._session_mgr._session_storage._cache  # type: ignore[attr-defined]
    while True:
        await asyncio.sleep(LOOK_EVERY)
        ended = waiting.expire()
        for _, info in ended:
            info.session.shutdown()
            # Streamlit holds on to its last session; these two are where an uploaded file and its table may be.
            info.session.session_state.clear()
            info.session._fragment_storage.clear()
        if ended:
            import pyarrow

            pyarrow.default_memory_pool().release_unused()  # malloc's too: both are one


@asynccontextmanager
async def serving(_: st.App) -> AsyncIterator[None]:
    """Open the browser as `streamlit run app.py` does, and end sessions for as long as the server runs."""
    if not config.get_option("server.headless"):
        name = "browser.serverAddress" if config.is_manually_set("browser.serverAddress") else "server.address"
        cli_util.open_browser(get_url(get_display_address(config.get_option(name) or "localhost")))
    ending = asyncio.create_task(end_sessions())
    yield
    ending.cancel()


app = st.App(Path(__file__).with_name("app.py"), lifespan=serving, middleware=[Middleware(Door)])
