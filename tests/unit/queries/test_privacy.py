"""What the mechanisms promise, proved by brute force: exact losses of all neighbours, audits that see outputs only."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.queries import (
    Exact,
    LaplaceGlobal,
    NoisySums,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
    statistical_parity_gap,
)
from tests.oracles.black_box import black_box_epsilon
from tests.oracles.privacy_loss import laplace_delta, privacy_loss
from tests.unit.queries.people import neighbours

CORRECTED = [LaplaceGlobal, SmoothCauchy, NoisySums]
BUDGETS = (0.1, 1.0, 5.0, 50.0)


def rows_that_move_most(a, b) -> list[np.ndarray]:
    """Return binary rows with the largest signed move from a to b, and rows from which an absolute gap moves most."""
    v, w = (np.where(np.array(x) == 1, 1 / sum(x), -1 / (len(x) - sum(x))) for x in (a, b))
    flipped = int(np.flatnonzero(np.array(a) != np.array(b))[0])
    rows = [(w > v).astype(float), (w < v).astype(float)]
    alone = np.zeros(len(a))
    alone[flipped] = 1.0
    for gap in (v, w):
        others = np.where(gap > 0, 1.0, 0.0)
        others[flipped] = 0.0
        size = others @ gap
        if size > 0:  # the flipped person, and as much of the others as brings the gap to 0
            start = alone + others * min(1.0, max(0.0, -(alone @ gap) / size))
            rows += [start, 1 - start]
    return [alone, 1 - alone, *rows]


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("make", CORRECTED)
@pytest.mark.parametrize("n", [3, 4, 7, 10])
def test_no_corrected_mechanism_loses_more_than_epsilon(n: int, make, absolute: bool):
    rng = np.random.default_rng(n)
    worst = 0.0
    for epsilon in BUDGETS:
        mechanism = make(epsilon, absolute=absolute)
        for n0 in range(1, n):
            a = (0,) * n0 + (1,) * (n - n0)
            for b in {x.count(0): x for x in neighbours(a)}.values():
                rows = rows_that_move_most(a, b)
                questions = [[row] for row in rows] + [[row] * 5 for row in rows] + [rng.random((3, n))]
                for h in questions:
                    loss = privacy_loss(mechanism, h, a, b)
                    assert loss.delta == 0 and loss.epsilon <= epsilon * (1 + 1e-9)
                    worst = max(worst, loss.epsilon / epsilon)
    assert worst > {LaplaceGlobal: 0.999, NoisySums: 0.999, SmoothCauchy: 0.15}[make]  # and nothing is wasted elsewhere


@pytest.mark.parametrize(("f", "g", "s", "t"), [(0, 1, 1, 1), (0, 0, 1, 3), (0.2, -1.4, 0.5, 2.0), (3, 0, 4, 0.1)])
def test_the_cauchy_loss_is_the_supremum_of_the_log_ratio(f, g, s, t):
    from tests.oracles.privacy_loss import _cauchy

    x = np.concatenate([np.linspace(-60, 60, 400_001), np.tan(np.linspace(-1.5707, 1.5707, 200_001))])
    ratio = np.log(s / (s**2 + (x - f) ** 2)) - np.log(t / (t**2 + (x - g) ** 2))
    expected = max(ratio.max(), -ratio.min())
    assert _cauchy(np.array([abs(f - g)]), s, t) == pytest.approx(expected, rel=1e-6)


class TestSmoothLaplace:
    @pytest.mark.parametrize(
        ("move", "b", "c"), [(0.0, 1, 1.3), (0.4, 1, 1.2), (0.4, 1.2, 1), (1.0, 2, 1.5), (0.5, 1, 1)]
    )
    @pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
    def test_the_bound_lies_above_the_integral_and_touches_it_without_a_shift(self, move, b, c, epsilon):
        x = np.linspace(-80, 80, 1_600_001)
        p, q = np.exp(-np.abs(x) / b) / (2 * b), np.exp(-np.abs(x - move) / c) / (2 * c)
        true = float(np.maximum(0, p - math.exp(epsilon) * q).sum() * (x[1] - x[0]))
        bound = laplace_delta(move, b, c, m=1, epsilon=epsilon)
        assert bound >= true - 1e-4
        if move == 0:
            assert bound == pytest.approx(true, abs=1e-4)

    @pytest.mark.parametrize("absolute", [False, True])
    @pytest.mark.parametrize("delta", [1e-6, 0.01, 0.5])
    @pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.999, 5.0, 50.0])  # from 1 on the theorem is silent
    def test_epsilon_and_delta_hold(self, epsilon: float, delta: float, absolute: bool):
        mechanism = SmoothLaplace(epsilon, delta, absolute=absolute)
        assert mechanism.holds(3, 3) == (epsilon < 1)
        for n in (3, 5, 10, 60):
            for n0 in {1, 2, 3, n // 2, n - 2} & set(range(1, n)):
                a = (0,) * n0 + (1,) * (n - n0)
                for b in {x.count(0): x for x in neighbours(a)}.values():
                    for row in rows_that_move_most(a, b):
                        for m in (1, 4, 25):
                            loss = privacy_loss(mechanism, [row] * m, a, b)
                            assert loss.epsilon <= epsilon * (1 + 1e-12) and loss.delta <= delta

    @pytest.mark.parametrize("m", [1, 2, 10, 100, 1000])
    @pytest.mark.parametrize("epsilon", [0.1, 0.999, 3.0, 10.0])
    @pytest.mark.parametrize("delta", [1e-8, 1e-3, 0.9])
    def test_the_proof_for_every_pair_of_scales(self, m: int, epsilon: float, delta: float):
        """Theorem 8 in numbers: a shift worth ε/2 and scales apart by e^β, the most there can be, together."""
        apart = math.exp(SmoothLaplace(epsilon, delta).beta(m))
        for one, other in ((1.0, apart), (apart, 1.0)):
            assert laplace_delta(epsilon / 2 * other, one, other, m=m, epsilon=epsilon) <= delta


class TestPublished:
    def test_theorem_6_loses_n_over_n_minus_1(self):
        a, b = np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1]), np.array([1, 0, 1, 1, 1, 1, 1, 1, 1, 1])
        h = [1, 0, 1, 1, 1, 1, 0, 0, 0, 0.0]
        assert privacy_loss(LaplaceGlobal(1.0, absolute=True, as_published=True), h, a, b).epsilon == pytest.approx(
            10 / 9
        )
        assert privacy_loss(LaplaceGlobal(1.0, absolute=True), h, a, b).epsilon == pytest.approx(1)

    def test_one_person_alone_breaks_theorem_7(self):
        a = np.array([0] + [1] * 99)
        b = a.copy()
        b[1] = 0
        h = np.random.default_rng(0).integers(0, 2, (25, 100))
        published = privacy_loss(SmoothCauchy(5.0, as_published=True), h, a, b).epsilon
        assert published == pytest.approx(17, abs=0.6)
        assert privacy_loss(SmoothCauchy(5.0), h, a, b).epsilon < 5


class TestOthers:
    def test_answers_without_noise_lose_everything_or_nothing(self):
        a, b = [0, 0, 1, 1], [1, 0, 1, 1]
        assert privacy_loss(Exact(), [1, 0, 0, 0], a, b).epsilon == math.inf
        assert privacy_loss(Exact(), [1, 1, 1, 1], a, b).epsilon == 0
        assert privacy_loss(Rounded(0), [0.1, 0, 0, 0], a, b).epsilon == 0
        assert privacy_loss(LaplaceGlobal(math.inf), [1, 0, 0, 0], a, b).epsilon == math.inf

    def test_noisy_sums_of_an_empty_group(self):
        assert privacy_loss(NoisySums(1.0), [[1, 0, 0.0]], [1, 1, 1], [0, 1, 1]).epsilon == pytest.approx(1)

    def test_equal_opportunity_is_about_people_with_label_1(self):
        h, y = [1, 0, 0, 1, 1], [0, 1, 1, 1, 1]
        loss = privacy_loss(LaplaceGlobal(1.0), h, [0, 0, 1, 1, 0], [1, 0, 1, 1, 0], labels=y)
        assert loss.epsilon == 0  # the one who changed has label 0


class TestBlackBox:
    """The audit sees nothing but what a mechanism answers."""

    A = np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    B = np.array([1, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    H = np.array([[1, 0, 1, 1, 1, 1, 0, 0, 0, 0.0]])
    ALONE = np.array([0] + [1] * 99)
    PAIR = np.array([0, 0] + [1] * 98)

    def test_it_catches_the_published_cauchy_on_one_person_alone(self):
        h = np.random.default_rng(0).integers(0, 2, (25, 100)).astype(float)
        rng = np.random.default_rng(2)
        mechanism = SmoothCauchy(5.0, as_published=True)
        found = black_box_epsilon(mechanism, h, self.ALONE, self.PAIR, runs=150_000, rng=rng, level=0.99)
        assert 5 < found <= privacy_loss(mechanism, h, self.ALONE, self.PAIR).epsilon

    @pytest.mark.parametrize("absolute", [False, True])
    @pytest.mark.parametrize("make", CORRECTED)
    def test_it_certifies_no_more_than_epsilon_of_corrected_mechanisms(self, make, absolute: bool):
        rng = np.random.default_rng(3)
        many = rng.integers(0, 2, (25, 100)).astype(float)
        for mechanism, h, a, b, runs in (
            (make(1.0, absolute=absolute), self.H, self.A, self.B, 200_000),
            (make(5.0, absolute=absolute), many, self.ALONE, self.PAIR, 40_000),
        ):
            found = black_box_epsilon(mechanism, h, a, b, runs=runs, rng=rng, level=0.999)
            assert found <= privacy_loss(mechanism, h, a, b).epsilon <= mechanism.epsilon * (1 + 1e-9)


def test_gaps_of_the_worst_rows_are_what_sensitivity_says():
    """The rows used above reach the local sensitivity, signed and absolute; else these tests would prove little."""
    from core.queries.gaps import local_sensitivity

    for n0 in range(2, 6):
        a = (0,) * n0 + (1,) * (12 - n0)
        b = (1, *a[1:])
        rows = np.array(rows_that_move_most(a, b))
        one, other = statistical_parity_gap(rows, a), statistical_parity_gap(rows, b)
        assert np.abs(one - other).max() == pytest.approx(local_sensitivity(12 - n0, n0, 1))
        absolute = np.abs(np.abs(one) - np.abs(other)).max()
        assert absolute == pytest.approx(local_sensitivity(12 - n0, n0, 1, absolute=True))
