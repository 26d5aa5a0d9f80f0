"""Where a chain of entries lives: tables in SQLite or PostgreSQL, found, made and checked.

The desk's ledger and the history of audits are such chains, each with tables of its own besides (`Transaction`). One
reads everything after it has taken the chain's lock, so what it decides is still true when it commits.
SQLite: BEGIN IMMEDIATE, WAL, flushed at each commit. PostgreSQL: SELECT ... FOR UPDATE. Each transaction has a
connection of its own, so that threads and processes share nothing.

A file is looked at as bytes before SQLite may touch it, then read only, whole, before anything is written: a damaged or
foreign one is refused and not a byte of it changes. A new file is made beside its place and moved there complete.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar
from urllib.parse import quote

import sqlalchemy as sa

from .. import __version__
from ..base.errors import FORMAT, FairLeakError, FormatError, InputError, check_format
from ..base.files import disk_message, why
from ..datasets.columns import quoted
from .chain import FIRST, Damaged, Link, Record, linked, now

BUSY_SECONDS = 60


def head_table(name: str, tables: sa.MetaData, *columns: sa.Column[Any]) -> sa.Table:
    """Return the table of a chain's end, one row, with further columns."""
    return sa.Table(
        name,
        tables,
        sa.Column(
            "id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False
        ),
        *columns,
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )


def links_table(name: str, tables: sa.MetaData, *columns: sa.Column[Any]) -> sa.Table:
    """Return the table of a chain's entries, with further columns."""
    return sa.Table(
        name,
        tables,
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("text", sa.Text, nullable=False),
        *columns,
    )


R = TypeVar("R", bound=Record)


