"""Every vector visited: the exact posterior, and the programs against it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from core.errors import InputError
from core.model_card import Release
from tests.oracles.exact_posterior import exact_posterior
from tests.oracles.most_probable import most_probable
from tests.release_cases import Case, large_case, small_case


def agreeing(case: Case) -> list[tuple[int, ...]]:
    """Return all vectors that would have been published the same, told by publishing them."""
    wanted = [number.value for number in case.published.numbers]
    found = []
    for vector in product((0, 1), repeat=case.release.n):
        try:
            told = [number.value for number in case.release.publish(np.array(vector)).numbers]
        except InputError:
            continue  # a group would be empty
        if np.allclose(told, wanted, atol=1e-9):
            found.append(vector)
    return found


def small_enough(precision: str, sizes: bool) -> Case:
    return next(
        case
        for case in (small_case(seed, precision=precision, sizes=sizes) for seed in range(50, 200))
        if case.release.n <= 8 and case.release.statistics == ("sp_gap",)
    )


@pytest.mark.parametrize("sizes", [True, False])
@pytest.mark.parametrize("precision", ["exact", "rounded"])
def test_the_exact_posterior_is_the_prior_among_vectors_that_agree(precision: str, sizes: bool):
    case = small_enough(precision, sizes)
    vectors = np.array(agreeing(case))
    assert case.sensitive.tolist() in vectors.tolist() and len(vectors) > 1
    weight = np.where(vectors == 1, case.posterior, 1 - case.posterior).prod(axis=1)
    assert exact_posterior(case.posterior, case.published) == pytest.approx(weight @ vectors / weight.sum(), abs=1e-12)


def test_little_noise_is_as_good_as_none_and_much_says_nothing():
    case = small_case(3, precision="exact")
    for epsilon, said in ((1e5, exact_posterior(case.posterior, case.published)), (1e-4, case.posterior)):
        noisy = case.release.with_precision(epsilon=epsilon).publish(case.sensitive, rng=np.random.default_rng(0))
        assert exact_posterior(case.posterior, noisy) == pytest.approx(said, abs=0.02)


def test_more_people_than_can_be_visited():
    case = large_case(0, n=30, k=1)
    with pytest.raises(InputError, match="up to 20 people, got 30"):
        exact_posterior(case.posterior, case.published)


@pytest.mark.parametrize("precision", ["exact", "rounded"])
def test_the_integer_program_finds_the_most_probable_vector(precision: str):
    for seed in range(8):
        case = small_case(seed, precision=precision)
        if case.release.n > 8:
            continue
        vectors = np.array(agreeing(case))
        best = np.log(np.where(vectors == 1, case.posterior, 1 - case.posterior)).sum(axis=1).max()
        found = most_probable(case.posterior, case.published, solver="milp")
        assert found.certificate.status == "optimal" and found.vector is not None and found.relaxed is None
        assert found.certificate.objective == pytest.approx(best, abs=1e-6)
        assert found.certificate.residual == 0 and found.vector.tolist() in vectors.tolist()
        relaxed = most_probable(case.posterior, case.published)
        assert relaxed.certificate.best_bound is not None and relaxed.certificate.best_bound >= best - 1e-6


def test_the_linear_program_leaves_few_fractions():
    case = large_case(1, n=2000, k=5)
    found = most_probable(case.posterior, case.published)
    assert found.relaxed is not None and found.vector is not None
    broken = ((found.relaxed > 1e-6) & (found.relaxed < 1 - 1e-6)).sum()
    assert broken <= 12  # two sizes and two independent numbers a model
    assert (found.vector == (found.relaxed > 0.5)).all()


def test_with_noise_the_most_probable_vector_balances_both():
    for seed in range(6):
        case = small_case(seed, precision="noisy")
        found = most_probable(case.posterior, case.published, solver="milp")
        noise = case.published.noise
        assert found.vector is not None and noise is not None and found.certificate.status == "optimal"
        vectors = np.array(list(product((0, 1), repeat=case.release.n)))
        said = np.log(np.where(vectors == 1, case.posterior, 1 - case.posterior)).sum(axis=1)
        for i, part in enumerate(noise.parts):
            inside = vectors * case.release.mask(part)
            said -= np.abs(inside.sum(axis=1) - noise.sizes[i]) / noise.scale
            said -= np.abs(inside @ case.release.predictions.T - noise.sums[i]).sum(axis=1) / noise.scale
        assert found.certificate.objective == pytest.approx(said.max(), abs=1e-6)


def test_programs_refuse_what_they_cannot_do():
    case = large_case(2, n=600, k=1)
    with pytest.raises(InputError, match="at most 500 people, got 600"):
        most_probable(case.posterior, case.published, solver="milp")
    with pytest.raises(InputError, match="solver must be one of lp, milp"):
        most_probable(case.posterior, case.published, solver="simplex")


def test_no_time_is_told_and_not_believed():
    case = large_case(3, n=200, k=12)
    found = most_probable(case.posterior, case.published, solver="milp", time_limit=0.0)
    assert found.certificate.status in ("not_solved", "feasible", "optimal")
    if found.vector is None:
        assert found.certificate.objective is None


def test_certain_people_stay_in_the_most_probable_vector():
    release = Release(np.array([[1, 1, 0, 0]]), statistics=("sp_gap",))
    published = release.publish(np.array([1, 0, 1, 0]))
    found = most_probable(np.array([0.0, 0.4, 0.5, 1.0]), published, solver="milp")
    assert found.vector is not None and found.vector.tolist() == [0, 1, 0, 1]
