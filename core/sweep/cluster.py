"""A sweep on a Dask cluster: one more place to measure, with the same results.

Dask is an optional extra (requirements-dask.txt). Its workers must hold FairLeak and its libraries in the versions of
the machine that asks. The data are sent to every worker once; an uploaded table is not sent anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.errors import FairLeakError, InputError
from core.sweep.identity import environment
from core.sweep.workers import Measure, Measured, measure_on_cluster

_PATIENCE = 10  # seconds to wait for the scheduler, and for a first worker
_RETRIES = 3  # of a configuration whose worker was lost


def measured_on_cluster(
    scheduler: str, jobs: Sequence[tuple[int, AuditConfig]], dataset: AuditDataset, measure: Measure
) -> Iterator[Measured]:
    """Yield the records of the configurations as the cluster finishes them.

    Raises
    ------
    InputError
        If Dask is not installed, nothing answers at the address, or no worker is there.
    FairLeakError
        If a worker fails.
    """
    client = _connected(scheduler)
    futures: list[Any] = []
    try:
        from distributed import as_completed

        people = client.scatter(dataset, broadcast=True, hash=False)
        futures = [
            client.submit(
                measure_on_cluster, index, config, people, measure, environment(), pure=False, retries=_RETRIES
            )
            for index, config in jobs
        ]
        for future in as_completed(futures, loop=client.loop):
            yield _result(future)
    finally:
        client.cancel(futures)
        client.close()


def _connected(scheduler: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "A sweep on a cluster needs Dask, which is not installed here: pip install -r requirements-dask.txt."
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
        raise InputError(f"The Dask scheduler at {scheduler} must have at least one worker, it has none.") from None
    return client


def _result(future: Any) -> Measured:
    try:
        found: Measured = future.result()
        return found
    except FairLeakError:
        raise
    except Exception as error:
        told = " ".join(str(error).split())[:200]
        raise FairLeakError(
            f"A Dask worker could not measure a configuration: {type(error).__name__}: {told}"
        ) from error
