"""The study on ratings and what goes with it: growing, cancelled, shared fits, transfer, rivals, recommendations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from core.attriguard import (
    ATTACKER_TITLES,
    COMPARATOR_TITLES,
    DEFENDERS,
    MAKERS,
    POLICIES,
    Guarded,
    GuardSettings,
    Study,
    comparators,
    comparison,
    ratings_study,
    recommendation,
    study_ratings,
    transfer,
)
from core.attriguard.attackers import Known
from core.attriguard.comparators.local_dp import LEVELS
from core.attriguard.comparators.qpm import _mapping
from core.datasets import Ratings, build_ratings
from core.errors import Cancelled, InputError
from core.estimates import mean
from core.seeds import child_generator
from tests import ratings_samples

SAMPLE = ratings_samples.ratings()
SETTINGS = GuardSettings(trained_at=(1.0, 3.0))


@cache
def guarded() -> Guarded:
    return Guarded(SAMPLE, SETTINGS)


@cache
def studies() -> tuple[tuple[Study, ...], tuple[tuple[int, int], ...]]:
    """All studies of one run, and what it reported."""
    told: list[tuple[int, int]] = []
    found = tuple(ratings_study(SAMPLE, SETTINGS, lambda done, total: told.append((done, total))))
    return found, tuple(told)


def whole() -> Study:
    return studies()[0][-1]


def few(settings: GuardSettings, ratings: Ratings = SAMPLE, attackers: tuple[str, ...] = ("logistic",)) -> Study:
    """Return the whole study with few attackers."""
    return list(ratings_study(ratings, replace(settings, attackers=attackers)))[-1]


def test_nobody_sees_the_hidden_values():
    """The same people with other hidden values: every noise and guess stays, and the value the majority guess names."""
    mixed = replace(SAMPLE, values_test=np.random.default_rng(1).permutation(SAMPLE.values_test))
    other = list(ratings_study(mixed, SETTINGS))[-1]
    one = whole()
    assert (one.truth != other.truth).any() and (other.truth == mixed.values_test).all()
    assert (one.size == other.size).all() and (one.predicted == other.predicted).all()
    for mine, theirs in zip(one.guesses, other.guesses, strict=True):
        assert (mine.clean == theirs.clean).all() and (mine.noisy == theirs.noisy).all()
    assert other.majority.value == pytest.approx((mixed.values_test == SAMPLE.shares.argmax()).mean())


def test_the_study_grows_by_attacker():
    found, told = studies()
    assert [study.attackers for study in found] == [tuple(ATTACKER_TITLES)[:k] for k in range(10)]
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


def test_guesses_of_clean_records_are_the_clean_guess():
    for guess in whole().guesses:
        untouched = whole().size == 0
        assert (guess.noisy == guess.clean[:, None])[untouched].all()


def test_same_seed_same_study_another_seed_another():
    names = ("network", "adversarial")
    one, again, other = (few(replace(SETTINGS, seed=seed), attackers=names) for seed in (1, 1, 2))
    assert all((a.noisy == b.noisy).all() for a, b in zip(one.guesses, again.guesses, strict=True))
    assert any((a.noisy != b.noisy).any() for a, b in zip(one.guesses, other.guesses, strict=True))


def test_the_searches_tell_how_far_they_are():
    for defender in ("logistic", "network"):
        told: list[int] = []
        settings = GuardSettings(defender=defender, attackers=("logistic", "dropping"))
        list(ratings_study(SAMPLE, settings, lambda done, _, told=told: told.append(done)))
        assert any(0 < done < 10 for done in told) and any(11 < done < 21 for done in told)


@pytest.mark.parametrize(("first", "last", "names"), [(1, 9, []), (12, 20, [(), ("logistic",)])])
def test_a_search_stops_when_told(first: int, last: int, names: list[tuple[str, ...]]):
    def stop(done: int, _total: int) -> None:
        if first <= done <= last:
            raise Cancelled("Stopped.")

    kept: list[Study] = []
    with pytest.raises(Cancelled):
        kept.extend(ratings_study(SAMPLE, GuardSettings(attackers=("logistic", "dropping")), stop))
    assert [study.attackers for study in kept] == names


def test_noise_is_looked_for_once():
    own = Guarded(SAMPLE, GuardSettings(attackers=("dropping",)))
    list(study_ratings(own))
    noise, seen = own.noise, own.seen
    list(study_ratings(own))
    assert own.noise is noise and own.seen is seen


def test_an_attacker_of_the_defenders_kind_has_her_classifier():
    own = Guarded(SAMPLE, GuardSettings(defender="logistic_smooth", attackers=("logistic",)))
    study = list(study_ratings(own))[-1]
    assert (study.guesses[0].clean == study.predicted).all()
    assert (study.guesses[0].noisy == np.arange(4))[study.found].all()
    others = next(iter(comparison(own)))
    assert others.accuracy["logistic"].value == pytest.approx(_blurme_read_by(own))


def _blurme_read_by(own: Guarded) -> float:
    """Return how often the defender's classifier is right after BlurMe added one item."""
    records, truth = SAMPLE.people_test, SAMPLE.values_test
    noisy = comparators.blurme(records, truth, own.known, own.classifier("logistic"), n_added=1)
    return float(own.classifier("logistic_smooth").score(noisy, truth))


