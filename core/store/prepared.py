"""Results of the built-in demo, stored in the user's cache folder from one start of the dashboard to the next.

Each result is one file, named by its key and written whole: into a file of another name, flushed, then renamed. Its
first line holds a checksum of the rest. A page is listed in a file of its own once all its results are there. Results
of another state of the code, of other libraries or another kind of machine lie in other subfolders and are not read.

Nothing in the folder is trusted further than it must be. Only a folder and files that belong to the user, and that
nobody else can write to, are read; `core.base.object_files` builds objects of them without running code; whatever is
absent, damaged or not the user's is computed again. The folder can be deleted at any time.

Results of an upload cannot come here: `PreparedResults`, which the server has, reads alone. `ResultWriter` is used by a
process that opens the demo's pages by itself, serves nobody and is given nothing (`pages.shell.prepare`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..base.errors import FORMAT, InputError
from ..base.files import MEGABYTE, write_file
from ..base.object_files import UnstorableError, pack, unpack
from ..base.serialize import RecordError, fingerprint
from ..datasets.catalog import default_cache_folder
from ..datasets.dataset import AuditDataset, Table

_MOST = 64 * MEGABYTE
"""Bytes of the largest result that is stored or read."""

_STALE = 3600.0
"""Seconds after which a half-written file is nobody's any more."""

_FORGOTTEN = 30 * 24 * 3600.0
"""Seconds after which results of another version are deleted."""

_NAME = re.compile(r"[a-z0-9-]{1,100}")

Datasets = Iterable[AuditDataset]


def default_folder() -> Path:
    """Return the folder of all prepared results, of whatever version."""
    return default_cache_folder().parent / "prepared"


def version_name(code: str) -> str:
    """Return the subfolder of this state of the code, given the fingerprint of the code outside this package."""
    from ..auditing.result import kind_of_machine
    from ..experiments.engine import environment_name

    return f"{environment_name()}-{fingerprint(code, kind_of_machine())[:8]}"


