"""Ways of answering: limiting cases, scales by hand, the public grid, and what cannot be asked."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.base.errors import InputError
from core.studies.bias_queries import (
    Exact,
    LaplaceGlobal,
    NoisySums,
    SmoothCauchy,
    SmoothLaplace,
    statistical_parity_gap,
)
from core.studies.bias_queries.mechanisms import public_grid

NOISY = [LaplaceGlobal, SmoothCauchy, lambda e, **k: SmoothLaplace(e, 1e-5, **k), NoisySums]


def case(seed: int = 0, *, n: int = 40, m: int = 6, n0: int = 12):
    rng = np.random.default_rng(seed)
    a = np.ones(n, dtype=int)
    a[rng.permutation(n)[:n0]] = 0
    return rng.random((m, n)), a, rng


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("make", [lambda e, **k: Exact(**k), *NOISY])
def test_without_noise_the_answer_is_the_gap(make, absolute: bool):
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
def test_answers_lie_on_a_grid_that_does_not_depend_on_the_attribute(make, absolute: bool):
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
def test_public_grid_is_the_largest_power_of_two_in_1024_parts_of_the_scale(scale: float):
    grid = public_grid(scale)
    assert math.log2(grid).is_integer() and grid <= scale / 1024 < 2 * grid


def test_the_noise_has_the_law_it_claims():
    h, a, rng = case(m=2)
    truth = statistical_parity_gap(h, a)
    for mechanism, cdf in (
        (LaplaceGlobal(2.0), lambda x: np.where(x < 0, np.exp(x) / 2, 1 - np.exp(-np.abs(x)) / 2)),
        (SmoothLaplace(2.0, 0.1), lambda x: np.where(x < 0, np.exp(x) / 2, 1 - np.exp(-np.abs(x)) / 2)),
        (SmoothCauchy(2.0), lambda x: 0.5 + np.arctan(x) / np.pi),
    ):
        noise = (mechanism.draws(h, a, rng=rng, draws=40_000) - truth) / mechanism.scale(28, 12, 2)
        expected = cdf(np.sort(noise, axis=0))
        ranks = (np.arange(40_000) + 0.5)[:, np.newaxis] / 40_000
        assert np.abs(expected - ranks).max() < 0.0095  # Kolmogorov at a level of about 0.001
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
