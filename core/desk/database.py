"""Where a ledger lives: three tables in SQLite or PostgreSQL, found, made and checked.

Entries are the truth; accounts hold the sum of their charges once more, with a CHECK by which the database itself
refuses to overspend. A transaction reads everything after it has taken the ledger's lock, so what it decides is still
true when it commits. SQLite: BEGIN IMMEDIATE, WAL, flushed at each commit. PostgreSQL: SELECT ... FOR UPDATE. Ledgers
of earlier editions have a fourth table, of questions, which is left as it is.

A file is looked at as bytes before SQLite may touch it, then read only, whole, before anything is written: a damaged or
foreign one is refused and not a byte of it changes. A new file is made beside its place and moved there complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

import core
from core.datasets.columns import quoted
from core.desk.books import FORMAT, Books, follow
from core.desk.record import Damaged, Entry, canonical, chained, now
from core.errors import FairLeakError, InputError
from core.files import why

BUSY_SECONDS = 60
_LOCK_OF_CREATION = 0x464C4B4C

tables = sa.MetaData()
_ledger = sa.Table(
    "fairleak_ledger",
    tables,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
_accounts = sa.Table(
    "fairleak_accounts",
    tables,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("budget", sa.BigInteger, nullable=False),
    sa.Column("spent", sa.BigInteger, nullable=False),
    sa.CheckConstraint("spent >= 0 AND spent <= budget", name="fairleak_never_overspent"),
)
_entries = sa.Table(
    "fairleak_entries",
    tables,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("account", sa.ForeignKey("fairleak_accounts.name")),
)

Step = Callable[[str], None]


def hash_of_key(key: str) -> str:
    """Return what the first entry says of the key, which is 64 hex digits."""
    return hashlib.sha256(key.encode()).hexdigest()


class Transaction:
    """One look at the ledger, or one change of it."""

    def __init__(self, connection: sa.Connection, on_step: Step) -> None:
        self._connection, self._on_step = connection, on_step

    def books(self) -> Books:
        """Return what the entries say, checked against the other tables; raise `Damaged` if they do not agree."""
        books = follow(self.entries())
        head = self._connection.execute(sa.select(_ledger.c.key, _ledger.c.number, _ledger.c.hash)).first()
        key, number, last = head or ("", 0, "")
        if hash_of_key(str(key)) != books.key_hash:
            raise Damaged("its key is not the one it was opened with")
        if (number, last) != (books.number, books.hash):
            raise Damaged(f"it ends with entry {books.number} and should end with entry {number}")
        kept = {name: (budget, spent) for name, budget, spent in self._connection.execute(sa.select(_accounts))}
        if kept != {name: (account.budget, account.spent) for name, account in books.accounts.items()}:
            raise Damaged("what its budgets say is not what its entries add up to")
        return books

    def key(self) -> bytes:
        """Return the key of the seals."""
        return bytes.fromhex(self._connection.execute(sa.select(_ledger.c.key)).scalar_one())

    def entries(self) -> list[Entry]:
        """Return all entries."""
        columns = (_entries.c.number, _entries.c.text, _entries.c.hash)
        return [Entry(*row) for row in self._connection.execute(sa.select(*columns).order_by(_entries.c.number))]

    def charge(self, name: str, budget: int, charged: int) -> None:
        """Charge a budget, which is opened if it is not there; the database refuses to overspend it."""
        where = _accounts.c.name == name
        change = sa.update(_accounts).where(where).values(spent=_accounts.c.spent + charged)
        if not self._connection.execute(change).rowcount:
            self._connection.execute(sa.insert(_accounts).values(name=name, budget=budget, spent=charged))
        self._on_step("charged")

    def append(self, books: Books, body: dict[str, Any]) -> None:
        """Write the next entry; `books` follow it, which checks its arithmetic once more."""
        text, before = canonical(body), books.number
        entry = Entry(before + 1, text, chained(books.hash, text))
        books.add(entry)
        values = {"number": entry.number, "hash": entry.hash, "text": text}
        self._connection.execute(sa.insert(_entries).values(**values, account=body.get("name")))
        self._on_step("entry written")
        head = sa.update(_ledger).where(_ledger.c.number == before).values(number=entry.number, hash=entry.hash)
        if self._connection.execute(head).rowcount != 1:
            raise Damaged("its last entry changed although it was locked")
        self._on_step("head moved")

    def open(self, key: str, body: dict[str, Any]) -> None:
        """Write the first entry, unless it is there."""
        if self._connection.execute(sa.select(_ledger.c.id)).first() is None:
            self._connection.execute(sa.insert(_ledger).values(id=1, key=key, number=0, hash=Books().hash))
            self.append(Books(), body)


class Store:
    """A database with a ledger in it, called `place` in sentences; `on_step` hears each step of a change as done."""

    def __init__(self, engine: sa.Engine, place: str, on_step: Step) -> None:
        self.engine, self.place, self._on_step = engine, place, on_step

    def check_books(self) -> None:
        """Refuse a ledger whose entries do not hold together."""
        with self.reading() as look:
            look.books()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Look at one moment of the ledger."""
        with self._sentences(), self.engine.connect() as connection:
            if self.engine.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield Transaction(connection, self._on_step)

    @contextlib.contextmanager
    def writing(self, *, create: bool = False) -> Iterator[Transaction]:
        """Change the ledger; what is done inside is committed whole at the end, or not at all.

        `create` makes the tables that are not there before, one process after the other.
        """
        with self._sentences(), self.engine.connect() as connection:
            connection = connection.execution_options(fairleak_begin="BEGIN IMMEDIATE")
            with connection.begin():
                server = self.engine.dialect.name == "postgresql"
                if server and create:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK_OF_CREATION)))
                elif server:
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'")
                    connection.execute(sa.select(_ledger.c.id).with_for_update())
                if create:
                    tables.create_all(connection)
                self._on_step("locked")
                yield Transaction(connection, self._on_step)
                self._on_step("committing")
        self._on_step("committed")

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn what a database says into one sentence."""
        try:
            yield
        except Damaged as error:
            raise InputError(f"The ledger {self.place} is damaged and was left as it is: {error}.") from None
        except sa.exc.DBAPIError as error:
            raise FairLeakError(f"The ledger {self.place} {_said(error)}.") from None


def disk_said(error: BaseException | None) -> str | None:
    """Return what a database's error says of its disk, and what to do; None if it is about something else."""
    name, state = getattr(error, "sqlite_errorname", ""), getattr(error, "sqlstate", "")
    if name == "SQLITE_FULL" or state == "53100":
        return "the disk is full; nothing was changed, make room and try again"
    if name.startswith("SQLITE_IOERR"):  # also where there is no room for SQLite's files beside the ledger
        return f"the disk is full or fails ({error}); make room and try again"
    return None


