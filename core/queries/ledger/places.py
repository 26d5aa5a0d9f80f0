"""Finding, making and checking the database a ledger lives in.

A file is looked at as bytes before SQLite may touch it, then read only, whole, before anything is written: a damaged or
foreign one is refused and not a byte of it changes. A new file is made beside its place and moved there complete.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

import core
from core.datasets.columns import quoted
from core.errors import FairLeakError, InputError
from core.files import why
from core.queries.ledger.accounts import FORMAT
from core.queries.ledger.chain import now
from core.queries.ledger.planning import unpacked
from core.queries.ledger.store import BUSY_SECONDS, Step, Store, disk_said, hash_of_key

_APPLICATION = 0x464C4B4C  # "FLKL", in the file's header by PRAGMA application_id
_MAGIC = b"SQLite format 3\0"


def open_store(place: str | Path, *, create: bool, on_step: Step) -> Store:
    """Return the store at a path or a PostgreSQL URL, checked whole; see `core.queries.ledger.open_ledger`."""
    told = str(place)
    if "://" in told:
        return _server(told, create, on_step)
    try:
        return _file(Path(place), create, on_step)
    except FairLeakError:
        raise
    except (OSError, ValueError) as error:  # too long, a zero byte, a home that is not known
        why = getattr(error, "strerror", None) or "it is no path this machine can use"
        raise InputError(f"The ledger {quoted(told, 200)} cannot be opened: {why}.") from None


def fill(store: Store) -> None:
    """Make the tables and the first entry."""
    key = secrets.token_hex(32)
    body = {"kind": "opened", "format": FORMAT, "time": now(), "key": hash_of_key(key), "fairleak": core.__version__}
    with store.making_tables() as change:
        change.open(key, body)


def _check(store: Store) -> None:
    with store.reading() as look:
        books = look.books()
        wanted = {one.question for account in books.accounts.values() for one in account.released if one.question}
        for digest, content in look.questions(wanted).items():
            unpacked(digest, content)


# SQLite ---------------------------------------------------------------------------------------------------------------


def _file(path: Path, create: bool, on_step: Step) -> Store:
    if not path.exists():
        if not create:
            raise InputError(f"There is no ledger at {quoted(path, 200)}; registering a test set makes one.")
        _make(path, on_step)
    _check_header(path)
    mode = _careful_mode(path)
    _check_pages(path, mode)
    reading = Store(_engine(path, mode), quoted(path, 200), on_step=lambda step: None)
    try:
        _check(reading)
    finally:
        reading.engine.dispose()
    return Store(_engine(path, "rw"), quoted(path, 200), on_step)


def _engine(path: Path, mode: str) -> sa.Engine:
    """Return an engine that opens a connection for each transaction, so that threads share nothing."""
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        made = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=0
        )
        made.execute("PRAGMA foreign_keys = ON")
        made.execute("PRAGMA synchronous = FULL")
        return made

    engine = sa.create_engine("sqlite+pysqlite://", creator=connect, poolclass=sa.pool.NullPool)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("fairleak_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _check_header(path: Path) -> None:
    """Refuse what is not a ledger by the bytes of its header, before SQLite may touch it."""
    try:
        if not path.is_file():
            raise InputError(f"A ledger must be a file or a PostgreSQL URL, got {quoted(path, 200)}.")
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise InputError(f"The ledger {quoted(path, 200)} cannot be read: {error.strerror or error}.") from None
    if header[:16] != _MAGIC or int.from_bytes(header[68:72], "big") != _APPLICATION:
        raise InputError(f"The file {quoted(path, 200)} is not a FairLeak ledger and was left as it is.")
    version = int.from_bytes(header[60:64], "big")
    if version != FORMAT:
        raise InputError(f"The ledger {quoted(path, 200)} has format {version}, this version knows format {FORMAT}.")


def _careful_mode(path: Path) -> str:
    """Return the mode in which looking at a file changes nothing.

    A log or journal beside it would be worked into the file by a connection that may write. Where there is none, such a
    connection has nothing to write and takes the files away that SQLite puts there while it reads.
    """
    beside = (Path(f"{path}{ending}") for ending in ("-wal", "-journal"))
    return "ro" if any(one.exists() for one in beside) else "rw"


def _check_pages(path: Path, mode: str) -> None:
    """Refuse a file whose pages SQLite finds damaged."""
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode={mode}", uri=True, timeout=BUSY_SECONDS)
        try:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        disk = disk_said(error)
        if disk or "locked" in str(error) or "unable to open" in str(error):
            raise FairLeakError(f"The ledger {quoted(path, 200)} cannot be used: {disk or error}.") from None
        found = (str(error),)
    if found != ("ok",):
        told = str(found[0] if found else "").strip().splitlines()[-1]
        raise InputError(f"The ledger {quoted(path, 200)} is damaged and was left as it is: {told}.")


def _make(path: Path, on_step: Step) -> None:
    """Make an empty ledger; if somebody else makes it at the same time, theirs stays."""
    home = Path(core.__file__).resolve().parents[1]
    if Path(os.path.realpath(path)).is_relative_to(home):
        raise InputError(f"A ledger must not lie in FairLeak's own folder, got {quoted(path, 200)}.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        half = Path(name)
        try:
            _fill_file(half, quoted(path, 200), on_step)
            os.link(half, path)  # unlike a rename it never replaces a file
        except FileExistsError:
            pass
        finally:
            for ending in ("", "-wal", "-shm", "-journal"):
                Path(f"{half}{ending}").unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        told = disk_said(error) or (why(error) if isinstance(error, OSError) else error)
        raise InputError(f"The ledger {quoted(path, 200)} cannot be made there: {told}.") from None


def _fill_file(half: Path, place: str, on_step: Step) -> None:
    with sqlite3.connect(half) as connection:
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.close()
    engine = _engine(half, "rw")
    fill(Store(engine, place, on_step))
    engine.dispose()
    connection = sqlite3.connect(half)
    connection.execute("PRAGMA journal_mode = WAL")  # written into the header, so it holds for everybody from now on
    connection.close()


# PostgreSQL -----------------------------------------------------------------------------------------------------------


def _public(url: sa.URL) -> str:
    """Return a URL without any password, wherever in it that stands."""
    return url.difference_update_query(["password", "passfile", "sslpassword"]).render_as_string(hide_password=True)


def _server(address: str, create: bool, on_step: Step) -> Store:
    try:
        url = sa.make_url(address)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("A ledger's URL must look like postgresql://user@host/database.") from None
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise InputError(f"A ledger must be a file or a PostgreSQL URL, got a URL of {quoted(url.drivername)}.")
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise FairLeakError(
            "A ledger in PostgreSQL needs psycopg; install what requirements-postgresql.txt lists."
        ) from None
    url = url.set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args={"connect_timeout": 10})
    store = Store(engine, quoted(_public(url), 200), on_step)
    if create:
        fill(store)
    _check(store)
    return store
