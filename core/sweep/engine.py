"""The sweep itself: look up what is stored, measure the rest here, in worker processes or on a cluster.

Same configurations, data and versions give the same points to the bit wherever they are measured; only the order in
which they come differs.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TypeVar

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.errors import FairLeakError, InputError
from core.records import loads
from core.results import Result
from core.sweep.cluster import measured_on_cluster
from core.sweep.identity import point_key
from core.sweep.point import SweepPoint
from core.sweep.point import measure as measure_point
from core.sweep.store import PointStore
from core.sweep.workers import Measure, Measured, measure_here, measure_in_process

P = TypeVar("P", bound=Result)

Jobs = Sequence[tuple[int, AuditConfig]]


def sweep(
    configs: Sequence[AuditConfig],
    dataset: AuditDataset,
    *,
    n_jobs: int = 1,
    scheduler: str | None = None,
    store: PointStore | None = None,
    report: Callable[[int, int], None] | None = None,
    measure: Callable[[AuditConfig, AuditDataset], P] = measure_point,  # type: ignore[assignment]
    result: type[P] = SweepPoint,  # type: ignore[assignment]
) -> Iterator[P]:
    """Yield the point of each configuration as soon as it is there, in any order, stored ones first.

    Closing the generator, or an exception, stops the workers; what was yielded is stored.

    Parameters
    ----------
    configs : sequence of AuditConfig
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
        `core.errors.Cancelled` to stop.
    measure : callable
        Takes a configuration and the dataset and returns its point.
    result : type
        What `measure` returns: a frozen dataclass that `core.records` can write and read.

    Raises
    ------
    InputError
        If an argument breaks its rule, a configuration cannot be measured on these data, or the cluster does not
        answer.
    FairLeakError
        If a worker is lost or a point cannot be stored.
    """
    _check(dataset, n_jobs, scheduler, store)
    wanted = list(dict.fromkeys(configs))
    keys = [point_key(config, dataset, result) for config in wanted] if store is not None else []
    stored = {i: store.load(key, result) for i, key in enumerate(keys)} if store is not None else {}
    kept = {i: found for i, found in stored.items() if found is not None}
    done = len(kept)
    if report is not None:
        report(done, len(wanted))
    yield from kept.values()
    left = [(i, config) for i, config in enumerate(wanted) if i not in kept]
    with closing(_measured(left, dataset, n_jobs, scheduler, measure)) as measured:
        for index, record in measured:
            point = loads(record, result)
            if store is not None:
                store.save(keys[index], point)
            done += 1
            if report is not None:
                report(done, len(wanted))
            yield point


def _check(dataset: AuditDataset, n_jobs: int, scheduler: str | None, store: PointStore | None) -> None:
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs < 1:
        raise InputError(f"n_jobs must be a whole number of at least 1, got {n_jobs!r}.")
    if dataset.uploaded and scheduler is not None:
        raise InputError(f"An uploaded table must stay on this machine, got the scheduler {scheduler!r}.")
    if dataset.uploaded and store is not None and store.on_disk:
        raise InputError("What follows from an uploaded table must stay in memory, got a store on disk.")


def _measured(
    jobs: Jobs, dataset: AuditDataset, n_jobs: int, scheduler: str | None, measure: Measure
) -> Generator[Measured, None, None]:
    if not jobs:
        return
    if scheduler is not None:
        yield from measured_on_cluster(scheduler, jobs, dataset, measure)
    elif n_jobs == 1:
        yield from (measure_here(index, config, dataset, measure) for index, config in jobs)
    else:
        yield from _in_processes(jobs, dataset, n_jobs, measure)


def _in_processes(jobs: Jobs, dataset: AuditDataset, n_jobs: int, measure: Measure) -> Iterator[Measured]:
    import joblib
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    work = joblib.delayed(measure_in_process)
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1), _workers_born_deaf():
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", max_nbytes=None, batch_size=1)
        results = parallel(work(index, config, dataset, measure, os.getpid()) for index, config in jobs)
    try:
        for measured in results:  # noqa: UP028 - "yield from" would close the results before the filter below is set
            yield measured
    except TerminatedWorkerError as error:
        raise FairLeakError("A worker process was killed, most likely for want of memory; use fewer.") from error
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*cancelled. You could benefit")  # cancelling is meant
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
