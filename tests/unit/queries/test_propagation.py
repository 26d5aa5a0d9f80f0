"""Expectation propagation against the exact posterior of few people, and where the answer is known beforehand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.queries.gaps import counted
from core.queries.propagation import propagate

NOISES = {
    "laplace": (lambda r: -np.abs(r), lambda rng, size: rng.laplace(size=size)),
    "cauchy": (lambda r: -np.log1p(r**2), lambda rng, size: rng.standard_cauchy(size)),
}


def exact(rows, target, *, noise: str, scale, n_ones: int, prior) -> np.ndarray:
    """Return P(z = 1), shape (R, n), by going through all vectors with that many ones."""
    log_law, _ = NOISES[noise]
    every = np.zeros((0, rows.shape[2]))
    for chosen in combinations(range(rows.shape[2]), n_ones):
        one = np.zeros((1, rows.shape[2]))
        one[0, list(chosen)] = 1
        every = np.vstack([every, one])
    found = []
    for g, y, p in zip(rows, target, prior, strict=True):
        weight = log_law((y - every @ g.T) / scale).sum(axis=1) + every @ (np.log(p) - np.log1p(-p))
        law = np.exp(weight - weight.max())
        found.append(law @ every / law.sum())
    return np.array(found)


def drawn(noise: str, scale: float, *, repeats: int, m: int, n: int, ones: int, seed: int = 0, strength: float = 1.0):
    """Draw centred rows, answers, a prior and the truth of some repeats."""
    rng = np.random.default_rng([seed, n, m])
    rows = rng.random((repeats, m, n))
    rows -= rows.mean(axis=2, keepdims=True)
    truth = np.zeros((repeats, n))
    for z in truth:
        z[rng.permutation(n)[:ones]] = 1
    odds = np.where(truth == 1, 0.5, -0.5) * strength**2 + strength * rng.normal(size=truth.shape)
    prior = 1 / (1 + np.exp(-odds - np.log(ones / (n - ones))))
    noises = NOISES[noise][1](rng, (repeats, m))
    target = np.einsum("rmn,rn->rm", rows, truth) + scale * noises
    return {"rows": rows, "target": target, "noise": noise, "scale": scale, "n_ones": ones, "prior": prior}, truth


def shifted(case) -> np.ndarray:
    """Return the probabilities as the decoder uses them: shifted until they add up to the number of ones."""
    return counted(propagate(**case), case["n_ones"])


def balanced(found: np.ndarray, truth: np.ndarray, share: float) -> float:
    guess = found > share
    return float((guess[truth == 1].mean() + (~guess)[truth == 0].mean()) / 2)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("scale", "informed"), [(0.05, True), (0.3, False), (0.3, True), (2.0, True)])
def test_close_to_the_exact_posterior(noise: str, scale: float, informed: bool):
    case, truth = drawn(noise, scale, repeats=60, m=5, n=10, ones=3)
    if not informed:
        case["prior"] = np.full_like(case["prior"], 0.3)
    found, right = shifted(case), exact(**case)
    before = exact(**(case | {"scale": 1e9}))  # what the number of ones alone makes of the prior
    assert np.abs(found - right).mean() < 0.01 + 0.35 * np.abs(before - right).mean()
    assert balanced(found, truth, 0.3) > balanced(right, truth, 0.3) - 0.02
    assert found.shape == truth.shape and (found > 0).all() and (found < 1).all()


@pytest.mark.parametrize("noise", NOISES)
def test_huge_noise_leaves_the_prior(noise: str):
    case, _ = drawn(noise, 1.0, repeats=10, m=20, n=60, ones=18)
    case["scale"] = 1e9
    case["prior"] = case["prior"] * 18 / case["prior"].sum(axis=1, keepdims=True)  # the number of ones says nothing new
    assert np.abs(propagate(**case) - case["prior"]).max() < 0.02


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(NOISES)), st.floats(1e-4, 1e4), st.integers(0, 10_000))
def test_the_unit_of_the_answers_does_not_matter(noise: str, unit: float, seed: int):
    case, _ = drawn(noise, 0.2, repeats=2, m=6, n=15, ones=5, seed=seed)
    other = case | {"rows": case["rows"] * unit, "target": case["target"] * unit, "scale": case["scale"] * unit}
    assert propagate(**other) == pytest.approx(propagate(**case), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(NOISES)), st.integers(0, 10_000))
def test_people_and_answers_have_no_order(noise: str, seed: int):
    case, _ = drawn(noise, 0.2, repeats=2, m=6, n=15, ones=5, seed=seed)
    rng = np.random.default_rng(seed)
    people, answers = rng.permutation(15), rng.permutation(6)
    turned = case | {
        "rows": case["rows"][:, answers][:, :, people],
        "target": case["target"][:, answers],
        "prior": case["prior"][:, people],
    }
    assert propagate(**turned) == pytest.approx(propagate(**case)[:, people], abs=1e-5)


def test_nearly_exact_answers_that_do_not_suffice_still_help():
    """Where the iteration may run away, the last probabilities that fit the answers are returned."""
    for m in (5, 10, 15):
        case, truth = drawn("laplace", 1e-6, repeats=40, m=m, n=60, ones=6)
        assert balanced(propagate(**case), truth, 0.1) > balanced(case["prior"], truth, 0.1)
