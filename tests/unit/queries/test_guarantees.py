"""What mechanisms promise, proved by brute force, and guarantees against all attackers, draws and neighbours."""

import itertools
import math
from dataclasses import replace

import cvxpy
import numpy as np
import pytest

from core.studies.bias_queries import (
    Exact,
    LaplaceGlobal,
    NoisySums,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
    accuracy_limit,
    largest_loss,
    statistical_parity_gap,
    targeted_leakage,
)
from core.studies.bias_queries.guarantees import (
    accuracy_limit_with_prior,
    answer_error,
    exact_accuracy_limit,
    prior_given_sizes,
)
from tests.oracles.privacy_loss import privacy_loss
from tests.unit.queries.people import neighbours, weights, with_ones


def best_attacker(prior, epsilon, delta):
    """Return the largest balanced accuracy over all guesses allowed by (ε, δ), by a linear program.

    Unknown: for each person the chance of the guess "advantaged" if she is (α) and if she is not (β). Each event's
    chances, the guess and its opposite, may differ by a factor of e^ε and then by δ at most, either way round.
    """
    alpha, beta = cvxpy.Variable(len(prior)), cvxpy.Variable(len(prior))
    pairs = [(alpha, beta), (beta, alpha), (1 - beta, 1 - alpha), (1 - alpha, 1 - beta)]
    limits = [near <= math.exp(epsilon) * far + delta for near, far in pairs]
    limits += [near >= 0 for near, _ in pairs]
    right = prior @ alpha / prior.sum() + (1 - prior) @ (1 - beta) / (1 - prior).sum()
    return float(cvxpy.Problem(cvxpy.Maximize(right / 2), limits).solve(solver=cvxpy.SCIPY))


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("half_width", [0.0, 0.05])
@pytest.mark.parametrize(("n_advantaged", "m"), [(2, 1), (5, 1), (3, 2)])
def test_no_guess_is_better_than_the_exact_posterior(n_advantaged, m, half_width, absolute):
    rng = np.random.default_rng(n_advantaged)
    n, prior, scores = 7, rng.uniform(0.05, 0.95, 7), rng.random((m, 7))
    groups = with_ones(n, n_advantaged)
    gaps = np.array([statistical_parity_gap(scores, a) for a in groups])
    seen = np.abs(gaps) if absolute else gaps
    answers = seen[3] + 0.9 * half_width
    agrees = (np.abs(seen - answers) <= half_width + 1e-12).all(axis=1)
    chance = agrees * np.where(groups == 1, prior, 1 - prior).prod(axis=1)
    best = max(
        sum(c * ((g == 1)[a == 1].mean() + (g == 0)[a == 0].mean()) / 2 for a, c in zip(groups, chance, strict=True))
        for g in (np.array(guess) for guess in itertools.product((0, 1), repeat=n))
    )
    options = {"half_width": half_width, "absolute": absolute}
    limit = exact_accuracy_limit(scores[None], answers[None], prior[None], n_advantaged, **options)
    assert limit == pytest.approx(best / chance.sum(), abs=1e-9)
    assert exact_accuracy_limit(scores[None], answers[None] + 3.0, prior[None], n_advantaged, **options) is None


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 0.1, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_with_a_prior_it_is_the_best_of_all_attackers(epsilon, seed, delta):
    rng = np.random.default_rng(seed)
    prior = rng.beta(*rng.uniform(0.2, 5, 2), size=12)
    limit = accuracy_limit_with_prior(prior[np.newaxis], epsilon, delta)
    assert limit == pytest.approx(best_attacker(prior, epsilon, delta), abs=1e-9)


def test_limits_and_losses_by_hand():
    assert accuracy_limit(1.0) == pytest.approx(0.731, abs=5e-4)
    assert accuracy_limit(1.0, with_sizes=True) == accuracy_limit(2.0)
    assert accuracy_limit(math.inf) == 1.0 and accuracy_limit(0.0) == 0.5
    assert largest_loss(SmoothCauchy(5.0), 90, 10, 25) == pytest.approx(0.236 * 5, rel=0.01)
    assert largest_loss(NoisySums(5.0), 90, 10, 25) == 5.0
    assert largest_loss(SmoothCauchy(5000.0), 98, 2, 1) == pytest.approx(5000 / 6, rel=1e-9)
    assert accuracy_limit(0.9, delta=0.9, with_sizes=True) == 1.0
    assert accuracy_limit(math.log(3), delta=0.2) == pytest.approx((3 + 0.2) / 4)