class PreparedResults:
    """Results by key in a folder, for reading.

    Parameters
    ----------
    folder : Path
        The subfolder of this version; it need not be there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ignored: set[str] = set()
        self._memos: dict[str, set[str]] = {}

    def load(self, key: str, datasets: Datasets = ()) -> Any | None:
        """Return a result, or None if it is not there whole.

        `datasets` are those at hand: a result about one of them holds this very object, whose memo is filled with what
        was stored of it.
        """
        by_fingerprint = {dataset.fingerprint: dataset for dataset in datasets}
        result = self._value(key, by_fingerprint.get)
        if result is not None:
            for dataset in by_fingerprint.values():
                self._fill(dataset)
        return result

    def has_page(self, page: str) -> bool:
        """Whether all results of a page are there, undamaged."""
        checksums = self._value(_list_name(page), None)
        if not isinstance(checksums, dict):
            return False
        return all(self._checksum(name) == checksum for name, checksum in checksums.items())

    def _fill(self, dataset: AuditDataset) -> None:
        """Let a dataset have what was stored of its memo, and has not been read yet."""
        read_before = self._memos.setdefault(dataset.fingerprint, set())
        cached = dataset.cached_results()
        for path in self.folder.glob(f"{_memo_prefix(dataset)}*"):
            if path.name in read_before:
                continue
            read_before.add(path.name)
            entry = self._value(path.name, None)
            if isinstance(entry, tuple) and len(entry) == 2 and entry[0] not in cached:
                dataset.keep({entry[0]: entry[1]})

    def _value(self, name: str, shared: Callable[[str], Any] | None) -> Any | None:
        if name in self._ignored:
            return None
        try:
            return unpack(self._body(name), shared)
        except FileNotFoundError:
            return None
        except (OSError, RecordError):
            self._ignored.add(name)  # it is not looked at again
            return None

    def _checksum(self, name: str) -> str | None:
        try:
            return _checksum_of(self._body(name))
        except (OSError, RecordError):
            return None

    def _body(self, name: str) -> bytes:
        """Return what follows the first line of a file, checked.

        Raises OSError if it cannot be read or is not the user's alone, RecordError if it is damaged.
        """
        if not _NAME.fullmatch(name):
            raise RecordError("it has no name of a result")
        header, _, body = _content_of(self.folder / name).partition(b"\n")
        try:
            fields = json.loads(header)
        except ValueError as error:
            raise RecordError("it has no header") from error
        if fields != _header_of(name, body):
            raise RecordError("it is damaged")
        return body


class ResultWriter(PreparedResults):
    """The same folder for writing too, as long as a process prepares the demo's pages.

    Raises `InputError` if the folder cannot be written to, or is not the user's alone.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._used: dict[str, str] = {}
        self._results: dict[str, tuple[Any, tuple[AuditDataset, ...]]] = {}
        self._make_folder()
        self._sweep_up()

    def load(self, key: str, datasets: Datasets = ()) -> Any | None:
        """Return a result as `PreparedResults.load` does, and count it among those of the page."""
        result = super().load(key, datasets)
        if result is not None:
            self._note(key)
            self._results[key] = result, tuple(datasets)
        return result

    def save(self, key: str, value: Any, datasets: Datasets = ()) -> None:
        """Store a result and what the datasets' memos hold; what cannot be written is left out.

        Raises `InputError` if the disk does not take it.
        """
        if isinstance(value, (bool, Table, AuditDataset)):  # made again at once
            return
        shared = {id(dataset): dataset.fingerprint for dataset in datasets}
        for dataset in datasets:
            for memo_key, entry in dataset.cached_results().items():
                name = f"{_memo_prefix(dataset)}{fingerprint(repr(memo_key))[:32]}"
                if name not in self._used:
                    self._write(name, (memo_key, entry), {})
        self._results[key] = value, tuple(datasets)
        self._write(key, value, shared)

    def finish(self, page: str) -> None:
        """List a page: all its results are there, with what drawing it has added to their memos.

        The next page's list begins with the memos of the datasets, which it may need too.
        """
        for key, (value, datasets) in list(self._results.items()):
            self.save(key, value, datasets)
        self._results.clear()
        self._write(_list_name(page), dict(self._used), {})
        self._used = {
            name: checksum for name, checksum in self._used.items() if name.startswith(_MEMO)
        }

    def _note(self, name: str) -> None:
        checksum = self._checksum(name)
        if checksum is not None:
            self._used[name] = checksum

    def _write(self, name: str, value: Any, shared: Mapping[int, str]) -> None:
        try:
            body = pack(value, shared)
        except (UnstorableError, RecursionError):
            return
        if len(body) > _MOST or self._used.get(name) == _checksum_of(body):
            return
        self._make_folder()  # it may have been deleted meanwhile
        content = json.dumps(_header_of(name, body)).encode() + b"\n" + body
        write_file(self.folder / name, content, what="A prepared result", mode=0o600)
        self._ignored.discard(name)
        self._used[name] = _checksum_of(body)

    def _make_folder(self) -> None:
        try:
            self.folder.parent.parent.mkdir(parents=True, exist_ok=True)
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=0o700, exist_ok=True)
                _check_private(os.lstat(folder))
        except OSError as error:
            raise InputError(
                f"The folder of prepared results must be the user's alone, got {error}."
            ) from None

    def _sweep_up(self) -> None:
        """Delete half-written files that nobody writes any more, and what other versions left long ago."""
        now = time.time()
        with contextlib.suppress(OSError):
            for half in self.folder.glob("*.part"):
                if now - half.lstat().st_mtime > _STALE:
                    half.unlink()
            for folder in self.folder.parent.glob("fairleak-*"):
                if folder != self.folder and now - folder.lstat().st_mtime > _FORGOTTEN:
                    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def only_process(folder: Path) -> Iterator[bool]:
    """Hold the folder's lock; False where another process has it, or the system has no such locks."""
    try:
        import fcntl

        handle = os.open(
            folder / ".lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600
        )
    except (ImportError, OSError):
        yield False
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(handle)


_MEMO = "memo-"


def _memo_prefix(dataset: AuditDataset) -> str:
    return f"{_MEMO}{dataset.fingerprint[:32]}-"


def _list_name(page: str) -> str:
    return f"page-{page.replace('_', '-')}"


def _checksum_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _header_of(name: str, body: bytes) -> dict[str, Any]:
    return {"format": FORMAT, "name": name, "sha256": _checksum_of(body)}


def _content_of(path: Path) -> bytes:
    """Return the content of a file; OSError unless file and folders are the user's, and writable for nobody else."""
    flags = (
        os.O_RDONLY
        | getattr(os, "O_BINARY", 0)
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
    )
    handle = os.open(path, flags)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST + MEGABYTE:
            raise OSError(errno.EINVAL, "it is no file of a result")
        for checked in (status, os.lstat(path.parent), os.lstat(path.parent.parent)):
            _check_private(checked)
        return file.read()


def _check_private(status: os.stat_result) -> None:
    """Raise OSError where something belongs to another user, others may write to it, or it is a link."""
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.EPERM, "it is a link")
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        raise OSError(errno.EPERM, "it belongs to others, or they may write to it")
