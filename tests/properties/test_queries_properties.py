"""What holds of answers to bias queries, of their noise, and of every attack on them, whatever hypothesis finds."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from core.studies.bias_queries import (
    LaplaceGlobal,
    NoisySums,
    SmoothCauchy,
    accuracy_limit,
    global_sensitivity,
    recover_flips,
    smooth_sensitivity,
    statistical_parity_gap,
    targeted_leakage,
)
from core.studies.bias_queries.gaps import design_scores, local_sensitivity
from core.studies.bias_queries.reveal import recover_compressed
from tests.unit.queries.people import posterior, sizes

BUDGETS = st.floats(1e-3, 1e3)
SIZES = st.tuples(st.integers(1, 400), st.integers(1, 400)).filter(lambda sizes: sum(sizes) >= 3)
SCORE = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
PURE = st.sampled_from([LaplaceGlobal, SmoothCauchy, NoisySums])


@st.composite
def neighbours(draw):
    """Draw questions on 3 to 14 people and two attribute vectors that differ in one of them."""
    n, m = draw(st.integers(3, 14)), draw(st.integers(1, 6))
    a = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    b = list(a)
    b[draw(st.integers(0, n - 1))] ^= 1
    assume(0 < sum(a) < n and 0 < sum(b) < n)
    h = draw(st.lists(st.lists(SCORE, min_size=n, max_size=n), min_size=m, max_size=m))
    return np.array(h), np.array(a), np.array(b)


@settings(max_examples=300)
@given(neighbours(), st.floats(0, 5), st.booleans())
def test_what_neighbours_really_move_is_within_every_sensitivity(case, beta, absolute):
    h, a, b = case
    gaps = [np.abs(x) if absolute else x for x in (statistical_parity_gap(h, y) for y in (a, b))]
    moved, m = float(np.abs(gaps[0] - gaps[1]).sum()), len(h)
    n1, n0 = int(a.sum()), int(a.size - a.sum())
    local = local_sensitivity(n1, n0, m, absolute=absolute)
    smooth = smooth_sensitivity(n1, n0, m, beta, absolute=absolute)
    assert moved <= local * (1 + 1e-9) <= smooth * (1 + 2e-9)
    assert smooth <= global_sensitivity(a.size, m, absolute=absolute) * (1 + 1e-9)


@settings(max_examples=500)
@given(SIZES, st.integers(1, 50), st.floats(0, 20), st.booleans())
def test_sensitivity_is_smooth_symmetric_and_linear_in_questions(sizes, m, beta, absolute):
    n1, n0 = sizes
    sensitivity = smooth_sensitivity(n1, n0, m, beta, absolute=absolute)
    assert sensitivity == smooth_sensitivity(n0, n1, m, beta, absolute=absolute)
    assert sensitivity == pytest.approx(m * smooth_sensitivity(n1, n0, 1, beta, absolute=absolute), rel=1e-12)
    if n0 >= 2:
        moved_sensitivity = smooth_sensitivity(n1 + 1, n0 - 1, m, beta, absolute=absolute)
        assert abs(math.log(sensitivity / moved_sensitivity)) <= beta + 1e-9


@settings(max_examples=300)
@given(SIZES, BUDGETS, PURE, st.booleans())
def test_one_targeted_person_stays_below_the_guarantee(sizes, epsilon, make, absolute):
    leak = targeted_leakage(make(epsilon, absolute=absolute), *sizes)
    assert 0.5 <= leak <= accuracy_limit(epsilon, with_sizes=True) + 1e-12


@settings(max_examples=150)
@given(neighbours(), st.floats(0.01, 1e4), PURE, st.integers(0, 2**32 - 1), st.booleans())
@example((np.array([[0.0, 0.0, 6.85671233e-209]]), np.array([0, 0, 1]), None), 1.0, LaplaceGlobal, 0, False)
@example((np.array([[0.0, 0.0, 1e-308]]), np.array([0, 0, 1]), None), 0.01, LaplaceGlobal, 0, False)
def test_the_decoder_returns_chances_that_add_up(case, epsilon, make, seed, has_prior):
    h, a, _ = case
    mechanism, rng = make(epsilon), np.random.default_rng(seed)
    answers = (mechanism.release if make is NoisySums else mechanism.answer)(h, a, rng=rng)
    prior = rng.random(a.size) if has_prior else None
    n1 = int(a.sum())
    chances = posterior(h, answers, mechanism, n_advantaged=n1, n_disadvantaged=a.size - n1, prior=prior)
    assert np.isfinite(chances).all() and chances.min() >= 0 and chances.max() <= 1
    assert chances.sum() == pytest.approx(n1, abs=1e-4)


attributes = st.lists(st.integers(0, 1), min_size=2, max_size=24).filter(lambda a: 0 < sum(a) < len(a)).map(np.array)
seeds = st.integers(0, 2**32 - 1)
designs = st.sampled_from(["jitter", "random_binary"])
methods = st.sampled_from(["l1", "nonnegative", "box", "sizes_unknown"])
several = settings(max_examples=60)


def questions(a, m, design, seed):
    rng = np.random.default_rng(seed)
    scores = design_scores(design, rng.random(a.size), m, rng=rng)
    return scores, statistical_parity_gap(scores, a)


def meets(scores, answers, recovery, a, slack=0.0):
    """Say whether a recovered vector explains the answers: |H s - (H r - SP)| <= slack."""
    explained = scores.sum(axis=1) / a.sum() - answers
    return bool((np.abs(scores @ recovery.values - explained) <= slack + 1e-5).all())


@several
@given(a=attributes, m=st.integers(1, 12), design=designs, seed=seeds)
def test_weaker_assumptions_never_cost_more(a, m, design, seed):
    """The truth fits every program, so each optimum is at most its value, and adding constraints raises it."""
    scores, answers = questions(a, m, design, seed)
    total = {}
    for method in ("l1", "nonnegative", "box"):
        recovery = recover_compressed(scores, answers, method=method, **sizes(a))
        assert meets(scores, answers, recovery, a)
        x = recovery.values / (2 * recovery.threshold)
        sparse = x if sizes(a)["n_disadvantaged"] <= sizes(a)["n_advantaged"] else 1 - x
        total[method] = np.abs(sparse).sum()
        if method != "l1":
            assert sparse.min() >= -1e-6
    assert total["l1"] <= total["nonnegative"] + 1e-5 <= total["box"] + 2e-5
    assert total["box"] == pytest.approx(min(sizes(a).values()), abs=1e-5)
    assert x.min() >= -1e-6 and x.max() <= 1 + 1e-6


@several
@given(a=attributes, design=designs, method=methods, seed=seeds)
def test_full_rank_leaves_one_vector(a, design, method, seed):
    scores, answers = questions(a, a.size + 3, design, seed)
    centred = scores - scores.mean(axis=1, keepdims=True)
    assume(np.linalg.cond(scores) < 1e4 and np.linalg.svd(centred)[1][a.size - 2] > 1e-2)
    if method == "sizes_unknown":
        assume(2 * a.sum() >= a.size)
    assert (recover_compressed(scores, answers, method=method, **sizes(a)).recovered == a).all()


@several
@given(a=attributes, m=st.integers(1, 30), design=designs, seed=seeds, decimals=st.integers(1, 4))
def test_slack_of_half_a_step_always_holds_the_truth(a, m, design, seed, decimals):
    scores, answers = questions(a, m, design, seed)
    slack = 0.5 * 10.0**-decimals + 1e-9
    recovery = recover_compressed(scores, np.round(answers, decimals), method="box", slack=slack, **sizes(a))
    assert meets(scores, np.round(answers, decimals), recovery, a, slack)


@several
@given(a=attributes, seed=seeds, kind=st.sampled_from(["scores", "binary", "halves"]))
def test_flips_reveal_everybody_they_do_not_hide(a, seed, kind):
    rng = np.random.default_rng(seed)
    base = {
        "scores": rng.random(a.size),
        "binary": rng.integers(0, 2, a.size).astype(float),
        "halves": rng.choice([0.0, 0.5, 0.9], a.size),
    }[kind]
    assume(a.size > 2)
    answers = statistical_parity_gap(design_scores("targeted", base, a.size + 1, rng=rng), a)
    recovery = recover_flips(base, answers[1:])
    hidden = base == 0.5
    if np.isnan(recovery.values).all():
        assert hidden.all()
        return
    assert (recovery.recovered[~hidden] == a[~hidden]).all()
    if hidden.sum() <= 1 or len(set(a[hidden])) == 1:
        assert (recovery.recovered == a).all()
    revealed = ~np.isnan(recovery.values)
    assert revealed.sum() == a.size - (hidden.sum() if hidden.sum() > 1 else 0)
    assert (1 / a.sum() - recovery.values[revealed]) == pytest.approx(
        np.where(a == 1, 1 / a.sum(), -1 / (a.size - a.sum()))[revealed], abs=1e-6
    )
