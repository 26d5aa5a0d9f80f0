"""The process that prepares the demo: it opens each page as a first visitor would and stores what the page computes.

It has a session of its own, which nobody else can reach, and writes results of no other one. It is given no table and
no folder of data, and ledger and history lie in a folder that is gone when it ends.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import NoReturn

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.auditing.subprocess_jobs import run_in_process
from core.base.errors import InputError
from core.store.prepared import ResultWriter, only_process
from pages.shell import background, cached, preparation, signin

_APP = Path(__file__).resolve().parents[2] / "app.py"

_PATIENCE = 3600.0
"""Seconds that one run of a page may take."""


def main() -> None:
    """Prepare all pages, and print the name of each when it is there; nothing where the folder cannot be used."""
    if hasattr(os, "nice"):
        os.nice(19)
    try:
        writer = ResultWriter(preparation.version_folder())
    except InputError:
        return
    with (
        only_process(writer.folder) as is_only,
        tempfile.TemporaryDirectory(prefix="fairleak-") as folder,
    ):
        if not is_only:  # another server's process prepares the same
            return
        threading.Thread(target=_end_with_server, args=(folder,), daemon=True).start()
        print(flush=True)
        prepare(writer, Path(folder))


def prepare(writer: ResultWriter, folder: Path) -> None:
    """Open each page until all that it wants is there; what it leaves beside its results lies in an empty `folder`."""
    _stay_away_from_user(folder)
    cached.open_results = lambda: writer
    background.run_in_subprocess = run_in_process  # this process is apart already
    app = AppTest.from_file(_APP, default_timeout=_PATIENCE)
    for page in preparation.PAGES:
        if not writer.has_page(page):
            app._page_hash = calc_hash(page)
            _settle(app)
            if app.exception:
                continue
            writer.finish(page)
        print(page, flush=True)


def _settle(app: AppTest) -> None:
    store = cached.store_of("demo")
    app.run()
    while jobs := store.busy_jobs():
        for job in jobs:
            job.wait()
        app.run()


def _end_with_server(folder: str) -> NoReturn:
    """End when the server does, however that ends: its end of the pipe is closed then."""
    sys.stdin.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _stay_away_from_user(folder: Path) -> None:
    """Let the pages see no data folder, ledger, history or sign-in."""
    os.environ.pop("FAIRLEAK_DATA", None)
    os.environ["FAIRLEAK_LEDGER"] = str(folder / "ledger.sqlite")
    os.environ["FAIRLEAK_HISTORY"] = str(folder / "history.sqlite")
    signin.is_on = lambda: False


if __name__ == "__main__":
    main()