def test_the_study_stops_when_told():
    def stop(done: int, total: int) -> None:
        if done == 11:
            raise Cancelled("Stopped.")

    kept = []
    with pytest.raises(Cancelled):
        for study in ratings_study(SAMPLE, SETTINGS, stop):
            kept.append(study)
    assert [study.attackers for study in kept] == [()]


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


BAD = [
    ({"policy": "magic"}, "policy must be one of modify_exist"),
    ({"defender": "magic"}, "defender must be one of logistic"),
    ({"target": "magic"}, "target must be one of uniform"),
    ({"margin": -1.0}, "margin must be a number of at least 0, got -1.0"),
    ({"margin": float("nan")}, "margin must be a number of at least 0, got nan"),
    ({"margin": "x"}, "margin must be a number of at least 0, got 'x'"),
    ({"margin": None}, "margin must be a number of at least 0, got None"),
    ({"trained_at": ("a",)}, r"trained_at must be budgets of at least 0, got \('a',\)"),
    ({"given": (0.5, 0.5)}, "given shares must come with the target given, got the target train_shares"),
    ({"attackers": ("magic",)}, "attackers must be one of logistic"),
    ({"trained_at": (1.0, -1.0)}, "trained_at must be budgets of at least 0"),
    ({"trained_at": ()}, "trained_at must name a budget"),
    ({"seed": -1}, "seed must be a whole number"),
]


@pytest.mark.parametrize("setting, words", BAD, ids=[words for _, words in BAD])
def test_a_bad_setting_is_one_sentence(setting: dict[str, object], words: str):
    with pytest.raises(InputError, match=words):
        GuardSettings(**setting)  # type: ignore[arg-type]


@pytest.mark.parametrize("given, words", [((0.5, 0.5), "one share a value, 4"), ((0.5, 0.6, 0, 0), "add up to 1")])
def test_a_bad_target_is_one_sentence(given: tuple[float, ...], words: str):
    with pytest.raises(InputError, match=words):
        next(iter(ratings_study(SAMPLE, GuardSettings(target="given", given=given))))


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
    study = list(ratings_study(alone, GuardSettings(trained_at=(1.0,))))[-1]
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


def test_comparison():
    told: list[tuple[int, int]] = []
    rows = list(comparison(guarded(), lambda done, total: told.append((done, total))))
    assert {row.method for row in rows} == set(COMPARATOR_TITLES) and told == [(i, len(rows)) for i in range(len(rows))]
    best = {(row.method, row.parameter, row.knows_truth): row for row in rows}
    for method in ("blurme", "chisquare"):
        for n in (1, 3, 5):
            assert best[method, f"{n} added", True].size.value == best[method, f"{n} added", False].size.value == n
        three = [best[method, "3 added", knows].accuracy["logistic"].value for knows in (True, False)]
        assert three[0] < three[1] < guarded().classifier("logistic").score(SAMPLE.people_test, SAMPLE.values_test)
    assert best["local_dp", "epsilon 7 an entry", False].size.value == pytest.approx(60 * 5 / (np.exp(7) + 5), abs=0.15)