ANSWERING = [Exact(), Rounded(1), LaplaceGlobal(8.0), SmoothCauchy(40.0), SmoothLaplace(3.0, 0.01), NoisySums(1.5)]


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("sizes", [(90, 10), (10, 90), (6, 1), (5, 5)])
@pytest.mark.parametrize("mechanism", ANSWERING, ids=str)
def test_targeted_leakage_is_what_the_likelihood_ratio_gets_in_draws(mechanism, sizes, absolute):
    mechanism, (n1, n0) = replace(mechanism, absolute=absolute), sizes
    n, rng, draws = n1 + n0, np.random.default_rng(0), 40_000
    question = np.eye(1, n)
    inside = np.array([1] * n1 + [0] * n0)
    outside = np.array([0] + [1] * n1 + [0] * (n0 - 1))
    release = getattr(mechanism, "count_and_sums", lambda h, a, rng, n: mechanism.draws(h, a, rng=rng, draws=n))
    seen = [release(question, a, rng, draws)[:, -1] for a in (inside, outside)]
    middle = (np.median(seen[0]) + np.median(seen[1])) / 2
    upper = [float(np.mean(x > middle) + np.mean(x == middle) / 2) for x in seen]
    right = 0.5 + abs(upper[0] - upper[1]) / 2
    assert targeted_leakage(mechanism, n1, n0) == pytest.approx(right, abs=0.012)


AMONG_100 = (np.arange(100) >= 10).astype(int)


def questions(m):
    rng = np.random.default_rng(1)
    return np.clip(rng.random(100) + rng.uniform(-0.1, 0.1, (m, 100)), 0, 1)


@pytest.mark.parametrize(
    ("mechanism", "median", "high"), [(SmoothCauchy(5.0), 11.7, 149), (LaplaceGlobal(5.0), 1.77, 7.64)], ids=str
)
def test_answer_error_of_the_published_budget(mechanism, median, high):
    error = answer_error(mechanism, questions(25), AMONG_100, rng=np.random.default_rng(1))
    assert (error.median, error.high) == pytest.approx((median, high), rel=0.01)
    assert error.exceeds_range
    sums = answer_error(NoisySums(5.0), questions(25), AMONG_100, rng=np.random.default_rng(1))
    assert sums.median < 11.7 / 30


def test_answer_error_of_rounding_is_how_far_answers_are_moved():
    """One person of each group: the gap is the second score, which is moved by 0, 0.0005, … 0.05 to 0.3."""
    off = np.arange(101) * 0.0005
    scores = np.column_stack([np.zeros(101), 0.3 + off - 1e-12])
    error = answer_error(Rounded(1), scores, [0, 1], rng=np.random.default_rng(1))
    assert (error.median, error.high) == pytest.approx((0.025, 0.0475), abs=1e-9)


def given_sizes(prior, n_advantaged):
    """Return the law of the attribute vectors given how many are advantaged, by going through all of them."""
    every = with_ones(prior.size, n_advantaged)
    law = np.where(every == 1, prior, 1 - prior).prod(axis=1)
    return list(zip(every, law / law.sum(), strict=True))


