"""Recovery by linear programs: against brute force, against what is planted, and the solver's word checked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import _constraints, linprog

from core.errors import InputError
from core.queries import statistical_parity_gap
from core.queries.reveal import RECOVERY_METHODS, recover_compressed, solve_program
from tests.unit.queries.people import asked, attribute, sizes, vectors


def optimum(scores: np.ndarray, target: np.ndarray, method: str, n_disadvantaged: int, slack: float) -> float:
    """Return the optimum of a program by its dual, through interior points: another formulation, another algorithm."""
    (m, n), free = scores.shape, (None, None)
    rows = {"l1": [scores.T, -scores.T], "nonnegative": [scores.T], "box": [scores.T]}[method]
    left = np.vstack(rows)
    if method == "box":  # the sum's price, then a price for each upper bound
        left = np.hstack([left, np.ones((n, 1)), -np.eye(n)])
        gain = np.concatenate([target, [n_disadvantaged], -np.ones(n)])
        bounds = [free] * (m + 1) + [(0, None)] * n
    else:
        gain, bounds = target, [free] * m
    if slack:  # prices of either end of each range
        left = np.hstack([left[:, :m], -left[:, :m], left[:, m:]])
        gain = np.concatenate([gain[:m] - slack, -(gain[:m] + slack), gain[m:]])
        bounds = [(0, None)] * (2 * m) + bounds[m:]
    found = linprog(-gain, A_ub=left, b_ub=np.ones(len(left)), bounds=bounds, method="highs-ipm")
    assert found.status == 0
    return -float(found.fun)


@pytest.mark.parametrize("slack", [0.0, 0.01])
@pytest.mark.parametrize("method", ["l1", "nonnegative", "box"])
def test_the_optimum_is_that_of_the_dual(method: str, slack: float):
    for seed in range(4):
        a = attribute(40, 9, seed)
        scores, answers = asked(a, 12, seed=seed)
        c = 1 / 31 + 1 / 9
        found = recover_compressed(scores, answers, method=method, slack=slack, **sizes(a))
        target = (scores.sum(axis=1) / 31 - answers) / c
        reached = np.abs(found.values / c).sum()
        assert reached == pytest.approx(optimum(scores, target, method, 9, slack / c), abs=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_box_with_prior_is_the_most_probable_vector(seed: int):
    """Against brute force over all vectors: the program's optimum is never less likely, and equal when it is whole."""
    rng = np.random.default_rng(seed)
    a = attribute(10, 4, seed)
    scores, answers = asked(a, 3, seed=seed)
    prior = rng.uniform(0.05, 0.95, 10)
    told = np.round(answers, 2)
    fitting = [
        v
        for v in vectors(10)
        if v.sum() == 6 and (np.abs(statistical_parity_gap(scores, v) - told) <= 0.005 + 1e-12).all()
    ]
    best = max(np.log(prior[v == 1]).sum() + np.log(1 - prior[v == 0]).sum() for v in fitting)
    found = recover_compressed(scores, told, method="box", prior=prior, slack=0.005, **sizes(a))
    x = found.values / (2 * found.threshold)
    reached = float(((1 - x) * np.log(prior) + x * np.log(1 - prior)).sum())
    assert reached >= best - 1e-6
    if np.abs(x - np.round(x)).max() < 1e-6:
        assert reached == pytest.approx(best)


def test_rounded_answers_contradict_each_other_without_slack():
    a = attribute(20, 5)
    scores, answers = asked(a, 40)
    found = recover_compressed(scores, np.round(answers, 2), method="box", **sizes(a))
    assert found.status == "infeasible" and found.values is None and found.threshold is None
    assert found.reason == "No attributes explain every answer."
    assert (found.recovered == 1).all()  # the larger group


