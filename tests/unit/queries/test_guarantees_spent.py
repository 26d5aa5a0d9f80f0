"""What a mechanism spends at most, against the exact loss between every two neighbouring attribute vectors."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import PrivacyLeakWarning
from core.queries import (
    Exact,
    LaplaceGlobal,
    NoisySums,
    SmoothCauchy,
    SmoothLaplace,
    largest_loss,
)
from tests.oracles.privacy_loss import privacy_loss


def neighbours(n: int):
    """Yield all pairs of attribute vectors that differ in one person and hold both groups."""
    for number in range(1, 2**n - 1):
        a = np.array([(number >> j) & 1 for j in range(n)])
        for j in range(n):
            b = a.copy()
            b[j] = 1 - b[j]
            if 0 < b.sum() < n:
                yield a, b


@pytest.mark.parametrize("make", [LaplaceGlobal, SmoothCauchy, NoisySums])
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_no_pair_of_neighbours_loses_more(make, absolute: bool, epsilon: float):
    rng = np.random.default_rng(3)
    mechanism, n, m = make(epsilon, absolute=absolute), 6, 2
    scores = rng.integers(0, 2, (m, n)).astype(float)
    nearest = 0.0
    for a, b in neighbours(n):
        bound = largest_loss(mechanism, int(a.sum()), int(n - a.sum()), m)
        lost = privacy_loss(mechanism, scores, a, b).epsilon
        assert lost <= bound * (1 + 1e-9) + 1e-12
        nearest = max(nearest, lost / bound)
    assert nearest > 0.2  # the bound is no idle one


def test_cauchy_noise_spends_a_quarter_at_most_and_sums_everything():
    assert largest_loss(SmoothCauchy(5.0), 90, 10, 25) == pytest.approx(0.236 * 5, rel=0.01)
    assert largest_loss(NoisySums(5.0), 90, 10, 25) == 5.0


@pytest.mark.parametrize(
    "mechanism",
    [Exact(), SmoothLaplace(0.5, 1e-5), LaplaceGlobal(1.0, absolute=True, as_published=True)],
)
def test_no_bound_where_nothing_is_promised_or_kept(mechanism):
    assert largest_loss(mechanism, 8, 2, 3) is None


@pytest.mark.parametrize(
    ("mechanism", "few"),
    [
        (LaplaceGlobal(1.0, absolute=True, as_published=True), 3),
        (SmoothCauchy(1.0, as_published=True), 1),
        (SmoothLaplace(0.5, 1e-5, as_published=True, absolute=True), 3),
    ],
)
def test_a_published_promise_that_is_not_kept_warns(mechanism, few: int):
    scores, a = np.eye(10)[:2], np.array([0] * few + [1] * (10 - few))
    with pytest.warns(PrivacyLeakWarning, match="As published"):
        mechanism.answer(scores, a, rng=np.random.default_rng(0))


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
@pytest.mark.parametrize(("n", "m"), [(7, 1), (7, 4), (10, 12)])
def test_published_cauchy_keeps_its_promise_where_it_is_said_to(absolute: bool, epsilon: float, n: int, m: int):
    mechanism, rng = SmoothCauchy(epsilon, absolute=absolute, as_published=True), np.random.default_rng(n + m)
    broken = 0.0
    for n0 in range(1, n):
        a = np.array([0] * n0 + [1] * (n - n0))
        for who in (0, n - 1):
            b = a.copy()
            b[who] = 1 - b[who]
            if b.min() == b.max():
                continue
            for row in [np.eye(n)[who], a, b, 1 - a, *rng.integers(0, 2, (6, n))]:
                scores = np.tile(np.asarray(row, dtype=float), (m, 1))
                lost = max(privacy_loss(mechanism, scores, x, y).epsilon for x, y in ((a, b), (b, a)))
                if mechanism.holds(n - n0, n0):
                    assert lost <= epsilon * (1 + 1e-9)
                else:
                    broken = max(broken, lost / epsilon)
    assert broken > 1 or m < 4 or epsilon > 1  # elsewhere it is not kept


def test_a_published_group_of_two_is_not_safe():
    """Its neighbour is a group of one, which gets far too little noise."""
    mechanism = SmoothCauchy(5.0, as_published=True)
    a = np.array([0] * 2 + [1] * 98)
    b = a.copy()
    b[0] = 1
    lost = privacy_loss(mechanism, np.tile(np.eye(100)[1], (25, 1)), a, b).epsilon
    assert lost > 15 and not mechanism.holds(98, 2) and largest_loss(mechanism, 98, 2, 25) is None


def test_a_kept_promise_does_not_warn():
    scores, a = np.eye(10)[:2], np.array([0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    assert SmoothCauchy(1.0, as_published=True).answer(scores, a, rng=np.random.default_rng(0)).shape == (2,)
