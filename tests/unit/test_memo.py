"""What is computed from a dataset is kept with it: once, read-only, bounded, and no part of what it is."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import time
import weakref
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import pytest

from core.datasets import AuditDataset
from core.datasets.dataset import MOST_KEPT
from tests.samples import dataset


@dataclass(frozen=True)
class Kept:
    """Something with an array in it."""

    numbers: npt.NDArray[np.float64]


@pytest.fixture
def people() -> AuditDataset:
    return dataset(200, seed=3)


def test_it_is_made_once_for_each_key(people: AuditDataset):
    made: list[str] = []
    for key in ("a", "b", "a", "b"):
        assert people.once(key, lambda key=key: made.append(key) or key.upper()) == key.upper()
    assert made == ["a", "b"]


def test_nothing_is_kept_of_what_failed(people: AuditDataset):
    with pytest.raises(ZeroDivisionError):
        people.once("a", lambda: 1 / 0)
    assert people.once("a", lambda: 2) == 2


def test_arrays_in_it_are_read_only(people: AuditDataset):
    kept = people.once("a", lambda: (np.zeros(2), [{"x": np.zeros(2)}], Kept(np.zeros(2))))
    for array in (kept[0], kept[1][0]["x"], kept[2].numbers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_what_was_asked_for_longest_ago_is_dropped(people: AuditDataset):
    for number in range(MOST_KEPT):
        people.once(number, lambda number=number: number)
    people.once(0, lambda: -1)
    people.once("one more", lambda: 0)
    assert people.once(0, lambda: -1) == 0
    assert people.once(1, lambda: -1) == -1


def test_all_threads_are_given_the_same(people: AuditDataset):
    found: list[object] = []

    def make() -> object:
        time.sleep(0.01)
        return object()

    threads = [threading.Thread(target=lambda: found.append(people.once("a", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len({id(one) for one in found}) == 1


def test_it_is_no_part_of_the_dataset(people: AuditDataset):
    before = repr(people)
    people.once("a", lambda: 1)
    assert repr(people) == before
    assert not {"_kept", "_lock", "once"} & {field.name for field in fields(people)}
    for other in (replace(people), copy.copy(people), copy.deepcopy(people), pickle.loads(pickle.dumps(people))):
        assert other.fingerprint == people.fingerprint
        assert other.once("a", lambda: 2) == 2
    assert people.once("a", lambda: 3) == 1


def test_it_goes_with_the_dataset(people: AuditDataset):
    other = replace(people)
    held = weakref.ref(other.once("a", lambda: Kept(np.zeros(2))))
    assert held() is not None
    del other
    gc.collect()
    assert held() is None
