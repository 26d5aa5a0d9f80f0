"""Answers from the past: what follows from what, with the least noise; and the interval around a gap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.desk import TestSet, example_ledger, open_ledger
from core.desk.answers import combine
from core.desk.noise import GRID, Noise, centred, gap_interval, gap_value, on_grid, standard_error
from core.queries import statistical_parity_gap
from tests.ledger_work import ATTRIBUTE, NAME, seeded


@settings(deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(8, 20))
def test_combinations_are_found_and_others_are_not(seed: int, k: int, n: int):
    rng = np.random.default_rng(seed)
    rows, scales, free = rng.random((k, n)), 10 ** rng.uniform(-3, 3, k), np.ones(n)
    coefficients, constant = rng.normal(size=k), float(rng.normal())
    target = coefficients @ rows + constant
    found = combine(rows, scales, target, free)
    assert found is not None and found.slack < 1e-6
    assert np.allclose(found.coefficients @ rows + found.constant * free, target, atol=1e-6)
    assert np.allclose(found.coefficients, coefficients, atol=1e-5)  # the rows are independent
    assert combine(rows, scales, rng.random(n), free) is None
    assert combine(rows, scales, target, None) is None or abs(constant) < 1e-5


@settings(deadline=None)
@given(st.integers(0, 2**31))
def test_of_many_combinations_the_one_with_the_least_variance_is_taken(seed: int):
    """Against the equations of the constrained minimum (Lagrange), with dependent rows."""
    rng = np.random.default_rng(seed)
    base = rng.random((3, 9))
    rows = rng.normal(size=(6, 3)) @ base
    scales = rng.uniform(0.2, 5, 6)
    target = rng.normal(size=3) @ base
    found = combine(rows, scales, target, None)
    assert found is not None
    v, basis = np.diag(scales**2), np.linalg.pinv(base)
    r, t = (rows @ basis).T, target @ basis  # in coordinates of the base: 3 equations
    kkt = np.block([[2 * v, r.T], [r, np.zeros((3, 3))]])
    expected = np.linalg.solve(kkt, np.concatenate([np.zeros(6), t]))[:6]
    assert np.allclose(found.coefficients, expected, atol=1e-6 * np.abs(expected).max() + 1e-8)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**31), st.sampled_from([(1e-6, 20.0), (1e-4, 0.01, 1.0, 20.0)]))
def test_what_was_released_is_found_again_whatever_the_prices_were(seed: int, prices: tuple[float, ...]):
    """Repeats, complements and halves, among near repeats and prices that lie seven powers of ten apart."""
    rng, n, everybody = np.random.default_rng(seed), 30, np.ones(30)
    asked, rows, scales = [rng.random(n)], [everybody], [10.0]
    for _ in range(10):
        h = asked[int(rng.integers(len(asked)))]
        h = rng.random(n) if rng.random() < 0.4 else np.clip(h + 10 ** rng.uniform(-6, -3) * rng.random(n), 0, 1)
        asked.append(h)
        values, reach = centred(on_grid(h), everybody == 1)
        rows.append(values * (0.5 / GRID))
        scales.append(Noise(reach, int(rng.choice(prices) * 1e6), 0.5 / GRID).scale)
        for factor in (1.0, -1.0, 0.5):
            found = combine(np.array(rows), np.array(scales), factor * rows[-1], everybody)
            assert found is not None
            assert np.linalg.norm(found.coefficients * scales) <= abs(factor) * scales[-1] * (1 + 1e-6)
            assert found.slack <= n * 1e-6


def test_prices_far_apart_do_not_stop_an_answer_that_is_charged():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        test_set = TestSet(ids=tuple(f"{i:03}" for i in range(30)), attribute=np.arange(30) % 2)
        ledger = example_ledger(seed)
        ledger.register(NAME, test_set, budget=1000, columns=ATTRIBUTE, count_epsilon="0.1")
        h = 0.5 + 1e-4 * rng.random(30)  # a small reach has little noise, however cheap
        g = np.clip(h + 1e-4 * rng.random(30), 0, 1)
        cheap = 1
        ledger.ask(NAME, test_set, h, epsilon=cheap, asker="m")
        ledger.ask(NAME, test_set, h, epsilon=400, asker="m", again=True)
        answer = ledger.ask(NAME, test_set, g, epsilon=cheap, asker="m")
        assert not answer.refused and answer.charged == cheap
        assert ledger.ask(NAME, test_set, 1 - g, epsilon=cheap, asker="m").from_past


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.floats(0, 3), st.floats(0, 3), st.floats(-1, 1), st.floats(-1, 1))
def test_the_interval_holds_every_gap_that_fits(
    seed: int, reach: float, count_reach: float, by: float, count_by: float
):
    """Brute force over all attribute vectors: sum and count within their errors put the gap into the interval."""
    rng = np.random.default_rng(seed)
    n = 7
    h = rng.random(n) if seed % 2 else rng.integers(0, 2, n).astype(float)
    constant = float(rng.random())
    secret = rng.permutation(n) < rng.integers(1, n)
    part = float((h - constant)[secret].sum()) + by * reach
    count = float(secret.sum()) + count_by * count_reach
    found = gap_interval(h - constant, part=part, reach=reach, count=count, count_reach=count_reach)
    assert -1 <= found.low <= found.value <= found.high <= 1
    everybody = np.array(list(itertools.product((0, 1), repeat=n))[1:-1])  # both groups occur
    others, g = 1 - everybody, h - constant
    gaps = everybody @ h / everybody.sum(axis=1) - others @ h / others.sum(axis=1)
    fits = (np.abs(others @ g - part) <= reach) & (np.abs(others.sum(axis=1) - count) <= count_reach)
    assert ((found.low - 1e-9 <= gaps) & (gaps <= found.high + 1e-9))[fits].all()


@given(st.integers(0, 2**31), st.floats(-2, 2))
def test_the_gap_is_the_papers_and_does_not_depend_on_the_constant(seed: int, constant: float):
    rng = np.random.default_rng(seed)
    h, a = rng.random(9), np.array([0, 0, 1, 1, 0, 1, 1, 1, 0])
    g = h - constant
    assert gap_value(g.sum(), g[a == 0].sum(), 4, 9) == pytest.approx(statistical_parity_gap(h, a)[0])


@pytest.mark.long
def test_intervals_cover_and_standard_errors_are_the_spread(tmp_path_factory: pytest.TempPathFactory):
    """Seeded draws of whole ledgers: the gap of a fresh question, of a combination, and of one asked twice."""
    rng = np.random.default_rng(5)
    n = 400
    a = (rng.random(n) < 0.7).astype(np.uint8)
    h, g = rng.random(n), rng.integers(0, 2, n)
    test_set = TestSet(ids=tuple(f"{k:03}" for k in range(n)), attribute=a)
    asked = [(h, False), (g, False), (0.2 * h + 0.5 * g, False), (h, True)]
    truth = [float(statistical_parity_gap(scores, a)[0]) for scores, _ in asked]
    covered, errors, told = [], [], []
    for repeat in range(120):
        path = tmp_path_factory.mktemp("cover") / "ledger"
        ledger = open_ledger(path, create=True, randbelow=seeded(repeat))
        ledger.register(NAME, test_set, budget=5, columns=ATTRIBUTE, count_epsilon=0.5)
        answers = [ledger.ask(NAME, test_set, scores, epsilon=0.5, asker="x", again=again) for scores, again in asked]
        covered.append([one.gap.low <= t <= one.gap.high for one, t in zip(answers, truth, strict=True)])  # type: ignore[union-attr]
        errors.append([one.gap.value - t for one, t in zip(answers, truth, strict=True)])  # type: ignore[union-attr]
        told.append([one.standard_error for one in answers])
    assert np.mean(covered, axis=0).min() >= 0.95  # the union of two bounds is on the safe side
    spread, typical = np.std(errors, axis=0), np.mean(told, axis=0)
    assert np.all((spread / typical > 0.75) & (spread / typical < 1.3))


def test_the_standard_error_is_the_derivative():
    h = np.linspace(-0.5, 0.5, 11) ** 3
    total, n = float(h.sum()), h.size
    step = 1e-6
    by_part = (gap_value(total, 0.2 + step, 4, n) - gap_value(total, 0.2, 4, n)) / step
    by_count = (gap_value(total, 0.2, 4 + step, n) - gap_value(total, 0.2, 4, n)) / step
    expected = np.hypot(0.01 * by_part, 0.03 * by_count)
    found = standard_error(n, total=total, part=0.2, deviation=0.01, count=4, count_deviation=0.03)
    assert found == pytest.approx(expected, rel=1e-3)
