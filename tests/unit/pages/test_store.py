"""Stores and jobs: nothing outlives a release, a waiting job can be cancelled, a restart goes on where it stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pages.common.jobs import Job, Store


@pytest.fixture
def store() -> Store:
    return Store("test store", entries=3)


def test_the_oldest_result_goes_first(store: Store) -> None:
    for key in "abcd":
        store.put(key, key)
    assert store.get("a") is None
    assert [store.get(key) for key in "bcd"] == ["b", "c", "d"]


def test_what_is_released_while_it_is_made_is_not_kept(store: Store) -> None:
    gate = threading.Event()

    def work(job: Job) -> str:
        gate.wait(10)
        return "of a removed table"

    job = store.start("k", work)
    store.release()
    gate.set()
    job.wait(10)
    assert job.state == "cancelled"
    assert store.get("k") is None


def test_a_job_that_waits_for_its_lane_can_be_cancelled(store: Store) -> None:
    gate = threading.Event()
    first = store.start("first", lambda job: gate.wait(10), lane="sweep")
    second = store.start("second", lambda job: "never", lane="sweep")
    assert second.state == "waiting"
    second.cancel()
    second.wait(5)
    assert second.state == "cancelled"
    gate.set()
    first.wait(10)
    assert first.state == "finished"
    third = store.start("third", lambda job: "now", lane="sweep")  # the lane is free again
    third.wait(10)
    assert store.get("third") == "now"


def test_a_cancelled_collection_goes_on_with_what_it_has(store: Store) -> None:
    seen = threading.Event()

    def numbers(start: int) -> Iterator[int]:
        for n in range(start, 5):
            yield n
            if n == 1:
                seen.set()
                threading.Event().wait(0.2)

    job = store.start("k", lambda job: job.collect(numbers(0)), total=5)
    seen.wait(10)
    job.cancel()
    job.wait(10)
    assert job.state == "cancelled"
    kept = list(job.partial)
    assert 2 <= len(kept) < 5
    again = store.start("k", lambda job: job.collect(numbers(len(kept))), total=5, partial=kept)
    again.wait(10)
    assert again.state == "finished"
    assert store.get("k") == [0, 1, 2, 3, 4]
    assert again.share == 1.0
