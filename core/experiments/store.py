"""Where finished points are kept, so that an experiment ended at any moment goes on where it was.

On disk they are the rows of one SQLite file, which several processes may use at once. Each point is a transaction of
its own. Its rollback journal is flushed and so is the folder (`PRAGMA synchronous = EXTRA`): neither a kill nor a power
cut loses a point that was saved. There is no write-ahead log, whose shared memory a network folder lacks. Each look at
the file has a connection of its own, so that threads share nothing.

A row has a checksum; one that does not fit is ignored with a note, and its point measured again. Rows of other versions
of FairLeak or of its libraries are never read: a note counts them, and they are deleted `EXPIRY_DAYS` days after they
were saved, so that a file holds what this version measured and a month of others. Points of a user's own table belong
into a `MemoryStore`; `core.experiments.engine.measured_points` refuses to write them to disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator, MutableMapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from .. import __version__
from ..base.errors import FORMAT, InputError, check_format
from ..base.files import check_writable, disk_message, why
from ..base.fingerprint import code_fingerprint, fingerprint
from ..base.serialize import RecordError, Result, dumps, loads
from ..datasets.catalog import default_cache_folder
from ..datasets.columns import quoted
from ..datasets.dataset import AuditDataset

_DECISIVE = ("numpy", "scipy", "scikit-learn", "fairlearn")


@cache
def environment() -> tuple[str, ...]:
    """Return the versions of FairLeak and of the libraries that decide the numbers, and a digest of FairLeak's code.

    Any line of core changes the digest: results of another state of the code are not reused.
    """
    return (
        f"fairleak {__version__} {code_fingerprint()[:12]}",
        *(f"{name} {version(name)}" for name in _DECISIVE),
    )


def environment_name() -> str:
    """Return the environment as the name of a folder: FairLeak's version and eight digits for the libraries'."""
    return f"fairleak-{__version__}-{fingerprint(list(environment()))[:8]}"


def point_key(config: Any, dataset: AuditDataset, kind: type[Result], *more: Any) -> str:
    """Return the fingerprint (64 hex digits) of a point: kind, data, settings, versions.

    `more` is what else decides it.
    """
    return fingerprint(kind.__name__, dataset.fingerprint, config, list(environment()), *more)


P = TypeVar("P", bound=Result)

EXPIRY_DAYS = 30
"""Days after which a point of another version is deleted."""

BUSY_SECONDS = 60
"""How long a file that another process writes to is waited for."""

_APPLICATION = 0x464C7870  # "FLxp", in the file's header by PRAGMA application_id
_TABLE = """
CREATE TABLE IF NOT EXISTS points (
    key TEXT PRIMARY KEY, environment TEXT, saved REAL, checksum BLOB, body BLOB
)
"""


class MemoryStore:
    """Points in a mapping of the caller's, or in one of its own.

    As of every store: whether points leave this process's memory (`on_disk`), and a sentence for all it ignored.
    """

    on_disk = False

    def __init__(self, points: MutableMapping[str, Any] | None = None) -> None:
        self.points: MutableMapping[str, Any] = {} if points is None else points
        self.notes: list[str] = []

    def load(self, key: str, kind: type[P]) -> P | None:
        """Return the point of this kind filed under a key, or None."""
        point: P | None = self.points.get(key)
        return point

    def save(self, key: str, point: Result) -> None:
        """File a point."""
        self.points[key] = point


class FileStore:
    """Points in a SQLite file.

    The file is made if it is not there. Raises `InputError` if it cannot be written to, is damaged, or is something
    else; so do `load` and `save`.
    """

    on_disk = True

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.notes: list[str] = []
        _make_file(self.path)
        with self._connection() as connection:
            if connection.execute("SELECT name FROM sqlite_master").fetchone() is None:
                _make_table(connection)  # also in a file whose maker was killed
            self._check_kind(connection)
            _check_pages(connection)
            self._clear(connection)

    def load(self, key: str, kind: type[P]) -> P | None:
        """Return the point filed under a key, or None; a damaged row counts as none and is noted."""
        with self._connection() as connection:
            query = "SELECT CAST(checksum AS BLOB), CAST(body AS BLOB) FROM points WHERE key = ?"
            row = connection.execute(query, (key,)).fetchone()
        if row is None:
            return None
        checksum, body = row
        try:
            if body is None or checksum != _checksum(key, body):
                raise RecordError("it is damaged")
            return loads(body.decode(), kind)
        except ValueError as error:  # RecordError, JSON and UTF-8 errors are ValueErrors
            reason = str(error).rstrip(".")
            self.notes.append(f"The record {key[:12]} is ignored and measured again: {reason}.")
            return None

    def save(self, key: str, point: Result) -> None:
        """File a point; when this returns, neither a kill of the process nor of the machine loses it."""
        body = dumps(point).encode()
        row = (key, environment_name(), time.time(), _checksum(key, body), body)
        with self._connection() as connection:
            connection.execute("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?)", row)

    def __len__(self) -> int:
        """Return the number of points of this version."""
        with self._connection() as connection:
            query = "SELECT COUNT(*) FROM points WHERE environment = ?"
            return int(connection.execute(query, (environment_name(),)).fetchone()[0])

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        """Refuse a database of something else, or of another format, before anything is written to it."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise InputError(f"The store {quoted(self.path, 200)} {_NO_STORE}.")
        check_format(version, thing=f"The store {quoted(self.path, 200)}")

    def _clear(self, connection: sqlite3.Connection) -> None:
        """Delete old points of other versions, and note how many others there are."""
        foreign = "FROM points WHERE environment != ?"
        oldest = time.time() - 86_400 * EXPIRY_DAYS
        if connection.execute(
            f"SELECT 1 {foreign} AND saved < ? LIMIT 1", (environment_name(), oldest)
        ).fetchone():
            connection.execute(f"DELETE {foreign} AND saved < ?", (environment_name(), oldest))
        (count,) = connection.execute(
            f"SELECT COUNT(*) {foreign}", (environment_name(),)
        ).fetchone()
        if count:
            deleted = f"each is deleted {EXPIRY_DAYS} days after it was saved"
            self.notes.append(f"Records of other versions are ignored: {count:,}; {deleted}.")

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file, and turn what SQLite says into one sentence."""
        address = f"file:{quote(os.fsencode(self.path.absolute()))}?mode=rw"
        try:
            with contextlib.closing(
                sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            ) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                yield connection
        except sqlite3.Error as error:
            raise InputError(f"The store {quoted(self.path, 200)} {_reason(error)}.") from None


PointStore = MemoryStore | FileStore
"""What an experiment asks for points, and gives them to."""


def default_store() -> Path:
    """Return where a user's points lie unless they say otherwise: in their cache folder."""
    return default_cache_folder().parent / "experiments.sqlite"


