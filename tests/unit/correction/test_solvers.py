"""Every solver on the problem bank, and the promises all of them make."""

import math

import numpy as np
import pytest

from core.correction import correct, smallest_tolerance
from core.correction.problem import SOLVERS
from core.fairness import unfairness
from tests.problem_bank import HAND_SOLVED, adult_like, bank, brute_force, gap, parts

BANK = bank()


@pytest.mark.parametrize("problem", HAND_SOLVED, ids=lambda problem: problem.name)
def test_hand_solved_objectives_agree_with_brute_force(problem):
    told = (problem.guess, problem.predictions, problem.tolerance, problem.metric, problem.labels, problem.cost)
    assert brute_force(*told) == pytest.approx(problem.objective, rel=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("problem", BANK, ids=lambda problem: problem.name)
def test_bank(problem, solver):
    result = correct(**problem.arguments(), solver=solver)
    if math.isinf(problem.objective):
        assert result.certificate.status == "infeasible" and result.reconstruction is None
        assert result.smallest_tolerance > problem.tolerance
        if problem.smallest is not None:
            assert result.smallest_tolerance == pytest.approx(float(problem.smallest), rel=1e-14)
        return
    assert result.certificate.status == "optimal" and result.smallest_tolerance is None
    assert result.objective == pytest.approx(problem.objective, rel=1e-9)
    check_vector(problem, result)


def check_vector(problem, result):
    """Check a reconstruction in exact fractions, with nothing of core."""
    vector = result.reconstruction.tolist()
    changed = [i for i, (new, old) in enumerate(zip(vector, problem.guess, strict=True)) if new != old]
    inside = set()
    for rows in parts(problem.metric, problem.labels, len(vector)):
        reached = gap([problem.predictions[i] for i in rows], [vector[i] for i in rows])
        assert reached is not None and reached <= problem.tolerance
        inside.update(rows)
    assert set(changed) <= inside and result.n_changed == len(changed)
    cost = problem.cost or [1.0] * len(vector)
    assert result.objective == pytest.approx(math.fsum(cost[i] for i in changed), rel=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_record_order_and_group_names_do_not_matter(solver):
    arguments = adult_like(300, exponent=3)
    base = correct(**arguments, tolerance=0.01, solver=solver)
    order = np.random.default_rng(1).permutation(300)
    shuffled = correct(**{key: value[order] for key, value in arguments.items()}, tolerance=0.01, solver=solver)
    swapped = correct(**(arguments | {"guess": 1 - arguments["guess"]}), tolerance=0.01, solver=solver)
    assert base.objective > 0
    assert shuffled.objective == pytest.approx(base.objective, rel=1e-12)
    assert np.array_equal(shuffled.reconstruction, base.reconstruction[order])  # costs are distinct
    assert np.array_equal(1 - swapped.reconstruction, base.reconstruction)


@pytest.mark.parametrize(("n", "tolerance"), [(15_375, 0.001), (15_375, 0.02), (15_376, 0.0)])
@pytest.mark.parametrize("exponent", [0, 6, 60])
def test_integer_program_agrees_with_exact_at_the_size_of_adult(n, tolerance, exponent):
    arguments = adult_like(n, exponent=exponent)
    arguments["predictions"][:] = 0
    arguments["predictions"][np.random.default_rng(2).permutation(n)[: n // 5 // 4 * 4]] = 1
    exact, ilp = (correct(**arguments, tolerance=tolerance, solver=solver) for solver in ("exact", "ilp"))
    assert exact.certificate.status == ilp.certificate.status
    if exact.certificate.status == "infeasible":
        assert exact.smallest_tolerance == ilp.smallest_tolerance == smallest_tolerance(arguments["predictions"])
        return
    assert exact.certificate.status == "optimal"
    assert ilp.objective == pytest.approx(exact.objective, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_certificate_describes_the_vector(solver):
    arguments = adult_like(400)
    result = correct(**arguments, tolerance=0.005, solver=solver)
    changed = result.reconstruction != arguments["guess"]
    assert result.certificate.objective == result.objective == pytest.approx(arguments["cost"][changed].sum())
    assert result.certificate.best_bound == pytest.approx(result.objective, rel=1e-9)
    assert result.certificate.residual == 0.0 and result.certificate.seconds > 0
    reached = unfairness(arguments["predictions"], result.reconstruction, metric="statistical_parity")
    assert reached <= 0.005 < unfairness(arguments["predictions"], arguments["guess"], metric="statistical_parity")


def test_equal_costs_are_taken_in_record_order():
    guess, predictions = np.zeros(12, dtype=np.uint8), np.array([1, 0] * 6, dtype=np.uint8)
    guess[1] = guess[3] = guess[5] = 1  # group 1 has only records predicted 0
    result = correct(guess, predictions, tolerance=0.0)
    assert np.flatnonzero(result.reconstruction != guess).tolist() in ([0, 2, 4], [0, 2, 1], [0, 1, 2], [0, 1, 3])
    assert result.n_changed == 3


def test_a_fair_guess_is_kept_and_not_aliased():
    guess = np.array([1, 1, 0, 0], dtype=np.uint8)
    result = correct(guess, [1, 0, 1, 0], tolerance=0.0)
    assert result.objective == 0.0 and not np.shares_memory(result.reconstruction, guess)
    assert not result.reconstruction.flags.writeable and guess.flags.writeable


def test_result_turns_into_plain_data():
    result = correct([1, 1, 0, 0], [1, 1, 0, 0], tolerance=0.0)
    told = result.to_dict()
    assert told["certificate"]["status"] == "optimal" and len(told["reconstruction"]) == 4
    assert set(result.certificate.to_frame()["name"]) >= {"status", "objective", "best_bound", "residual"}
