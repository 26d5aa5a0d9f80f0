"""Ways of answering: limits, scales and grid by hand; promises by brute force and against all attackers."""

import itertools
import math
from dataclasses import replace

import cvxpy
import numpy as np
import pytest
from scipy import stats

from core.base.errors import InputError
from core.studies.bias_queries import (
    Exact,
    LaplaceGlobal,
    NoisySums,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
    accuracy_limit,
    guarantees,
    largest_loss,
    statistical_parity_gap,
    targeted_leakage,
)
from core.studies.bias_queries.gaps import design_scores, global_sensitivity, local_sensitivity, smooth_sensitivity
from core.studies.bias_queries.mechanisms import public_grid
from tests.oracles.privacy_loss import privacy_loss
from tests.reference.table_1 import printed_smooth_sensitivity
from tests.unit.queries.people import attribute, neighbours, vectors, weights, with_ones

NOISY = [LaplaceGlobal, SmoothCauchy, lambda e, **k: SmoothLaplace(e, 1e-5, **k), NoisySums]


def case(m=6):
    rng = np.random.default_rng(0)
    return rng.random((m, 40)), attribute(40, 12), rng


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


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [
        (LaplaceGlobal(2.0), stats.laplace),
        (SmoothLaplace(2.0, 0.1), stats.laplace),
        (SmoothCauchy(2.0), stats.cauchy),
    ],
    ids=["global", "smooth Laplace", "smooth Cauchy"],
)
def test_the_noise_has_the_law_it_claims(mechanism, law):
    h, a, rng = case(m=2)
    answers = mechanism.draws(h, a, rng=rng, draws=40_000)
    noise = (answers - statistical_parity_gap(h, a)) / mechanism.scale(28, 12, 2)
    ranks = (np.arange(40_000) + 0.5)[:, np.newaxis] / 40_000
    assert np.abs(law.cdf(np.sort(noise, axis=0)) - ranks).max() < 0.0095  # Kolmogorov at a level of about 0.001
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


def test_random_binary_tosses_a_coin_and_targeted_flips_one_person_a_question():
    binary = design_scores("random_binary", BASE, 4000, rng=np.random.default_rng(0))
    assert set(np.unique(binary)) == {0.0, 1.0} and binary.mean(axis=0) == pytest.approx(0.5, abs=0.05)
    targeted = design_scores("targeted", BASE, 6, rng=np.random.default_rng(0))
    assert targeted == pytest.approx(np.vstack([BASE, np.where(np.eye(5), 1 - BASE, BASE)]))


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
@pytest.mark.parametrize("beta", [0.0, 0.1, 1.0, math.inf])
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
    limit = guarantees.exact_accuracy_limit(scores[None], answers[None], prior[None], n_advantaged, **options)
    assert limit == pytest.approx(best / chance.sum(), abs=1e-9)
    other_answers = answers[None] + 3.0
    assert guarantees.exact_accuracy_limit(scores[None], other_answers, prior[None], n_advantaged, **options) is None


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 0.1, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_with_a_prior_it_is_the_best_of_all_attackers(epsilon, seed, delta):
    rng = np.random.default_rng(seed)
    prior = rng.beta(*rng.uniform(0.2, 5, 2), size=12)
    limit = guarantees.accuracy_limit_with_prior(prior[np.newaxis], epsilon, delta)
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


@pytest.mark.parametrize(
    ("mechanism", "median", "high"), [(SmoothCauchy(5.0), 11.7, 149), (LaplaceGlobal(5.0), 1.77, 7.64)], ids=str
)
def test_answer_error_of_the_published_budget(mechanism, median, high):
    rng, sensitive = np.random.default_rng(1), (np.arange(100) >= 10).astype(int)
    questions = np.clip(rng.random(100) + rng.uniform(-0.1, 0.1, (25, 100)), 0, 1)
    error, sums = (
        guarantees.answer_error(answering, questions, sensitive, rng=np.random.default_rng(1))
        for answering in (mechanism, NoisySums(5.0))
    )
    assert (error.median, error.high) == pytest.approx((median, high), rel=0.01)
    assert error.exceeds_range and sums.median < 11.7 / 30


def test_answer_error_of_rounding_is_how_far_answers_are_moved():
    """One person of each group: the gap is the second score, which is moved by 0, 0.0005, … 0.05 to 0.3."""
    off = np.arange(101) * 0.0005
    scores = np.column_stack([np.zeros(101), 0.3 + off - 1e-12])
    error = guarantees.answer_error(Rounded(1), scores, [0, 1], rng=np.random.default_rng(1))
    assert (error.median, error.high) == pytest.approx((0.025, 0.0475), abs=1e-9)


@pytest.mark.parametrize("n_advantaged", [1, 3, 6])
def test_the_prior_given_the_sizes_by_enumeration(n_advantaged):
    prior = np.random.default_rng(n_advantaged).uniform(0.01, 0.99, (4, 7))
    every = with_ones(7, n_advantaged)
    for p, chances in zip(prior, guarantees.prior_given_sizes(prior, n_advantaged), strict=True):
        law = np.where(every == 1, p, 1 - p).prod(axis=1)
        assert chances == pytest.approx(law @ every / law.sum())


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
@pytest.mark.parametrize("make", [LaplaceGlobal, SmoothCauchy, NoisySums])
@pytest.mark.parametrize("n", [3, 4, 7, 10])
def test_no_corrected_mechanism_loses_more_than_epsilon(n, make, absolute):
    rng = np.random.default_rng(n)
    worst = nearest = 0.0
    for epsilon in (0.1, 1.0, 5.0, 50.0):
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
