"""The engine of experiments: stored points first, the rest measured here, in processes, on a cluster.

Same configurations, data and versions give the same points to the bit wherever they are measured; only the order in
which they come differs. They are measured in an order of which every stretch is like the whole (`interleaved`), so that
the time left can be judged by those that are done.

Workers. A worker computes in one thread, gives way to what a person waits for, leaves Ctrl-C to the process that
started it, and ends with that process, however that ended. In-process work goes through the same record, so that a
point is the same wherever it was measured.

A Dask cluster. Dask is an optional extra (requirements-dask.txt). Its workers must hold FairLeak and its libraries in
the versions of the machine that asks. The data are sent to every worker once; an uploaded table is not sent anywhere.

`TimeLeft` is how long the rest of some steps will take, judged by those that were measured.

Where finished points are kept, so that an experiment ended at any moment goes on where it was.

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
import pickle
import signal
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, MutableMapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from .. import __version__
from ..base.errors import FORMAT, FairLeakError, InputError, ReportProgress, check_format
from ..base.files import check_writable, disk_message, why
from ..base.serialize import RecordError, Result, code_fingerprint, dumps, fingerprint, loads
from ..datasets.catalog import default_cache_folder
from ..datasets.columns import quoted
from ..datasets.dataset import AuditDataset

Measure = Callable[[Any, AuditDataset], Result]
Jobs = Sequence[tuple[int, Any]]
Measured = tuple[int, str]
"""Position of the configuration, and the point's record."""

_NICE = 10  # how far the worker processes give way
_GLANCE = 0.25  # seconds between two looks at the parent


class _Process:
    """What a worker process knows of itself from job to job: its last dataset, whose memo it keeps, and its bytes."""

    settled = False
    last: tuple[bytes, AuditDataset] | None = None


_process = _Process()


def measure_in_process(
    index: int, config: Any, dataset: AuditDataset, measure: Measure, parent: int
) -> Measured:
    """Measure in a worker process started by the process `parent`."""
    _settle(parent)
    if not dataset.uploaded:
        dataset = _same(dataset)
    return index, dumps(measure(config, dataset))


def measure_on_cluster(
    index: int, config: Any, dataset: AuditDataset, measure: Measure, versions: tuple[str, ...]
) -> Measured:
    """Measure on a cluster's worker, provided it has these versions.

    Raises `InputError` if its versions are others: its numbers might differ.
    """
    if environment() != versions:
        different = ", ".join(sorted(set(environment()) - set(versions)))
        raise InputError(
            f"Dask workers must have the versions of this machine ({', '.join(versions)}), one has {different}."
        )
    _one_thread()
    return index, dumps(measure(config, dataset))


def _one_thread() -> Any:
    """Hold numpy and OpenMP to one thread from now on, or within a with statement."""
    import sklearn.ensemble  # noqa: F401 - what is not loaded yet cannot be held
    import threadpoolctl

    return threadpoolctl.threadpool_limits(limits=1)


def _same(dataset: AuditDataset) -> AuditDataset:
    """Return the last job's dataset if this one is the same to the bit."""
    written = pickle.dumps(dataset)
    if _process.last is None or _process.last[0] != written:
        _process.last = written, dataset
    return _process.last[1]


def _settle(parent: int) -> None:
    if _process.settled:
        return
    _process.settled = True
    threading.Thread(target=_end_with, args=(parent,), daemon=True, name="fairleak-watch").start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice") and os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))
    _one_thread()


def _end_with(parent: int) -> None:
    """End this process once its parent has ended; an orphan is given to another parent (not on Windows)."""
    while os.getppid() == parent:
        time.sleep(_GLANCE)
    os._exit(1)


_PATIENCE = 10  # seconds to wait for the scheduler, and for a first worker
_RETRIES = 3  # of a configuration whose worker was lost


def measured_on_cluster(
    scheduler: str, jobs: Jobs, dataset: AuditDataset, measure: Measure
) -> Iterator[Measured]:
    """Yield the records of the configurations as the cluster finishes them.

    Raises `InputError` if Dask is not installed, nothing answers at the address, or no worker is there, and
    `FairLeakError` if a worker fails.
    """
    client = _connected(scheduler)
    futures: list[Any] = []
    try:
        from distributed import as_completed

        people = client.scatter(dataset, broadcast=True, hash=False)
        futures = [
            client.submit(
                measure_on_cluster,
                index,
                config,
                people,
                measure,
                environment(),
                pure=False,
                retries=_RETRIES,
            )
            for index, config in jobs
        ]
        for future in as_completed(futures, loop=client.loop):
            try:
                measured: Measured = future.result()
            except FairLeakError:
                raise
            except Exception as error:
                message = " ".join(str(error).split())[:200]
                raise FairLeakError(
                    f"A Dask worker could not measure a configuration: {type(error).__name__}: {message}"
                ) from error
            yield measured
    finally:
        client.cancel(futures)
        client.close()


