"""AttriGuard on ratings: the study that grows, what settings do, transfer, recommendations."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from core.base.errors import Cancelled, InputError
from core.base.validation import child_generator
from core.datasets import Ratings
from core.datasets.ratings import build_ratings
from core.stats.estimates import mean
from core.studies.attriguard import AttriGuardSettings, Exposure, RatingsDefense, recommendation, transfer
from core.studies.attriguard.attackers import RATING_ATTACKERS
from core.studies.attriguard.comparators import CLEAN_ATTACKERS, SURROGATES
from core.studies.attriguard.findings import recommendations
from core.studies.attriguard.panda import POLICIES
from core.studies.attriguard.result import RATING_DEFENDERS
from tests import ratings_samples
from tests.ratings_samples import ratings_settings
from tests.unit.attriguard.conftest import SETTINGS

SAMPLE = ratings_samples.ratings()


def few(
    settings: AttriGuardSettings, ratings: Ratings = SAMPLE, attackers: tuple[str, ...] = ("logistic",)
) -> Exposure:
    """Return the whole study with few attackers."""
    return list(RatingsDefense(ratings, replace(settings, attackers=attackers)).expose())[-1]


@pytest.mark.long
def test_the_study_grows_by_attacker(studies, full_exposure: Exposure):
    exposures, progress = studies
    assert [len(study.guesses) for study in exposures] == list(
        range(1, 11)
    ) and full_exposure.attackers == RATING_ATTACKERS
    steps = [done for done, _ in progress]
    assert {total for _, total in progress} == {30} and steps == sorted(steps) and steps[0] == 0
    assert {10, 11, *range(21, 31)} <= set(steps)  # after the two searches, and every attacker
    assert any(0 < done < 10 for done in steps) and any(11 < done < 21 for done in steps)
    assert [guess.trained_at for guess in full_exposure.guesses if guess.attacker == "adversarial"] == [1.0, 3.0]
    assert (full_exposure.target == SAMPLE.shares).all() and (full_exposure.truth == SAMPLE.values_test).all()


def test_nobody_sees_the_hidden_values(full_exposure: Exposure):
    """The same people with other hidden values: every noise and guess stays, and the value the majority guess names."""
    mixed = replace(SAMPLE, values_test=np.random.default_rng(1).permutation(SAMPLE.values_test))
    attackers = ("logistic", "adversarial")
    permuted_exposure = list(RatingsDefense(mixed, replace(SETTINGS, attackers=attackers)).expose())[-1]
    assert (full_exposure.truth != permuted_exposure.truth).any() and (
        permuted_exposure.truth == mixed.values_test
    ).all()
    assert (full_exposure.size == permuted_exposure.size).all() and (
        full_exposure.predicted == permuted_exposure.predicted
    ).all()
    guesses = [guess for guess in full_exposure.guesses if guess.attacker in attackers]
    for mine, theirs in zip(guesses, permuted_exposure.guesses, strict=True):  # also: the seed fixes every draw
        assert (mine.clean == theirs.clean).all() and (mine.noisy == theirs.noisy).all()
    assert permuted_exposure.majority.value == pytest.approx((mixed.values_test == SAMPLE.shares.argmax()).mean())


def test_noise_misleads_and_adaptive_attackers_read_through_it(full_exposure: Exposure):
    clean = {point.attacker: point.accuracy.value for point in full_exposure.undefended()}
    noisy = {point.attacker: point.accuracy.value for point in full_exposure.at(3.0)}
    assert min(clean.values()) > 0.4  # of four values
    assert noisy["logistic"] < clean["logistic"] - 0.2
    assert noisy["adversarial"] > noisy["network"] and noisy["adversarial"] > noisy["logistic"] + 0.1


@pytest.mark.parametrize("defender", ["logistic", "logistic_smooth"])
def test_an_attacker_of_the_defenders_kind_has_her_classifier(defender: str):
    study = few(ratings_settings(defender=defender))
    assert (study.guesses[0].clean == study.predicted).all()
    assert (study.guesses[0].noisy == np.arange(4))[study.reached].all()


@pytest.mark.parametrize(("first", "last", "names"), [(1, 9, []), (12, 20, [("logistic",)])])
def test_expose_stops_when_cancelled(first: int, last: int, names: list[tuple[str, ...]]):
    def stop(done: int, _total: int) -> None:
        if first <= done <= last:
            raise Cancelled("Stopped.")

    exposures: list[Exposure] = []
    with pytest.raises(Cancelled):
        exposures.extend(RatingsDefense(SAMPLE, ratings_settings(attackers=("logistic", "dropping"))).expose(stop))
    assert [study.attackers for study in exposures] == names


@pytest.mark.parametrize("defender", RATING_DEFENDERS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_defender_and_policy(defender: str, policy: str):
    people = replace(SAMPLE, people_test=SAMPLE.people_test[:30], values_test=SAMPLE.values_test[:30])
    study = few(ratings_settings(defender=defender, noise_policy=policy), people)
    assert study.reached.any(axis=1).all() and study.spent(0.5).value <= 0.5 + 1e-9
    assert study.at(3.0)[0].accuracy.value < study.undefended()[0].accuracy.value


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"target": "given"}, "target must be one of uniform, train_shares, got 'given'"),
        ({"attackers": ("nobody",)}, "attackers must be some of logistic"),
    ],
)
def test_settings_with_contradictions(setting: dict[str, object], message: str):
    with pytest.raises(InputError, match=message):
        ratings_settings(**setting)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value"), [("attackers", ("boosting",)), ("defender", "ranges")])
def test_what_is_for_tables_is_refused_on_ratings(name: str, value: object):
    with pytest.raises(InputError, match=f"{name} must be one of logistic, "):
        RatingsDefense(SAMPLE, ratings_settings(**{name: value}))  # type: ignore[arg-type]


def test_transfer(guarded: RatingsDefense, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.studies.attriguard.comparators._TRANSFER_PEOPLE", 40)
    progress: list[tuple[int, int]] = []
    transfer_study = transfer(guarded, lambda done, total: progress.append((done, total)))
    assert progress == [(0, 3), (1, 3), (2, 3)]
    assert set(transfer_study.share) == set(product(SURROGATES, CLEAN_ATTACKERS))
    assert transfer_study.share["logistic", "logistic"].value == transfer_study.share["network", "network"].value == 1.0
    assert transfer_study.share["logistic_margin", "network"].value > transfer_study.share["logistic", "network"].value
    assert transfer_study.size["logistic_margin"].value > transfer_study.size["logistic"].value > 1
    assert all(rate.n == 40 for rate in transfer_study.share.values())
    # every person is counted once: the mean over people of the mean of their noises
    drawn = np.sort(child_generator(42, "guard transfer").permutation(100)[:40])
    noise = guarded.noise_of(SAMPLE.people_test[drawn], defender="network", margin=0.0)
    people = [[noise.size[k, i] for i in np.flatnonzero(noise.size[k] > 0)] for k in range(40)]
    assert transfer_study.size["network"] == mean([float(np.mean(sizes)) for sizes in people if sizes])


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


def test_recommendations_change_by_the_same_people(guarded: RatingsDefense, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.studies.attriguard.utility._MOST_PEOPLE", 60)
    utility = recommendation(guarded)
    clean = np.linspace(0.0, 1.0, 60)
    worse = replace(utility, clean=clean, noisy=np.repeat(0.9 * clean[:, None], 4, axis=1))
    finding = recommendations(worse, 1.0)  # everybody has fewer, within what people differ by
    assert worse.at(1.0).low < worse.before.value < worse.at(1.0).high and "instead of 50%" in finding.point
    same = replace(utility, noisy=np.repeat(utility.clean[:, None], 4, axis=1))
    assert "no significant change" in recommendations(same, 1.0).point


def test_recommendation_needs_ratings():
    shape = SAMPLE.people_test.shape
    for n_rated in (0, 5):  # whoever has five has none left once five are set aside
        rated = np.tile(np.arange(shape[1]) < n_rated, (shape[0], 1))
        poor = replace(SAMPLE, people_test=sparse.csr_array(np.where(rated, 0.8, 0.0)))
        with pytest.raises(InputError, match="more than 5 ratings, got nobody"):
            recommendation(RatingsDefense(poor, SETTINGS))
