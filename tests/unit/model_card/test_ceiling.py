"""What no attacker with a prior can exceed: beside every vector of memberships, and every private mechanism."""

from __future__ import annotations

import itertools
import math

import cvxpy
import numpy as np
import pytest

from core.studies.model_card import Release, accuracy_under, ceiling, project
from core.studies.model_card.meter import exact_posterior
from tests.oracles.exact_posterior import exact_posterior as by_every_vector
from tests.release_samples import invented, small_case


@pytest.mark.parametrize("sizes", [True, False])
@pytest.mark.parametrize("precision", ["exact", "rounded"])
def test_the_posterior_is_that_of_every_vector(precision: str, sizes: bool):
    for seed in range(30):
        case = small_case(seed, precision=precision, sizes=sizes)
        exact = exact_posterior(case.posterior, case.published)
        assert exact == pytest.approx(by_every_vector(case.posterior, case.published), abs=1e-9)


def test_a_rate_says_that_there_are_both_groups():
    """Two of four are accepted, and half of group 1: it has two people, although all four would have that rate, too."""
    typed = invented(Release([1, 1, 0, 0], statistics=("sp_rate",)), {("model 1", "sp_rate_1"): 0.5})
    assert exact_posterior(np.full(4, 0.9), typed) == pytest.approx(np.full(4, 0.5))
    assert project(np.full(4, 0.9), typed).probability == pytest.approx(np.full(4, 0.5))


@pytest.mark.parametrize("seed", range(4))
def test_no_guess_of_all_is_better_than_the_ceiling(seed: int):
    case = small_case(seed + 70, precision="rounded")
    n, posterior = case.release.n, by_every_vector(case.posterior, case.published)
    expected = [np.where(guess, posterior, 1 - posterior).mean() for guess in itertools.product((0, 1), repeat=n)]
    bound = ceiling(case.posterior, case.published)
    assert bound is not None and bound.exact and bound.accuracy == pytest.approx(max(expected), abs=1e-9)
    projected = project(case.posterior, case.published).probability > 0.5
    assert np.where(projected, posterior, 1 - posterior).mean() <= bound.accuracy + 1e-9
    assert bound.accuracy >= np.where(case.posterior > 0.5, posterior, 1 - posterior).mean() - 1e-9


@pytest.mark.parametrize("wrong", [0.0, 0.4])
def test_hundreds_of_people_keep_to_the_published_counts(wrong: float):
    """Also where the prior is wrong, and the counts are far out in the tails of their laws."""
    rng = np.random.default_rng(3)
    q = np.concatenate([rng.uniform(0, 1 - wrong, 296), [0.0, 1.0, 1e-9, 1 - 1e-9]])
    sensitive, accepts = (rng.random(300) < q + wrong).astype(np.uint8), (rng.random(300) < 0.4).astype(np.uint8)
    sensitive[[296, 298]] = 0
    release = Release(accepts, statistics=("sp_gap",))
    exact = exact_posterior(q, release.publish(sensitive))
    assert exact is not None and exact[[296, 297]].tolist() == [0.0, 1.0]
    for h in (0, 1):
        assert exact[accepts == h].sum() == pytest.approx(sensitive[accepts == h].sum(), abs=1e-6)


@pytest.mark.parametrize("prior", [0.1, 0.4, 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0])
def test_no_private_output_is_worth_more(prior: float, epsilon: float):
    """The best of all ε-private mechanisms with four outputs, by a linear program for each number guessed to be 1."""
    law = cvxpy.Variable((2, 4), nonneg=True)
    private = [law[a] <= math.exp(epsilon) * law[1 - a] for a in (0, 1)]
    best = 0.0
    for ones in range(5):
        right = (1 - prior) * cvxpy.sum(law[0, ones:]) + prior * cvxpy.sum(law[1, :ones])
        program = cvxpy.Problem(cvxpy.Maximize(right), [cvxpy.sum(law, axis=1) == 1, *private])
        best = max(best, program.solve(solver=cvxpy.SCIPY))
    assert accuracy_under([prior], epsilon) == pytest.approx(best, abs=1e-9)


def test_under_noise_the_ceiling_is_the_guarantee_whatever_came_out():
    q, accepts = np.array([0.3, 0.5, 0.6, 0.45]), np.array([1, 0, 1, 1])
    release = Release(accepts, statistics=("sp_gap",), epsilon=1.5)
    for seed, sensitive in enumerate(([1, 0, 0, 1], [1, 1, 0, 0])):
        bound = ceiling(q, release.publish(sensitive, rng=np.random.default_rng(seed)))
        assert bound is not None and not bound.exact and bound.accuracy == accuracy_under(q, 1.5)