def _connected(scheduler: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "An experiment on a cluster needs Dask, which is not installed here: pip install -r requirements-dask.txt."
        ) from None
    try:
        client = Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, AssertionError) as error:
        # AssertionError: on a machine that is too busy Dask's event loop does not start within its 10 s.
        raise InputError(
            f"The scheduler must be the address of a running Dask scheduler such as tcp://127.0.0.1:8786, "
            f"nothing answers at {scheduler!r}."
        ) from error
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        client.close()
        raise InputError(
            f"The Dask scheduler at {scheduler} must have at least one worker, it has none."
        ) from None
    return client


C = TypeVar("C")
P = TypeVar("P", bound=Result)


def measured_points(
    configs: Sequence[C],
    dataset: AuditDataset,
    *,
    n_jobs: int = 1,
    scheduler: str | None = None,
    store: PointStore | None = None,
    report: ReportProgress | None = None,
    measure: Callable[[C, AuditDataset], P],
    parts: tuple[Any, ...] = (),
    result: type[P],
) -> Generator[P, None, None]:
    """Yield the point of each configuration as soon as it is there, in any order, stored ones first.

    Closing the generator, or an exception, stops the workers; what was yielded is stored. Raises `InputError` if an
    argument breaks its rule, a configuration cannot be measured on these data, or the cluster does not answer, and
    `FairLeakError` if a worker is lost or a point cannot be stored.

    Parameters
    ----------
    configs : sequence of AuditConfig, or of plans of audits
        All on the same dataset; one that occurs twice is measured once.
    dataset : AuditDataset
        Sent to worker processes through pipes: joblib's memory mapping, which would put it on disk, is off.
    n_jobs : int
        Worker processes on this machine, at least 1; 1 works in this process.
    scheduler : str, optional
        Address of a Dask scheduler, such as "tcp://127.0.0.1:8786"; its workers measure instead.
    store : PointStore, optional
        Asked before a configuration is measured, and given every point before it is yielded.
    report : callable, optional
        Called with (points done, points in all), at first with the stored ones counted; may raise
        `core.base.errors.Cancelled` to stop.
    measure : callable
        Takes a configuration and the dataset and returns its point.
    parts : tuple
        What else decides a point: its stored one is another where they differ.
    result : type
        What `measure` returns: a frozen dataclass that `core.base.serialize` can write and read.
    """
    _check(dataset, n_jobs, scheduler, store)
    unique_configs = list(dict.fromkeys(configs))
    stored: dict[C, P] = {}
    if store is not None:
        stored = stored_points(unique_configs, dataset, store, parts=parts, result=result)
    done = len(stored)
    left = interleaved(
        [(i, config) for i, config in enumerate(unique_configs) if config not in stored]
    )
    if report is not None:
        report(done, len(unique_configs))
    yield from stored.values()
    with closing(_measured(left, dataset, n_jobs, scheduler, measure)) as measured:
        for index, record in measured:
            point = loads(record, result)
            if store is not None:
                store.save(point_key(unique_configs[index], dataset, result, *parts), point)
            done += 1
            if report is not None:
                report(done, len(unique_configs))
            yield point


def stored_points(
    configs: Sequence[C],
    dataset: AuditDataset,
    store: PointStore,
    *,
    parts: tuple[Any, ...] = (),
    result: type[P],
) -> dict[C, P]:
    """Return configuration -> its point, of those that a store holds; arguments as of `measured_points`."""
    points = {
        config: store.load(point_key(config, dataset, result, *parts), result) for config in configs
    }
    return {config: point for config, point in points.items() if point is not None}


_GOLDEN = (5**0.5 - 1) / 2
"""Its multiples modulo 1 are spread evenly, however many there are."""


