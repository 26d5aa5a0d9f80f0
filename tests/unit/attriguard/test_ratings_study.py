"""The study on ratings: what is hidden, growing, stopped, shared fits, targets, settings out of range, transfer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from core.attriguard import (
    DEFENDERS,
    MAKERS,
    POLICIES,
    RATING_ATTACKERS,
    Exposure,
    Guarded,
    GuardSettings,
    comparators,
    comparison,
    transfer,
)
from core.datasets import build_ratings
from core.errors import Cancelled, InputError
from core.estimates import mean
from core.seeds import child_generator
from tests import ratings_samples
from tests.unit.attriguard.ratings_studied import SAMPLE, SETTINGS, few, guarded, studies, whole


def test_nobody_sees_the_hidden_values():
    """The same people with other hidden values: every noise and guess stays, and the value the majority guess names."""
    mixed = replace(SAMPLE, values_test=np.random.default_rng(1).permutation(SAMPLE.values_test))
    other = list(Guarded(mixed, SETTINGS).expose())[-1]
    one = whole()
    assert (one.truth != other.truth).any() and (other.truth == mixed.values_test).all()
    assert (one.size == other.size).all() and (one.predicted == other.predicted).all()
    for mine, theirs in zip(one.guesses, other.guesses, strict=True):
        assert (mine.clean == theirs.clean).all() and (mine.noisy == theirs.noisy).all()
    assert other.majority.value == pytest.approx((mixed.values_test == SAMPLE.shares.argmax()).mean())


def test_the_study_grows_by_attacker():
    found, told = studies()
    assert [len(study.guesses) for study in found] == list(range(11)) and whole().attackers == RATING_ATTACKERS
    steps = [done for done, _ in told]
    assert {total for _, total in told} == {30} and steps == sorted(steps) and steps[0] == 0
    assert {10, 11, *range(21, 31)} <= set(steps)  # after the two searches, and every attacker
    assert [guess.trained_at for guess in whole().guesses if guess.attacker == "adversarial"] == [1.0, 3.0]
    assert whole().unit == "ratings" and whole().attribute == "town" and whole().values == SAMPLE.values
    assert (whole().target == SAMPLE.shares).all() and (whole().truth == SAMPLE.values_test).all()


def test_points_are_the_mean_over_the_draws():
    study = whole()
    used = study.mechanism(1.0)
    named = study.guesses[0].noisy
    right = [sum(used[k, i] for i in range(4) if named[k, i] == study.truth[k]) for k in range(100)]
    assert study.at(1.0)[0].accuracy.value == pytest.approx(np.mean(right))
    for points in study.curves((0.3, 1.0, 3.0)).values():
        for point in points:
            assert 0 <= point.accuracy.low <= point.accuracy.value <= point.accuracy.high <= 1
            assert point.reported.value == max(point.accuracy.value, study.majority.value)


def test_noise_misleads_and_adaptive_attackers_read_through_it():
    clean = {point.attacker: point.accuracy.value for point in whole().undefended()}
    noisy = {point.attacker: point.accuracy.value for point in whole().at(3.0)}
    assert noisy["logistic"] < clean["logistic"] - 0.2
    assert noisy["adversarial"] > noisy["network"] and noisy["adversarial"] > noisy["logistic"] + 0.1
    assert {point.trained_at for point in whole().at(3.0) if point.attacker == "adversarial"} == {3.0}


def test_the_same_attacker_reads_what_the_defender_wants():
    logistic = whole().guesses[0]
    assert (logistic.clean == whole().predicted).all()
    assert (logistic.noisy == np.arange(4))[whole().found].all()


def test_same_seed_same_study_another_seed_another():
    names = ("network", "adversarial")
    one, again, other = (few(replace(SETTINGS, seed=seed), attackers=names) for seed in (1, 1, 2))
    assert all((a.noisy == b.noisy).all() for a, b in zip(one.guesses, again.guesses, strict=True))
    assert any((a.noisy != b.noisy).any() for a, b in zip(one.guesses, other.guesses, strict=True))


def test_the_searches_tell_how_far_they_are():
    for defender in ("logistic", "network"):
        told: list[int] = []
        settings = GuardSettings(defender=defender, attackers=("logistic", "dropping"))
        list(Guarded(SAMPLE, settings).expose(lambda done, _, told=told: told.append(done)))
        assert any(0 < done < 10 for done in told) and any(11 < done < 21 for done in told)


@pytest.mark.parametrize(("first", "last", "names"), [(1, 9, []), (12, 20, [(), ("logistic",)])])
def test_a_search_stops_when_told(first: int, last: int, names: list[tuple[str, ...]]):
    def stop(done: int, _total: int) -> None:
        if first <= done <= last:
            raise Cancelled("Stopped.")

    kept: list[Exposure] = []
    with pytest.raises(Cancelled):
        kept.extend(Guarded(SAMPLE, GuardSettings(attackers=("logistic", "dropping"))).expose(stop))
    assert [study.attackers for study in kept] == names


def test_noise_is_looked_for_once():
    own = Guarded(SAMPLE, GuardSettings(attackers=("dropping",)))
    list(own.expose())
    noise, seen = own.noise, own.seen
    list(own.expose())
    assert own.noise is noise and own.seen is seen


def test_an_attacker_of_the_defenders_kind_has_her_classifier():
    own = Guarded(SAMPLE, GuardSettings(defender="logistic_smooth", attackers=("logistic",)))
    study = list(own.expose())[-1]
    assert (study.guesses[0].clean == study.predicted).all()
    assert (study.guesses[0].noisy == np.arange(4))[study.found].all()
    others = next(iter(comparison(own)))
    assert others.accuracy["logistic"].value == pytest.approx(_blurme_read_by(own))


def _blurme_read_by(own: Guarded) -> float:
    """Return how often the defender's classifier is right after BlurMe added one item."""
    records, truth = SAMPLE.people_test, SAMPLE.values_test
    noisy = comparators.blurme(records, truth, own.known, own.classifier("logistic"), n_added=1)
    return float(own.classifier("logistic_smooth").score(noisy, truth))


