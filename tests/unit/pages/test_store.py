"""Stores and jobs: nothing outlives a release, a waiting job can be cancelled, a restart goes on where it stopped."""

import threading
from unittest.mock import Mock

import pytest

from core.base.errors import Cancelled, InputError
from pages.shell import background
from pages.shell.background import Background, ResultStore, State, ensure_started, start, stop
from pages.shell.job_queue import PATIENCE, JobQueue, Request, Urgency
from tests.patience import PATIENT


@pytest.fixture
def store():
    return ResultStore("test store", entries=3)


@pytest.fixture
def gate():
    return threading.Event()


@pytest.mark.parametrize(
    ("total", "steps", "expected"),  # seconds and what is done then; the last two are no steps
    [
        (5, [(100, 1), (1, 2), (1, 3), (30, 0), (300, 0)], [None, 400.0, 151.5, 68.0, 38.0, None]),
        (100, [(30, 1), (30, 2)], [None, None, 98 * 30.0]),
    ],
    ids=["by its pace", "unknown at first"],
)
def test_the_time_left(store, monkeypatch, total, steps, expected):
    clock, left = [0.0], []
    monkeypatch.setattr("time.monotonic", lambda: clock[0])

    def work(job):
        left.append(job.remaining())
        for seconds, done in steps:
            clock[0] += seconds
            if done:
                job.report(done, total)
            left.append(job.remaining())

    store.start("k", work, total=total).wait()
    assert left == expected


def test_a_release_at_the_end_of_the_computation(store, gate):
    put, ended = store.put, threading.Event()

    def slow(*about, **options):
        ended.set()
        gate.wait(PATIENT)
        put(*about, **options)

    store.put = slow
    job = store.start("k", lambda job: "about a table that is removed")
    ended.wait(PATIENT)
    store.release()
    gate.set()
    job.wait(PATIENT)
    assert store.get("k") is None


def test_a_job_that_is_stopping_is_handed_to_nobody(store, gate):
    def work(job):
        gate.wait(PATIENT)
        job.report(1, 2)
        return "made"

    stopping = store.start("k", work)
    stopping.cancel()
    restarted = store.start("k", work)
    gate.set()
    for job in (stopping, restarted):
        job.wait(PATIENT)
    assert (stopping.state, restarted.state, store.get("k")) == (State.CANCELLED, State.FINISHED, "made")


def test_a_job_that_waits_for_its_turn_can_be_cancelled(store, gate, monkeypatch):
    monkeypatch.setattr(background, "QUEUE", JobQueue(dict.fromkeys(Urgency, 1)))
    first = store.start("first", lambda job: gate.wait(PATIENT), lane="sweep")
    second = store.start("second", lambda job: "never", lane="sweep")
    assert second.state == "waiting"
    second.cancel()
    second.wait(PATIENT)
    assert second.state == "cancelled"
    gate.set()
    first.wait(PATIENT)
    store.start("third", lambda job: "now", lane="sweep").wait(PATIENT)  # the place is free again
    assert first.state == "finished" and store.get("third") == "now"


@pytest.fixture
def session(monkeypatch):
    session_state = {}
    monkeypatch.setattr(background.st, "session_state", session_state)
    return session_state


def counted(store, key, gate):
    """Return work that counts to three, as far as a gate lets it."""

    def numbers(first):
        for n in range(first, 3):
            yield n
            gate.wait(PATIENT)

    return Background("count", store, key, lambda job: job.collect(numbers(len(job.partial))), lane="fetch", total=3)


def test_wanted_work_starts_by_itself_and_stops_for_other_work_of_its_name(store, session, gate):
    first, second = counted(store, "one", gate), counted(store, "other", gate)
    assert first.state is None and first.latest is None
    assert ensure_started(first, patience=PATIENT) and first.latest == 0
    assert ensure_started(second, patience=PATIENT) and first.job.stopping and not first.stopped
    gate.set()
    for work in (first, second):
        work.job.wait(PATIENT)
    assert first.state == State.CANCELLED and second.state == State.FINISHED
    assert second.result == [0, 1, 2] and not ensure_started(second)
    ensure_started(first, patience=PATIENT)
    first.job.wait(PATIENT)
    assert first.result == [0, 1, 2] and first.job.share == 1.0  # gone on with, not begun anew


def test_work_that_a_session_has_stopped_waits_until_it_is_started(store, session, gate):
    work = counted(store, "one", gate)
    ensure_started(work, patience=PATIENT)
    stop(work)
    gate.set()
    work.job.wait(PATIENT)
    assert work.stopped and not ensure_started(work) and work.state == State.CANCELLED
    session.clear()  # another session has not stopped it
    assert not work.stopped
    start(work)
    work.job.wait(PATIENT)
    assert work.result == [0, 1, 2]