def interleaved(jobs: Jobs) -> list[tuple[int, Any]]:
    """Return jobs in an order of which every stretch has its share of each method, and of what is varied besides.

    A grid has cheap methods before expensive ones, or strict tolerances before lax ones. Jobs that ask the same model
    stay together, for a dataset keeps its last model.
    """
    methods: dict[str, dict[Any, list[tuple[int, Any]]]] = {}
    for index, config in jobs:
        model = _model_of(config)
        methods.setdefault(getattr(model, "method", ""), {}).setdefault(model, []).append(
            (index, config)
        )
    placed: list[tuple[float, list[tuple[int, Any]]]] = []
    for models in methods.values():
        blocks = list(models.values())
        order = sorted(range(len(blocks)), key=lambda k: k * _GOLDEN % 1)
        placed += [((rank + 0.5) / len(blocks), blocks[k]) for rank, k in enumerate(order)]
    placed.sort(key=lambda block: block[0])
    return [job for _, block in placed for job in block]


def _model_of(config: Any) -> Any:
    """Return the model that a configuration asks for: itself, or that of its plan, which the plans of a tuple share."""
    plan = config[0] if isinstance(config, tuple) else config
    return getattr(plan, "config", plan)


def _check(
    dataset: AuditDataset, n_jobs: int, scheduler: str | None, store: PointStore | None
) -> None:
    if n_jobs < 1:
        raise InputError(f"n_jobs must be a whole number of at least 1, got {n_jobs!r}.")
    if dataset.uploaded and scheduler is not None:
        raise InputError(
            f"An uploaded table must stay on this machine, got the scheduler {scheduler!r}."
        )
    if dataset.uploaded and store is not None and store.on_disk:
        raise InputError(
            "What follows from an uploaded table must stay in memory, got a store on disk."
        )


def _measured(
    jobs: Jobs, dataset: AuditDataset, n_jobs: int, scheduler: str | None, measure: Measure
) -> Generator[Measured, None, None]:
    if not jobs:
        return
    if scheduler is not None:
        yield from measured_on_cluster(scheduler, jobs, dataset, measure)
    elif n_jobs == 1:
        for index, config in jobs:
            with _one_thread():
                record = dumps(measure(config, dataset))
            yield index, record
    else:
        yield from _in_processes(jobs, dataset, n_jobs, measure)


def _in_processes(
    jobs: Jobs, dataset: AuditDataset, n_jobs: int, measure: Measure
) -> Iterator[Measured]:
    import joblib
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    work = joblib.delayed(measure_in_process)
    # Its folder for memory mapping stays empty; it would lie in /dev/shm.
    backend_options = {"temp_folder": tempfile.gettempdir()}
    with (
        joblib.parallel_config("loky", inner_max_num_threads=1, **backend_options),
        _workers_born_deaf(),
    ):
        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator_unordered", max_nbytes=None, batch_size=1
        )
        results = parallel(
            work(index, config, dataset, measure, os.getpid()) for index, config in jobs
        )
    try:
        for measured in results:  # noqa: UP028 - "yield from" would close the results before the filter below is set
            yield measured
    except TerminatedWorkerError as error:
        raise FairLeakError(
            "A worker process was killed, most likely for want of memory; use fewer."
        ) from error
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message=".*cancelled. You could benefit"
            )  # cancelling is meant
            results.close()


@contextmanager
def _workers_born_deaf() -> Iterator[None]:
    """Let processes started meanwhile ignore Ctrl-C, which a terminal sends to them too; they inherit that."""
    if threading.current_thread() is not threading.main_thread():  # only there can it be set
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_STARTING = 2
"""Steps in which workers may still have been starting."""

_ENOUGH = 12
"""Steps from which on those are set aside."""


class TimeLeft:
    """The pace of steps that began when this was made, and cost the same on average wherever one looks."""

    def __init__(self) -> None:
        self.steps = 0
        self._ends = [(time.monotonic(), 0)]

    def add(self, steps: int = 1) -> None:
        """Note that so many steps have just ended."""
        self.steps += steps
        self._ends.append((time.monotonic(), self.steps))

    def seconds(self, steps: int) -> float | None:
        """Return the seconds that so many more steps will take; None while nothing tells, or it takes longer."""
        begun, before = self._ends[_STARTING] if len(self._ends) > _ENOUGH else self._ends[0]
        ended, after = self._ends[-1]
        if after == before:
            return None
        left = (ended - begun) / (after - before) * steps - (time.monotonic() - ended)
        if left > 0:
            return left
        return None


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
