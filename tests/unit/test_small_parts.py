"""Numbers of numpy, seeds, what goes with a dataset, and convex programs."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import time
from dataclasses import dataclass, fields, replace

import cvxpy
import numpy as np
import numpy.typing as npt
import pytest

from core.base.errors import FairLeakError
from core.base.solvers import solve
from core.base.validation import (
    at_least_zero,
    child_generator,
    child_seed,
    privacy_budget,
    seed_value,
)
from core.datasets import AuditDataset
from core.datasets.dataset import MAX_CACHED
from tests.samples import dataset


def test_numbers_of_numpy_are_numbers() -> None:
    assert privacy_budget(math.inf) == math.inf and privacy_budget(np.float32(0.5)) == 0.5
    assert at_least_zero(np.float32(0.5), name="it") == 0.5 and at_least_zero(0, name="it") == 0.0
    assert seed_value(np.int64(3)) == 3


def test_same_seed_and_name_give_same_numbers() -> None:
    first, again = (child_generator(7, "folds").random(20) for _ in range(2))
    assert np.array_equal(first, again) and child_seed(3, "a") == child_seed(3, "a")
    seeds = {child_seed(seed, name) for seed in range(50) for name in ("a", "b", "ab")}
    assert len(seeds) == 150 and all(0 <= seed < 2**32 for seed in seeds)
    draws = {child_generator(seed, name).random() for seed in range(50) for name in ("a", "b", "ab")}
    assert len(draws) == 150


@dataclass(frozen=True)
class Holder:
    """Something with an array in it."""

    numbers: npt.NDArray[np.float64]


@pytest.fixture
def people() -> AuditDataset:
    return dataset(200, seed=3)


def test_it_is_made_once_for_each_key_read_only_and_kept_while_asked_for(people: AuditDataset):
    calls: list[str] = []
    for key in ("a", "b", "a", "b"):
        assert people.once(key, lambda key=key: calls.append(key) or key.upper()) == key.upper()
    assert calls == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        people.once("failed", lambda: 1 / 0)
    assert people.once("failed", lambda: 2) == 2
    arrays = people.once("arrays", lambda: (np.zeros(2), [{"x": np.zeros(2)}], Holder(np.zeros(2))))
    for array in (arrays[0], arrays[1][0]["x"], arrays[2].numbers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for number in range(MAX_CACHED):
        people.once(number, lambda number=number: number)
    people.once(0, lambda: -1)
    people.once("one more", lambda: 0)
    assert people.once(0, lambda: -1) == 0
    assert people.once(1, lambda: -1) == -1


def test_all_threads_are_given_the_same(people: AuditDataset):
    objects: list[object] = []

    def make() -> object:
        time.sleep(0.01)
        return object()

    threads = [threading.Thread(target=lambda: objects.append(people.once("a", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(objects) == 8 and len({id(item) for item in objects}) == 1


def test_it_is_no_part_of_the_dataset(people: AuditDataset):
    before = repr(people)
    people.once("a", lambda: 1)
    assert repr(people) == before
    assert not {"_kept", "_lock", "once"} & {field.name for field in fields(people)}
    for copied in (replace(people), copy.copy(people), copy.deepcopy(people), pickle.loads(pickle.dumps(people))):
        assert copied.fingerprint == people.fingerprint
        assert copied.once("a", lambda: 2) == 2
    assert people.once("a", lambda: 3) == 1


def program(*, least: float = 0.0) -> tuple[cvxpy.Variable, cvxpy.Problem]:
    x = cvxpy.Variable(3)
    return x, cvxpy.Problem(cvxpy.Minimize(-cvxpy.sum(cvxpy.log(x))), [cvxpy.sum(x) == 1, x >= least])


def test_an_inaccurate_solution_is_one_and_no_solution_is_an_error() -> None:
    # warnings are errors here
    x, problem = program()
    solve(problem, tol_gap_abs=1e-17, tol_gap_rel=1e-17, tol_feas=1e-17)
    assert x.value == pytest.approx([1 / 3] * 3, abs=1e-6) and problem.status == cvxpy.OPTIMAL_INACCURATE
    with pytest.raises(FairLeakError, match="Clarabel gave up: infeasible"):
        solve(program(least=0.5)[1])
    with pytest.raises(FairLeakError, match="Clarabel gave up: user_limit"):
        solve(program()[1], max_iter=1)
