"""Validation, results, fingerprints, seeds, numbers in words, what goes with a dataset, and convex programs."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import cvxpy
import numpy as np
import numpy.typing as npt
import pytest

from core.datasets import AuditDataset
from core.datasets.dataset import MOST_KEPT
from core.errors import FairLeakError, InputError
from core.estimates import Estimate, count, epsilon_text, gap, interval, percent, points, proportion, tolerance_text
from core.fingerprint import fingerprint
from core.seeds import child_generator, child_seed
from core.serialize import Result
from core.solvers import solve
from core.validation import (
    at_least_zero,
    binary_array,
    positive_array,
    privacy_budget,
    seed_value,
    unit_interval,
)
from tests.samples import dataset


@pytest.mark.parametrize(
    ("check", "words", "refused"),
    [
        (unit_interval, "it must be ", [1.4, -0.1, math.nan, math.inf, "a", None]),
        (
            lambda value, name: privacy_budget(value),
            "epsilon must be at least 1e-06, or infinite",
            [0, -0.1, math.nan, -math.inf, "1", None, True, [1.0], 1j],
        ),
        (
            at_least_zero,
            "it must be a number of at least 0",
            [-0.1, math.nan, math.inf, "1", None, True, [1.0], 1j],
        ),
        (binary_array, "it must", [[0, 2], [0.5, 1], [[0, 1]], ["a"], [-1, 0], [256, 0], [math.nan, 1]]),
        (positive_array, "it must", [[0.0], [-1.0], [math.nan, 1.0], [math.inf], [[1.0]]]),
        (lambda value, name: seed_value(value), "seed must be a whole number", [-1, 2**32, 1.0, True, "1"]),
    ],
)
def test_all_else_is_refused(check: Callable[..., object], words: str, refused: list[object]) -> None:
    for value in refused:
        with pytest.raises(InputError, match=f"^{words}.*, got .") as caught:
            check(value, name="it")
        assert isinstance(value, list) or repr(value) in str(caught.value)


def test_numbers_of_numpy_are_numbers() -> None:
    assert privacy_budget(math.inf) == math.inf and privacy_budget(np.float32(0.5)) == 0.5
    assert at_least_zero(np.float32(0.5), name="it") == 0.5 and at_least_zero(0, name="it") == 0.0
    assert seed_value(np.int64(3)) == 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample(Result):
    rate: Estimate
    counts: np.ndarray
    by: dict[tuple[str, str], int]
    name: str = "a"


def test_results_become_plain_data() -> None:
    sample = _Sample(rate=proportion(1, 2), counts=np.array([1, 2]), by={("a", "b"): 3})
    plain = sample.to_dict()
    assert (plain["rate"]["value"], plain["counts"], plain["by"]) == (0.5, [1, 2], {"a/b": 3})
    assert sample.to_frame().to_dict("list") == {"name": ["name"], "value": ["a"]}


def test_fingerprints_see_every_part() -> None:
    base, again = (fingerprint("a", np.array([1, 2]), {"x": 1}, None) for _ in range(2))
    assert base == again
    others = [
        fingerprint("b", np.array([1, 2]), {"x": 1}, None),
        fingerprint("a", np.array([1, 3]), {"x": 1}, None),
        fingerprint("a", np.array([1.0, 2.0]), {"x": 1}, None),
        fingerprint("a", np.array([[1, 2]]), {"x": 1}, None),
        fingerprint("a", np.array([1, 2]), {"x": 2}, None),
        fingerprint("a", np.array([1, 2]), {"x": 1}),
        fingerprint("a", np.array([1, 2]), {"x": 1}, b""),
    ]
    assert len({base, *others}) == len(others) + 1


def test_numbers_are_written_as_the_sample_allows() -> None:
    assert percent(proportion(8290, 10_000)) == "82.9%"
    assert percent(proportion(83, 100)) == "83%"
    assert percent(math.nan) == "n/a"
    assert percent(0.5) == "50.0%"
    assert interval(proportion(8290, 10_000)) == "82.1 to 83.6%"
    assert points(0.07) == "+7.0 points"
    assert points(-0.0123) == "−1.2 points"
    assert points(0.0001) == "0.0 points"
    assert gap(-0.079) == "−0.079"
    assert count(15_375) == "15,375"
    assert (epsilon_text(math.inf), epsilon_text(0.05), epsilon_text(10.0)) == ("∞", "0.05", "10")
    assert [tolerance_text(v) for v in (0, 0.001, 0.2, 0.00042, 1e-6)] == [
        "0", "0.001", "0.2", "0.0004", "less than 0.0001",
    ]  # fmt: skip


def test_same_seed_and_name_same_numbers_another_name_or_seed_others() -> None:
    first, again = (child_generator(7, "folds").random(20) for _ in range(2))
    assert np.array_equal(first, again) and child_seed(3, "a") == child_seed(3, "a")
    seeds = {child_seed(seed, name) for seed in range(50) for name in ("a", "b", "ab")}
    assert len(seeds) == 150 and all(0 <= seed < 2**32 for seed in seeds)
    draws = {child_generator(seed, name).random() for seed in range(50) for name in ("a", "b", "ab")}
    assert len(draws) == 150


@dataclass(frozen=True)
class Kept:
    """Something with an array in it."""

    numbers: npt.NDArray[np.float64]


@pytest.fixture
def people() -> AuditDataset:
    return dataset(200, seed=3)


def test_it_is_made_once_for_each_key_read_only_and_kept_while_asked_for(people: AuditDataset):
    made: list[str] = []
    for key in ("a", "b", "a", "b"):
        assert people.once(key, lambda key=key: made.append(key) or key.upper()) == key.upper()
    assert made == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        people.once("failed", lambda: 1 / 0)
    assert people.once("failed", lambda: 2) == 2
    kept = people.once("arrays", lambda: (np.zeros(2), [{"x": np.zeros(2)}], Kept(np.zeros(2))))
    for array in (kept[0], kept[1][0]["x"], kept[2].numbers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
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


def program(*, least: float = 0.0) -> tuple[cvxpy.Variable, cvxpy.Problem]:
    x = cvxpy.Variable(3)
    return x, cvxpy.Problem(cvxpy.Minimize(-cvxpy.sum(cvxpy.log(x))), [cvxpy.sum(x) == 1, x >= least])


def test_an_inaccurate_solution_is_one_and_no_solution_is_an_error() -> None:
    # warnings are errors here
    x, own = program()
    solve(own, tol_gap_abs=1e-17, tol_gap_rel=1e-17, tol_feas=1e-17)
    assert x.value == pytest.approx([1 / 3] * 3, abs=1e-6) and own.status == cvxpy.OPTIMAL_INACCURATE
    with pytest.raises(FairLeakError, match="Clarabel gave up: infeasible"):
        solve(program(least=0.5)[1])
    with pytest.raises(FairLeakError, match="Clarabel gave up: user_limit"):
        solve(program()[1], max_iter=1)
