"""Bits by hand, by formula, predicted from draws, and measured; what chance explains."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.stats.estimates import certain
from core.studies.model_card import Release, measured, meter, pinned, predict, project
from core.studies.model_card.equations import LATTICE, modes_of
from core.studies.model_card.meter import Prediction, formula_prediction, gained_bits
from tests.release_samples import large_case

LN2 = math.log(2)


def test_one_number_by_hand():
    """Sizes of 4 people at probability 1/2, and one model that accepts two of them."""
    release = Release(np.array([[1, 1, 0, 0]]), statistics=("sp_gap",))
    metered = meter(np.full(4, 0.5), release)
    k = np.array([[1.0, 0.5], [0.5, 0.5]])  # var of the sum, covariance with the count, var of the count
    r = 1 / (2 * math.pi * math.e) * np.eye(2)
    assert metered.df_bits == pytest.approx(np.trace(k @ np.linalg.inv(k + r)) / (2 * LN2))
    assert metered.joint_bits == pytest.approx(0.5 * np.log2(np.linalg.det(np.eye(2) + k / LATTICE)))
    assert metered.prior_bits == pytest.approx(4.0)
    accepted, not_accepted = np.array([1.0, 1.0]), np.array([1.0, 0.0])
    rhos = [0.25 * a @ np.linalg.inv(k + r) @ a for a in (accepted, not_accepted)]
    assert metered.person_bits == pytest.approx(sum(2 * min(-0.5 * math.log2(1 - rho), 1.0) for rho in rhos))


@pytest.mark.parametrize(
    ("precision", "r"),
    [
        ({"decimals": 2}, (LATTICE, (0.01 * 500 * 500 / 1000) ** 2 / 12)),  # of the people a hundredth of the gap is
        ({"epsilon": 0.5}, (2 * (2 / 0.5) ** 2,) * 2),  # one size and one count share the budget
    ],
)
def test_precision_counts_by_the_variance_it_leaves_open(precision: dict, r: tuple[float, float]):
    h, q = (np.arange(1000) < 400).astype(int), np.full(1000, 0.5)
    k = 0.25 * np.array([[1000.0, 400.0], [400.0, 400.0]])
    metered = meter(q, Release(h, statistics=("sp_gap",), **precision))
    assert metered.df_bits == pytest.approx(np.trace(k @ np.linalg.inv(k + np.diag(r))) / (2 * LN2))
    assert metered.joint_bits == pytest.approx(0.5 * np.log2(np.linalg.det(np.eye(2) + np.diag(1 / np.array(r)) @ k)))
    assert meter(q, Release(h, statistics=("sp_gap",), decimals=6)) == meter(q, Release(h, statistics=("sp_gap",)))


def test_measured_by_hand():
    before, after, s = np.array([0.5, 0.25, 0.75, 0.4]), np.array([1.0, 0.5, 0.75, 0.8]), np.array([1, 1, 0, 1])
    outcome = measured(before, after, s)
    assert outcome.bits.value == pytest.approx(1 + 1 + 0 + 1)
    assert (outcome.accuracy_before.value, outcome.accuracy_after.value) == (0, 0.5)
    assert (outcome.accuracy_gain.value, outcome.majority.value, outcome.majority_balanced.value) == (0.5, 0.75, 0.5)


def test_pinned_are_those_who_were_unsure_and_are_near_certain():
    before = np.array([0.04, 0.05, 0.5, 0.95, 0.5, 0.5])
    after = np.array([0.0, 0.004, 0.996, 0.999, 0.995, 0.6])
    outcome = pinned(before, after, sensitive=np.array([0, 0, 1, 0, 1, 1]))
    assert (outcome.people.tolist(), outcome.n_unsure) == ([1, 2, 3], 5)
    assert outcome.inferred.tolist() == [0, 1, 1]
    assert outcome.right is not None
    assert outcome.right.value == pytest.approx(2 / 3)


def gained(q: np.ndarray, release: Release, s: np.ndarray, rng: np.random.Generator | None = None) -> float:
    """Return the bits that a card gains where the attribute is s."""
    return float(gained_bits(q, project(q, release.publish(s, rng=rng)).probability, s).sum())


def some(n: int, k: int, rng: np.random.Generator, *, off: float = 0.0) -> tuple[np.ndarray, np.ndarray, Release]:
    """Return what an attacker believes of n of many people, off by so many logits, the truth, and k models' card."""
    case, chosen = large_case(1, n=4000, k=30), rng.choice(4000, n, replace=False)
    logit = np.log(case.posterior / (1 - case.posterior)) + off
    release = Release(case.release.predictions[:k, chosen], labels=case.release.labels[chosen])
    return 1 / (1 + np.exp(-logit[chosen])), case.sensitive[chosen], release


@pytest.mark.parametrize(("n", "k"), [(300, 30), (600, 20)])
def test_where_people_settle_cards_are_tried_out_and_the_formula_falls_short(n: int, k: int):
    rng = np.random.default_rng([8, n, k])
    q, _, release = some(n, k, rng)
    gain = np.mean([gained(q, release, (rng.random(n) < q).astype(np.uint8)) for _ in range(24)])
    predicted = predict(q, release)
    assert predicted.draws > 0 and 0.9 <= gain / predicted.bits.value <= 1.15
    assert gain / meter(q, release).df_bits > (1.2 if n == 300 else 1.0)


@pytest.mark.parametrize("precision", [{}, {"epsilon": 30.0}])
def test_the_spread_of_the_formula_is_that_of_draws(precision: dict):
    case = large_case(7, n=2000, k=2, **precision)
    rng = np.random.default_rng(5)
    drawn = ((rng.random(2000) < case.posterior).astype(np.uint8) for _ in range(160))
    gains = [gained(case.posterior, case.release, s, rng) for s in drawn]
    predicted = formula_prediction(modes_of(case.posterior, case.release))
    assert np.mean(gains) == pytest.approx(predicted.bits.value, rel=0.15)
    assert np.std(gains) == pytest.approx(predicted.deviation, rel=0.2)
    assert 0.91 <= np.mean([predicted.low <= gain <= predicted.high for gain in gains]) <= 0.99


@pytest.mark.parametrize("systematic", [0.0, 4.0, 60.0])
@pytest.mark.parametrize("numbers", [3, 30])
def test_the_interval_holds_the_expected_gain_of_a_wrong_posterior(numbers: int, systematic: float):
    """Half a noncentral chi-squared in nats: what independent numbers gain where their means are off."""
    x = np.random.default_rng([numbers, int(systematic)]).noncentral_chisquare(numbers, systematic + 1e-12, 400)
    gains, mean = x / (2 * math.log(2)), (numbers + systematic) / (2 * math.log(2))
    right = Prediction(
        bits=certain(numbers / (2 * math.log(2)), 100),
        deviation=math.sqrt(numbers / 2) / math.log(2),
        skewness=math.sqrt(8 / numbers),
        noise=False,
    )
    intervals = [right.expected(float(gain), 100) for gain in gains]
    assert 0.92 <= np.mean([interval.low <= mean <= interval.high for interval in intervals]) <= 0.98
