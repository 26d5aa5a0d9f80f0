"""Stores and jobs: nothing outlives a release, a waiting job can be cancelled, a restart goes on where it stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from core.base.errors import InputError
from pages.shell import background
from pages.shell.background import Background, Job, ResultStore, State, ensure_started, start, stop
from pages.shell.job_queue import JobQueue, Urgency
from tests.patience import PATIENT


@pytest.fixture
def store() -> ResultStore:
    return ResultStore("test store", entries=3)


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


def test_the_time_left_follows_the_pace(store: ResultStore, monkeypatch: pytest.MonkeyPatch):
    clock, left = [0.0], []
    monkeypatch.setattr("time.monotonic", lambda: clock[0])

    def work(job: Job) -> None:
        left.append(job.remaining())
        for done, seconds in enumerate((100.0, 1.0, 1.0), start=1):
            clock[0] += seconds
            job.report(done, 5)
            left.append(job.remaining())
        for seconds in (30.0, 300.0):  # as long as the steps before, and longer
            clock[0] += seconds
            left.append(job.remaining())

    store.start("k", work, total=5).wait()
    assert left == [None, 400.0, 151.5, 68.0, 38.0, None]


def test_a_release_at_the_end_of_the_computation(store: ResultStore, gate: threading.Event):
    put, ended = store.put, threading.Event()

    def slow(*about: object, **options: object) -> None:
        ended.set()
        gate.wait(PATIENT)
        put(*about, **options)  # type: ignore[arg-type]

    store.put = slow  # type: ignore[method-assign]
    job = store.start("k", lambda job: "about a table that is removed")
    ended.wait(PATIENT)
    store.release()
    gate.set()
    job.wait(PATIENT)
    assert store.get("k") is None


def test_a_job_that_is_stopping_is_handed_to_nobody(store: ResultStore, gate: threading.Event):
    def work(job: Job) -> str:
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


def test_a_job_that_waits_for_its_turn_can_be_cancelled(
    store: ResultStore, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
):
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
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What a session keeps."""
    session_state: dict[str, object] = {}
    monkeypatch.setattr(background.st, "session_state", session_state)
    return session_state


def counted(store: ResultStore, key: str, gate: threading.Event) -> Background:
    """Return work that counts to three, as far as a gate lets it."""

    def numbers(first: int) -> Iterator[int]:
        for n in range(first, 3):
            yield n
            gate.wait(PATIENT)

    return Background("count", store, key, lambda job: job.collect(numbers(len(job.partial))), lane="fetch", total=3)


def test_wanted_work_starts_by_itself_and_stops_for_other_work_of_its_name(
    store: ResultStore, session: dict, gate: threading.Event
):
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


def test_work_that_a_session_has_stopped_waits_until_it_is_started(
    store: ResultStore, session: dict, gate: threading.Event
):
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


def test_what_has_failed_is_not_tried_again_by_itself(store: ResultStore, session: dict):
    def broken(job: Job) -> None:
        raise InputError("There must be people.")

    work = Background("broken", store, "k", broken, lane="fetch")
    assert not ensure_started(work, patience=PATIENT) and not ensure_started(work)
    assert work.state == State.FAILED and work.job is not None and work.job.error == "There must be people."
