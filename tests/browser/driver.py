"""Starting FairLeak's server and finding a browser: shared by the browser tests and the benchmark."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from tests.hermetic import ROOT
from tests.patience import wait_until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""Path of the browser, None where there is none."""


@contextmanager
def chromium(path=CHROMIUM):
    """Run the browser, or the program that starts it."""
    from playwright.sync_api import sync_playwright

    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    arguments += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_answer(process, address, log=lambda: ""):
    """Wait until a program that was started answers at an address; fails with its log where it ends before."""

    def answers():
        assert process.poll() is None, f"it did not start:\n{log()}"
        try:
            urllib.request.urlopen(address, timeout=10).close()
        except OSError:
            return False
        return True

    wait_until(answers, address, pause=lambda: time.sleep(0.1))


class Server:
    """A Streamlit server of its own, with empty folders for what it keeps; stopped by its own process.

    `environment` sets variables, or unsets those of None; `module` is Streamlit's command or one around it, `path` its
    place on the host, and `under` the beginning of a command that runs the rest.
    """

    def __init__(self, app=ROOT / "serve.py", environment=None, module="streamlit", path="", under=()):
        self.port = free_port()
        self.address = f"http://localhost:{self.port}/{path}".rstrip("/")
        self._folder = Path(tempfile.mkdtemp(prefix="fairleak-server-"))
        self.log = self._folder / "server.log"
        changed = {f"XDG_{name}_HOME": str(self._folder / name.lower()) for name in ("CACHE", "DATA", "STATE")}
        changed |= {"FAIRLEAK_PREPARE": "off"} | (environment or {})
        inherited = {k: v for k, v in os.environ.items() if k not in changed} | {"OMP_NUM_THREADS": "1"}
        self._environment = inherited | {k: v for k, v in changed.items() if v is not None}
        self._command = [*under, sys.executable, "-m", module, "run", str(app)]
        self._command += ["--server.port", str(self.port), "--server.headless", "true"]
        self._command += ["--browser.gatherUsageStats", "false", "--server.fileWatcherType", "none"]

    @property
    def pid(self):
        return self._process.pid

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, at):
        self.stop()

    def start(self):
        with self.log.open("wb") as sink:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, env=self._environment, stdout=sink, stderr=subprocess.STDOUT
            )
        wait_for_answer(self._process, f"{self.address}/_stcore/health", self.log.read_text)

    def stop(self):
        """Stop the server by its own process; a second time does nothing."""
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
