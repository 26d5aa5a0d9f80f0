"""Predicted bits: tried out where people settle; the interval of measured bits; what chance explains and what not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.model_card import Published, Release, ReleaseSettings, measured, meter, predict, project, study
from core.model_card.equations import modes_of
from core.model_card.meter import Chance, formula_chance, gained_bits
from tests.reference.release_adult import Split
from tests.reference.release_chance import covered, drawn, redraw
from tests.release_cases import large_case
from tests.release_samples import people


def population(n: int = 4000, k: int = 30, *, off: float = 0.0) -> Split:
    """Return many people whose attribute is drawn from a posterior, which the attacker knows off by so many logits."""
    case = large_case(1, n=n, k=k)
    logit = np.log(case.posterior / (1 - case.posterior)) + off
    return Split(
        seed=0,
        predictions=case.release.predictions,
        labels=case.release.labels,
        posterior={"s": 1 / (1 + np.exp(-logit))},
        sensitive={"s": case.sensitive},
    )


@pytest.mark.parametrize(("n", "k"), [(300, 30), (600, 20)])
def test_where_people_settle_cards_are_tried_out_and_the_prediction_holds(n: int, k: int):
    gains, predicted = drawn(population(), "s", n, k, 24)
    assert 0.9 <= np.mean(gains) / predicted <= 1.15


def test_the_formula_falls_short_where_people_settle():
    gains, predicted = drawn(population(), "s", 300, 30, 24)
    chosen = np.random.default_rng([8, 300, 30]).choice(4000, 300, replace=False)
    one = population()
    release = Release(one.predictions[:, chosen], labels=one.labels[chosen])
    assert np.mean(gains) / meter(one.posterior["s"][chosen], release).df_bits > 1.2
    assert predict(one.posterior["s"][chosen], release).draws > 0 and predicted > 0


def test_where_hardly_anybody_settles_the_formula_is_kept():
    case = large_case(2, n=5000, k=3)
    found = predict(case.posterior, case.release)
    assert found.draws == 0 and found.bits.value == meter(case.posterior, case.release).df_bits
    assert math.isnan(found.bits.low) and found.low < found.bits.value < found.high


def test_numbers_of_groups_of_unknown_size_are_tried_out():
    case = large_case(3, n=2000, k=4, sizes=False, decimals=2)
    found = predict(case.posterior, case.release)
    assert found.draws >= 8 and found.bits.low < found.bits.value < found.bits.high


def test_the_same_seed_tries_out_the_same_cards():
    case = large_case(4, n=300, k=10)
    first, again, other = (predict(case.posterior, case.release, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("told", [{}, {"decimals": 2}, {"epsilon": 40.0}])
def test_numbers_that_are_out_are_tried_out_as_precisely(told: dict):
    case = large_case(5, n=400, k=6, **told)
    planned, out = (predict(case.posterior, released) for released in (case.release, case.published))
    assert planned.draws and out.draws
    assert out.bits.value == pytest.approx(planned.bits.value, rel=0.15)


def test_typed_intervals_are_tried_out_as_wide():
    case = large_case(6, n=200, k=8)
    typed = {
        (number.model, number.statistic): (number.value - 0.1, number.value + 0.05) if number.model else number.value
        for number in case.published.numbers
        if number.statistic in ("sp_gap", "size")
    }
    wide = Published.from_values(case.release, typed)
    found, exact = predict(case.posterior, wide), predict(case.posterior, case.release)
    assert found.draws and 0 < found.bits.value < 0.7 * exact.bits.value


@pytest.mark.parametrize("told", [{}, {"epsilon": 30.0}])
def test_the_spread_of_the_formula_is_that_of_draws(told: dict):
    case = large_case(7, n=2000, k=2, **told)
    rng, gains = np.random.default_rng(5), []
    for _ in range(160):
        s = (rng.random(2000) < case.posterior).astype(np.uint8)
        after = project(case.posterior, case.release.publish(s, rng=rng)).probability
        gains.append(float(gained_bits(case.posterior, after, s).sum()))
    found = formula_chance(modes_of(case.posterior, case.release))
    assert np.mean(gains) == pytest.approx(found.mean, rel=0.15)
    assert np.std(gains) == pytest.approx(found.deviation, rel=0.2)
    low, high = found.range()
    assert 0.91 <= np.mean([low <= gain <= high for gain in gains]) <= 0.99


@pytest.mark.parametrize("systematic", [0.0, 4.0, 60.0])
@pytest.mark.parametrize("numbers", [3, 30])
def test_the_interval_holds_the_expected_gain_of_a_wrong_posterior(numbers: int, systematic: float):
    """Half a noncentral chi-squared in nats: what independent numbers gain where their means are off."""
    x = np.random.default_rng([numbers, int(systematic)]).noncentral_chisquare(numbers, systematic + 1e-12, 400)
    gains, mean = x / (2 * math.log(2)), (numbers + systematic) / (2 * math.log(2))
    right = Chance(
        mean=numbers / (2 * math.log(2)),
        deviation=math.sqrt(numbers / 2) / math.log(2),
        skewness=math.sqrt(8 / numbers),
        noise=False,
    )
    found = [right.expected(float(gain), 100) for gain in gains]
    assert 0.92 <= np.mean([one.low <= mean <= one.high for one in found]) <= 0.98


@pytest.mark.parametrize(("k", "off"), [(1, 0.0), (5, 0.5)])
def test_the_interval_holds_the_mean_gain_of_other_people_like_these(k: int, off: float):
    one = population(off=off)
    assert covered([redraw(one, "s", 300, k, number) for number in range(30)]) >= 0.86


def test_measured_bits_without_a_prediction_have_no_interval():
    found = measured(np.array([0.5, 0.25]), np.array([0.75, 0.25]), np.array([1, 0]))
    assert found.bits.n == 2 and math.isnan(found.bits.low) and math.isnan(found.bits.high)


def test_nothing_to_tell_is_predicted_as_nothing():
    found = predict(np.array([1.0, 0.0, 1.0, 0.0]), Release(np.array([[1, 1, 0, 0]]), statistics=("sp_gap",)))
    assert (found.bits.value, found.low, found.high, found.draws) == (0, 0, 0, 0)
    assert found.chance.expected(0.0, 4).high == 0


def test_chance_explains_what_draws_from_the_posterior_gain():
    who, rng, found = people(), np.random.default_rng(9), []
    settings = ReleaseSettings(count=4, decimals=None)
    prediction = study(who, settings).prediction
    release = Release(who.predictions[:4], labels=who.labels)
    for _ in range(60):
        s = (rng.random(who.n) < who.posterior).astype(np.uint8)
        after = project(who.posterior, release.publish(s)).probability
        gain = float(gained_bits(who.posterior, after, s).sum())
        inside = prediction.low <= gain <= prediction.high
        held = prediction.chance.expected(gain, who.n)
        assert inside == (held.low <= prediction.bits.value <= held.high)
        found.append(inside)
    assert np.mean(found) >= 0.88
    again = replace(who, sensitive=s)
    assert study(again, settings).measured.bits.value == pytest.approx(gain, abs=1e-6)
