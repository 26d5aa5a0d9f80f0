"""AttriGuard on ratings: attackers, the study that grows, what settings do, transfer, recommendations."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from core.base.errors import InputError
from core.base.validation import child_generator
from core.datasets.ratings import build_ratings
from core.stats.estimates import mean
from core.studies.attriguard import RatingsDefense, recommendation, representatives, transfer
from core.studies.attriguard.allocation import changes_per_entry, concentration
from core.studies.attriguard.attackers import (
    Fitted,
    RegionBased,
    fit_distilled,
    fit_dropping,
    fit_network,
    fit_unaware,
)
from core.studies.attriguard.comparators import CLEAN_ATTACKERS, SURROGATES
from tests import ratings_samples
from tests.ratings_samples import ratings_settings
from tests.unit.attriguard.conftest import SETTINGS

SAMPLE = ratings_samples.ratings()


def test_nobody_sees_the_hidden_values(full_exposure):
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


def test_noise_misleads_and_adaptive_attackers_read_through_it(full_exposure):
    clean = {point.attacker: point.accuracy.value for point in full_exposure.undefended()}
    noisy = {point.attacker: point.accuracy.value for point in full_exposure.at(3.0)}
    assert min(clean.values()) > 0.4  # of four values
    assert noisy["logistic"] < clean["logistic"] - 0.2
    assert noisy["adversarial"] > noisy["network"] and noisy["adversarial"] > noisy["logistic"] + 0.1


@pytest.mark.parametrize(("name", "value"), [("attackers", ("boosting",)), ("defender", "ranges")])
def test_what_is_for_tables_is_refused_on_ratings(name, value):
    with pytest.raises(InputError, match=f"{name} must be one of logistic, "):
        RatingsDefense(SAMPLE, ratings_settings(**{name: value}))


def test_transfer(guarded, monkeypatch):
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


def test_noise_moves_recommendations(monkeypatch):
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


KNOWN_PEOPLE = (SAMPLE.people_train, SAMPLE.values_train)


def test_a_network_keeps_its_best_pass():
    passes = []

    def lesson():
        passes.append(len(passes))
        values = SAMPLE.values_train if passes[-1] < 10 else (SAMPLE.values_train + 1) % 4  # lies from here on
        return SAMPLE.people_train, values

    guess = Fitted(fit_network(*KNOWN_PEOPLE, seed=0, lesson=lesson)).guess(SAMPLE.people_test)
    assert 11 <= len(passes) <= 13
    assert (guess == SAMPLE.values_test).mean() > 0.25 + 0.15  # chance is a quarter


@pytest.mark.parametrize(("certainty", "truth"), [(1.0, 0.0), (0.7, 0.1)])
def test_the_student_learns_what_the_teacher_believes_and_nothing_else(certainty, truth, monkeypatch):
    """The teacher holds that everybody's value is the next one, with this certainty."""
    next_values, lessons = (SAMPLE.values_train + 1) % 4, []
    beliefs = np.full((next_values.size, 4), (1.0 - certainty) / 3)
    beliefs[np.arange(next_values.size), next_values] = certainty

    def keep(records, values, *, seed, lesson):
        lessons.extend(lesson()[1] for _ in range(200))

    monkeypatch.setattr("core.studies.attriguard.attackers.fit_network", keep)
    fit_distilled(*KNOWN_PEOPLE, SimpleNamespace(predict_proba=lambda records: beliefs), seed=0)
    assert (np.array(lessons) == next_values).mean() == pytest.approx(certainty, abs=0.01)
    assert (np.array(lessons) == SAMPLE.values_train).mean() == pytest.approx(truth, abs=0.01)


def test_a_region_votes_as_noisy_records_would():
    network, dense = fit_network(*KNOWN_PEOPLE, seed=0), SAMPLE.people_test.toarray()
    points = np.random.default_rng([5, 3]).uniform(-0.3, 0.3, size=(15, 60))
    votes = np.array([network.predict(dense + point) for point in points])
    expected = np.array([np.bincount(column, minlength=4).argmax() for column in votes.T])
    guess = Fitted(RegionBased(network, seed=5, points=15, radius=0.3)).guess(SAMPLE.people_test)
    assert (guess == expected).all() and (guess != network.predict(dense)).any()


def test_dropping_leaves_out_what_carries_the_noise():
    noise = representatives(SAMPLE.people_train, fit_unaware(*KNOWN_PEOPLE, "logistic", seed=0))
    mechanism = noise.mechanism(SAMPLE.shares, 3.0)
    retained_columns = concentration(SAMPLE.people_train, noise, mechanism).without(0.9)
    attacker = fit_dropping(*KNOWN_PEOPLE, retained_columns, seed=0)
    carried = changes_per_entry(SAMPLE.people_train, noise, mechanism)
    carried /= carried.sum()
    dropped = np.setdiff1d(np.arange(60), retained_columns)
    assert 0 < dropped.size < 60 and carried[dropped].min() >= carried[retained_columns].max()
    assert carried[dropped].sum() >= 0.9 > carried[dropped].sum() - carried[dropped].min()
    blind = SAMPLE.people_test.tolil()
    blind[:, dropped] = 1.0
    assert (attacker.guess(blind.tocsr()) == attacker.guess(SAMPLE.people_test)).all()
