"""Folders of their own for all that tests start: home, caches, data, settings, temporary files; others are closed.

`enter` sets them in the environment, which every process that a test starts inherits, and closes those of whoever runs
the tests: an access from Python to one of them is refused, and fails the test (`tests.guard.sitecustomize`).
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.guard import sitecustomize as guard

ROOT = Path(__file__).resolve().parents[1]

GUARD = Path(guard.__file__).parent
"""The folder on PYTHONPATH by which Python guards every process."""

FOLDER = "FAIRLEAK_TESTS_FOLDER"
"""Variable with the folder of a test run, in which each of its workers has one."""

FOLDERS = {
    "HOME": "home",
    "USERPROFILE": "home",
    "XDG_CACHE_HOME": "cache",
    "LOCALAPPDATA": "cache",
    "XDG_DATA_HOME": "data",
    "APPDATA": "data",
    "XDG_CONFIG_HOME": "config",
    "XDG_STATE_HOME": "state",
    "XDG_RUNTIME_DIR": "runtime",
    "TMPDIR": "tmp",
    "TEMP": "tmp",
    "TMP": "tmp",
    "JOBLIB_TEMP_FOLDER": "tmp",
}
"""Variable -> its folder in a worker's."""

UNSET = (
    *("DASK_", "DBUS_SESSION_BUS_ADDRESS", "FAIRLEAK_HISTORY", "FAIRLEAK_LEDGER", "MPL", "NUMBA_CACHE_DIR"),
    *("PIP_CACHE_DIR", "PYTEST_DEBUG_TEMPROOT", "STREAMLIT_"),
)
"""Beginnings of variables that would lead elsewhere, or set what tests set themselves."""

WRITABLE = (".hypothesis", ".pytest_cache", ".venv")
"""Folders of the repository that a test run may write to."""


def user_folders():
    """Return the folders of whoever runs the tests: home, caches, data, settings, temporary files."""
    home = os.path.expanduser("~")
    hidden = {"CACHE": ".cache", "CONFIG": ".config", "DATA": ".local/share", "STATE": ".local/state"}
    folders = {os.environ.get(f"XDG_{name}_HOME") or f"{home}/{usual}" for name, usual in hidden.items()}
    folders |= {home, f"{home}/.streamlit", tempfile.gettempdir()}
    return {location for folder in folders for location in both(folder) if location != os.path.dirname(location)}


def both(folder):
    """Return a folder's path as it is written, and without links."""
    return os.path.abspath(folder), os.path.realpath(folder)


def enter():
    """Give this process and those it starts folders of their own; whether these are a new test run's."""
    begins = FOLDER not in os.environ
    if begins:
        os.environ[guard.CLOSED] = os.pathsep.join(sorted(user_folders()))
        os.environ[FOLDER] = os.path.realpath(tempfile.mkdtemp(prefix="fairleak-tests-"))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(GUARD), os.environ.get("PYTHONPATH"))))
        # What is registered first is called last: after all that puts its own temporary files away at the end.
        atexit.register(_remove, run_folder())
        for name in [name for name in os.environ if name.startswith(UNSET)]:
            del os.environ[name]
        os.environ["FAIRLEAK_PREPARE"] = "off"  # a server would compute beside its test; who tests that says so
    worker = run_folder() / os.environ.get("PYTEST_XDIST_WORKER", "main")
    for name, folder in FOLDERS.items():
        (worker / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[name] = str(worker / folder)
    tempfile.tempdir = None
    os.environ[guard.LOG] = str(worker / "refused.log")
    imported = {location for location in sys.path if location and os.path.isdir(location)}
    readable = {ROOT, sys.prefix, sys.base_prefix, *imported, os.environ.get("FAIRLEAK_DATA") or ROOT}
    os.environ[guard.READABLE] = os.pathsep.join(sorted({location for folder in readable for location in both(folder)}))
    opened = [run_folder(), *(ROOT / name for name in WRITABLE), Path("/dev"), Path("/proc")]
    if "--regen-all" in sys.argv:  # golden files are written anew
        opened.append(ROOT / "tests/golden/files")
    os.environ[guard.OPEN] = os.pathsep.join(map(str, opened))
    guard.install()
    return begins


def run_folder():
    """Return the folder of this test run."""
    return Path(os.environ[FOLDER])


def refused():
    """Return the accesses refused to this worker and what it started, and forget them."""
    log = Path(os.environ[guard.LOG])
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    log.unlink()
    return text


def keep():
    """Leave the folder of this test run to be looked at, and say where it is."""
    atexit.unregister(_remove)
    atexit.register(print, f"What the tests left behind is in {run_folder()}")


def _remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
