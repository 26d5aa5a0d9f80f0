"""The queue of jobs: sessions take turns, urgent jobs go first, nobody waits for ever, cancelled jobs leave at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from core.base.errors import Cancelled
from pages.shell.job_queue import PATIENCE, JobQueue, Request, Urgency
from tests.patience import PATIENT, wait_until


class Jobs:
    """Jobs in threads that end when a test says so, on a server with few places and a clock of its own."""

    def __init__(self, places: dict[Urgency, int] | None = None) -> None:
        self.now = 0.0
        self.started: list[str] = []
        self.queue = JobQueue(places or dict.fromkeys(Urgency, 1), clock=lambda: self.now)
        self.requests: dict[str, Request] = {}
        self._ends: dict[str, threading.Event] = {}
        self._cancelled: set[str] = set()
        self._threads: dict[str, threading.Thread] = {}

    def add(self, *names: str, urgency: Urgency = Urgency.LONG) -> None:
        """Let jobs wait; a name begins with the letter of its session."""
        for name in names:
            request = self.requests[name] = Request(urgency, [name[0]])
            self._ends[name] = threading.Event()
            self._threads[name] = threading.Thread(target=self._run, args=(name, request), daemon=True)
            self._threads[name].start()
            wait_until(lambda name=name, request=request: self._has_arrived(name, request), f"{name} to wait")

    def _has_arrived(self, name: str, request: Request) -> bool:
        return name in self.started or request in self.queue._lines[request.urgency].waiting

    def _run(self, name: str, request: Request) -> None:
        def look() -> None:
            if name in self._cancelled:
                raise Cancelled("Stopped.")

        try:
            self.queue.acquire(request, look)
        except Cancelled:
            return
        self.started.append(name)
        self._ends[name].wait(PATIENT)
        self.queue.release(request)

    def end(self, name: str) -> None:
        """Let a running job end, and the next one start."""
        self._ends[name].set()
        self._threads[name].join(PATIENT)

    def cancel(self, name: str) -> None:
        """Cancel a waiting job."""
        self._cancelled.add(name)
        self.queue.look_again()
        self._threads[name].join(PATIENT)

    def order(self) -> list[str]:
        """Let each job end as soon as the next can start; return all jobs in the order of their starts."""
        for number in range(len(self.requests)):
            wait_until(lambda number=number: len(self.started) > number, "the next job")
            self.end(self.started[number])
        return self.started

    def close(self) -> None:
        """End all jobs."""
        self._cancelled.update(self.requests)
        for end in self._ends.values():
            end.set()
        self.queue.look_again()


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    """Jobs on a server with one place."""
    few = Jobs()
    yield few
    few.close()


def test_the_first_job_of_a_session_goes_before_ten_of_another(jobs: Jobs):
    jobs.add(*(f"a{number}" for number in range(10)))
    jobs.now = 1000.0  # however long they have waited
    jobs.add("b0")
    assert jobs.order()[:4] == ["a0", "b0", "a1", "a2"]


def test_new_sessions_pass_a_waiting_one_once_at_most(jobs: Jobs):
    jobs.add("a1", "a2", "b1")
    jobs.end("a1")
    wait_until(lambda: "b1" in jobs.started, "b1")
    jobs.add("c1")
    jobs.end("b1")
    wait_until(lambda: len(jobs.started) == 3, "the third job")
    jobs.add("d1", "e1")
    assert jobs.order() == ["a1", "b1", "a2", "c1", "d1", "e1"]


def test_urgent_jobs_go_first(jobs: Jobs):
    jobs.add("a1", urgency=Urgency.SWEEP)
    jobs.add("b1", urgency=Urgency.SWEEP)
    jobs.add("a2", urgency=Urgency.LONG)
    jobs.add("a3", urgency=Urgency.RESULT)
    jobs.add("a4", urgency=Urgency.PAGE)
    assert jobs.order() == ["a1", "a4", "a3", "a2", "b1"]


def test_who_was_passed_over_for_long_goes_first_once(jobs: Jobs):
    jobs.add("a1", urgency=Urgency.PAGE)
    jobs.add("b1", "b2", urgency=Urgency.SWEEP)
    jobs.now = PATIENCE + 1
    jobs.add("a2", "c1", urgency=Urgency.PAGE)
    assert jobs.order() == ["a1", "b1", "c1", "a2", "b2"]


def test_sweeps_leave_places_for_pages():
    server = Jobs({Urgency.PAGE: 3, Urgency.RESULT: 2, Urgency.LONG: 2, Urgency.SWEEP: 1})
    server.add("a1", "b1", urgency=Urgency.SWEEP)
    assert server.started == ["a1"]
    server.add("c1", "c2", urgency=Urgency.LONG)
    assert server.started == ["a1", "c1"]
    server.add("d1", urgency=Urgency.RESULT)
    assert server.started == ["a1", "c1"]
    server.add("e1", urgency=Urgency.PAGE)
    assert server.started == ["a1", "c1", "e1"]
    server.close()


def test_a_cancelled_job_leaves_at_once_and_never_starts(jobs: Jobs):
    jobs.add("a1", "b1", "b2", "c1")
    jobs.cancel("b1")
    assert jobs.requests["b1"] not in jobs.queue._lines[Urgency.LONG].waiting
    del jobs.requests["b1"]
    assert jobs.order() == ["a1", "b2", "c1"]


def test_a_job_that_two_sessions_want_has_the_turn_of_either(jobs: Jobs):
    jobs.add("a1", "a2", "a3", "a4")
    jobs.add("b1")
    jobs.queue.share(jobs.requests["a4"], "c")
    assert jobs.order() == ["a1", "a4", "b1", "a2", "a3"]