SCORES, ANSWERS = np.full((2, 4), 0.5), np.zeros(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": [0.1]}, r"answers must have one value for each of 2 questions, got 1."),
        ({"answers": [0.1, np.nan]}, "answers must be finite, got nan."),
        ({"answers": ["a", "b"]}, "answers must be numbers, one a question."),
        ({"scores": SCORES + 1}, r"scores must be in \[0, 1\], got 1.5."),
        ({"method": "guess"}, "method must be one of l1, nonnegative, box, sizes_unknown, got 'guess'."),
        ({"n_advantaged": None}, "n_advantaged and n_disadvantaged are needed, except with the method sizes_unknown."),
        ({"n_advantaged": 1}, "n_advantaged and n_disadvantaged must sum to 4 people, got 1 and 2."),
        ({"n_advantaged": 4, "n_disadvantaged": 0}, "n_disadvantaged must be a whole number of at least 1, got 0."),
        ({"slack": -0.1}, "slack must be at least 0, got -0.1."),
        ({"prior": np.full(4, 0.5)}, "A prior needs the method box, got l1."),
        (
            {"prior": np.full(3, 0.5), "method": "box"},
            r"prior must have one probability .* got shape \(3,\).",
        ),
        ({"prior": np.array([0.5, 0.5, 0.5, 2]), "method": "box"}, r"prior must be in \[0, 1\], got 2.0."),
        ({"prior": 0.5, "method": "box"}, r"prior must have one probability .* got shape \(\)."),
    ],
)
def test_unusable_input_is_told(change, message):
    given = {"scores": SCORES, "answers": ANSWERS, "n_advantaged": 2, "n_disadvantaged": 2, **change}
    with pytest.raises(InputError, match=message):
        recover_compressed(given.pop("scores"), given.pop("answers"), **given)


def test_unknown_sizes_are_found():
    for n_disadvantaged in (1, 7, 30):
        a = attribute(100, n_disadvantaged)
        scores, answers = asked(a, 80)
        found = recover_compressed(scores, answers, method="sizes_unknown")
        assert found.threshold == pytest.approx((1 / n_disadvantaged + 1 / (100 - n_disadvantaged)) / 2)
        assert (found.recovered == a).all()


@pytest.mark.parametrize("method", RECOVERY_METHODS)
def test_the_attribute_is_read_off_at_the_threshold(method: str):
    a = attribute(100, 12)
    scores, answers = asked(a, 20)
    found = recover_compressed(scores, answers, method=method, **sizes(a))
    assert (found.recovered == (found.values <= found.threshold)).all()
    between = (found.values > 0.1 * found.threshold) & (found.values < 1.9 * found.threshold)
    assert between.sum() > 5  # too few answers: not everybody is at 0 or c


COST, MATRIX, RIGHT = np.ones(3), np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]), np.array([1.0, 1.0])


def test_an_optimum_has_its_numbers():
    found = solve_program(COST, MATRIX, RIGHT, RIGHT)
    assert found.status == "recovered" and found.reason == ""
    assert found.x == pytest.approx([1, 0, 1]) or found.x == pytest.approx([0, 2, 0])


def test_ranges_and_bounds():
    found = solve_program(np.array([-1.0, -0.5, -1.0]), MATRIX, RIGHT - 0.1, RIGHT + 0.2, upper=0.9)
    assert found.x == pytest.approx([0.9, 0.6, 0.9])


def test_contradicting_rows_are_infeasible():
    right = np.array([1.0, 1.0, 2.0, 1.0])
    found = solve_program(COST, np.vstack([MATRIX, MATRIX]), right, right)
    assert found.x is None and found.status == "infeasible"


def test_time_may_run_out():
    rng = np.random.default_rng(0)
    matrix = rng.random((150, 600))
    right = matrix @ (rng.random(600) < 0.1)
    found = solve_program(np.ones(600), matrix, right, right, time_limit=1e-3)
    assert found.x is None and found.status == "not_solved" and found.reason.startswith("The solver stopped: ")


def test_a_wrong_solution_is_not_passed_on(monkeypatch: pytest.MonkeyPatch):
    real = scipy.optimize.milp

    def lying(*args, **keywords):
        found = real(*args, **keywords)
        found.x = found.x + 0.01
        return found

    monkeypatch.setattr(scipy.optimize, "milp", lying)
    found = solve_program(COST, MATRIX, RIGHT, RIGHT)
    assert found.x is None and found.status == "not_solved"
    assert found.reason == "The solver's solution does not meet the answers."


def test_a_program_leaves_other_threads_warnings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What scipy does inside is done to the whole process: a model trained meanwhile would fail on a warning."""
    entered = []

    class Watched(warnings.catch_warnings):
        def __enter__(self):
            entered.append(True)
            return super().__enter__()

    monkeypatch.setattr(_constraints, "catch_warnings", Watched)
    assert solve_program(np.ones(3), np.eye(3)[:2], np.ones(2), np.ones(2)).status == "recovered"
    assert not entered