@pytest.mark.parametrize("defender", DEFENDERS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_defender_and_policy(defender: str, policy: str):
    people = replace(SAMPLE, people_test=SAMPLE.people_test[:30], values_test=SAMPLE.values_test[:30])
    study = few(GuardSettings(defender=defender, policy=policy), people)
    assert study.found.any(axis=1).all() and study.spent(0.5).value <= 0.5 + 1e-9
    assert study.at(3.0)[0].accuracy.value < study.undefended()[0].accuracy.value


def test_a_margin_costs_and_travels():
    plain, sure = (few(GuardSettings(margin=margin), attackers=("logistic", "forest")) for margin in (0.0, 1.0))
    assert sure.size.sum() > plain.size.sum()
    assert sure.at(9.0)[1].accuracy.value < plain.at(9.0)[1].accuracy.value


def test_targets():
    assert (few(GuardSettings(target="uniform")).target == 0.25).all()
    given = (0.1, 0.2, 0.3, 0.4)
    study = few(GuardSettings(target="given", given=given))
    assert study.target == pytest.approx(given) and study.mechanism(60.0) == pytest.approx(np.tile(given, (100, 1)))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"given": (0.5, 0.5)}, "given shares must come with the target given, got the target train_shares"),
        ({"attackers": ("boosting",)}, "attackers must be some of logistic"),
        ({"trained_at": ()}, "trained_at must name a budget"),
    ],
)
def test_settings_that_contradict_each_other(setting: dict[str, object], words: str):
    with pytest.raises(InputError, match=words):
        GuardSettings(**setting)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [2, 30])
def test_two_and_thirty_values(values: int):
    study = few(GuardSettings(), ratings_samples.ratings(values=values, people=800, items=120))
    assert study.size.shape == (200, values) and 0 <= study.at(1.0)[0].accuracy.value <= 1


def test_one_person_a_person_without_ratings_and_an_item_nobody_rated():
    wide = sparse.hstack([SAMPLE.people_test[:1] * 0, sparse.csr_array((1, 1))], format="csr")
    known = sparse.hstack([SAMPLE.people_train, sparse.csr_array((300, 1))], format="csr")
    labels = [SAMPLE.values[i] for i in SAMPLE.values_train]
    alone = build_ratings(
        (known, wide), (labels, labels[:1]), title="", source="", attribute="town", items=[*SAMPLE.items, "unread"]
    )
    study = list(Guarded(alone, GuardSettings(trained_at=(1.0,))).expose())[-1]
    assert study.size.shape == (1, 4) and study.found.all() and len(study.at(1.0)) == 9


def test_transfer():
    told: list[tuple[int, int]] = []
    found = transfer(guarded(), people=40, report=lambda done, total: told.append((done, total)))
    assert found.makers == tuple(MAKERS) and told == [(0, 3), (1, 3), (2, 3)]
    assert set(found.share) == {(maker, reader) for maker in MAKERS for reader in ("logistic", "forest", "network")}
    assert found.share["logistic", "logistic"].value == found.share["network", "network"].value == 1.0
    assert found.share["logistic_margin", "network"].value > found.share["logistic", "network"].value
    assert found.size["logistic_margin"].value > found.size["logistic"].value > 1
    assert all(rate.n == 40 for rate in found.share.values())


def test_transfer_counts_every_person_once():
    found = transfer(guarded(), makers=("network",), people=40)
    drawn = np.sort(child_generator(SETTINGS.seed, "guard transfer").permutation(100)[:40])
    noise = guarded().noise_of(SAMPLE.people_test[drawn], replace(SETTINGS, defender="network", margin=0.0))
    people = [[noise.size[k, i] for i in np.flatnonzero(noise.size[k] > 0)] for k in range(40)]
    own = [float(np.mean(sizes)) for sizes in people if sizes]
    assert found.size["network"].n == len(own) and found.size["network"] == mean(own)


def test_transfer_knows_its_makers():
    with pytest.raises(InputError, match="makers must be one of logistic, logistic_margin, network, got 'x'"):
        transfer(guarded(), makers=("x",))