def test_blurme_adds_what_speaks_against_a_value():
    known, classifier = guarded().known, guarded().classifier("logistic")
    noisy = comparators.blurme(SAMPLE.people_test, SAMPLE.values_test, known, classifier, n_added=2)
    for k in range(5):
        new = (noisy[[k]] - SAMPLE.people_test[[k]]).tocoo().col
        weight = classifier.coef_[SAMPLE.values_test[k]]
        free = np.setdiff1d(np.arange(60), SAMPLE.people_test[[k]].indices)
        assert set(new) == set(free[np.argsort(weight[free])[:2]])


def test_blurme_knows_two_values():
    two = Guarded(ratings_samples.ratings(values=2), SETTINGS)
    records, truth = two.ratings.people_test, two.ratings.values_test
    noisy = comparators.blurme(records, truth, two.known, two.classifier("logistic"), n_added=5)
    assert two.classifier("logistic").score(noisy, truth) < two.classifier("logistic").score(records, truth) - 0.2


def test_chisquare_adds_items_of_others():
    noisy = comparators.chisquare(SAMPLE.people_test, SAMPLE.values_test, guarded().known, n_added=1)
    rows, columns = (noisy - SAMPLE.people_test).nonzero()
    assert (rows == np.arange(100)).all()
    by_value = np.array([(SAMPLE.people_train[SAMPLE.values_train == i] > 0).mean(axis=0) for i in range(4)])
    assert (by_value[:, columns].argmax(axis=0) != SAMPLE.values_test).all()


def test_local_dp_moves_entries_to_other_levels():
    records = sparse.csr_array(np.tile(np.array(LEVELS), (3000, 1)))
    noisy = comparators.local_dp(records, epsilon=1.0, rng=np.random.default_rng(0)).toarray()
    assert set(np.unique(noisy)) == set(LEVELS)
    stays = np.e / (np.e + 5)
    for column, level in enumerate(LEVELS):
        shares = [(noisy[:, column] == other).mean() for other in LEVELS]
        expected = [stays if other == level else (1 - stays) / 5 for other in LEVELS]
        assert shares == pytest.approx(expected, abs=0.04)
    assert (comparators.local_dp(records, epsilon=1e6, rng=np.random.default_rng(0)) != records).nnz == 0
    with pytest.raises(InputError, match="epsilon must be above 0, got 0"):
        comparators.local_dp(records, epsilon=0, rng=np.random.default_rng(0))


def test_local_dp_rounds_what_is_no_level():
    told = np.random.default_rng(0).random((50, 80))
    noisy = comparators.local_dp(sparse.csr_array(told), epsilon=4.0, rng=np.random.default_rng(1)).toarray()
    rounded = np.round(5 * told) / 5
    assert set(np.round(5 * np.unique(noisy)) / 5) == set(LEVELS) and np.allclose(noisy, np.round(5 * noisy) / 5)
    stays = np.exp(4) / (np.exp(4) + 5)
    assert np.isclose(noisy, rounded).mean() == pytest.approx(stays, abs=0.02)
    exact = comparators.local_dp(sparse.csr_array(told), epsilon=1e6, rng=np.random.default_rng(1))
    assert np.allclose(exact.toarray(), rounded)


def test_qpm_hides_more_the_more_it_may_change():
    joint, distance = np.diag([0.4, 0.6]), np.array([[0.0, 2.0], [2.0, 0.0]])
    told = []
    for slack in (0.05, 0.5, 1.0):
        mapping = _mapping(joint, distance, slack)
        assert mapping.sum(axis=1) == pytest.approx([1, 1]) and (mapping >= 0).all()
        assert (joint.sum(axis=0) @ (mapping * distance).sum(axis=1)) <= slack * 0.8 + 1e-5
        told.append(abs(mapping[0, 0] - mapping[1, 0]))
    assert told[0] > told[1] > told[2] and told[2] == pytest.approx(0, abs=0.01)


