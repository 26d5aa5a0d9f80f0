"""The noise: its law, its bounds, and what everything a ledger released can say about one person."""

import itertools
import math
import secrets
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.desk import TestSet, example_ledger, open_ledger
from core.desk.noise import (
    NoisyNumber,
    centred,
    discrete_laplace,
    gap_interval,
    gap_value,
    on_grid,
    release,
    standard_error,
)
from core.studies.bias_queries import statistical_parity_gap
from tests.ledger_work import ATTRIBUTE, NAME, people, seeded

OPENED_WITH = open_ledger.__kwdefaults__["randbelow"]
"""Before any test replaces it."""


def law(x, numerator, denominator):
    p = math.exp(-denominator / numerator)
    return (1 - p) / (1 + p) * p ** abs(x)


@pytest.mark.parametrize(("numerator", "denominator"), [(1, 2), (5, 2), (10, 1)])
def test_the_noise_has_the_law_it_should(numerator, denominator):
    randbelow = seeded(numerator * 10 + denominator)
    noise, nobody = NoisyNumber(numerator, denominator * 1_000_000, 1.0), np.zeros(1, dtype=bool)
    draws = np.array([release(np.ones(1), nobody, noise, randbelow) for _ in range(20_000)])
    values = np.arange(-4 * numerator, 4 * numerator + 1)
    expected = np.array([law(x, numerator, denominator) for x in values]) * draws.size
    observed = (draws == values[:, None]).sum(axis=1)
    keep = expected > 5
    assert keep.sum() >= 3
    chi2 = float((np.square(observed - expected) / expected)[keep].sum())
    assert chi2 < keep.sum() + 4 * math.sqrt(2 * keep.sum())


def test_noise_comes_from_the_operating_system():
    assert OPENED_WITH is secrets.randbelow
    assert len({discrete_laplace(10**9, 1, secrets.randbelow) for _ in range(20)}) == 20


@given(st.integers(1, 200), st.integers(1, 1000), st.floats(0.5, 0.999))
def test_the_bound_is_the_quantile(reach, thousandths, level):
    noise = NoisyNumber(reach, thousandths * 1000, 1.0)
    p = math.exp(-thousandths / (1000 * reach))
    bound = noise.bound(level)
    beyond = 2 * p ** (bound + 1) / (1 + p)
    assert beyond <= (1 - level) * (1 + 1e-9)
    assert bound == 0 or 2 * p**bound / (1 + p) > (1 - level) * (1 - 1e-9)


def test_the_size_of_the_disadvantaged_group_has_the_shortest_interval_of_its_level():
    ledger = example_ledger(1)
    ledger.register(NAME, people(400), budget=1, roles=ATTRIBUTE, count_epsilon=0.5)
    size = ledger.status(NAME).n_disadvantaged
    half = round(size.high - size.value)
    assert size.value - size.low == size.high - size.value == half
    held, shorter = (sum(law(x, 2, 1) for x in range(-k, k + 1)) for k in (half, half - 1))
    assert shorter < size.level <= held


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_everything_released_together_stays_within_what_was_spent(seed):
    """All that a ledger released about 5 people; a neighbour is another attribute of one, which moves each sum.

    The largest |log P(u | sum x) - log P(u | sum y)| over u is |x - y| epsilon / reach, exactly.
    """
    rng = np.random.default_rng(seed)
    n, labels = 5, np.array([1, 1, 1, 0, 0])
    test_set = TestSet(ids=tuple("abcde"), attribute=np.array([0, 1, 0, 1, 1]), labels=labels)
    ledger = example_ledger(seed)
    ledger.register(NAME, test_set, budget=3, roles=ATTRIBUTE, count_epsilon=0.125)
    steps = {}
    for _ in range(8):
        h = rng.random(n) if rng.random() < 0.5 else rng.integers(0, 2, n)
        metric = ("statistical_parity", "equal_opportunity")[int(rng.integers(2))]
        again = bool(rng.random() < 0.2)
        epsilon = float(rng.choice([0.1, 0.25, 0.7]))
        answer = ledger.ask(NAME, test_set, h, epsilon=epsilon, metric=metric, asker="x", again=again)
        steps[answer.number] = on_grid(h)
    account = ledger._current_state().accounts[NAME]
    metrics = {answer.number: answer.metric for answer in account.answers}
    losses = [Fraction(0)] * n
    for (entry, part), number in account.released.items():
        people = np.ones(n, bool) if metrics.get(entry) != "equal_opportunity" else labels == 1
        moves = centred(steps[entry], people)[0] if part == "sum" else people.astype(np.int64)
        for person, move in enumerate(np.abs(moves).tolist()):
            losses[person] += Fraction(move * number.epsilon, number.reach)
    assert len(account.released) >= 3
    assert 0 < max(losses) <= account.spent <= account.budget == 3_000_000


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.floats(0, 3), st.floats(0, 3), st.floats(-1, 1), st.floats(-1, 1))
def test_the_interval_holds_every_gap_that_fits(seed, reach, count_reach, by, count_by):
    """Brute force over all attribute vectors: sum and count within their errors put the gap into the interval."""
    rng = np.random.default_rng(seed)
    n = 7
    h = rng.random(n) if seed % 2 else rng.integers(0, 2, n).astype(float)
    constant = float(rng.random())
    secret = rng.permutation(n) < rng.integers(1, n)
    part = float((h - constant)[secret].sum()) + by * reach
    count = float(secret.sum()) + count_by * count_reach
    interval = gap_interval(h - constant, part=part, reach=reach, count=count, count_reach=count_reach)
    assert -1 <= interval.low <= interval.value <= interval.high <= 1 and interval.level == 0.95
    everybody = np.array(list(itertools.product((0, 1), repeat=n))[1:-1])  # both groups occur
    complement, g = 1 - everybody, h - constant
    gaps = everybody @ h / everybody.sum(axis=1) - complement @ h / complement.sum(axis=1)
    fits = (np.abs(complement @ g - part) <= reach) & (np.abs(complement.sum(axis=1) - count) <= count_reach)
    assert ((interval.low - 1e-9 <= gaps) & (gaps <= interval.high + 1e-9))[fits].all()


@given(st.integers(0, 2**31), st.floats(-2, 2))
def test_the_gap_is_the_papers_and_does_not_depend_on_the_constant(seed, constant):
    rng = np.random.default_rng(seed)
    h, a = rng.random(9), np.array([0, 0, 1, 1, 0, 1, 1, 1, 0])
    g = h - constant
    assert gap_value(g.sum(), g[a == 0].sum(), 4, 9) == pytest.approx(statistical_parity_gap(h, a)[0])


def test_the_standard_error_is_the_derivative():
    h, step = np.linspace(-0.5, 0.5, 11) ** 3, 1e-6
    total, n = float(h.sum()), h.size
    at = gap_value(total, 0.2, 4, n)
    slopes = np.array([gap_value(total, 0.2 + step, 4, n) - at, gap_value(total, 0.2, 4 + step, n) - at]) / step
    actual = standard_error(n, total=total, part=0.2, deviation=0.01, count=4, count_deviation=0.03)
    assert actual == pytest.approx(np.hypot(*(slopes * (0.01, 0.03))), rel=1e-3)
