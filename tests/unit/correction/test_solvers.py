"""Every solver on the problem bank, and the promises all of them make."""

import math

import numpy as np
import pytest

from core.correction import correct, smallest_tolerance
from core.correction.problem import SOLVERS
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


def test_a_fair_guess_is_kept_and_not_aliased():
    guess = np.array([1, 1, 0, 0], dtype=np.uint8)
    result = correct(guess, [1, 0, 1, 0], tolerance=0.0)
    assert result.objective == 0.0 and not np.shares_memory(result.reconstruction, guess)
    assert not result.reconstruction.flags.writeable and guess.flags.writeable
