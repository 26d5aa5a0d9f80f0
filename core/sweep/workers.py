"""What happens in a worker, on this machine or another: measure one configuration and hand back its record.

A worker computes in one thread, gives way to what a person waits for, leaves Ctrl-C to the process that started it,
and ends with that process, however that ended. In-process work goes through the same record, so that a point is the
same whoever measured it.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.errors import InputError
from core.records import dumps
from core.results import Result
from core.sweep.identity import environment

Measure = Callable[[AuditConfig, AuditDataset], Result]
Measured = tuple[int, str]
"""Position of the configuration, and the point's record."""

_NICE = 10  # how far the worker processes give way
_GLANCE = 0.25  # seconds between two looks at the parent


class _Process:
    """What a worker process knows of itself from job to job.

    With the dataset of its last job (and its bytes) goes what is remembered of it.
    """

    settled = False
    last: tuple[bytes, AuditDataset] | None = None


_process = _Process()


def measure_here(index: int, config: AuditConfig, dataset: AuditDataset, measure: Measure) -> Measured:
    """Measure in this process."""
    with _one_thread():
        return index, dumps(measure(config, dataset))


def measure_in_process(
    index: int, config: AuditConfig, dataset: AuditDataset, measure: Measure, parent: int
) -> Measured:
    """Measure in a worker process started by the process `parent`."""
    _settle(parent)
    return index, dumps(measure(config, dataset if dataset.uploaded else _same(dataset)))


def measure_on_cluster(
    index: int, config: AuditConfig, dataset: AuditDataset, measure: Measure, wanted: tuple[str, ...]
) -> Measured:
    """Measure on a cluster's worker, provided it has the versions `wanted`.

    Raises `InputError` if its versions are others: its numbers might differ.
    """
    if environment() != wanted:
        other = ", ".join(sorted(set(environment()) - set(wanted)))
        raise InputError(f"Dask workers must have the versions of this machine ({', '.join(wanted)}), one has {other}.")
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
