"""AttriGuard on ratings: the study that grows, what settings do, transfer, recommendations."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from core.base.errors import InputError
from core.base.validation import child_generator
from core.datasets import Ratings
from core.datasets.ratings import build_ratings
from core.stats.estimates import mean
from core.studies.attriguard import AttriGuardSettings, Exposure, RatingsDefense, recommendation, transfer
from core.studies.attriguard.comparators import CLEAN_ATTACKERS, SURROGATES
from tests import ratings_samples
from tests.ratings_samples import ratings_settings
from tests.unit.attriguard.conftest import SETTINGS

SAMPLE = ratings_samples.ratings()


def few(
    settings: AttriGuardSettings, ratings: Ratings = SAMPLE, attackers: tuple[str, ...] = ("logistic",)
) -> Exposure:
    """Return the whole study with few attackers."""
    return list(RatingsDefense(ratings, replace(settings, attackers=attackers)).expose())[-1]


def test_nobody_sees_the_hidden_values(full_exposure: Exposure):
    """The same people with other hidden values: every noise and guess stays, and the value the majority guess names."""
    mixed = replace(SAMPLE, values_test=np.random.default_rng(1).permutation(SAMPLE.values_test))
    attackers = ("logistic", "adversarial")
    permuted = list(RatingsDefense(mixed, replace(SETTINGS, attackers=attackers)).expose())[-1]
    assert (permuted.truth == mixed.values_test).all()
    assert (full_exposure.size == permuted.size).all()
    assert (full_exposure.predicted == permuted.predicted).all()
    guesses = [guess for guess in full_exposure.guesses if guess.attacker in attackers]
    for mine, theirs in zip(guesses, permuted.guesses, strict=True):  # also: the seed fixes every draw
        assert (mine.clean == theirs.clean).all()
        assert (mine.noisy == theirs.noisy).all()


def test_noise_misleads_and_adaptive_attackers_read_through_it(full_exposure: Exposure):
    clean = {point.attacker: point.accuracy.value for point in full_exposure.undefended()}
    noisy = {point.attacker: point.accuracy.value for point in full_exposure.at(3.0)}
    assert min(clean.values()) > 0.4  # of four values
    assert noisy["logistic"] < clean["logistic"] - 0.2
    assert noisy["adversarial"] > noisy["network"] and noisy["adversarial"] > noisy["logistic"] + 0.1


@pytest.mark.parametrize(("name", "value"), [("attackers", ("boosting",)), ("defender", "ranges")])
def test_what_is_for_tables_is_refused_on_ratings(name: str, value: object):
    with pytest.raises(InputError, match=f"{name} must be one of logistic, "):
        RatingsDefense(SAMPLE, ratings_settings(**{name: value}))  # type: ignore[arg-type]


def test_transfer(guarded: RatingsDefense, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.studies.attriguard.comparators._TRANSFER_PEOPLE", 40)
    share, size = transfer(guarded)
    assert set(share) == set(product(SURROGATES, CLEAN_ATTACKERS))
    assert share["logistic", "logistic"].value == share["network", "network"].value == 1.0
    assert share["logistic_margin", "network"].value > share["logistic", "network"].value
    # every person is counted once: the mean over people of the mean of their noises
    drawn = np.sort(child_generator(42, "guard transfer").permutation(100)[:40])
    noise = guarded.noise_of(SAMPLE.people_test[drawn], defender="network", margin=0.0)
    people = [sizes[sizes > 0] for sizes in noise.size]
    assert size["network"] == mean([float(sizes.mean()) for sizes in people if sizes.size])


def test_noise_moves_recommendations(monkeypatch: pytest.MonkeyPatch):
    """Two tastes with ten items each, all rated by everybody who has it; five of a person's are set aside.

    These five are all that is left of her taste, and without noise they are the five recommended. Read as the other
    taste with six items of it added, she is recommended the other four, and one of her own: one in five is right.
    """
    taste = np.arange(200) % 2
    liked = sparse.csr_array((np.arange(20) // 10 == taste[:, None]).astype(float))
    labels = [f"taste {i}" for i in taste]
    ratings = build_ratings(
        (liked, liked[:40]), (labels, labels[:40]), title="", source="", attribute="taste", items=[""] * 20
    )
    guarded = RatingsDefense(ratings, ratings_settings(noise_policy="add_new"))
    monkeypatch.setattr("core.studies.attriguard.utility.RECOMMENDED", 5)
    monkeypatch.setattr("core.studies.attriguard.utility._RANK", 2)
    utility = recommendation(guarded)
    assert utility.clean.tolist() == [1.0] * 40
    read = taste[:40, None] == np.arange(2)
    assert (utility.noise.size == np.where(read, 0, 6)).all()
    assert utility.noisy == pytest.approx(np.where(read, 1.0, 0.2))
    assert utility.at(50.0).value == pytest.approx(0.6)


def test_recommendation_needs_ratings():
    shape = SAMPLE.people_test.shape
    for n_rated in (0, 5):  # whoever has five has none left once five are set aside
        rated = np.tile(np.arange(shape[1]) < n_rated, (shape[0], 1))
        poor = replace(SAMPLE, people_test=sparse.csr_array(np.where(rated, 0.8, 0.0)))
        with pytest.raises(InputError, match="more than 5 ratings, got nobody"):
            recommendation(RatingsDefense(poor, SETTINGS))
