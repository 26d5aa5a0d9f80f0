"""How datasets are fetched: with a bounded wait, without noise, and with one clear sentence when it fails.

fairlearn and folktables fetch without a time limit, print, and warn about each retry. `fetch` runs them in a thread
it stops waiting for, keeps them quiet, and turns whatever goes wrong into a `DataUnavailableError`.
"""

from __future__ import annotations

import io
import random
import shutil
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from gzip import BadGzipFile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError

from core.errors import DataUnavailableError

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds to wait for a download unless its caller says otherwise."""

_ONE_AT_A_TIME = threading.Lock()  # what a library prints is caught for the whole process


class _PatienceError(Exception):
    """The download took longer than its caller waits."""


def fetch(
    get: Callable[[Path], T], *, title: str, files: str, keep_in: Path | None, folder: str, patience: float = PATIENCE
) -> T:
    """Run a download and return what it returns.

    Parameters
    ----------
    get : callable
        Takes the folder to keep the download in, and returns the data.
    title, files : str
        What the dataset is called, and which local files could stand in, for the message.
    keep_in : Path or None
        The cache folder; a temporary one is used when None.
    folder : str
        Name of this download's own folder in the cache; removed when the download fails.
    patience : float, default=300
        Seconds after which waiting stops.

    Raises
    ------
    DataUnavailableError
        If anything goes wrong.
    """
    place: Any = nullcontext(keep_in) if keep_in else TemporaryDirectory(ignore_cleanup_errors=True)
    with place as cache:
        home = Path(cache) / folder
        try:
            home.mkdir(parents=True, exist_ok=True)
            with _quietly():
                return _within(patience, lambda: get(home))
        except Exception as error:
            shutil.rmtree(home, ignore_errors=True)
            reason = _in_plain_words(error, patience)
            if isinstance(error, HTTPError):
                error.close()
    raise DataUnavailableError(
        f"{title} could not be downloaded: {reason}. Use the built-in demo, upload a table of your own, or name a "
        f"folder that holds {files} in the environment variable FAIRLEAK_DATA."
    )


def read_local(read: Callable[[], T], *, title: str, files: str, fetched: bool = True) -> T:
    """Return what `read` makes of local files.

    Parameters
    ----------
    read : callable
        Returns the data, or raises whatever it likes.
    title, files : str
        What the dataset is called, and the files it is read from, for the message.
    fetched : bool, default=True
        Whether the dataset can be downloaded instead, for the message.

    Raises
    ------
    DataUnavailableError
        If the files cannot be read or are not what their names say.
    """
    try:
        with _quietly():
            return read()
    except Exception:
        reason = f"{title} could not be read: {files} in the given folder is damaged or not in its original form."
    if not fetched:
        raise DataUnavailableError(f"{reason} Replace it, use the built-in demo, or upload a table of your own.")
    raise DataUnavailableError(
        f"{reason} Replace it, use the built-in demo, upload a table of your own, or unset the environment variable "
        "FAIRLEAK_DATA to download the dataset."
    )


def _within(seconds: float, work: Callable[[], T]) -> T:
    """Return the result of `work`, or stop waiting for it: a thread that hangs on a network cannot be ended."""
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="fairleak-download", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise _PatienceError
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def _quietly() -> Iterator[None]:
    """Catch what the libraries print and warn of, and give back the random state that folktables resets."""
    state = random.getstate()
    try:
        with _ONE_AT_A_TIME, warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            # Retries and remarks of OpenML: whether data came is what counts, and fetch tells that.
            warnings.filterwarnings("ignore", module=r"sklearn\.datasets\._openml")
            # Census columns of mixed type: none of them is used.
            warnings.filterwarnings("ignore", message=r"Columns .* have mixed types")
            yield
    finally:
        random.setstate(state)


def _in_plain_words(error: Exception, patience: float) -> str:
    if isinstance(error, HTTPError):
        return f"the server answered with error {error.code}"
    if isinstance(error, _PatienceError):
        return f"no complete answer came within {patience:g} seconds"
    if isinstance(error, TimeoutError):
        return "the server did not answer in time"
    if isinstance(error, (URLError, ConnectionError, ssl.SSLError)):
        return "the server could not be reached"
    if isinstance(error, OSError) and not isinstance(error, BadGzipFile):
        return "the cache folder could not be written"
    return "what arrived was incomplete or damaged"