def mapped(slack: float = 0.5, known: Known | None = None, clusters: int = 5) -> np.ndarray:
    """Return what people show after QPM."""
    rng = np.random.default_rng(0)
    return comparators.qpm(
        SAMPLE.people_test, known or guarded().known, slack=slack, rng=rng, clusters=clusters
    ).toarray()


def test_qpm_shows_records_of_known_people():
    noisy = mapped(slack=0.1, clusters=20)
    known = {record.tobytes() for record in SAMPLE.people_train.toarray()}
    assert noisy.shape == SAMPLE.people_test.shape and {record.tobytes() for record in noisy} <= known
    assert noisy.any(axis=1).all() and 2 <= np.unique(noisy, axis=0).shape[0] <= 20


def test_qpm_shows_no_blank_record_where_most_are_nearly_blank():
    """People rate two of 200 items: every entry of a centre rounds to 0, and some known people rated nothing."""
    rng = np.random.default_rng(0)
    whole = sparse.lil_array((300, 200))
    for person in range(40, 300):
        whole[[person, person], rng.choice(200, size=2, replace=False)] = 1.0
    records = whole.tocsr()
    known = Known(records=records, values=np.arange(300) % 4, n_values=4)
    noisy = comparators.qpm(records, known, slack=0.5, rng=rng)
    assert (np.diff(noisy.indptr) == 2).all()


def test_qpm_of_few_known_people():
    few = Known(records=SAMPLE.people_train[[0, 0, 1]], values=np.array([0, 1, 1]), n_values=4)
    shown = {record.tobytes() for record in mapped(known=few, clusters=20)}
    assert shown <= {record.tobytes() for record in SAMPLE.people_train[:2].toarray()}


def test_qpm_tells_less_with_more_slack():
    reader = guarded().classifier("logistic")
    right = [reader.score(mapped(slack, clusters=20), SAMPLE.values_test) for slack in (0.001, 1.0)]
    assert right[0] > right[1] + 0.05


@pytest.mark.parametrize("slack", [0.0, -1.0, 1.1, float("nan")])
def test_qpm_refuses_a_slack_out_of_range(slack: float):
    with pytest.raises(InputError, match=f"slack must be above 0 and at most 1, got {slack}"):
        mapped(slack)


def test_recommendation():
    found = recommendation(guarded(), people=60, recommended=10, rank=8)
    assert found.clean.shape == found.popular.shape == (60,) and found.noisy.shape == found.size.shape == (60, 4)
    assert set(np.round(np.unique(10 * found.noisy), 9)) <= set(range(6))
    assert found.before.value > found.control.value > 0
    assert found.at(0.0).value == found.before.value and found.spent(0.5).value <= 0.5 + 1e-9
    assert found.at(9.0).value == pytest.approx((found.noisy @ found.target).mean())
    again = recommendation(guarded(), people=60, recommended=10, rank=8)
    assert (again.noisy == found.noisy).all()


def test_noise_moves_recommendations():
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
    own = Guarded(ratings, GuardSettings(policy="add_new"))
    found = recommendation(own, recommended=5, rank=2)
    assert found.clean.tolist() == [1.0] * 40
    read = taste[:40, None] == np.arange(2)
    assert (found.size == np.where(read, 0, 6)).all()
    assert found.noisy == pytest.approx(np.where(read, 1.0, 0.2))
    assert found.at(50.0).value == pytest.approx(0.6) and found.spent(50.0).value == pytest.approx(3.0)


def test_recommendation_needs_ratings():
    poor = replace(SAMPLE, people_test=SAMPLE.people_test * 0)
    poor.people_test.eliminate_zeros()
    with pytest.raises(InputError, match="more than 5 ratings, got nobody"):
        recommendation(Guarded(poor, SETTINGS))


@pytest.mark.parametrize("name", ["people", "recommended", "rank"])
def test_recommendation_needs_numbers_of_at_least_1(name: str):
    with pytest.raises(InputError, match=f"{name} must be at least 1, got 0"):
        recommendation(guarded(), **{name: 0})  # type: ignore[arg-type]


def test_known_people_are_what_the_ratings_say():
    known = guarded().known
    assert isinstance(known, Known) and known.n_values == 4 and known.records is SAMPLE.people_train
