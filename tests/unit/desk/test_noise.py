"""The noise: its law, its bounds, and by brute force what everything a ledger released can say about one person."""

from __future__ import annotations

import itertools
import math
import secrets
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.desk import TestSet, example_ledger, open_ledger
from core.desk.answers import unpacked
from core.desk.budget import follow
from core.desk.noise import GRID, Noise, centred, combined_bound, discrete_laplace, on_grid
from tests.ledger_work import ATTRIBUTE, NAME, seeded

OPENED_WITH = open_ledger.__kwdefaults__["randbelow"]  # type: ignore[index]
"""Before any test replaces it."""


def law(x: int, numerator: int, denominator: int) -> float:
    p = math.exp(-denominator / numerator)
    return (1 - p) / (1 + p) * p ** abs(x)


@pytest.mark.parametrize("numerator, denominator", [(1, 2), (1, 1), (5, 2), (10, 1), (6, 4)])
def test_the_noise_has_the_law_it_should(numerator: int, denominator: int):
    randbelow = seeded(numerator * 10 + denominator)
    draws = np.array([discrete_laplace(numerator, denominator, randbelow) for _ in range(20_000)])
    values = range(-4 * numerator, 4 * numerator + 1)
    expected = np.array([law(x, numerator, denominator) for x in values]) * draws.size
    found = np.array([(draws == x).sum() for x in values])
    keep = expected > 5
    assert keep.sum() >= 3
    chi2 = float((np.square(found - expected) / expected)[keep].sum())
    assert chi2 < keep.sum() + 4 * math.sqrt(2 * keep.sum())


def test_noise_comes_from_the_operating_system(monkeypatch: pytest.MonkeyPatch):
    assert OPENED_WITH is secrets.randbelow
    values = {discrete_laplace(10**9, 1, secrets.randbelow) for _ in range(20)}
    assert len(values) == 20


@given(st.integers(1, 200), st.integers(1, 1000), st.floats(0.5, 0.999))
def test_the_bound_is_the_quantile(reach: int, thousandths: int, level: float):
    noise = Noise(reach, thousandths * 1000, 1.0)
    p = math.exp(-thousandths / (1000 * reach))
    bound = noise.bound(level)
    beyond = 2 * p ** (bound + 1) / (1 + p)
    assert beyond <= (1 - level) * (1 + 1e-9)
    assert bound == 0 or 2 * p**bound / (1 + p) > (1 - level) * (1 - 1e-9)


def test_the_bound_on_combinations_holds_and_is_not_far_off():
    rng = np.random.default_rng(1)
    for reaches, coefficients in (([3, 5], [1.0, -2.0]), ([1] * 30, [0.2] * 30), ([100, 1, 1], [0.1, 5, 3])):
        noises = [Noise(reach, 500_000, 1.0) for reach in reaches]
        p = [math.exp(-0.5 / reach) for reach in reaches]
        draws = sum(
            c * (rng.geometric(1 - q, 200_000) - rng.geometric(1 - q, 200_000))
            for c, q in zip(coefficients, p, strict=True)
        )
        bound = combined_bound(np.array(coefficients), noises, 0.975)
        beyond = float((np.abs(draws) > bound).mean())
        assert 0.0005 < beyond <= 0.026


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.data())
def test_one_person_changes_a_sum_by_at_most_its_reach(scores: list[float], data: st.DataObject):
    h = np.array(scores)
    people = np.array(data.draw(st.lists(st.booleans(), min_size=h.size, max_size=h.size)))
    people[0] = True
    values, reach = centred(on_grid(h), people)
    assert np.abs(values).max() <= reach <= GRID and not values[~people].any()
    assert (values.max() == -values[people].min() == reach) or not people.any()


@given(st.floats(0, 1))
def test_complements_are_exact_on_the_grid(score: float):
    h = np.array([score, 1.0 - score])
    assert abs(int(on_grid(h).sum()) - GRID) <= 1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_everything_released_together_stays_within_what_was_spent(seed: int):
    """Brute force: all attribute vectors of 5 people, all neighbours, all that a ledger released about them.

    The largest |log P(u | sum x) - log P(u | sum y)| over u is |x - y| epsilon / reach, exactly.
    """
    rng = np.random.default_rng(seed)
    n, labels = 5, np.array([1, 1, 1, 0, 0])
    test_set = TestSet(ids=tuple("abcde"), attribute=np.array([0, 1, 0, 1, 1]), labels=labels)
    ledger = example_ledger(seed)
    ledger.register(NAME, test_set, budget=3, columns=ATTRIBUTE, count_epsilon=0.125)
    for _ in range(8):
        h = rng.random(n) if rng.random() < 0.5 else rng.integers(0, 2, n)
        metric = ("statistical_parity", "equal_opportunity")[int(rng.integers(2))]
        again = bool(rng.random() < 0.2)
        epsilon = float(rng.choice([0.1, 0.25, 0.7]))
        ledger.ask(NAME, test_set, h, epsilon=epsilon, metric=metric, asker="x", again=again)
    with ledger._store.reading() as look:
        account = follow(look.entries()).accounts[NAME]
        stored = look.questions({one.question for one in account.released if one.question})
    rows = []
    for one in account.released:
        people = np.ones(n, bool) if one.metric == "statistical_parity" else labels == 1
        question = one.question
        rows.append(centred(unpacked(question, stored[question]), people)[0] if question else people.astype(np.int64))
    sums = {secret: np.array(rows) @ secret for secret in itertools.product((0, 1), repeat=n)}
    moves = set()
    for secret, mine in sums.items():
        for who in range(n):
            other = sums[(*secret[:who], 1 - secret[who], *secret[who + 1 :])]
            moves.add(tuple(np.abs(mine - other).tolist()))
    worst = max(
        sum((Fraction(x * one.noise.epsilon, one.noise.reach) for x, one in zip(move, account.released, strict=True)))
        for move in moves
    )
    assert len(account.released) >= 3
    assert 0 < worst <= account.spent <= account.budget == 3_000_000


def test_the_law_of_a_release_keeps_its_price_by_enumeration():
    """The same bound from the probabilities themselves, for one question and every pair of neighbours."""
    values, reach = centred(np.array([0, 3, 5, 1]), np.ones(4, bool))
    epsilon = 0.4
    numerator, denominator = reach * 10, 4  # the scale reach / epsilon
    worst = 0.0
    for attribute in itertools.product((False, True), repeat=4):
        for who in range(4):
            other = np.array(attribute)
            other[who] ^= True
            a, b = int(values[np.array(attribute)].sum()), int(values[other].sum())
            for u in range(-60, 61):
                worst = max(
                    worst, abs(math.log(law(u - a, numerator, denominator) / law(u - b, numerator, denominator)))
                )
    assert worst == pytest.approx(epsilon)  # reached, never passed