@pytest.mark.parametrize("n_advantaged", [1, 3, 6])
def test_the_prior_given_the_sizes_by_enumeration(n_advantaged):
    prior = np.random.default_rng(n_advantaged).uniform(0.01, 0.99, (4, 7))
    for p, chances in zip(prior, prior_given_sizes(prior, n_advantaged), strict=True):
        assert chances == pytest.approx(sum(a * weight for a, weight in given_sizes(p, n_advantaged)))
        assert chances.sum() == pytest.approx(n_advantaged)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_nobody_who_knows_the_sizes_beats_the_limit(epsilon, seed):
    """The best attacker there is, against a sum with geometric noise that keeps exactly this epsilon."""
    rng = np.random.default_rng(seed)
    n, n_advantaged = 6, int(rng.integers(1, 6))
    prior, outputs = rng.uniform(0.02, 0.98, n), np.arange(-40, 48)
    h = np.eye(n, dtype=int)[0] if seed % 2 else np.array([1, 0, 1, 1, 0, 0])
    gained = np.zeros((n, 2, outputs.size))
    for a, weight in given_sizes(prior, n_advantaged):
        noise = np.exp(-epsilon * np.abs(outputs - a @ h))
        for j in range(n):
            gained[j, a[j]] += weight * noise / noise.sum()
    rewards = np.maximum(gained[:, 1] / n_advantaged, gained[:, 0] / (n - n_advantaged))
    best = rewards.sum() / 2
    limit = accuracy_limit_with_prior(prior_given_sizes(prior[np.newaxis], n_advantaged), 2 * epsilon)
    assert best <= limit + 1e-9
    if epsilon == 0:
        assert best == pytest.approx(limit)


CORRECTED = [LaplaceGlobal, SmoothCauchy, NoisySums]
BUDGETS = (0.1, 1.0, 5.0, 50.0)


def rows_that_move_most(a, b):
    """Return binary rows with the largest signed move from a to b, and rows from which an absolute gap moves most."""
    v, w = weights(a), weights(b)
    flipped = int(np.flatnonzero(np.array(a) != np.array(b))[0])
    rows = [(w > v).astype(float), (w < v).astype(float)]
    alone = np.zeros(len(a))
    alone[flipped] = 1.0
    for gap in (v, w):
        direction = np.where(gap > 0, 1.0, 0.0)
        direction[flipped] = 0.0
        size = direction @ gap
        if size > 0:  # the flipped person, and as much of the others as brings the gap to 0
            start = alone + direction * min(1.0, max(0.0, -(alone @ gap) / size))
            rows += [start, 1 - start]
    return [alone, 1 - alone, *rows]


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("make", CORRECTED)
@pytest.mark.parametrize("n", [3, 4, 7, 10])
def test_no_corrected_mechanism_loses_more_than_epsilon(n, make, absolute):
    rng = np.random.default_rng(n)
    worst = nearest = 0.0
    for epsilon in BUDGETS:
        mechanism = make(epsilon, absolute=absolute)
        for n0 in range(1, n):
            a = (0,) * n0 + (1,) * (n - n0)
            for b in {x.count(0): x for x in neighbours(a)}.values():
                rows = rows_that_move_most(a, b)
                questions = [[row] for row in rows] + [[row] * 5 for row in rows] + [rng.random((3, n))]
                for h in questions:
                    (loss, delta), bound = privacy_loss(mechanism, h, a, b), largest_loss(mechanism, n - n0, n0, len(h))
                    assert delta == 0 and loss * (1 - 1e-9) <= bound <= epsilon * (1 + 1e-9)
                    worst, nearest = max(worst, loss / epsilon), max(nearest, loss / bound)
    assert worst > {LaplaceGlobal: 0.999, NoisySums: 0.999, SmoothCauchy: 0.15}[make]  # and nothing is wasted elsewhere
    assert nearest > 0.6  # the bound is no idle one


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("delta", [1e-6, 0.5])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 50.0])  # from 1 on the theorem is silent
def test_smooth_laplace_keeps_epsilon_and_delta(epsilon, delta, absolute):
    mechanism = SmoothLaplace(epsilon, delta, absolute=absolute)
    assert mechanism.holds == (epsilon < 1)
    for n, m in itertools.product((3, 5, 10, 60), (1, 4, 25)):
        for n0 in {1, 2, 3, n // 2, n - 2} & set(range(1, n)):
            a = (0,) * n0 + (1,) * (n - n0)
            for b in {x.count(0): x for x in neighbours(a)}.values():
                losses = [privacy_loss(mechanism, [row] * m, a, b) for row in rows_that_move_most(a, b)]
                assert max(loss for loss, _ in losses) <= epsilon * (1 + 1e-12)
                assert max(mass for _, mass in losses) <= delta
