"""Ways of answering: limiting cases, scales by hand, the public grid, and what cannot be asked."""

import math

import cvxpy
import numpy as np
import pytest

from core.base.errors import InputError
from core.studies.bias_queries import (
    Exact,
    LaplaceGlobal,
    NoisySums,
    SmoothCauchy,
    SmoothLaplace,
    global_sensitivity,
    smooth_sensitivity,
    statistical_parity_gap,
)
from core.studies.bias_queries.gaps import design_scores, local_sensitivity
from core.studies.bias_queries.mechanisms import public_grid
from tests.reference.table_1 import printed_smooth_sensitivity
from tests.unit.queries.people import neighbours, vectors, weights

NOISY = [LaplaceGlobal, SmoothCauchy, lambda e, **k: SmoothLaplace(e, 1e-5, **k), NoisySums]


def case(seed=0, *, n=40, m=6, n0=12):
    rng = np.random.default_rng(seed)
    a = np.ones(n, dtype=int)
    a[rng.permutation(n)[:n0]] = 0
    return rng.random((m, n)), a, rng


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("make", [lambda e, **k: Exact(**k), *NOISY])
def test_without_noise_the_answer_is_the_gap(make, absolute):
    h, a, rng = case()
    truth = statistical_parity_gap(h, a)
    answer = make(math.inf, absolute=absolute).answer(h, a, rng=rng)
    assert answer == pytest.approx(np.abs(truth) if absolute else truth, abs=1e-12)


def test_scales_by_hand():
    assert LaplaceGlobal(5).scale(90, 10, 25) == pytest.approx((12.5 + 25 / 99) / 5)
    decayed = math.exp(-5 / 150 * 8) * (12.5 + 25 / 99)
    assert SmoothCauchy(5).scale(90, 10, 25) == pytest.approx(6 * decayed / 5) == pytest.approx(11.7, abs=0.05)
    beta = 5 / (4 * (25 + math.log(2 / 1e-5)))
    assert SmoothLaplace(5, 1e-5).scale(90, 10, 25) == pytest.approx(2 * math.exp(-8 * beta) * (12.5 + 25 / 99) / 5)
    for make in NOISY[:3]:
        assert make(5).scale(90, 10, 25) == make(5).scale(10, 90, 25)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("make", NOISY)
def test_answers_lie_on_a_grid_that_does_not_depend_on_the_attribute(make, absolute):
    mechanism = make(1.0, absolute=absolute)
    h, _, rng = case(m=3)
    for n0 in (1, 7, 20, 33, 39):
        a = (np.arange(40) >= n0).astype(int)
        if isinstance(mechanism, NoisySums):
            count_scale, sum_scale = mechanism.scales(h)
            (seen,) = mechanism.count_and_sums(h, a, rng, 1)
            cells = seen / np.append(public_grid(count_scale), [public_grid(sum_scale)] * 3)
        else:
            grid = mechanism.grid(40, 3)
            assert math.log2(grid).is_integer() and grid <= mechanism.scale(40 - n0, n0, 3) / 1000
            cells = mechanism.answer(h, a, rng=rng) / grid
        assert np.array_equal(cells, np.rint(cells))


@pytest.mark.parametrize("scale", [0.001, 0.75, 1.0, 3.0])
def test_public_grid_is_the_largest_power_of_two_in_1024_parts_of_the_scale(scale):
    grid = public_grid(scale)
    assert math.log2(grid).is_integer() and grid <= scale / 1024 < 2 * grid


def laplace_cdf(x):
    return np.where(x < 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


@pytest.mark.parametrize(
    ("mechanism", "cdf"),
    [
        (LaplaceGlobal(2.0), laplace_cdf),
        (SmoothLaplace(2.0, 0.1), laplace_cdf),
        (SmoothCauchy(2.0), lambda x: 0.5 + np.arctan(x) / np.pi),
    ],
    ids=["global", "smooth Laplace", "smooth Cauchy"],
)
def test_the_noise_has_the_law_it_claims(mechanism, cdf):
    h, a, rng = case(m=2)
    answers = mechanism.draws(h, a, rng=rng, draws=40_000)
    noise = (answers - statistical_parity_gap(h, a)) / mechanism.scale(28, 12, 2)
    ranks = (np.arange(40_000) + 0.5)[:, np.newaxis] / 40_000
    assert np.abs(cdf(np.sort(noise, axis=0)) - ranks).max() < 0.0095  # Kolmogorov at a level of about 0.001
    assert abs(np.corrcoef(np.sign(noise.T))[0, 1]) < 0.02


@pytest.mark.parametrize("make", NOISY)
def test_epsilon_is_refused_where_noise_is_too_small_to_be_cut_off(make):
    """At ε = 10¹⁵ the cut would lie at gaps of .0005."""
    with pytest.raises(InputError, match=r"epsilon must be at most 1,000,000, or infinity for no noise, got"):
        make(1e15)
    h, a, rng = case()
    assert make(1e6).answer(h, a, rng=rng) == pytest.approx(Exact().exact(h, a), abs=0.01)


def test_noisy_sums_answer_about_two_people():
    (answer,) = NoisySums(math.inf).answer([[0.25, 1.0]], [0, 1], rng=np.random.default_rng(1))
    assert answer == pytest.approx(0.75)


BASE = np.array([0.0, 0.05, 0.5, 0.97, 1.0])


def test_jitter_moves_scores_by_a_tenth_at_most():
    scores = design_scores("jitter", BASE, 4000, rng=np.random.default_rng(0))
    assert (np.abs(scores - BASE) <= 0.1).all()
    middle = scores[:, 2] - 0.5
    assert middle.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.05)
    assert abs(middle.mean()) < 0.005
    assert (scores[:, 0] == 0).mean() == pytest.approx(0.5, abs=0.05)  # what was clipped


