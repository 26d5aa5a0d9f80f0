"""Promises of sensitivities, mechanisms, guarantees and the decoder, on whatever hypothesis finds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from core.queries import (
    LaplaceGlobal,
    NoisySums,
    SmoothCauchy,
    accuracy_limit,
    decode_noisy,
    global_sensitivity,
    smooth_sensitivity,
    statistical_parity_gap,
    targeted_leakage,
)
from core.queries.gaps import local_sensitivity

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


@settings(max_examples=300, deadline=None, derandomize=True)
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


@settings(max_examples=500, deadline=None, derandomize=True)
@given(SIZES, st.integers(1, 50), st.floats(0, 20), st.booleans())
def test_sensitivity_is_smooth_symmetric_and_linear_in_questions(sizes, m, beta, absolute):
    n1, n0 = sizes
    here = smooth_sensitivity(n1, n0, m, beta, absolute=absolute)
    assert here == smooth_sensitivity(n0, n1, m, beta, absolute=absolute)
    assert here == pytest.approx(m * smooth_sensitivity(n1, n0, 1, beta, absolute=absolute), rel=1e-12)
    if n0 >= 2:
        there = smooth_sensitivity(n1 + 1, n0 - 1, m, beta, absolute=absolute)
        assert abs(math.log(here / there)) <= beta + 1e-9


@settings(max_examples=300, deadline=None, derandomize=True)
@given(SIZES, BUDGETS, PURE, st.booleans())
def test_one_targeted_person_stays_below_the_guarantee(sizes, epsilon, make, absolute):
    leak = targeted_leakage(make(epsilon, absolute=absolute), *sizes)
    assert 0.5 <= leak <= accuracy_limit(epsilon, sizes_known=True) + 1e-12


@settings(max_examples=150, deadline=None, derandomize=True)
@given(neighbours(), st.floats(0.01, 1e4), PURE, st.integers(0, 2**32 - 1), st.booleans())
@example((np.array([[0.0, 0.0, 6.85671233e-209]]), np.array([0, 0, 1]), None), 1.0, LaplaceGlobal, 0, False)
def test_the_decoder_returns_chances_that_add_up(case, epsilon, make, seed, told):
    h, a, _ = case
    mechanism, rng = make(epsilon), np.random.default_rng(seed)
    answers = (mechanism.release if make is NoisySums else mechanism.answer)(h, a, rng=rng)
    prior = rng.random(a.size) if told else None
    n1 = int(a.sum())
    found = decode_noisy(h, answers, mechanism, n_advantaged=n1, n_disadvantaged=a.size - n1, prior=prior)
    assert np.isfinite(found).all() and found.min() >= 0 and found.max() <= 1
    assert found.sum() == pytest.approx(n1, abs=1e-4)
