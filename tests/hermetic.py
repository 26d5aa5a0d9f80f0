"""Folders of their own for all that tests start: home, caches, data, settings, temporary files.

`enter` sets them in the environment, which every process that a test starts inherits.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

FOLDER = "FAIRLEAK_TESTS_FOLDER"
"""Variable with the folder of a test run, in which each of its workers has one."""

FOLDERS = {
    "home": ("HOME", "USERPROFILE"),
    "cache": ("XDG_CACHE_HOME", "LOCALAPPDATA"),
    "data": ("XDG_DATA_HOME", "APPDATA"),
    "config": ("XDG_CONFIG_HOME",),
    "state": ("XDG_STATE_HOME",),
    "runtime": ("XDG_RUNTIME_DIR",),
    "tmp": ("TMPDIR", "TEMP", "TMP", "JOBLIB_TEMP_FOLDER"),
}
"""A worker's folder -> the variables that name it."""

UNSET = (
    *("DASK_", "DBUS_SESSION_BUS_ADDRESS", "FAIRLEAK_HISTORY", "FAIRLEAK_LEDGER", "MPL", "NUMBA_CACHE_DIR"),
    *("PIP_CACHE_DIR", "PYTEST_DEBUG_TEMPROOT", "STREAMLIT_"),
)
"""Beginnings of variables that would lead elsewhere, or set what tests set themselves."""


def enter():
    """Give this process and those it starts folders of their own; whether these are a new test run's."""
    begins = FOLDER not in os.environ
    if begins:
        os.environ[FOLDER] = os.path.realpath(tempfile.mkdtemp(prefix="fairleak-tests-"))
        # What is registered first is called last: after all that puts its own temporary files away at the end.
        atexit.register(_remove, run_folder())
        for name in [name for name in os.environ if name.startswith(UNSET)]:
            del os.environ[name]
        os.environ["FAIRLEAK_PREPARE"] = "off"  # a server would compute beside its test; who tests that says so
    worker = run_folder() / os.environ.get("PYTEST_XDIST_WORKER", "main")
    for folder, names in FOLDERS.items():
        (worker / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ.update(dict.fromkeys(names, str(worker / folder)))
    tempfile.tempdir = None
    return begins


def run_folder():
    return Path(os.environ[FOLDER])


def keep():
    """Leave the folder of this test run to be looked at, and say where it is."""
    atexit.unregister(_remove)
    atexit.register(print, f"What the tests left behind is in {run_folder()}")


def _remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
