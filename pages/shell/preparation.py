"""Prepared results of the demo: where this state of the code has them, who makes them, and how far that is.

What the pages of the demo show first is the same for everybody and takes minutes. A server that does not find it in the
user's cache folder starts one process (`pages.shell.prepare`) that opens these pages by itself and stores their
results. It gives way to everything else on the machine and ends with the server. The server reads, and computes
what is not there yet when somebody asks for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.logger import get_logger

from core.base.serialize import fingerprint_of_code
from core.store.prepared import PreparedResults, default_folder, version_name

PREPARE = "FAIRLEAK_PREPARE"
"""Variable that is "off" where results are neither prepared nor read."""

PAGES = (
    "model",
    "correction",
    "people",
    "bias_queries",
    "membership",
    "model_card",
    "attriguard",
    "attribute",
    "measured_epsilon",
    "two_models",
    "choose",
    "report",
)
"""Pages that compute something, in the order in which they are prepared; last the one with FairLeak's self-test."""

_ROOT = Path(__file__).resolve().parents[2]

_LOOK_EVERY = 3.0
"""Seconds between two looks at how far it is."""

_log = get_logger("fairleak.jobs")


def is_on() -> bool:
    """Whether results are prepared, and read, on this server."""
    return os.environ.get(PREPARE, "") != "off"


@cache
def version_folder() -> Path:
    """Return the folder of the results of this state of the code."""
    return default_folder() / version_name(fingerprint_of_code(_ROOT / "pages"))


def open_results() -> PreparedResults | None:
    """Return the prepared results, for reading; None where they are switched off."""
    if is_on():
        return PreparedResults(version_folder())
    return None


class Preparation:
    """The process that prepares the pages, followed by a thread."""

    def __init__(self) -> None:
        self.finished_pages: set[str] = set()
        self.busy = False
        self._process: subprocess.Popen[str] | None = None

    def begin(self) -> None:
        """Prepare what is missing, and return at once."""
        if is_on():
            threading.Thread(target=self._follow, daemon=True, name="fairleak-preparation").start()

    def end(self) -> None:
        """End the process: it hears that its input is closed."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _follow(self) -> None:
        results = PreparedResults(version_folder())
        self.finished_pages = {page for page in PAGES if results.has_page(page)}
        if len(self.finished_pages) == len(PAGES):
            return
        command = [sys.executable, "-m", "pages.shell.prepare"]
        group = 0 if os.name == "posix" else None
        with subprocess.Popen(
            command,
            cwd=_ROOT,
            env=_environment(),
            stdin=subprocess.PIPE,  # it ends when this is closed
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            process_group=group,
        ) as process:
            self._process = process
            assert process.stdout is not None
            for line in process.stdout:
                page = line.strip()
                self.busy = True
                if page in PAGES:
                    self.finished_pages.add(page)
            self.busy = False
        _log.info("prepared pages of the demo: %d of %d", len(self.finished_pages), len(PAGES))


def _environment() -> dict[str, str]:
    """Return the environment of the process: linear algebra on one thread, as in every process that computes."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads}


preparation = Preparation()
"""That of this server."""


def show_progress() -> None:
    """Say in the sidebar how many pages are prepared, while some are not."""
    if preparation.busy:
        with st.sidebar:
            st.fragment(_progress, run_every=_LOOK_EVERY)()


def _progress() -> None:
    if not preparation.busy:
        st.rerun()
    done = len(preparation.finished_pages)
    st.caption(f"Preparing the demo: {done} of {len(PAGES)} pages. Each page can be used already.")
