"""The noise-aware decoder: exact posteriors on small cases, reference leakages, symmetries, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import InputError
from core.queries import (
    Exact,
    LaplaceGlobal,
    NoisySums,
    Rounded,
    SmoothCauchy,
    decode_noisy,
    leakage,
)

N, N0 = 100, 10
SIZES = {"n_advantaged": N - N0, "n_disadvantaged": N0}


def drawn(rng: np.random.Generator, repeats: int, m: int, design: str = "binary"):
    """Draw questions (R, m, n) and attributes (R, n)."""
    a = np.ones((repeats, N), dtype=int)
    for one in a:
        one[rng.permutation(N)[:N0]] = 0
    if design == "binary":
        return rng.integers(0, 2, (repeats, m, N)).astype(float), a
    base = rng.beta(0.5, 1.5, (repeats, 1, N))
    return np.clip(base + rng.uniform(-0.1, 0.1, (repeats, m, N)), 0, 1), a


def informed(rng: np.random.Generator, a: np.ndarray, distance: float = 0.99) -> np.ndarray:
    """Draw a calibrated prior: log-odds of two normal laws `distance` apart, over the groups' shares."""
    odds = np.where(a == 1, 0.5, -0.5) * distance**2 + distance * rng.normal(size=a.shape) + math.log((N - N0) / N0)
    return 1 / (1 + np.exp(-odds))


def answers(mechanism, h, a, rng):
    if isinstance(mechanism, NoisySums):
        return [mechanism.release(*one, rng=rng) for one in zip(h, a, strict=True)]
    return np.array([mechanism.answer(*one, rng=rng) for one in zip(h, a, strict=True)])


def leaked(probability, a) -> float:
    """Mean leakage of the guess of the highest expected balanced accuracy: advantaged where likelier than usual."""
    guess = probability > probability.mean(axis=1, keepdims=True)
    return float(np.mean([leakage(*one) for one in zip(a, guess, strict=True)]))


def decode_many(h, y, mechanism, *, prior=None, **sizes) -> np.ndarray:
    priors = [None] * len(h) if prior is None else prior
    each = zip(h, y, priors, strict=True)
    return np.array([decode_noisy(s, told, mechanism, prior=p, **sizes) for s, told, p in each])


class TestReference:
    """n = 100, m = 40, ε = 100, random binary questions, Cauchy: 65 % without prior, 75 % with the prior of race."""

    @staticmethod
    def case():
        rng = np.random.default_rng(42)
        h, a = drawn(rng, 100, 40)
        return h, a, informed(rng, a), answers(SmoothCauchy(100.0), h, a, rng)

    def test_without_prior(self):
        h, a, _, y = self.case()
        assert leaked(decode_many(h, y, SmoothCauchy(100.0), **SIZES), a) == pytest.approx(0.65, abs=0.03)

    def test_with_a_prior_as_good_as_that_of_race(self):
        h, a, prior, y = self.case()
        assert leaked(prior, a) == pytest.approx(0.69, abs=0.02)
        assert leaked(decode_many(h, y, SmoothCauchy(100.0), prior=prior, **SIZES), a) == pytest.approx(0.75, abs=0.03)


def test_fine_answers_tell_everything():
    rng = np.random.default_rng(4)
    h, a = drawn(rng, 20, 60)
    for mechanism in (Exact(), Rounded(3), LaplaceGlobal(1e5), SmoothCauchy(1e6), NoisySums(1e4)):
        assert leaked(decode_many(h, answers(mechanism, h, a, rng), mechanism, **SIZES), a) > 0.98


def test_complement_and_negated_answers_are_the_same_news():
    rng = np.random.default_rng(7)
    h, a = drawn(rng, 3, 20)
    y = answers(SmoothCauchy(50.0), h, a, rng)
    one, other = (decode_many(s, t, SmoothCauchy(50.0), **SIZES) for s, t in ((h, y), (1 - h, -y)))
    assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("make", [LaplaceGlobal, SmoothCauchy])
def test_an_absolute_gap_of_one_person_is_read_by_the_law_of_the_noise(make):
    rng = np.random.default_rng(9)
    n1, n0 = 90, 10
    mechanism, h = make(2000.0, absolute=True), np.eye(N)[np.newaxis]
    a = drawn(rng, 1, 1)[1]
    y = answers(mechanism, h, a, rng)
    scale, prior = mechanism.scale(n1, n0, N), informed(rng, a)
    found = decode_many(h, y, mechanism, prior=prior, **SIZES)[0]
    one, other = ((y[0] - 1 / size) / scale for size in (n1, n0))
    law = {LaplaceGlobal: lambda x: np.exp(-np.abs(x)), SmoothCauchy: lambda x: 1 / (1 + x**2)}[make]
    expected = prior[0] * law(one) / (prior[0] * law(one) + (1 - prior[0]) * law(other))
    assert found == pytest.approx(expected, abs=1e-9)


def test_absolute_gaps_of_several_people_are_not_read():
    rng = np.random.default_rng(9)
    h, a = drawn(rng, 1, 3)
    mechanism = LaplaceGlobal(1.0, absolute=True)
    with pytest.raises(InputError, match="accept one person each"):
        decode_many(h, answers(mechanism, h, a, rng), mechanism, **SIZES)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"answers": [0.1]}, "answers must have one value for each of 2 questions, got 1"),
        ({"answers": [0.1, math.nan]}, "answers must be finite"),
        ({"scores": [[0.1, 2.0, 0.3], [0.1, 0.2, 0.3]]}, r"in \[0, 1\], got 2.0"),
        ({"n_advantaged": 3}, "must sum to 3 people, got 3 and 1"),
        ({"n_disadvantaged": 0}, "at least 1, got 0"),
        ({"prior": [0.5, 0.5]}, "prior must"),
        ({"prior": [0.5, 0.5, 1.5]}, r"prior must be in \[0, 1\], got 1.5"),
    ],
)
def test_bad_input_is_refused(change, told: str):
    given = {"scores": [[0.1, 0.2, 0.3], [1, 0, 0]], "answers": [0.1, 0.2], "n_advantaged": 2, "n_disadvantaged": 1}
    given |= change
    with pytest.raises(InputError, match=told):
        decode_noisy(given.pop("scores"), given.pop("answers"), Exact(), **given)
