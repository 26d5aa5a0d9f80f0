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
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from ..base.errors import FairLeakError, InputError
from ..base.serialize import Result, dumps, loads
from ..datasets.dataset import AuditDataset
from .store import PointStore, environment, point_key

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
    except (OSError, ValueError, TypeError) as error:
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
    report: Callable[[int, int], None] | None = None,
    measure: Callable[[C, AuditDataset], P],
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
        Takes a configuration and the dataset and returns its point; what else decides the point are its `parts`.
    result : type
        What `measure` returns: a frozen dataclass that `core.base.serialize` can write and read.
    """
    _check(dataset, n_jobs, scheduler, store)
    unique_configs = list(dict.fromkeys(configs))
    more = getattr(measure, "parts", ())
    keys = []
    stored = {}
    if store is not None:
        keys = [point_key(config, dataset, result, *more) for config in unique_configs]
        stored = {i: store.load(key, result) for i, key in enumerate(keys)}
    restored = {i: point for i, point in stored.items() if point is not None}
    done = len(restored)
    left = interleaved(
        [(i, config) for i, config in enumerate(unique_configs) if i not in restored]
    )
    if report is not None:
        report(done, len(unique_configs))
    yield from restored.values()
    with closing(_measured(left, dataset, n_jobs, scheduler, measure)) as measured:
        for index, record in measured:
            point = loads(record, result)
            if store is not None:
                store.save(keys[index], point)
            done += 1
            if report is not None:
                report(done, len(unique_configs))
            yield point


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
