"""Background work: a thread with progress, cancel and a place for its results.

A `Store` keeps results and the jobs that make them. There is one for built-in data, shared by everybody, and one a
session for a user's own table; the latter is emptied when the session ends. No Streamlit call happens in a thread.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from streamlit.logger import get_logger

from core.errors import Cancelled, FairLeakError

_log = get_logger("fairleak.jobs")  # a logger of Python's own would drop what is not at least a warning

Work = Callable[["Job"], Any]

_LANES = {
    "audit": threading.BoundedSemaphore(2),
    "fetch": threading.BoundedSemaphore(4),
    "sweep": threading.BoundedSemaphore(1),
    "questions": threading.BoundedSemaphore(2),
    "decision": threading.BoundedSemaphore(1),
    "self_test": threading.BoundedSemaphore(1),
}


class Job:
    """One piece of work in a thread of its own.

    Attributes
    ----------
    done, total : int
        Steps finished, and in all (0 while unknown).
    partial : list
        Results that are there already, in the order they came.
    error : str
        One sentence, empty unless the work failed.
    state : {"waiting", "running", "finished", "failed", "cancelled"}
    """

    def __init__(self, work: Work, lane: str, keep: Callable[[Any], None], total: int, partial: Sequence[Any]) -> None:
        self.done = len(partial)
        self.total = total
        self.partial: list[Any] = list(partial)
        self.error = ""
        self.state = "waiting"
        self.started = time.monotonic()
        self._given = len(partial)
        self._first: float | None = None  # when the first step was done
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work, lane, keep), daemon=True, name="fairleak-job")
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether the work still waits or runs."""
        return self.state in ("waiting", "running")

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop and has not stopped yet."""
        return self._stop.is_set() and self.busy

    @property
    def share(self) -> float:
        """Share of the work that is done, in [0, 1]."""
        return self.done / self.total if self.total else 0.0

    def remaining(self, *, but_first: bool = False) -> float | None:
        """Return the seconds left, judged by the pace so far, or by that after the first step; None while unknown."""
        made = self.done - self._given - but_first
        if made < 1 or self._first is None:
            return None
        return (time.monotonic() - (self._first if but_first else self.started)) / made * (self.total - self.done)

    def cancel(self) -> None:
        """Ask the work to stop at its next step."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the thread has ended (tests and page runs that need no progress bar)."""
        self._thread.join(seconds)

    def report(self, done: int, total: int) -> None:
        """Note progress; stops the work if it was cancelled."""
        if self._stop.is_set():
            raise Cancelled("Stopped.")
        if self._first is None and done > self._given:
            self._first = time.monotonic()
        self.done, self.total = done, total

    def collect(self, results: Iterator[Any]) -> list[Any]:
        """Take results one by one, so that they can be shown before the last is there."""
        try:
            for result in results:
                self.partial.append(result)
                self.report(len(self.partial), self.total)
        finally:
            close = getattr(results, "close", None)
            if close is not None:
                close()
        return list(self.partial)

    def _run(self, work: Work, lane: str, keep: Callable[[Any], None]) -> None:
        try:
            self._queue(_LANES[lane])
            try:
                self.state, self.started = "running", time.monotonic()
                made = work(self)
                self.report(self.done, self.total)  # cancelled meanwhile: the result is not wanted
                keep(made)
            finally:
                _LANES[lane].release()
            self.state = "finished"
        except Cancelled:
            self.state = "cancelled"
        except FairLeakError as error:
            self.error, self.state = str(error), "failed"
        except MemoryError:
            self.error, self.state = "There is not enough memory for this; use fewer records or columns.", "failed"
        except Exception:
            _log.exception("work failed")
            self.error = "Something went wrong in FairLeak itself; the server's log has the details."
            self.state = "failed"

    def _queue(self, lane: threading.BoundedSemaphore) -> None:
        while not lane.acquire(timeout=0.2):
            self.report(self.done, self.total)
        if self._stop.is_set():
            lane.release()
            raise Cancelled("Stopped.")


class Store:
    """Results by fingerprint, the oldest dropped first, and the jobs under way.

    Parameters
    ----------
    name : str
        For the log.
    entries : int
        Most results kept.
    """

    def __init__(self, name: str, entries: int) -> None:
        self.name = name
        self._entries = entries
        self._lock = threading.Lock()
        self._results: OrderedDict[str, Any] = OrderedDict()
        self._jobs: dict[str, Job] = {}
        self._generation = 0

    def get(self, key: str) -> Any | None:
        """Return the result, or None if it is not there."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def put(self, key: str, value: Any) -> None:
        """Keep a result."""
        with self._lock:
            self._results[key] = value
            self._results.move_to_end(key)
            while len(self._results) > self._entries:
                self._results.popitem(last=False)

    def remember(self, key: str, make: Callable[[], Any]) -> Any:
        """Return the result, making it here and now if need be."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def job(self, key: str) -> Job | None:
        """Return the job last started for this key."""
        return self._jobs.get(key)

    def start(self, key: str, work: Work, *, lane: str = "audit", total: int = 0, partial: Sequence[Any] = ()) -> Job:
        """Return the job for this key, starting it unless it is under way or has its result.

        `total` is the number of steps where it is known beforehand, `partial` what an earlier job has made already.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and (job.busy or (job.state == "finished" and key in self._results)):
                return job
            began = self._generation

            def keep(result: Any) -> None:
                if began == self._generation:  # nothing is kept of what was released meanwhile
                    self.put(key, result)

            job = Job(work, lane, keep, total, partial)
            self._jobs[key] = job
            self._tidy(key)
            return job

    def _tidy(self, key: str) -> None:
        """Drop jobs that are of no use any more, but of those that were stopped half way only the oldest."""
        halves = [k for k, j in self._jobs.items() if j.state == "cancelled" and j.partial]
        kept = {key, *halves[-self._entries :]}
        self._jobs = {k: j for k, j in self._jobs.items() if j.busy or k in kept or k in self._results}

    def forget(self, key: str) -> None:
        """Forget the job for this key, so that it can be started again."""
        with self._lock:
            self._jobs.pop(key, None)

    def release(self) -> None:
        """Stop all work and drop all results."""
        with self._lock:
            for job in self._jobs.values():
                job.cancel()
            held = len(self._results)
            self._generation += 1
            self._results.clear()
            self._jobs.clear()
        _log.info("%s released: %d results dropped", self.name, held)
