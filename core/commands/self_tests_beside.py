"""FairLeak's test of itself beside an audit, in a process of its own: with two cores an audit hardly waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from core import decision
from core.datasets.catalog import default_cache_folder
from core.decision import SelfTest
from core.errors import Cancelled

Report = Callable[[int, int], None]


class SelfTestsBeside:
    """Begins the test with the audit's first step, returns its results when called, ends it when left.

    Parameters
    ----------
    report : callable
        Called with (models done, models in all).
    """

    def __init__(self, report: Report) -> None:
        self._report, self._left, self._done = report, threading.Event(), 0
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="fairleak-self-test")
        self._found: Future[tuple[SelfTest, ...]] | None = None

    def __enter__(self) -> SelfTestsBeside:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._left.set()
        self._pool.shutdown()

    def begun_by(self, report: Report) -> Report:
        """Return an audit's report that begins the test: input that cannot be used is refused before."""

        def both(done: int, total: int) -> None:
            self._begin()
            report(done, total)

        return both

    def __call__(self) -> tuple[SelfTest, ...]:
        """Wait for the results and return them."""
        return self._begin().result()

    def _begin(self) -> Future[tuple[SelfTest, ...]]:
        if self._found is None:
            folder = default_cache_folder().parent / "self-test"
            self._found = self._pool.submit(decision.self_test_apart, folder, report=self._told)
        return self._found

    def _told(self, done: int, total: int) -> None:
        if self._left.is_set():
            raise Cancelled
        if done > self._done:  # it is asked several times a second
            self._done = done
            self._report(done, total)
