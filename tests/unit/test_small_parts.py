"""Numbers of numpy, seeds, what goes with a dataset, and convex programs."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cvxpy
import numpy as np
import numpy.typing as npt
import pytest

from core.base.errors import FairLeakError
from core.base.solvers import rescaled, solve
from core.base.validation import (
    child_generator,
    child_seed,
)
from core.datasets import AuditDataset
from tests.samples import dataset


def test_same_seed_and_name_give_same_numbers():
    first, again = (child_generator(7, "folds").random(20) for _ in range(2))
    assert np.array_equal(first, again) and child_seed(3, "a") == child_seed(3, "a")
    seeds = {child_seed(seed, name) for seed in range(50) for name in ("a", "b", "ab")}
    assert len(seeds) == 150 and all(0 <= seed < 2**32 for seed in seeds)
    assert len({child_generator(seed, "a").random() for seed in range(50)}) == 50


@dataclass(frozen=True)
class Holder:
    """Something with an array in it."""

    numbers: npt.NDArray[np.float64]


@pytest.fixture
def people() -> AuditDataset:
    return dataset(200, seed=3)


def test_it_is_made_once_for_each_key_and_again_where_it_failed(people):
    calls = []
    for key in ("a", "b", "a", "b"):
        assert people.once(key, lambda key=key: calls.append(key) or key.upper()) == key.upper()
    assert calls == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        people.once("failed", lambda: 1 / 0)
    assert people.once("failed", lambda: 2) == 2


def test_arrays_of_what_is_kept_are_read_only(people):
    arrays = people.once("arrays", lambda: (np.zeros(2), [{"x": np.zeros(2)}], Holder(np.zeros(2))))
    for array in (arrays[0], arrays[1][0]["x"], arrays[2].numbers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_all_threads_are_given_the_same(people):
    def make():
        time.sleep(0.01)
        return object()

    with ThreadPoolExecutor(8) as pool:
        objects = list(pool.map(lambda _: people.once("a", make), range(8)))
    assert len({id(item) for item in objects}) == 1


def program(*, least: float = 0.0) -> tuple[cvxpy.Variable, cvxpy.Problem]:
    x = cvxpy.Variable(3)
    return x, cvxpy.Problem(cvxpy.Minimize(-cvxpy.sum(cvxpy.log(x))), [cvxpy.sum(x) == 1, x >= least])


def test_an_inaccurate_solution_is_one_and_no_solution_is_an_error():
    # warnings are errors here
    x, problem = program()
    solve(problem, tol_gap_abs=1e-17, tol_gap_rel=1e-17, tol_feas=1e-17)
    assert x.value == pytest.approx([1 / 3] * 3, abs=1e-6) and problem.status == cvxpy.OPTIMAL_INACCURATE
    with pytest.raises(FairLeakError, match="Clarabel gave up: infeasible"):
        solve(program(least=0.5)[1])
    with pytest.raises(FairLeakError, match="Clarabel gave up: user_limit"):
        solve(program()[1], max_iter=1)


@pytest.mark.parametrize(
    ("objectives", "searches"),
    [((8.0, 2.0), 1), ((8.0, 1.9, 1.9), 2), ((0.0, 0.0), 1), ((64.0, 9.0, 1.0, 0.5), 3)],
    ids=["a fourth", "less", "nothing", "twice"],
)
def test_rescaled_searches_again_while_the_objective_falls_below_a_fourth(objectives, searches):
    """The objective is the first number before any search, and the next after each."""
    done = []

    def search():
        done.append(0.0)
        return float(len(done))

    bound = rescaled(lambda: objectives[min(len(done), len(objectives) - 1)], search, lambda: len(done) > 5)
    assert bound == len(done) == searches