class Transaction(Generic[R]):
    """One look at a chain, or one change of it; a subclass says what its kind of database is called and made of."""

    noun: ClassVar[str]
    made_by: ClassVar[str]
    """What makes one, as in "registering a test set makes one"."""
    application: ClassVar[int]
    """In a file's header by PRAGMA application_id."""
    tables: ClassVar[sa.MetaData]
    head: ClassVar[sa.Table]
    links: ClassVar[sa.Table]
    """The tables of the chain's end and of its entries."""
    says: type[R]
    """What follows the entries."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection

    def entries(self) -> list[Link]:
        """Return all entries."""
        columns = (self.links.c.number, self.links.c.text, self.links.c.hash)
        return [
            Link(*row)
            for row in self.connection.execute(sa.select(*columns).order_by(self.links.c.number))
        ]

    def record(self) -> R:
        """Return what the entries say; raise `Damaged` if they do not hold together or end elsewhere than the head."""
        record = self.says.of(self.entries())
        end = self._end()
        if end != (record.number, record.hash):
            last = end[0] if end else 0
            raise Damaged(f"it ends with entry {record.number} and should end with entry {last}")
        return record

    def _end(self) -> tuple[int, str] | None:
        """Return the number and hash of the last entry as the head has them; None before the first."""
        row = self.connection.execute(sa.select(self.head.c.number, self.head.c.hash)).first()
        if row is None:
            return None
        return (row[0], row[1])

    def add(self, record: R, body: dict[str, Any]) -> None:
        """Write the next entry; the `record` follows it, which checks it once more."""
        number = record.number
        link = linked(record.number + 1, record.hash, body)
        record.add(link)
        values = {"number": link.number, "hash": link.hash, "text": link.text}
        self.connection.execute(sa.insert(self.links).values(**values, **self.beside(body)))
        head = (
            sa.update(self.head)
            .where(self.head.c.number == number)
            .values(number=link.number, hash=link.hash)
        )
        if self.connection.execute(head).rowcount != 1:
            raise Damaged("its last entry changed although it was locked")

    def begin(self) -> None:
        """Write the head and the first entry, unless they are there."""
        if self._end() is None:
            columns, body = self.opening()
            self.connection.execute(
                sa.insert(self.head).values(id=1, number=0, hash=FIRST, **columns)
            )
            opened = {"kind": "opened", "format": FORMAT, "time": now(), "fairleak": __version__}
            self.add(self.says(), opened | body)

    def beside(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the further columns of an entry."""
        return {}

    def opening(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the further columns of the head, and what the first entry says besides."""
        return {}, {}


T = TypeVar("T", bound=Transaction[Any])


class Store(Generic[T]):
    """A database with a chain in it, called `label` in sentences."""

    def __init__(self, kind: type[T], engine: sa.Engine, label: str) -> None:
        self.kind = kind
        self.engine = engine
        self.location = label

    def fill(self) -> None:
        """Make the tables and the first entry."""
        with self.write_transaction(create=True) as change:
            change.begin()

    def check(self) -> None:
        """Refuse a chain whose entries do not hold together."""
        with self.read_transaction() as look:
            look.record()

    @contextlib.contextmanager
    def read_transaction(self) -> Iterator[T]:
        """Look at one moment of the chain."""
        with self._sentences(), self.engine.connect() as connection:
            if self.engine.dialect.name == "postgresql":
                connection = connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield self.kind(connection)

    @contextlib.contextmanager
    def write_transaction(self, *, create: bool = False) -> Iterator[T]:
        """Change the chain; what is done inside is committed whole at the end, or not at all.

        `create` makes the tables that are not there before, one process after the other.
        """
        with self._sentences(), self.engine.connect() as connection:
            connection = connection.execution_options(fairleak_begin="BEGIN IMMEDIATE")
            with connection.begin():
                server = self.engine.dialect.name == "postgresql"
                if server and create:
                    connection.execute(
                        sa.select(sa.func.pg_advisory_xact_lock(self.kind.application))
                    )
                elif server:
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'")
                    connection.execute(sa.select(self.kind.head.c.id).with_for_update())
                if create:
                    self.kind.tables.create_all(connection)
                yield self.kind(connection)

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn what a database says into one sentence."""
        try:
            yield
        except FormatError as error:
            raise FormatError(f"The {self.kind.noun} {self.location}", error.version) from None
        except Damaged as error:
            raise InputError(
                f"The {self.kind.noun} {self.location} is damaged and was left as it is: {error}."
            ) from None
        except sa.exc.DBAPIError as error:
            raise FairLeakError(
                f"The {self.kind.noun} {self.location} {_error_text(error, self.kind.noun)}."
            ) from None


def _error_text(error: sa.exc.DBAPIError, noun: str) -> str:
    if (disk := disk_message(error.orig)) is not None:
        return f"cannot be used: {disk}"
    if str(error.orig).strip():
        message = str(error.orig).strip().splitlines()[0]
    else:
        message = type(error.orig).__name__
    message = re.sub(r"\[Errno -?\d+\] ", "", message)
    if "locked" in message or "lock timeout" in message:
        return f"was busy for {BUSY_SECONDS} seconds; ask again"
    if any(phrase in message for phrase in ("malformed", "not a database", "decode to UTF-8")):
        return f"is damaged and was left as it is: {message}"
    if "does not exist" in message or "no such table" in message:
        return f"is not there, or is not a {noun}: {message}"
    return f"cannot be used: {message}"


_MAGIC = b"SQLite format 3\0"


def open_store(kind: type[T], location: str | Path, *, create: bool) -> Store[T]:
    """Return the store at a path or a PostgreSQL URL, checked whole; see `core.desk.open_ledger`."""
    address = str(location)
    if "://" in address:
        return _server(kind, address, create)
    try:
        return _file(kind, Path(location), create)
    except FairLeakError:
        raise
    except (OSError, ValueError) as error:  # too long, a zero byte, a home that is not known
        why = getattr(error, "strerror", None) or "it is no path this machine can use"
        raise InputError(
            f"The {kind.noun} {quoted(address, 200)} cannot be opened: {why}."
        ) from None


# SQLite ---------------------------------------------------------------------------------------------------------------


def _file(kind: type[T], path: Path, create: bool) -> Store[T]:
    if not path.exists():
        if not create:
            raise InputError(f"There is no {kind.noun} at {quoted(path, 200)}; {kind.made_by}.")
        _make(kind, path)
    _check_header(kind, path)
    mode = _careful_mode(path)
    _check_pages(kind, path, mode)
    Store(kind, _engine(path, mode), quoted(path, 200)).check()
    return Store(kind, _engine(path, "rw"), quoted(path, 200))


def _address(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


def _engine(path: Path, mode: str) -> sa.Engine:
    """Return an engine that opens a connection for each transaction, so that threads share nothing."""

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            _address(path, mode),
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=0,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(
            "PRAGMA secure_delete = ON"
        )  # what is deleted is overwritten in the file
        return connection

    engine = sa.create_engine("sqlite+pysqlite://", creator=connect, poolclass=sa.pool.NullPool)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(
            connection.get_execution_options().get("fairleak_begin", "BEGIN")
        )

    return engine


def _check_header(kind: type[Transaction[Any]], path: Path) -> None:
    """Refuse what is not of this kind by the bytes of its header, before SQLite may touch it."""
    try:
        if not path.is_file():
            raise InputError(
                f"A {kind.noun} must be a file or a PostgreSQL URL, got {quoted(path, 200)}."
            )
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise InputError(
            f"The {kind.noun} {quoted(path, 200)} cannot be read: {error.strerror or error}."
        ) from None
    if header[:16] != _MAGIC or int.from_bytes(header[68:72], "big") != kind.application:
        raise InputError(
            f"The file {quoted(path, 200)} is not a FairLeak {kind.noun} and was left as it is."
        )
    check_format(int.from_bytes(header[60:64], "big"), thing=f"The {kind.noun} {quoted(path, 200)}")


def _careful_mode(path: Path) -> str:
    """Return the mode in which looking at a file changes nothing.

    A log or journal beside it would be worked into the file by a connection that may write. Where there is none, such a
    connection has nothing to write and takes the files away that SQLite puts there while it reads.
    """
    beside = (Path(f"{path}{ending}") for ending in ("-wal", "-journal"))
    if any(file.exists() for file in beside):
        return "ro"
    return "rw"


def _check_pages(kind: type[Transaction[Any]], path: Path, mode: str) -> None:
    """Refuse a file whose pages SQLite finds damaged; outside a transaction, which would leave files beside it."""
    try:
        with contextlib.closing(
            sqlite3.connect(_address(path, mode), uri=True, timeout=BUSY_SECONDS)
        ) as connection:
            message = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        disk = disk_message(error)
        message = str(error)
        if disk or "locked" in message or "unable to open" in message:
            raise FairLeakError(
                f"The {kind.noun} {quoted(path, 200)} cannot be used: {disk or error}."
            ) from None
    if message != "ok":
        detail = message.strip().splitlines()[-1]
        raise InputError(
            f"The {kind.noun} {quoted(path, 200)} is damaged and was left as it is: {detail}."
        )


def _make(kind: type[Transaction[Any]], path: Path) -> None:
    """Make an empty one; if somebody else makes it at the same time, theirs stays."""
    home = Path(__file__).resolve().parents[2]
    if Path(os.path.realpath(path)).is_relative_to(home):
        raise InputError(
            f"A {kind.noun} must not lie in FairLeak's own folder, got {quoted(path, 200)}."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        half = Path(name)
        try:
            _fill_file(kind, half, quoted(path, 200))
            os.link(half, path)  # unlike a rename it never replaces a file
        except FileExistsError:
            pass
        finally:
            for ending in ("", "-wal", "-shm", "-journal"):
                Path(f"{half}{ending}").unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, OSError):
            reason = disk_message(error) or why(error)
        else:
            reason = disk_message(error) or str(error)
        raise InputError(
            f"The {kind.noun} {quoted(path, 200)} cannot be made there: {reason}."
        ) from None


def _fill_file(kind: type[Transaction[Any]], half: Path, label: str) -> None:
    with contextlib.closing(sqlite3.connect(half)) as connection:
        connection.execute(f"PRAGMA application_id = {kind.application}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    Store(kind, _engine(half, "rw"), label).fill()
    with contextlib.closing(sqlite3.connect(half)) as connection:
        connection.execute(
            "PRAGMA journal_mode = WAL"
        )  # kept in the header: it holds for everybody from now on


# PostgreSQL -----------------------------------------------------------------------------------------------------------


def _server(kind: type[T], address: str, create: bool) -> Store[T]:
    try:
        url = sa.make_url(address)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(
            f"A {kind.noun}'s URL must look like postgresql://user@host/database."
        ) from None
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise InputError(
            f"A {kind.noun} must be a file or a PostgreSQL URL, got a URL of {quoted(url.drivername)}."
        )
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise FairLeakError(
            f"A {kind.noun} in PostgreSQL needs psycopg; install what requirements-postgresql.txt lists."
        ) from None
    url = url.set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args={"connect_timeout": 10})
    public = url.difference_update_query(["password", "passfile", "sslpassword"])
    store = Store(kind, engine, quoted(public.render_as_string(hide_password=True), 200))
    if create:
        store.fill()
    store.check()
    return store