def test_random_binary_tosses_a_coin():
    scores = design_scores("random_binary", BASE, 4000, rng=np.random.default_rng(0))
    assert set(np.unique(scores)) == {0.0, 1.0}
    assert scores.mean(axis=0) == pytest.approx(0.5, abs=0.05)


def test_targeted_flips_one_person_a_question():
    scores = design_scores("targeted", BASE, 6, rng=np.random.default_rng(0))
    expected = np.where(np.eye(5), 1 - BASE, BASE)
    assert scores == pytest.approx(np.vstack([BASE, expected]))


BETAS = (0.0, 0.1, 1.0, math.inf)


def largest_move(a, b, *, absolute):
    """Return the largest change of a gap from a to b that any scores h in [0, 1] can make.

    Signed: the positive (or negative) part of the change of v, at binary scores. Absolute: the largest of
    ±h·v(b) − |h·v(a)| over both signs, and the same with a, b swapped.
    """
    v, w = weights(a), weights(b)
    if not absolute:
        return float(max(np.maximum(w - v, 0).sum(), np.maximum(v - w, 0).sum()))
    h = cvxpy.Variable(len(a), bounds=[0, 1])
    moves = [far @ h - cvxpy.abs(near @ h) for far, near in ((w, v), (-w, v), (v, w), (-v, w))]
    return max(cvxpy.Problem(cvxpy.Maximize(move)).solve(solver=cvxpy.SCIPY) for move in moves)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("n", [3, 4, 7])
def test_local_and_global_are_what_brute_force_finds(n, absolute):
    """By symmetry one vector stands for all of a size."""
    largest = []
    for n0 in range(1, n):
        a = (0,) * n0 + (1,) * (n - n0)
        sizes = {sum(b): b for b in neighbours(a)}
        largest.append(max(largest_move(a, b, absolute=absolute) for b in sizes.values()))
        assert local_sensitivity(n - n0, n0, 3, absolute=absolute) == pytest.approx(3 * largest[-1], rel=1e-9)
    assert global_sensitivity(n, 3, absolute=absolute) == pytest.approx(3 * max(largest), rel=1e-9)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("n", [3, 6, 9])
def test_smooth_is_the_definition_over_all_vectors(n, beta, absolute):
    everybody = vectors(n)
    values = np.array([local_sensitivity(a.sum(), n - a.sum(), 1, absolute=absolute) for a in everybody.astype(int)])
    for n0 in range(1, n):
        a = np.array((0,) * n0 + (1,) * (n - n0))
        distance = (everybody != a).sum(axis=1)
        decay = np.where(distance == 0, 1.0, np.exp(-beta * np.maximum(distance, 1)))
        expected = float((values * decay).max())
        assert smooth_sensitivity(n - n0, n0, 2, beta, absolute=absolute) == pytest.approx(2 * expected, rel=1e-9)


@pytest.mark.parametrize("n0", [2, 3, 17, 49])
def test_smooth_is_the_published_form_where_the_paper_is_right(n0):
    for beta in (0.01, 0.2, 4.0):
        printed = printed_smooth_sensitivity(100 - n0, n0, 25, beta)
        assert smooth_sensitivity(100 - n0, n0, 25, beta) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize(
    ("sensitive", "composition"), [([1, 1, 1], "all 3 are 1"), ([0, 0], "all 2 are 0"), ([], "nobody")]
)
def test_statistical_parity_gap_refuses_one_group_alone(sensitive, composition):
    with pytest.raises(InputError, match=composition):
        statistical_parity_gap(np.full((2, len(sensitive)), 0.5), sensitive)