def _make_file(path: Path) -> None:
    """Make an empty file that its user alone may read, unless there is one."""
    with contextlib.suppress(OSError, ValueError):  # what follows says why
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
    check_writable(path, what="The store")
    try:
        os.close(os.open(os.path.realpath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise InputError(f"The store {quoted(path, 200)} cannot be made: {why(error)}.") from None


def _make_table(connection: sqlite3.Connection) -> None:
    """Make an empty database a store; another process may do the same."""
    connection.execute("PRAGMA auto_vacuum = FULL")  # what is deleted is given back to the disk
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute(_TABLE)
    connection.execute("COMMIT")


def _check_pages(connection: sqlite3.Connection) -> None:
    """Refuse a file whose pages SQLite finds damaged, before hours of work rather than after."""
    message = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    if message != "ok":
        raise sqlite3.DatabaseError(f"malformed: {message.splitlines()[-1]}")


def _checksum(key: str, body: bytes) -> bytes:
    """Return what is stored beside a body, of which it also says where it belongs."""
    return hashlib.sha256(key.encode() + body).digest()


_NO_STORE = "is no store of experiments and was left as it is"


def _reason(error: sqlite3.Error) -> str:
    """Return why SQLite cannot use a file, and what to do, as a clause."""
    name = getattr(error, "sqlite_errorname", "")
    message = str(error)
    if (disk := disk_message(error)) is not None:
        return f"cannot be used: {disk}"
    if name.startswith("SQLITE_BUSY"):
        return f"was busy for {BUSY_SECONDS} seconds; start again"
    if name == "SQLITE_NOTADB":
        return _NO_STORE
    if "malformed" in message:
        return f"is damaged and was left as it is ({message}); delete it or name another one"
    return f"cannot be used: {message}"
