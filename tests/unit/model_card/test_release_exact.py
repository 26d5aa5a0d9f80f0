"""Every vector visited: the exact posterior, and the programs against it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from core.errors import InputError
from tests.oracles.exact_posterior import exact_posterior
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
