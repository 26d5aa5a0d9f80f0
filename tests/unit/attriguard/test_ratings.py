"""AttriGuard on ratings: attackers, transfer, recommendations; what is made of guesses, and the study in an audit."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from scipy import sparse

from core.base.errors import InputError
from core.base.validation import child_generator
from core.datasets.ratings import build_ratings
from core.stats.estimates import mean, proportion
from core.studies.attriguard import RatingsDefense, findings, recommendation, representatives, transfer
from core.studies.attriguard.allocation import changes_per_entry, concentration
from core.studies.attriguard.attackers import (
    ATTACKER_TITLES,
    Fitted,
    RegionBased,
    fit_distilled,
    fit_dropping,
    fit_network,
    fit_unaware,
)
from core.studies.attriguard.comparators import CLEAN_ATTACKERS, SURROGATES
from core.studies.attriguard.result import AttriGuardSettings, Guesses
from core.studies.attriguard.study import AttriGuardStudy
from tests import ratings_samples
from tests.ratings_samples import ratings_settings
from tests.unit.attriguard.conftest import SETTINGS, exposure

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


@pytest.mark.parametrize("n_rated", [0, 5])  # whoever has five has none left once five are set aside
def test_recommendation_needs_ratings(n_rated):
    rated = np.tile(np.arange(60) < n_rated, (100, 1))
    poor = replace(SAMPLE, people_test=sparse.csr_array(np.where(rated, 0.8, 0.0)))
    with pytest.raises(InputError, match="more than 5 ratings, got nobody"):
        recommendation(RatingsDefense(poor, SETTINGS))


KNOWN_PEOPLE = (SAMPLE.people_train, SAMPLE.values_train)


def test_a_network_keeps_its_best_pass():
    lie = (SAMPLE.people_train, (SAMPLE.values_train + 1) % 4)
    lesson = Mock(side_effect=[*[KNOWN_PEOPLE] * 10, *[lie] * 99])
    guess = Fitted(fit_network(*KNOWN_PEOPLE, seed=0, lesson=lesson)).guess(SAMPLE.people_test)
    assert 11 <= lesson.call_count <= 13
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


TRUTH, SHARES = np.array([0, 0, 0, 0, 0, 1, 2, 2]), (0.3, 0.2, 0.5)


def naming(guesses, *, attacker="forest", trained_at=None):
    noisy = np.repeat(guesses[:, None], 3, axis=1)
    return Guesses(attacker=attacker, trained_at=trained_at, clean=guesses, noisy=noisy)


def test_balanced_by_hand():
    # of the five with value 0 three are named, the one with 1 is not, of the two with 2 one is
    guesses = np.array([0, 0, 0, 1, 1, 2, 2, 0])
    (point,) = exposure(TRUTH, SHARES, (naming(guesses),)).undefended()
    assert point.accuracy.value == 4 / 8
    assert point.balanced.value == pytest.approx((3 / 5 + 0 / 1 + 1 / 2) / 3)
    rates = (mean([1, 1, 1, 0, 0]), proportion(0, 1), mean([1, 0]))
    high = np.sqrt(sum((min(1.0, rate.high) - rate.value) ** 2 for rate in rates)) / 3
    low = np.sqrt(sum((rate.value - max(0.0, rate.low)) ** 2 for rate in rates)) / 3
    assert point.balanced.high == pytest.approx(min(1.0, point.balanced.value + high))
    assert point.balanced.low == pytest.approx(max(0.0, point.balanced.value - low))


@pytest.mark.parametrize(("budget", "nearest"), [(0.0, 1.0), (1.9, 1.0), (2.1, 3.0), (9.0, 3.0)])
def test_at_uses_the_attacker_trained_at_the_nearest_budget(budget, nearest):
    trained = tuple(naming((TRUTH + k) % 3, attacker="adversarial", trained_at=b) for k, b in enumerate((1.0, 3.0)))
    plain, point = exposure(TRUTH, SHARES, (naming(TRUTH), *trained)).at(budget)
    assert plain.trained_at is None
    assert point.trained_at == nearest
    assert point.accuracy.value == pytest.approx(float(nearest == 1.0))


def read_by(*, read, trained, clean=95):
    """Return 100 people, 80 of value 0: classifier and trained attacker read the truth of so many under all noise."""
    truth = np.repeat([0, 1], [80, 20])

    def guesses(name, right):
        noisy_guess = np.where(np.arange(100) < right, truth, 1 - truth)
        without = np.where(np.arange(100) < clean, truth, 1 - truth)
        return Guesses(attacker=name, clean=without, noisy=np.column_stack([noisy_guess, noisy_guess]))

    return exposure(truth, (0.8, 0.2), (guesses("logistic", read), guesses("adversarial", trained)))


@pytest.mark.parametrize(
    ("read", "trained", "best", "advises"),
    [
        (90, 93, "Best attacker: Adversarial AT-A, trained on noise (93%).", True),
        (40, 70, "Best attacker: Adversarial AT-A, trained on noise (70%, no more than the baseline).", False),
        (90, 60, "No attacker tried does better.", True),
    ],
)
def test_the_headline_compares_who_ignores_the_noise_with_the_best(read, trained, best, advises):
    finding = findings.headline(read_by(read=read, trained=trained), AttriGuardSettings(budget=0.5))
    assert finding.point.endswith(best)
    assert bool(finding.so_what) == bool(finding.to_do) == advises
    assert finding.estimate.value == pytest.approx(max(read, trained) / 100)


@pytest.mark.parametrize(("read", "best"), [(40, 80), (93, 93)])
def test_checks_of_an_audit(read, best):
    """The target is uniform: half of the noises change a column, whatever the budget of 2 allows."""
    checks = AttriGuardStudy().checks(read_by(read=read, trained=30), AttriGuardSettings(budget=2.0))
    exposed, spent = checks["attriguard_exposure"], checks["attriguard_cost"]
    assert (exposed.estimate.value, exposed.control.value) == (best / 100, 0.95)
    assert (spent.estimate.low, spent.estimate.value, spent.estimate.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("seed", range(4))
def test_checks_where_everybody_spends_the_budget_leave_nothing_to_estimate(seed):
    size = np.random.default_rng(seed).integers(2000, 9000, (100, 2))
    size[np.arange(100), np.repeat([0, 1], [80, 20])] = 0
    costly = replace(read_by(read=90, trained=30), size=size)
    spent = AttriGuardStudy().checks(costly, AttriGuardSettings(budget=0.7))["attriguard_cost"].estimate
    assert spent.low == spent.value == spent.high == pytest.approx(0.7)


@pytest.mark.parametrize(("attackers", "little"), [(1, False), (8, True)])
def test_the_best_of_many_attackers_beats_the_majority_guess_by_more_than_luck(attackers, little):
    exposure_study = read_by(read=88, trained=88, clean=88)  # one alone does at 95%
    tried = tuple(replace(exposure_study.guesses[0], attacker=name) for name in ATTACKER_TITLES)[:attackers]
    finding = findings.headline(replace(exposure_study, guesses=tried), AttriGuardSettings(budget=0.5))
    assert any("Little to hide" in caveat for caveat in finding.caveats) == little


def test_noise_needed_is_of_those_inferred_otherwise():
    """None was found for value 1 of two people of the seven inferred otherwise, nor for value 0 of one of the three."""
    reached = np.ones((TRUTH.size, 3), dtype=bool)
    reached[[0, 1], 1] = reached[7, 0] = False
    finding = findings.noise_needed(exposure(TRUTH, SHARES, reached=reached))
    assert finding.point.startswith("Inferring another value takes 1.00 ")
    assert "3 of 16 pairs" in finding.evidence
    assert finding.evidence.index("“Ulm” for 33.3%") < finding.evidence.index("“Bonn” for 28.6%")
    assert "Trier" not in finding.evidence


def test_value_rows_of_no_budget_draw_the_values_people_are_read_as():
    """Five, one and two of eight."""
    rows = findings.value_rows(exposure(TRUTH, SHARES), 0.0)
    drawn = {row["town"]: row["drawn"].value for row in rows}
    assert drawn == pytest.approx({"Ulm": 5 / 8, "Bonn": 1 / 8, "Trier": 2 / 8})
    assert {row["town"]: row["people inferred otherwise"] for row in rows} == {"Ulm": 3, "Bonn": 7, "Trier": 6}