def _said(error: sa.exc.DBAPIError) -> str:
    if (disk := disk_said(error.orig)) is not None:
        return f"cannot be used: {disk}"
    told = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    told = re.sub(r"\[Errno -?\d+\] ", "", told)
    if "locked" in told or "lock timeout" in told:
        return f"was busy for {BUSY_SECONDS} seconds; ask again"
    if any(words in told for words in ("malformed", "not a database", "decode to UTF-8")):
        return f"is damaged and was left as it is: {told}"
    if "does not exist" in told or "no such table" in told:
        return f"is not there, or is not a ledger: {told}"
    return f"cannot be used: {told}"


_APPLICATION = 0x464C4B4C  # "FLKL", in the file's header by PRAGMA application_id
_MAGIC = b"SQLite format 3\0"


def open_store(place: str | Path, *, create: bool, on_step: Step) -> Store:
    """Return the store at a path or a PostgreSQL URL, checked whole; see `core.desk.open_ledger`."""
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
    with store.writing(create=True) as change:
        change.open(key, body)


# SQLite ---------------------------------------------------------------------------------------------------------------


def _file(path: Path, create: bool, on_step: Step) -> Store:
    if not path.exists():
        if not create:
            raise InputError(f"There is no ledger at {quoted(path, 200)}; registering a test set makes one.")
        _make(path, on_step)
    _check_header(path)
    mode = _careful_mode(path)
    _check_pages(path, mode)
    Store(_engine(path, mode), quoted(path, 200), on_step).check_books()
    return Store(_engine(path, "rw"), quoted(path, 200), on_step)


def _address(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


def _engine(path: Path, mode: str) -> sa.Engine:
    """Return an engine that opens a connection for each transaction, so that threads share nothing."""

    def connect() -> sqlite3.Connection:
        how: dict[str, Any] = {"isolation_level": None, "check_same_thread": False, "cached_statements": 0}
        made = sqlite3.connect(_address(path, mode), uri=True, timeout=BUSY_SECONDS, **how)
        made.execute("PRAGMA foreign_keys = ON")
        made.execute("PRAGMA synchronous = FULL")
        return made

    engine = sa.create_engine("sqlite+pysqlite://", creator=connect, poolclass=sa.pool.NullPool)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("fairleak_begin", "BEGIN"))

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
    """Refuse a file whose pages SQLite finds damaged; outside a transaction, which would leave files beside it."""
    try:
        with contextlib.closing(sqlite3.connect(_address(path, mode), uri=True, timeout=BUSY_SECONDS)) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        disk, found = disk_said(error), str(error)
        if disk or "locked" in found or "unable to open" in found:
            raise FairLeakError(f"The ledger {quoted(path, 200)} cannot be used: {disk or error}.") from None
    if found != "ok":
        told = found.strip().splitlines()[-1]
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
    with contextlib.closing(sqlite3.connect(half)) as connection:
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    fill(Store(_engine(half, "rw"), place, on_step))
    with contextlib.closing(sqlite3.connect(half)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # kept in the header: it holds for everybody from now on


# PostgreSQL -----------------------------------------------------------------------------------------------------------


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
    public = url.difference_update_query(["password", "passfile", "sslpassword"])
    store = Store(engine, quoted(public.render_as_string(hide_password=True), 200), on_step)
    if create:
        fill(store)
    store.check_books()
    return store