def test_what_has_failed_is_not_tried_again_by_itself(store, session):
    work = Background("broken", store, "k", Mock(side_effect=InputError("There must be people.")), lane="fetch")
    assert not ensure_started(work, patience=PATIENT) and not ensure_started(work)
    assert work.state == State.FAILED and work.job.error == "There must be people."


class Jobs:
    """Jobs without threads on a server with few places and a clock of its own: each starts as soon as it may."""

    def __init__(self, places=None):
        self.now = 0.0
        self.started = []
        self.running = []
        self.requests = {}
        self.queue = JobQueue(places or dict.fromkeys(Urgency, 1), clock=lambda: self.now)

    def add(self, *names, urgency=Urgency.LONG):
        """Let jobs wait; a name begins with the letter of its session."""
        for name in names:
            self.requests[name] = Request(urgency, [name[0]], since=self.now)
            self.queue._lines[urgency].append(self.requests[name])
            self.start()

    def start(self):
        names = {id(request): name for name, request in self.requests.items()}
        while (request := self.queue.next()) is not None:
            self.queue._lines[request.urgency].start(request, self.now)
            self.started.append(names[id(request)])
            self.running.append(names[id(request)])

    def end(self, name):
        self.running.remove(name)
        self.queue.release(self.requests[name])
        self.start()

    def order(self):
        """Let each job end as soon as the next can start; return all jobs in the order of their starts."""
        while self.running:
            self.end(self.running[0])
        return self.started


@pytest.fixture
def jobs():
    return Jobs()


def test_the_first_job_of_a_session_goes_before_ten_of_another(jobs):
    jobs.add(*(f"a{number}" for number in range(10)))
    jobs.now = 1000.0  # however long they have waited
    jobs.add("b0")
    assert jobs.order()[:4] == ["a0", "b0", "a1", "a2"]


def test_new_sessions_pass_a_waiting_one_once_at_most(jobs):
    jobs.add("a1", "a2", "b1")
    jobs.end("a1")
    jobs.add("c1")
    jobs.end("b1")
    jobs.add("d1", "e1")
    assert jobs.order() == ["a1", "b1", "a2", "c1", "d1", "e1"]


def test_urgent_jobs_go_first(jobs):
    jobs.add("a1", "b1", urgency=Urgency.SWEEP)
    jobs.add("a2", urgency=Urgency.LONG)
    jobs.add("a3", urgency=Urgency.RESULT)
    jobs.add("a4", urgency=Urgency.PAGE)
    assert jobs.order() == ["a1", "a4", "a3", "a2", "b1"]


def test_who_was_passed_over_for_long_goes_first_once(jobs):
    jobs.add("a1", urgency=Urgency.PAGE)
    jobs.add("b1", "b2", urgency=Urgency.SWEEP)
    jobs.now = PATIENCE + 1
    jobs.add("a2", "c1", urgency=Urgency.PAGE)
    assert jobs.order() == ["a1", "b1", "c1", "a2", "b2"]


def test_a_place_goes_to_the_session_that_holds_the_fewest():
    server = Jobs(dict.fromkeys(Urgency, 2))
    server.add("a1", "b1", "a2", "b2")
    server.end("b1")
    assert server.started == ["a1", "b1", "b2"]


def test_sweeps_leave_places_for_pages():
    server = Jobs({Urgency.PAGE: 3, Urgency.RESULT: 2, Urgency.LONG: 2, Urgency.SWEEP: 1})
    server.add("a1", "b1", urgency=Urgency.SWEEP)
    server.add("c1", "c2", urgency=Urgency.LONG)
    server.add("d1", urgency=Urgency.RESULT)
    server.add("e1", urgency=Urgency.PAGE)
    assert server.started == ["a1", "c1", "e1"]


def test_a_cancelled_job_leaves_at_once_and_never_starts(jobs):
    jobs.add("a1", "b1")
    request = Request(Urgency.LONG, ["c"])
    with pytest.raises(Cancelled):
        jobs.queue.acquire(request, Mock(side_effect=Cancelled("Stopped.")))
    assert request not in jobs.queue._lines[Urgency.LONG].waiting
    jobs.add("d1")
    assert jobs.order() == ["a1", "b1", "d1"]


def test_a_job_that_two_sessions_want_has_the_turn_of_either(jobs):
    jobs.add("a1", "a2", "a3", "a4", "b1")
    jobs.queue.share(jobs.requests["a4"], "c")
    assert jobs.order() == ["a1", "a4", "b1", "a2", "a3"]
